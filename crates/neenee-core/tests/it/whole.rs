//! Conversations that are worked cases by their shape: envoys, nothing, only results, very many.
//! Deliberately built in code; what a few lines can say stands in `cases`.

use std::sync::Arc;

use neenee_core::message::{Message, Part, Role, Tier, ToolCall, ToolResult};
use neenee_core::pressure::{
    Planner, PruneOptions, PruneOutcome, Reason, Setup, prune_tool_results, prune_with,
};

fn call(id: &str, name: &str, arguments: &str) -> Message {
    Message {
        role: Role::Assistant,
        parts: vec![Part::Call(ToolCall {
            id: Some(id.to_owned()),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        })],
    }
}

fn result(id: &str, text: impl Into<String>, children: Vec<Message>) -> Message {
    Message {
        role: Role::Tool,
        parts: vec![Part::Result(ToolResult {
            call_id: Some(id.to_owned()),
            text: text.into(),
            children,
            ..ToolResult::default()
        })],
    }
}

fn says(text: &str) -> Message {
    Message {
        role: Role::Assistant,
        parts: vec![Part::Text(text.to_owned())],
    }
}

/// `count` commands with 3 000 chars of output each.
fn work(count: usize) -> Vec<Message> {
    (0..count)
        .flat_map(|n| {
            let id = format!("w{n}");
            let command = format!(r#"{{"command":"make step{n}"}}"#);
            let output = format!("step {n:>4}: compiled\n").repeat(150);
            [call(&id, "bash", &command), result(&id, output, Vec::new())]
        })
        .chain([says("done")])
        .collect()
}

fn prune(messages: &mut [Message], options: PruneOptions) -> Option<PruneOutcome> {
    prune_with(messages, &Arc::new(Setup::new(options)))
}

fn bare() -> PruneOptions {
    PruneOptions::bare(0, 0)
}

#[test]
fn an_envoy_with_200_children_is_one_gate_and_keeps_its_shells() {
    let task = r#"{"prompt":"build it"}"#;
    let mut messages = vec![
        call("e", "task", task),
        result("e", "built\n".repeat(600), work(200)),
        says("thanks"),
    ];
    let before = messages.clone();
    assert!(prune(&mut messages, PruneOptions::bare(0, 700_000)).is_none());
    assert_eq!(messages, before);

    let outcome = prune(&mut messages, bare()).unwrap();
    assert_eq!((outcome.truncated, outcome.cleared), (201, 0));
    let outcome = prune(&mut messages, bare()).unwrap();
    assert_eq!((outcome.truncated, outcome.cleared), (0, 201));
    assert!(prune(&mut messages, bare()).is_none());

    let Part::Result(own) = &messages[1].parts[0] else {
        unreachable!("the second message is the result")
    };
    assert_eq!(own.children.len(), 401);
    assert!(own.children.iter().zip(work(200)).all(|(after, before)| {
        after.role == before.role && after.parts.len() == before.parts.len()
    }));
}

#[test]
fn each_envoy_has_a_recency_budget_of_its_own() {
    let task = r#"{"prompt":"build it"}"#;
    let mut messages = vec![
        call("e", "task", task),
        result("e", "built", work(10)),
        call("f", "bash", r#"{"command":"make"}"#),
        result("f", "x\n".repeat(5_000), Vec::new()),
        says("thanks"),
    ];
    let outcome = prune(&mut messages, PruneOptions::bare(7_000, 0)).unwrap();
    // The newest three children cross the 7 000 chars, as they would in a window of their own.
    assert_eq!(outcome.truncated, 7);
}

#[test]
fn a_stale_envoy_too_small_to_clear_has_its_children_planned_at_once() {
    let mut messages = vec![
        call("a", "Read", r#"{"file_path":"/repo/a.rs","offset":1}"#),
        result("a", "fn main() {}", work(1)),
        call("b", "Bash", r#"{"command":"cat /repo/a.rs"}"#),
        result("b", "fn main() {}\nfn other() {}\n".repeat(9), Vec::new()),
        says("read"),
    ];
    let outcome = prune(&mut messages, bare()).unwrap();
    assert!(outcome.plan.edits[0].decision.reason.is_stale());
    assert_eq!(outcome.plan.edits[0].children.edits.len(), 1);
    assert_eq!(prune(&mut messages, bare()).map(|it| it.cleared), Some(1));
    assert!(prune(&mut messages, bare()).is_none());
}

#[test]
fn what_was_cut_to_the_cap_is_within_it() {
    let options = PruneOptions {
        rewrite: neenee_core::model::RewriteRule::AppendOnly,
        unsent_cap_chars: 3_000,
        ..bare()
    };
    let mut messages = vec![
        Message {
            role: Role::Assistant,
            parts: vec![Part::Reasoning(neenee_core::message::Reasoning {
                text: "let me see".to_owned(),
                signature: Some("sig".to_owned()),
            })],
        },
        call("c", "bash", r#"{"command":"make"}"#),
        result("c", "word ".repeat(602), Vec::new()),
    ];
    let outcome = prune(&mut messages, options.clone()).unwrap();
    assert_eq!(outcome.plan.edits[0].decision.reason, Reason::OverCap);
    let Part::Result(cut) = &messages[2].parts[0] else {
        unreachable!("the third message is the result")
    };
    assert!(cut.text.chars().count() <= 3_000);
    assert!(prune(&mut messages, options).is_none());
}

#[test]
fn nothing_and_results_alone_are_conversations() {
    assert!(prune_tool_results(&mut [], 0, 0).is_none());
    let mut orphans: Vec<Message> = (0..5)
        .map(|n| result(&format!("o{n}"), "y\n".repeat(2_000), Vec::new()))
        .collect();
    let outcome = prune_tool_results(&mut orphans, 0, 0).unwrap();
    assert_eq!((outcome.truncated, outcome.cleared), (5, 0));
    assert_eq!(orphans.len(), 5);
}

#[test]
fn a_hundred_thousand_messages_are_planned() {
    let mut messages: Vec<Message> = (0..50_000)
        .flat_map(|n| {
            let (id, line) = (format!("w{n}"), format!("step {n:>6}: compiled\n"));
            let command = format!(r#"{{"command":"make step{n}"}}"#);
            [
                call(&id, "bash", &command),
                result(&id, line.repeat(10), Vec::new()),
            ]
        })
        .collect();
    let mut planner = Planner::new(Arc::new(Setup::new(PruneOptions::bare(22_000, 8_000))));
    planner.push_messages(&messages);
    let plan = planner.plan();
    assert_eq!(plan.count(Tier::Cleared), 50_000 - 100);
    let outcome = prune_tool_results(&mut messages, 22_000, 8_000).unwrap();
    assert_eq!(outcome.plan, plan);
}
