//! Conversations to store: a few files read and edited, an envoy, an image, results large and small.
//! Deliberately deterministic: the same number gives the same conversation.

use std::sync::Arc;

use neenee_core::message::{
    Media, MediaKind, Message, Part, Reasoning, Role, ToolCall, ToolResult,
};
use neenee_core::pressure::{PruneOptions, PruneOutcome, Setup, prune_with};
use neenee_store::{Counts, Operation, Projection, Session};

pub(crate) fn user(text: &str) -> Message {
    Message {
        role: Role::User,
        parts: vec![Part::Text(text.to_owned())],
    }
}

pub(crate) fn call(id: &str, name: &str, arguments: &str) -> Message {
    Message {
        role: Role::Assistant,
        parts: vec![
            Part::Reasoning(Reasoning {
                text: format!("thinking of {id}"),
                signature: Some("c2lnbmVk".to_owned()),
            }),
            Part::Call(ToolCall {
                id: Some(id.to_owned()),
                name: name.to_owned(),
                arguments: arguments.to_owned(),
            }),
        ],
    }
}

pub(crate) fn result(id: &str, text: &str) -> Message {
    Message {
        role: Role::Tool,
        parts: vec![Part::Result(ToolResult {
            call_id: Some(id.to_owned()),
            text: text.to_owned(),
            failed: Some(false),
            ..ToolResult::default()
        })],
    }
}

/// A text of `lines` lines that no other number gives.
pub(crate) fn output(number: usize, lines: usize) -> String {
    (0..lines).fold(String::new(), |mut text, line| {
        text += &format!(
            "{number}: line {line} of größe 漢字 {:x}\n",
            number * 7919 + line * 31
        );
        text
    })
}

/// One turn: a call and its result, of a kind that depends on the number.
pub(crate) fn turn(number: usize) -> Vec<Message> {
    let id = format!("call_{number}");
    let path = format!(r#"{{"path":"src/file{}.rs"}}"#, number % 5);
    match number % 6 {
        0 => vec![call(&id, "edit", &path), result(&id, "ok")],
        1 => vec![
            call(&id, "bash", r#"{"command":"make"}"#),
            result(&id, &output(number, 120)),
        ],
        2 => {
            let mut answer = result(&id, &output(number, 20));
            if let Some(Part::Result(result)) = answer.parts.first_mut() {
                result.children = vec![
                    user("look around"),
                    call("inner", "grep", r#"{"pattern":"fn"}"#),
                    self::result("inner", &output(number + 1000, 90)),
                ];
            }
            vec![call(&id, "envoy", r#"{"task":"look"}"#), answer]
        }
        3 => {
            let mut answer = result(&id, "");
            if let Some(Part::Result(result)) = answer.parts.first_mut() {
                result.media = vec![Media {
                    kind: MediaKind::Image,
                    bytes: 40_000,
                    tokens: 1_500,
                    payload: vec![0xff, 0xd8, number as u8, 0],
                }];
            }
            vec![call(&id, "screenshot", "{}"), answer]
        }
        _ => vec![call(&id, "read", &path), result(&id, &output(number, 60))],
    }
}

/// Prunes what a session holds, as an entry point does.
pub(crate) fn prune(session: &Session, protect_chars: usize) -> Option<Projection> {
    let mut window = session.window().to_vec();
    let outcome = pruned(&mut window, protect_chars)?;
    Some(Projection {
        base: session.revision(),
        operation: Operation::Prune,
        cause: "test".to_owned(),
        before: counts(session.window()),
        after: counts(&window),
        window,
        originals: outcome.originals,
    })
}

pub(crate) fn pruned(window: &mut [Message], protect_chars: usize) -> Option<PruneOutcome> {
    prune_with(
        window,
        &Arc::new(Setup::new(PruneOptions::bare(protect_chars, 0))),
    )
}

/// Replaces the first half of the window, at a user's message, by a summary.
pub(crate) fn compact(session: &Session) -> Option<Projection> {
    let old = session.window();
    let cut = (old.len() / 2..old.len()).find(|place| old[*place].role == Role::User)?;
    let mut window = vec![user("[summary of what came before]")];
    window.extend_from_slice(&old[cut..]);
    Some(Projection {
        base: session.revision(),
        operation: Operation::Compact,
        cause: "test".to_owned(),
        before: counts(old),
        after: counts(&window),
        window,
        originals: Vec::new(),
    })
}

pub(crate) fn counts(window: &[Message]) -> Counts {
    Counts {
        messages: window.len(),
        chars: 0,
        tokens: 0,
    }
}
