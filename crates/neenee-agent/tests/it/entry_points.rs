//! Both entry points of pruning, seen from the provider: what is sent, what changes in it, and when.
//! Deliberately over each format once: what is pruned must not depend on it.

use neenee_agent::journal::ProjectionKind;
use neenee_agent::provider::Wire;
use neenee_agent::{LiveModel, RoundEnd};
use neenee_core::pressure::CLEARED_TOOL_PREFIX;
use neenee_testkit::upstream::{Op, Script, Turn};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::support::{self, Bed, assert_recoverable, common, messages};

const WINDOW: usize = 32_000;

/// `files` reads of about 4 000 tokens each, one a turn, then a word.
fn reads(files: usize) -> Vec<Turn> {
    let mut turns: Vec<Turn> = (0..files)
        .map(|file| Turn::call([Op::read(format!("f{file}.txt"))]))
        .collect();
    turns.push(Turn::say("Read."));
    turns
}

fn holds_placeholder(body: &Value) -> bool {
    let text = body.to_string();
    text.contains(CLEARED_TOOL_PREFIX) || text.contains("chars elided to relieve context")
}

/// Every request that follows another: the same messages up to a result, which alone differs.
#[track_caller]
fn check_prefixes(bodies: &[Value]) -> usize {
    let mut pruned = 0;
    for pair in bodies.windows(2) {
        let (before, after) = (messages(&pair[0]), messages(&pair[1]));
        let same = common(&pair[0], &pair[1]);
        if same == before.len() {
            continue;
        }
        pruned += 1;
        // Same number and kind of messages; only contents of results differ.
        for (old, new) in before.iter().zip(&after) {
            if old != new {
                assert!(holds_placeholder(new), "{new}");
                assert_eq!(old["role"], new["role"]);
                assert_eq!(old["tool_call_id"], new["tool_call_id"]);
                assert_eq!(old["call_id"], new["call_id"]);
            }
        }
    }
    pruned
}

#[tokio::test]
async fn before_the_round_once_and_only_over_the_threshold() {
    let folder = support::folder();
    for file in 0..5 {
        support::file(&folder, &format!("f{file}.txt"), 240);
    }
    let script = Script::new(support::root(&folder))
        .round("first", reads(5))
        .round("second", vec![Turn::say("Two.")])
        .round("third", vec![Turn::say("Three.")]);
    let mut bed = Bed::new(folder, Wire::Chat, script, WINDOW, |_, _| {}).await;
    // Inside of the first round nobody prunes, so that the second begins over the threshold.
    bed.agent.set_gates(Vec::new());
    let cancel = CancellationToken::new();
    let outcome = bed.agent.run("first", &cancel).await.unwrap();
    assert_eq!((outcome.end, outcome.turns), (RoundEnd::Done, 6));
    let budget = bed.agent.budget();
    let pressure = bed.agent.window().pressure_tokens();
    assert!(pressure > budget.prune_threshold_tokens, "{pressure}");
    assert!(pressure < budget.compact_threshold_tokens, "{pressure}");
    assert!(bed.journal.lock().unwrap().projections().is_empty());

    bed.agent.run("second", &cancel).await.unwrap();
    let after = bed.agent.window().pressure_tokens();
    assert!(after < budget.prune_threshold_tokens, "{after}");
    bed.agent.run("third", &cancel).await.unwrap();
    let bodies = bed.bodies();
    assert_eq!(bodies.len(), 8);
    assert!(bodies[..6].iter().all(|body| !holds_placeholder(body)));
    assert_eq!(check_prefixes(&bodies), 1);
    // The pruning stands in the first request of the second round and in no other step.
    assert!(common(&bodies[5], &bodies[6]) < messages(&bodies[5]).len());
    assert_eq!(common(&bodies[6], &bodies[7]), messages(&bodies[6]).len());
    let journal = bed.journal.lock().unwrap();
    assert_eq!(journal.projections(), [ProjectionKind::Prune]);
    assert_recoverable(&journal, bed.agent.window().messages());
    assert_eq!(bed.compactions(), 0);
}

#[tokio::test]
async fn inside_the_round_between_turns() {
    let folder = support::folder();
    for file in 0..12 {
        support::file(&folder, &format!("f{file}.txt"), 240);
    }
    let script = Script::new(support::root(&folder)).round("first", reads(12));
    let mut bed = Bed::new(folder, Wire::Anthropic, script, WINDOW, |_, _| {}).await;
    let outcome = bed.agent.run("first", &CancellationToken::new()).await;
    assert_eq!(outcome.unwrap().turns, 13);
    let bodies = bed.bodies();
    let pruned = check_prefixes(&bodies);
    assert!(pruned >= 1, "{pruned}");
    assert!(!holds_placeholder(&bodies[1]));
    let journal = bed.journal.lock().unwrap();
    assert_eq!(journal.projections(), vec![ProjectionKind::Prune; pruned]);
    assert_recoverable(&journal, bed.agent.window().messages());
    // What is durable is what is sent next.
    assert_eq!(
        neenee_agent::Journal::window(&*journal).unwrap(),
        bed.agent.window().messages()
    );
    let budget = bed.agent.budget();
    for entry in bed.agent.ledger().entries() {
        assert!(entry.estimated_input <= budget.compact_threshold_tokens);
    }
    // Silent: nothing is said but in the meter.
    assert_eq!(bed.compactions(), 0);
    assert!(bed.agent.meter().pruned_tokens > 0);
}

#[tokio::test]
async fn the_switch_turns_both_off() {
    let folder = support::folder();
    for file in 0..6 {
        support::file(&folder, &format!("f{file}.txt"), 240);
    }
    let script = Script::new(support::root(&folder))
        .round("first", reads(5))
        .round("second", vec![Turn::say("Two.")]);
    let mut bed = Bed::new(folder, Wire::Responses, script, WINDOW, |options, _| {
        options.settings.policy.prune = false;
    })
    .await;
    let cancel = CancellationToken::new();
    bed.agent.run("first", &cancel).await.unwrap();
    assert!(bed.agent.window().pressure_tokens() > bed.agent.budget().prune_threshold_tokens);
    bed.agent.run("second", &cancel).await.unwrap();
    let bodies = bed.bodies();
    assert_eq!(check_prefixes(&bodies[..7]), 0);
    assert!(bodies.iter().all(|body| !holds_placeholder(body)));
    let journal = bed.journal.lock().unwrap();
    assert!(!journal.projections().contains(&ProjectionKind::Prune));
}

#[tokio::test]
async fn the_threshold_is_that_of_the_live_model() {
    let folder = support::folder();
    for file in 0..5 {
        support::file(&folder, &format!("f{file}.txt"), 240);
    }
    let script = Script::new(support::root(&folder))
        .round("first", reads(5))
        .round("second", vec![Turn::say("Two.")])
        .round("third", vec![Turn::say("Three.")]);
    let mut bed = Bed::new(folder, Wire::Chat, script, 200_000, |_, _| {}).await;
    let cancel = CancellationToken::new();
    bed.agent.run("first", &cancel).await.unwrap();
    bed.agent.run("second", &cancel).await.unwrap();
    assert!(bed.journal.lock().unwrap().projections().is_empty());
    let mut smaller = LiveModel::new("scripted-small");
    smaller.window_tokens = Some(WINDOW);
    let provider = support::provider(Wire::Chat, &bed.upstream);
    bed.agent.set_model(provider, smaller);
    bed.agent.run("third", &cancel).await.unwrap();
    let journal = bed.journal.lock().unwrap();
    assert_eq!(journal.projections(), [ProjectionKind::Prune]);
    let bodies = bed.bodies();
    assert_eq!(bodies.last().unwrap()["model"], "scripted-small");
}
