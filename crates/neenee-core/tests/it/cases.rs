//! The worked cases of the pruning rules, as data: each `.case` file holds small conversations
//! and what the planner decides about each result.
//! Deliberately no wire format; codecs have tests of their own.

use std::sync::Arc;

use neenee_core::message::{
    Degraded, Media, MediaKind, Message, Part, Reasoning, Role, Tier, ToolCall, ToolResult,
};
use neenee_core::model::RewriteRule;
use neenee_core::pressure::{Planner, PruneOptions, Setup};

/// One conversation and what is expected of it.
struct Case {
    name: String,
    setup: PruneOptions,
    cwd: Option<String>,
    messages: Vec<Message>,
    expect: Vec<(String, String)>,
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the cases are files; core itself still reads none"
)]
fn worked_cases() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cases");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut seen = 0;
    let mut failures = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for block in text.split("\n== ").skip(1) {
            seen += 1;
            let case = parse(block);
            assert!(!case.expect.is_empty(), "{} expects nothing", case.name);
            if let Err(why) = check(&case) {
                failures.push(format!("{}: {}: {why}", file.display(), case.name));
            }
        }
    }
    assert!(seen >= 60, "only {seen} cases were found");
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

fn check(case: &Case) -> Result<(), String> {
    let mut planner = Planner::new(Arc::new(Setup::new(case.setup.clone())));
    if let Some(cwd) = &case.cwd {
        planner.push(&neenee_core::pressure::View::Cwd(cwd));
    }
    planner.push_messages(&case.messages);
    let ids: Vec<String> = case
        .messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::Result(result) => Some(result.call_id.clone().unwrap_or_default()),
            _ => None,
        })
        .collect();
    let decisions = planner.decisions();
    let mut wrong = Vec::new();
    for (id, expect) in &case.expect {
        let (id, nth) = id.split_once('#').unwrap_or((id, "1"));
        let nth: usize = nth.parse().unwrap();
        let ordinal = ids
            .iter()
            .enumerate()
            .filter(|(_, known)| *known == id)
            .nth(nth - 1)
            .ok_or_else(|| format!("no result {id}"))?
            .0;
        let decision = &decisions[ordinal];
        let by = decision
            .superseded_by
            .map_or(String::new(), |by| format!(" by {}", ids[by]));
        let got = format!("{} {}{by}", decision.tier, decision.reason.name());
        if got != *expect && decision.tier.to_string() != *expect {
            wrong.push(format!("{id} is {got}, expected {expect}"));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("; "))
    }
}

fn parse(block: &str) -> Case {
    let mut lines = block.lines();
    let mut case = Case {
        name: lines.next().unwrap_or_default().to_owned(),
        setup: PruneOptions::bare(0, 0),
        cwd: None,
        messages: Vec::new(),
        expect: Vec::new(),
    };
    for line in lines {
        let line = line.trim();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "" | "#" => {}
            "option" => option(&mut case.setup, rest),
            "cwd" => case.cwd = Some(rest.to_owned()),
            "user" => message(&mut case, Role::User, Part::Text(rest.to_owned())),
            "says" => message(&mut case, Role::Assistant, Part::Text(rest.to_owned())),
            "turn" => case.messages.push(Message {
                role: Role::Assistant,
                parts: Vec::new(),
            }),
            "thinks" => {
                let reasoning = Reasoning {
                    text: rest.to_owned(),
                    signature: Some("sig".into()),
                };
                message(&mut case, Role::Assistant, Part::Reasoning(reasoning));
            }
            "call" => {
                let mut words = rest.splitn(3, ' ');
                let id = words.next().unwrap_or_default();
                let name = words.next().unwrap_or_default().to_owned();
                let arguments = words.next().unwrap_or("{}");
                let call = ToolCall {
                    id: (id != "-").then(|| id.to_owned()),
                    name,
                    // JSON brings its own escapes; free text has real line breaks.
                    arguments: if arguments.starts_with('{') {
                        arguments.to_owned()
                    } else {
                        arguments.replace("\\n", "\n")
                    },
                };
                message(&mut case, Role::Assistant, Part::Call(call));
            }
            "result" => {
                let (id, body) = rest.split_once(' ').unwrap_or((rest, ""));
                let mut result = result(body);
                result.call_id = Some(id.to_owned());
                message(&mut case, Role::Tool, Part::Result(result));
            }
            "expect" => {
                let (id, tier) = rest.split_once(' ').expect("expect ID TIER [REASON]");
                case.expect.push((id.to_owned(), tier.to_owned()));
            }
            other => panic!("unknown word {other:?} in case {}", case.name),
        }
    }
    case
}

fn option(options: &mut PruneOptions, text: &str) {
    let (key, value) = text.split_once(' ').unwrap_or((text, ""));
    match key {
        "default" => {
            *options = PruneOptions {
                protect_recent_chars: 0,
                ..PruneOptions::default()
            }
        }
        "protect" => options.protect_recent_chars = value.parse().unwrap(),
        "union" => options.union_coverage = true,
        "dedupe" => options.dedupe_calls = true,
        "unseen" => options.protect_unseen = true,
        "disposable" => options.disposable = true,
        "recalled" => options.protect_recalled_turns = value.parse().unwrap(),
        "error_weight" => options.error_weight = value.parse().unwrap(),
        "append_only" => options.rewrite = RewriteRule::AppendOnly,
        "drop" => options.rewrite = RewriteRule::Drop,
        "cap" => options.unsent_cap_chars = value.parse().unwrap(),
        other => panic!("unknown option {other}"),
    }
}

/// Consecutive parts of one role stand in one message.
fn message(case: &mut Case, role: Role, part: Part) {
    match case.messages.last_mut() {
        Some(last) if last.role == role => last.parts.push(part),
        _ => case.messages.push(Message {
            role,
            parts: vec![part],
        }),
    }
}

/// Bodies: `[failed] lines A..B` (numbered, B excluded), `[failed] text N` (N chars, no numbers),
/// `[failed] says TEXT` (⏎ is a line break), `image TOKENS`, `truncated N`, `cleared N`.
fn result(body: &str) -> ToolResult {
    let mut out = ToolResult::default();
    let body = match body.strip_prefix("failed ") {
        Some(rest) => {
            out.failed = Some(true);
            rest
        }
        None => body,
    };
    let (kind, rest) = body.split_once(' ').unwrap_or((body, ""));
    match kind {
        "lines" => {
            let (a, b) = rest.split_once("..").unwrap();
            let range = a.parse::<usize>().unwrap()..b.parse().unwrap();
            out.text = range
                .map(|line| format!("{line:>6}\u{2192}let x{line} = compute({line});\n"))
                .collect();
        }
        "text" => out.text = filler(rest.parse().unwrap()),
        "says" => out.text = rest.replace('⏎', "\n"),
        "image" => out.media.push(Media {
            kind: MediaKind::Image,
            bytes: 1_200_000,
            tokens: rest.parse().unwrap(),
            payload: Vec::new(),
        }),
        "truncated" | "cleared" => {
            out.text = filler(1_000);
            out.degraded = Some(Degraded {
                tier: if kind == "cleared" {
                    Tier::Cleared
                } else {
                    Tier::Truncated
                },
                lines: Some(7),
                chars: rest.parse().unwrap(),
            });
        }
        other => panic!("unknown body {other:?}"),
    }
    out
}

fn filler(chars: usize) -> String {
    "the quick brown fox jumps over the lazy dog\n"
        .chars()
        .cycle()
        .take(chars)
        .collect()
}
