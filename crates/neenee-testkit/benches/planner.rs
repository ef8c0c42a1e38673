//! How long a plan takes: at once over sessions of 1 and 10 million tokens, and turn by turn.
//! Deliberately in the testkit: the sessions are made here, and the core's own build stays free of it.

use std::sync::Arc;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use neenee_core::message::Message;
use neenee_core::pressure::{Planner, PruneOptions, Setup};
use neenee_testkit::session::SessionSpec;

fn main() {
    divan::main();
}

fn setup() -> Arc<Setup> {
    Arc::new(Setup::new(PruneOptions::default()))
}

fn text_bytes(messages: &[Message]) -> usize {
    let mut planner = Planner::new(setup());
    planner.push_messages(messages);
    planner.chars()
}

/// Everything at once: feed the whole conversation, make the plan.
#[divan::bench(args = [250_000, 1_000_000, 10_000_000], sample_count = 30)]
fn one_shot(bencher: Bencher<'_, '_>, tokens: usize) {
    let messages = SessionSpec::of_tokens(tokens).build();
    let setup = setup();
    bencher
        .counter(BytesCount::new(text_bytes(&messages)))
        .bench(|| {
            let mut planner = Planner::new(setup.clone());
            planner.push_messages(black_box(&messages));
            planner.plan()
        });
}

/// One more turn (an assistant message with its calls, and their results) on a conversation of
/// this length.
#[divan::bench(args = [250_000, 1_000_000, 10_000_000], sample_count = 200)]
fn one_more_turn(bencher: Bencher<'_, '_>, tokens: usize) {
    let messages = SessionSpec::of_tokens(tokens).build();
    let mut planner = Planner::new(setup());
    planner.push_messages(&messages);
    let plan = planner.plan();
    planner.record(&plan);
    let turns = SessionSpec {
        seed: 11,
        ..SessionSpec::of_tokens(200_000)
    }
    .build();
    let mut next = turns.iter().skip(1).cycle();
    bencher.bench_local(|| {
        for _ in 0..2 {
            if let Some(message) = next.next() {
                planner.push_messages(std::slice::from_ref(message));
            }
        }
        planner.pressure_tokens()
    });
}

/// The same with a plan asked for after each turn that is not carried out: what an agent pays
/// that stays over its threshold with nothing left to prune.
#[divan::bench(args = [1_000_000, 10_000_000], sample_count = 200)]
fn one_more_turn_and_a_plan(bencher: Bencher<'_, '_>, tokens: usize) {
    let messages = SessionSpec::of_tokens(tokens).build();
    let mut planner = Planner::new(setup());
    planner.push_messages(&messages);
    for _ in 0..2 {
        let plan = planner.plan();
        planner.record(&plan);
    }
    let turns = SessionSpec {
        seed: 11,
        ..SessionSpec::of_tokens(200_000)
    }
    .build();
    let mut next = turns.iter().skip(1).cycle();
    bencher.bench_local(|| {
        for _ in 0..2 {
            if let Some(message) = next.next() {
                planner.push_messages(std::slice::from_ref(message));
            }
        }
        planner.plan().reclaimed_chars
    });
}
