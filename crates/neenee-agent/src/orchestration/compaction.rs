//! Compaction: older rounds become one checkpoint message, written by the model or, failing that, by rule.
//! Deliberately not the choice of rounds, which is core's, and not durability, which is the journal's.

use std::fmt::Write as _;

use neenee_core::estimate::Estimator;
use neenee_core::message::{Message, Part, Role};
use neenee_core::pressure::Fold;
use neenee_core::touch::{Access, ToolTable};

use crate::render;

/// How a checkpoint begins, which is what it is recognised by: as the first message of a window only.
pub const CHECKPOINT_PREFIX: &str = "[Checkpoint of this conversation: ";

/// What the model is told when it writes a summary.
pub(crate) const SUMMARY_SYSTEM: &str = "You write the checkpoint of a conversation between a person and a coding \
agent. The agent will go on with your text in place of the conversation, and with the newest messages. Keep: what the \
person wants, in their words where they matter; decisions and their reasons; every file that was changed and how; what was \
tried and failed; what is left to do, and the step that was under way. Keep exact names, paths, commands, numbers and error \
texts. Leave out: greetings, what was only looked at and led to nothing, and what can be read again from the files. Write plain \
text under short headings. Do not address anybody and do not call tools.";

/// The longest summary, in tokens, whatever the window.
const LONGEST_SUMMARY_TOKENS: usize = 4_000;
/// One result in what is summarised, in chars: its beginning and end say what it was.
const RESULT_CHARS: usize = 1_500;

/// That a summary took the place of older rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// Whole rounds that left.
    pub rounds: usize,
    /// Turns that left, those of whole rounds included.
    pub turns: usize,
    /// Messages that left.
    pub messages: usize,
    /// The estimate of the request before, in tokens.
    pub tokens_before: usize,
    /// And after.
    pub tokens_after: usize,
    /// Who wrote the summary.
    pub author: Author,
}

/// Who wrote a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Author {
    /// The model.
    Model,
    /// A rule, since the model could not be asked.
    Excerpt,
}

/// Looks on while rounds are folded.
pub trait CompactionHook: Send + Sync {
    /// Asked before anything is done; `false` forbids it. What overflows then stays an error.
    fn before(&self, fold: &Fold, messages: &[Message]) -> bool {
        let _ = (fold, messages);
        true
    }

    /// Told afterwards.
    fn after(&self, compacted: &Compacted) {
        let _ = compacted;
    }
}

/// How long a summary may be that shall leave most of `target_tokens` to what stays.
pub(crate) fn summary_tokens(target_tokens: usize) -> usize {
    (target_tokens / 4).clamp(256, LONGEST_SUMMARY_TOKENS)
}

/// The checkpoint message that holds `summary`.
pub(crate) fn checkpoint(summary: &str, rounds: usize, turns: usize) -> Message {
    let text = format!(
        "{CHECKPOINT_PREFIX}{rounds} rounds and {turns} turns before this point were summarised]\n\n{}",
        summary.trim()
    );
    Message {
        role: Role::User,
        parts: vec![Part::Text(text)],
    }
}

/// What the model is asked: the former summary, what leaves, and what is wanted; in at most `room` tokens.
pub(crate) fn summary_request(
    folded: &[Message],
    carried: usize,
    room: usize,
    limit: usize,
    estimator: &Estimator,
) -> Message {
    let mut text = String::new();
    if let Some(former) = former(folded, carried) {
        text.push_str(
            "The summary of what came even earlier; carry on what still matters of it:\n\n",
        );
        text.push_str(former);
        text.push_str("\n\n");
    }
    let words = limit * 2 / 3;
    let closing = format!(
        "Write the checkpoint now, in at most {words} words. Start with what the person wants."
    );
    let left = room
        .saturating_sub(estimator.tokens(&text) + estimator.tokens(&closing))
        .max(500);
    text.push_str("The conversation:\n\n");
    text.push_str(&middle_out(
        &transcript(&folded[carried..]),
        left,
        estimator,
    ));
    text.push_str("\n\n");
    text.push_str(&closing);
    Message {
        role: Role::User,
        parts: vec![Part::Text(text)],
    }
}

/// The text of the checkpoint that stands first, without its heading.
fn former(folded: &[Message], carried: usize) -> Option<&str> {
    let Some(Part::Text(text)) = folded.get(carried.checked_sub(1)?)?.parts.first() else {
        return None;
    };
    text.split_once("]\n\n").map(|(_, summary)| summary)
}

/// Messages as text, with each result cut to its beginning and end.
fn transcript(messages: &[Message]) -> String {
    let mut out = String::new();
    for message in messages {
        for part in &message.parts {
            // Writing into a string cannot fail.
            let _ = match part {
                Part::Result(result) => {
                    let text = render::result(result);
                    writeln!(out, "[result] {}", ends(&text, RESULT_CHARS))
                }
                _ => {
                    let message = Message {
                        role: message.role,
                        parts: vec![part.clone()],
                    };
                    render::transcript(&mut out, std::slice::from_ref(&message));
                    Ok(())
                }
            };
        }
    }
    out
}

/// The beginning and the end of `text`, `chars` of it in all.
fn ends(text: &str, chars: usize) -> String {
    let half = chars / 2;
    let Some((head, _)) = text.char_indices().nth(half) else {
        return text.to_owned();
    };
    let tail = text.char_indices().rev().nth(half).map_or(0, |(at, _)| at);
    if tail <= head {
        return text.to_owned();
    }
    format!("{} […] {}", &text[..head], &text[tail..])
}

/// As much of the beginning and, twice as much, of the end as fits into `tokens`.
fn middle_out(text: &str, tokens: usize, estimator: &Estimator) -> String {
    let all = estimator.tokens(text);
    if all <= tokens {
        return text.to_owned();
    }
    // Estimates are about additive, so a share of the bytes is about that share of the tokens.
    let bytes = (text.len() as f64 * tokens as f64 / all as f64 * 0.95) as usize;
    let head = text.floor_char_boundary(bytes / 3);
    let tail = text.ceil_char_boundary(text.len() - (bytes - bytes / 3));
    format!(
        "{}\n[part of the conversation is left out here]\n{}",
        &text[..head],
        &text[tail..]
    )
}

/// A summary cut to its limit, for a model that did not keep to it.
pub(crate) fn limited(summary: &str, limit: usize, estimator: &Estimator) -> String {
    let all = estimator.tokens(summary);
    if all <= limit {
        return summary.to_owned();
    }
    let bytes = (summary.len() as f64 * limit as f64 / all as f64 * 0.95) as usize;
    summary[..summary.floor_char_boundary(bytes)].to_owned()
}

/// A summary by rule: what the person said, what was touched, what was said last.
pub(crate) fn excerpt(
    folded: &[Message],
    carried: usize,
    limit: usize,
    table: &ToolTable,
    estimator: &Estimator,
) -> String {
    let share = limit / 4;
    let mut out = String::new();
    if let Some(former) = former(folded, carried) {
        out.push_str(&limited(former, share, estimator));
        out.push_str("\n\n");
    }
    let (mut asked, mut said) = (String::new(), String::new());
    let (mut changed, mut read) = (Vec::new(), Vec::new());
    for message in &folded[carried..] {
        for part in &message.parts {
            // Writing into a string cannot fail.
            let _ = match (message.role, part) {
                (Role::User, Part::Text(text)) => writeln!(asked, "- {}", ends(text.trim(), 400)),
                (Role::Assistant, Part::Text(text)) => {
                    writeln!(said, "- {}", ends(text.trim(), 300))
                }
                (_, Part::Call(call)) => {
                    for target in table.call(&call.name, &call.arguments, None).targets {
                        let list = match target.access {
                            Access::Mutate => &mut changed,
                            Access::Read(_) => &mut read,
                        };
                        let path = target.path.as_str().to_owned();
                        if !list.contains(&path) {
                            list.push(path);
                        }
                    }
                    Ok(())
                }
                _ => Ok(()),
            };
        }
    }
    read.retain(|path| !changed.contains(path));
    for (title, text) in [
        ("The person asked:", asked),
        ("Files changed:", changed.join("\n")),
        ("Files read:", read.join("\n")),
        ("The agent said:", said),
    ] {
        if !text.is_empty() {
            let text = middle_out(text.trim_end(), share, estimator);
            let _ = writeln!(out, "{title}\n{text}\n");
        }
    }
    limited(out.trim_end(), limit, estimator)
}

#[cfg(test)]
mod tests {
    use super::*;
    use neenee_core::message::{ToolCall, ToolResult};

    fn text(role: Role, text: &str) -> Message {
        Message {
            role,
            parts: vec![Part::Text(text.into())],
        }
    }

    #[test]
    fn an_excerpt_keeps_what_was_asked_and_what_was_touched() {
        let folded = [
            checkpoint("Earlier: the port is 8080.", 2, 5),
            text(Role::User, "rename the module"),
            Message {
                role: Role::Assistant,
                parts: vec![Part::Call(ToolCall {
                    id: None,
                    name: "edit".into(),
                    arguments: r#"{"path":"src/a.rs","old":"x","new":"y"}"#.into(),
                })],
            },
            Message {
                role: Role::Tool,
                parts: vec![Part::Result(ToolResult::default())],
            },
            text(Role::Assistant, "renamed it"),
        ];
        let estimator = Estimator::default();
        let table = ToolTable::builtin();
        let got = excerpt(&folded, 1, 1_000, &table, &estimator);
        for piece in [
            "the port is 8080",
            "rename the module",
            "src/a.rs",
            "renamed it",
        ] {
            assert!(got.contains(piece), "{got}");
        }
        assert_eq!(got, excerpt(&folded, 1, 1_000, &table, &estimator));
        let long = text(Role::User, &"words and words ".repeat(20_000));
        let got = excerpt(&[long], 0, 300, &table, &estimator);
        assert!(estimator.tokens(&got) <= 300);
    }

    #[test]
    fn what_is_summarised_fits_its_room() {
        let estimator = Estimator::default();
        let folded = [
            checkpoint("Earlier: the port is 8080.", 2, 5),
            text(Role::User, &format!("BEGIN {} END", "word ".repeat(50_000))),
        ];
        let message = summary_request(&folded, 1, 5_000, 800, &estimator);
        let Part::Text(request) = &message.parts[0] else {
            panic!("no text");
        };
        assert!(
            estimator.tokens(request) <= 5_100,
            "{}",
            estimator.tokens(request)
        );
        for piece in ["8080", "BEGIN", "END", "left out here"] {
            assert!(request.contains(piece), "{piece}");
        }
    }
}
