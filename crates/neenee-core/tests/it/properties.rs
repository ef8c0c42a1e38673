//! What holds of every plan, whatever the conversation: convergence, atomicity, nothing lost.
//! Deliberately random; the cases that people care about by name are in `cases`.

use std::sync::Arc;

use neenee_core::message::{
    Media, MediaKind, Message, Part, Reasoning, Role, Tier, ToolCall, ToolResult,
};
use neenee_core::model::RewriteRule;
use neenee_core::pressure::{
    Plan, Planner, PruneOptions, PruneOutcome, Setup, contains_marker, prune_tool_results,
    prune_with,
};
use proptest::prelude::*;

const FILES: [&str; 7] = [
    "/repo/src/a.rs",
    "src/a.rs",
    "/repo/src/mod.rs",
    "/repo/net/mod.rs",
    "b.rs",
    "/repo/AGENTS.md",
    "C:\\x\\設計 書.md",
];

fn call() -> impl Strategy<Value = (String, String)> {
    let file = proptest::sample::select(&FILES[..]);
    let json = |file: &str| format!("\"{}\"", file.replace('\\', "\\\\"));
    prop_oneof![
        4 => (file.clone(), 1..300u32, proptest::option::of(1..200u32)).prop_map(move |(file, offset, limit)| {
            let limit = limit.map_or(String::new(), |limit| format!(",\"limit\":{limit}"));
            ("Read".to_owned(), format!("{{\"file_path\":{},\"offset\":{offset}{limit}}}", json(file)))
        }),
        2 => file.clone().prop_map(move |file| {
            ("Edit".to_owned(), format!("{{\"file_path\":{},\"old_string\":\"x\",\"new_string\":\"y\"}}", json(file)))
        }),
        2 => proptest::sample::select(&["cat src/a.rs", "ls", "make", "sed -i s/x/y/ b.rs", "rg foo", "cat b.rs > c.rs"][..])
            .prop_map(|command| ("Bash".to_owned(), format!("{{\"command\":\"{command}\"}}"))),
        1 => Just(("TodoWrite".to_owned(), "{}".to_owned())),
        1 => (".{0,12}", ".{0,40}"),
    ]
}

fn body() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (1..200usize, 0..200usize).prop_map(|(from, count)| {
            (from..from + count).map(|line| format!("{line:>6}\u{2192}let x{line} = 1;\n")).collect()
        }),
        3 => (0..6_000usize).prop_map(|chars| {
            "The quick brown fox; 12 + 3 = 15.\r\n".chars().cycle().take(chars).collect()
        }),
        1 => (0..3_000usize).prop_map(|chars| "日本語👩‍👩‍👧e\u{301}".chars().cycle().take(chars).collect()),
        1 => Just("Error: no such file".to_owned()),
        1 => Just("[cleared tool result: x (1 lines, 5000 chars)]".to_owned()),
        1 => ".{0,200}",
    ]
}

fn result(depth: u32) -> BoxedStrategy<ToolResult> {
    let children = if depth == 0 {
        Just(Vec::new()).boxed()
    } else {
        prop_oneof![6 => Just(Vec::new()), 1 => conversation(depth - 1, 6)].boxed()
    };
    let media = prop_oneof![
        9 => Just(Vec::new()),
        1 => (1..3_000usize).prop_map(|tokens| vec![Media {
            kind: MediaKind::Image, bytes: 70_000, tokens, payload: vec![1, 2, 3],
        }]),
    ];
    (
        body(),
        media,
        proptest::option::weighted(0.2, any::<bool>()),
        children,
    )
        .prop_map(|(text, media, failed, children)| ToolResult {
            text,
            media,
            failed,
            children,
            ..ToolResult::default()
        })
        .boxed()
}

/// Turns with calls and their results; some ids collide, some pairs are broken.
fn conversation(depth: u32, turns: usize) -> BoxedStrategy<Vec<Message>> {
    let pair = (call(), result(depth), 0..6u32, 0..20u32);
    let says = prop_oneof![
        Just("ok".to_owned()),
        proptest::sample::select(&FILES[..]).prop_map(|file| format!("now look at {file}:12.")),
        ".{0,60}",
    ];
    let turn = (proptest::collection::vec(pair, 0..4), says, 0..4u32);
    proptest::collection::vec(turn, 0..turns)
        .prop_map(|turns| {
            let mut messages = Vec::new();
            let mut number = 0;
            for (pairs, says, who) in turns {
                let mut parts = Vec::new();
                let mut results = Vec::new();
                if who == 1 {
                    parts.push(Part::Reasoning(Reasoning {
                        text: says.clone(),
                        signature: Some("s".into()),
                    }));
                }
                for ((name, arguments), mut result, reuse, broken) in pairs {
                    number += 1;
                    let id = Some(if reuse == 0 {
                        "same".to_owned()
                    } else {
                        format!("c{number}")
                    });
                    result.call_id.clone_from(&id);
                    if broken != 0 {
                        parts.push(Part::Call(ToolCall {
                            id,
                            name,
                            arguments,
                        }));
                    }
                    if broken != 1 {
                        results.push(Part::Result(result));
                    }
                }
                messages.push(Message {
                    role: Role::Assistant,
                    parts,
                });
                messages.push(Message {
                    role: Role::Tool,
                    parts: results,
                });
                let role = if who == 0 {
                    Role::User
                } else {
                    Role::Assistant
                };
                messages.push(Message {
                    role,
                    parts: vec![Part::Text(says)],
                });
            }
            messages
        })
        .boxed()
}

fn options() -> impl Strategy<Value = PruneOptions> {
    let rule = proptest::sample::select(
        &[
            RewriteRule::Free,
            RewriteRule::Drop,
            RewriteRule::Delegate,
            RewriteRule::AppendOnly,
        ][..],
    );
    (
        any::<bool>(),
        0..20_000usize,
        0..20_000usize,
        prop_oneof![3 => Just(RewriteRule::Free), 1 => rule],
    )
        .prop_map(|(bare, protect, floor, rewrite)| {
            let base = if bare {
                PruneOptions::bare(protect, floor)
            } else {
                PruneOptions {
                    protect_recent_chars: protect,
                    min_reclaim_chars: floor,
                    ..PruneOptions::default()
                }
            };
            PruneOptions {
                rewrite,
                unsent_cap_chars: 3_000,
                ..base
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn passes_converge(mut messages in conversation(1, 12), options in options()) {
        let setup = Arc::new(Setup::new(PruneOptions { min_reclaim_chars: 0, ..options }));
        prune_with(&mut messages, &setup);
        prune_with(&mut messages, &setup);
        let settled = messages.clone();
        let third = prune_with(&mut messages, &setup);
        prop_assert!(third.is_none(), "{:?}", third.map(|outcome| outcome.plan));
        prop_assert_eq!(messages, settled);
    }

    #[test]
    fn below_the_gate_nothing_differs_and_above_it_only_results_do(
        mut messages in conversation(1, 12),
        options in options(),
    ) {
        let before = messages.clone();
        let floor = options.min_reclaim_chars;
        match prune_with(&mut messages, &Arc::new(Setup::new(options))) {
            None => prop_assert_eq!(messages, before),
            Some(outcome) => {
                prop_assert!(outcome.reclaimed_chars > floor);
                prop_assert!(outcome.reclaimed_chars <= weight(&before));
                prop_assert_eq!(weight(&before) - outcome.reclaimed_chars, weight(&messages));
                restore(&mut messages, &outcome);
                prop_assert_eq!(messages, before);
            }
        }
    }

    #[test]
    fn a_plan_is_the_same_after_any_split_into_steps(
        messages in conversation(1, 12),
        options in options(),
        looks in proptest::collection::vec(any::<bool>(), 40),
    ) {
        let setup = Arc::new(Setup::new(options));
        let mut at_once = Planner::new(setup.clone());
        at_once.push_messages(&messages);
        let mut stepwise = Planner::new(setup);
        for (index, message) in messages.iter().enumerate() {
            stepwise.push_messages(std::slice::from_ref(message));
            if looks.get(index) == Some(&true) {
                stepwise.plan();
                stepwise.decisions();
            }
        }
        prop_assert_eq!(at_once.plan(), stepwise.plan());
        prop_assert_eq!(at_once.decisions(), stepwise.decisions());
        prop_assert_eq!(at_once.pressure_tokens(), stepwise.pressure_tokens());
    }

    #[test]
    fn a_planner_that_recorded_a_plan_agrees_with_one_that_reads_the_result(
        mut messages in conversation(0, 12),
        options in options(),
    ) {
        let setup = Arc::new(Setup::new(PruneOptions { min_reclaim_chars: 0, ..options }));
        let mut planner = Planner::new(setup.clone());
        planner.push_messages(&messages);
        for _ in 0..3 {
            let plan = planner.plan();
            planner.record(&plan);
            neenee_core::pressure::apply(&mut messages, plan, Vec::new());
            let mut fresh = Planner::new(setup.clone());
            fresh.push_messages(&messages);
            prop_assert_eq!(planner.pressure_tokens(), fresh.pressure_tokens());
            prop_assert_eq!(planner.plan(), fresh.plan());
        }
    }

    #[test]
    fn what_was_written_is_recognised_without_its_record(
        mut messages in conversation(0, 12),
    ) {
        prune_tool_results(&mut messages, 0, 0);
        let mut planner = Planner::new(Arc::new(Setup::new(PruneOptions::bare(0, 0))));
        planner.push_messages(&messages);
        let mut stripped = messages.clone();
        for result in results(&mut stripped) {
            result.degraded = None;
        }
        let mut reread = Planner::new(Arc::new(Setup::new(PruneOptions::bare(0, 0))));
        reread.push_messages(&stripped);
        for ordinal in 0..planner.result_count() {
            let tier = |planner: &Planner| planner.result(ordinal).map(|info| info.tier);
            prop_assert_eq!(tier(&planner), tier(&reread));
        }
        for result in results(&mut stripped) {
            if result.text.contains("elided to relieve context") {
                prop_assert!(contains_marker(&result.text));
            }
        }
    }

    #[test]
    fn a_plan_never_adds(messages in conversation(1, 12), options in options()) {
        let mut planner = Planner::new(Arc::new(Setup::new(options)));
        planner.push_messages(&messages);
        never_adds(&planner.plan())?;
    }
}

fn never_adds(plan: &Plan) -> Result<(), TestCaseError> {
    for edit in &plan.edits {
        let decision = &edit.decision;
        prop_assert!(decision.chars.after <= decision.chars.before);
        prop_assert!(decision.tokens.after <= decision.tokens.before);
        if let Some(replacement) = &edit.replacement {
            prop_assert!(decision.chars.after < decision.chars.before);
            prop_assert!(decision.tokens.after < decision.tokens.before);
            prop_assert_eq!(replacement.text.chars().count(), decision.chars.after);
            prop_assert!(decision.tier != Tier::Kept);
        }
        never_adds(&edit.children)?;
    }
    Ok(())
}

fn results(messages: &mut [Message]) -> impl Iterator<Item = &mut ToolResult> {
    messages
        .iter_mut()
        .flat_map(|message| &mut message.parts)
        .filter_map(|part| match part {
            Part::Result(result) => Some(result),
            _ => None,
        })
}

/// Chars of all tool results, children's included.
fn weight(messages: &[Message]) -> usize {
    messages
        .iter()
        .flat_map(|message| &message.parts)
        .map(|part| match part {
            Part::Result(result) => {
                let media: usize = result.media.iter().map(|media| media.tokens * 4).sum();
                result.text.chars().count() + media + weight(&result.children)
            }
            _ => 0,
        })
        .sum()
}

/// Puts every original back where its path says.
fn restore(messages: &mut [Message], outcome: &PruneOutcome) {
    for original in &outcome.originals {
        let (last, above) = original.path.split_last().unwrap();
        let mut level = &mut *messages;
        for &ordinal in above {
            level = &mut results(level).nth(ordinal).unwrap().children;
        }
        let result = results(level).nth(*last).unwrap();
        assert_eq!(result.call_id, original.call_id);
        result.text.clone_from(&original.text);
        result.media.clone_from(&original.media);
        result.degraded = original.degraded;
    }
}
