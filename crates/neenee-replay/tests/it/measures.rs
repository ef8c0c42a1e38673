//! Tokens, prefixes, staleness, money: each measure on a session whose numbers are known.
//! Deliberately by differences between runs, since what a token is is the estimator's affair.

use neenee_core::estimate::estimate_tokens;
use neenee_replay::{Ground, Row, Run, Tariff, Terms};

use crate::{Made, code, line_of};

fn walk() -> Made {
    Made::new()
        .read("a.rs", &code("alpha", 60))
        .read("b.rs", &code("beta", 60))
        .edit("a.rs", "x", "y")
        .bash("make", &code("gamma", 60))
        .say("done")
}

#[test]
fn every_request_sends_what_was_said_before_it() {
    let run = walk().replay("none", &[], 10_000);
    assert_eq!(run.rows.len(), 5);
    assert_eq!(
        run.rows[0].sent,
        estimate_tokens("Please look after the project.")
    );
    walk().recorded(|recording| {
        let mut views = 0;
        for (row, turn) in run.rows.iter().zip(recording.turns()) {
            views = turn.start;
            let sum: usize = (0..turn.start).map(|view| recording.tokens(view)).sum();
            assert_eq!((row.sent, row.whole, row.reclaimed), (sum, sum, 0));
        }
        assert!(views > 5);
    });
}

#[test]
fn what_is_taken_out_stays_out_and_adds_up() {
    let run = walk().replay("keep-last-n", &["trigger=0", "keep=1"], 10_000);
    let mut reclaimed = 0;
    for row in &run.rows {
        reclaimed += row.reclaimed;
        assert_eq!(row.sent + reclaimed, row.whole);
    }
    let taken: usize = run.rows.iter().map(|row| row.edits).sum();
    assert_eq!(taken, 3);
}

#[test]
fn a_prefix_is_what_stands_before_the_first_change() {
    let none = walk().replay("none", &[], 10_000);
    for pair in none.rows.windows(2) {
        assert_eq!(
            (pair[1].prefix, pair[1].resent, pair[1].changed),
            (pair[0].sent, 0, false)
        );
    }
    assert_eq!(none.rows[0].prefix, 0);

    // The first result is cleared before the third request; it had been sent with the second.
    let run = walk().replay("keep-last-n", &["trigger=0", "keep=1"], 10_000);
    let row = &run.rows[2];
    assert!(row.changed);
    walk().recorded(|recording| {
        let before: usize = (0..recording.results()[0].at)
            .map(|view| recording.tokens(view))
            .sum();
        assert_eq!(row.prefix, before);
        assert_eq!(row.prefix + row.resent, run.rows[1].sent - row.reclaimed);
    });
}

#[test]
fn a_result_that_was_never_sent_is_no_change_of_the_prefix() {
    let run = walk().replay("keep-last-n", &["trigger=0", "keep=0"], 10_000);
    assert!(run.rows.iter().all(|row| !row.changed), "{:?}", run.rows);
    assert!(run.rows.iter().any(|row| row.edits > 0));
}

#[test]
fn superseded_results_weigh_until_they_are_cleared() {
    let none = walk().replay("none", &[], 10_000);
    let tokens = estimate_tokens(&code("alpha", 60));
    let stale: Vec<usize> = none.rows.iter().map(|row| row.stale).collect();
    // The edit's result arrives with the fourth request.
    assert_eq!(stale, [0, 0, 0, tokens, tokens]);
    let cleared = walk().replay("keep-last-n", &["trigger=0", "keep=1"], 10_000);
    let last = cleared.rows.last().unwrap().stale;
    assert!(last < 20, "{last} tokens of placeholder");
}

#[test]
fn a_session_counts_from_its_first_trigger_on() {
    let run = walk().replay("none", &[], 10_000);
    assert_eq!(run.trigger, Some(0));
    let sizes: Vec<usize> = run.rows.iter().map(|row| row.whole).collect();
    let mut terms = Terms::new(&Ground::new(10_000));
    terms.trigger_tokens = sizes[1];
    let body = walk().body();
    let document = neenee_wire::read(&body, None).unwrap();
    let ground = Ground::new(10_000);
    let recording = neenee_replay::Recording::new(&document, &ground, &mut Default::default());
    let params = neenee_replay::Params::default();
    let mut none = neenee_replay::policy::build("none", &params, &ground, &recording).unwrap();
    let run = neenee_replay::replay(&recording, &mut *none, &terms);
    assert_eq!(run.trigger, Some(2));
    assert_eq!(run.counted().len(), 3);
    terms.trigger_tokens = usize::MAX;
    let run = neenee_replay::replay(&recording, &mut *none, &terms);
    assert_eq!((run.trigger, run.counted().len()), (None, 0));
}

/// What each request costs by hand.
fn paid(row: &Row, tariff: &Tariff) -> f64 {
    let cached = row.prefix / tariff.block * tariff.block;
    let read = if cached >= tariff.least { cached } else { 0 };
    let rest = row.sent - read;
    let write = if row.sent >= tariff.least {
        tariff.write
    } else {
        tariff.input
    };
    (read as f64 * tariff.read + rest as f64 * write + row.output as f64 * tariff.output) / 1e6
}

#[test]
fn requests_are_paid_by_each_price_table() {
    let run = walk().replay("none", &[], 10_000);
    let tariffs = Tariff::all();
    for row in &run.rows {
        assert_eq!(row.cost.len(), tariffs.len());
        for (cost, tariff) in row.cost.iter().zip(&tariffs) {
            assert!((cost - paid(row, tariff)).abs() < 1e-12);
        }
        assert!(row.refetch.iter().all(|cost| *cost == 0.0));
    }
}

#[test]
fn a_missed_result_is_fetched_once_more_and_only_once() {
    let text = code("alpha", 60);
    let run = Made::new()
        .read("a.rs", &text)
        .bash("make", "ok")
        .edit("a.rs", &line_of("alpha", 3), "x")
        .edit("a.rs", &line_of("alpha", 9), "x")
        .replay("keep-last-n", &["trigger=0", "keep=0"], 10_000);
    let first = |row: &Row| row.refetch[0];
    let (third, fourth) = (&run.rows[2], &run.rows[3]);
    assert!(third.missed > 0 && fourth.missed > 0);
    let tariff = &Tariff::all()[0];
    assert!((first(third) - tariff.refetch(third, estimate_tokens(&text))).abs() < 1e-12);
    assert_eq!(first(fourth), 0.0);
}

/// A session of Claude Code, whose lines tell the time.
fn timed(minutes: &[i64]) -> Vec<u8> {
    let mut lines = String::new();
    let mut parent = "null".to_owned();
    let mut line = |kind: &str, minute: i64, message: String| {
        let uuid = format!("\"u{}\"", lines.lines().count());
        lines.push_str(&format!(
            "{{\"type\":\"{kind}\",\"uuid\":{uuid},\"parentUuid\":{parent},\"sessionId\":\"s\",\
             \"isSidechain\":false,\"timestamp\":\"2026-01-01T{:02}:{:02}:00Z\",\"message\":{message}}}\n",
            minute / 60,
            minute % 60
        ));
        parent = uuid;
    };
    for (number, &minute) in minutes.iter().enumerate() {
        let text = format!("question {number}: {}", "word ".repeat(2_000));
        line(
            "user",
            minute,
            format!("{{\"role\":\"user\",\"content\":\"{text}\"}}"),
        );
        let answer = format!(
            "{{\"id\":\"m{number}\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\
             \"content\":[{{\"type\":\"text\",\"text\":\"answer {number}\"}}]}}"
        );
        line("assistant", minute, answer);
    }
    lines.into_bytes()
}

#[test]
fn an_idle_gap_makes_the_cache_cold() {
    let replay = |minutes: &[i64]| -> Run {
        let bytes = timed(minutes);
        let document = neenee_wire::read(&bytes, None).unwrap();
        let ground = Ground::new(100_000);
        let recording = neenee_replay::Recording::new(&document, &ground, &mut Default::default());
        let params = neenee_replay::Params::default();
        let mut none = neenee_replay::policy::build("none", &params, &ground, &recording).unwrap();
        neenee_replay::replay(&recording, &mut *none, &Terms::new(&ground))
    };
    let warm = replay(&[0, 4, 8]);
    let cold = replay(&[0, 4, 14]);
    assert_eq!(warm.rows[2].idle, Some(4 * 60_000));
    assert_eq!(cold.rows[2].idle, Some(10 * 60_000));
    assert_eq!(warm.rows[1].cost, cold.rows[1].cost);
    let tariffs = Tariff::all();
    for (at, tariff) in tariffs.iter().enumerate() {
        let (warm, cold) = (warm.rows[2].cost[at], cold.rows[2].cost[at]);
        if tariff.provider == "deepseek" {
            assert_eq!(warm, cold, "its cache lives for hours");
        } else {
            assert!(cold > warm * 1.5, "{}: {cold} and {warm}", tariff.provider);
        }
    }
}
