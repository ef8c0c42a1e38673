//! What each policy takes out, and when.
//! Deliberately small: each test is the documented behaviour of one system.

use neenee_replay::{Ground, Params, Run, policy};
use neenee_testkit::session::SessionSpec;

use crate::{Made, code, line_of, missed, needed};

/// How many results each request newly lost.
fn edits(run: &Run) -> Vec<usize> {
    run.rows.iter().map(|row| row.edits).collect()
}

/// `count` commands, each with a long result of its own.
fn commands(count: usize) -> Made {
    (0..count).fold(Made::new(), |made, number| {
        made.bash(&format!("step {number}"), &code(&format!("s{number}"), 60))
    })
}

#[test]
fn names_and_parameters_are_checked() {
    let check = |name, set: &[&str]| policy::check(name, &Params::parse(set).unwrap());
    for entry in policy::ALL {
        assert_eq!(check(entry.name, &[]), Ok(()), "{}", entry.name);
        assert!(!entry.about.is_empty());
        let error = check(entry.name, &["nonsense=1"]).unwrap_err().to_string();
        assert!(error.starts_with("no parameter `nonsense`"), "{error}");
    }
    let error = check("our", &[]).unwrap_err().to_string();
    assert!(
        error.starts_with("no policy `our`; there are none, ours"),
        "{error}"
    );
}

#[test]
fn none_takes_nothing_out() {
    let run = commands(6).replay("none", &[], 1_000);
    assert!(edits(&run).iter().all(|&edits| edits == 0));
}

#[test]
fn ours_waits_for_its_trigger_and_clears_what_is_stale() {
    let made = Made::new()
        .read("/p/a.rs", &code("alpha", 200))
        .read("/p/b.rs", &code("beta", 200))
        .edit("/p/a.rs", "x", "y")
        .read("/p/c.rs", &code("gamma", 200))
        .say("Now /p/b.rs is next.")
        .user("Go on.")
        .say("done");
    let whole = made.replay("ours", &[], 100_000);
    assert!(edits(&whole).iter().all(|&edits| edits == 0));
    let run = made.replay("ours", &["protect_tokens=0"], 12_000);
    // Over the trigger once the third file is there; the first has been edited by then.
    assert_eq!(edits(&run)[..4], [0; 4]);
    assert!(run.rows[4].edits >= 1);
    assert!(run.rows[4].stale < 40, "{}", run.rows[4].stale);
}

#[test]
fn ours_stops_at_its_target() {
    let made = (0..12).fold(Made::new(), |made, number| {
        made.bash(&format!("step {number}"), &code(&format!("s{number}"), 200))
    });
    let all = made.replay("ours", &["protect_tokens=0"], 50_000);
    let some = made.replay("ours", &["protect_tokens=0", "target=0.5"], 50_000);
    let first = |run: &Run| run.rows.iter().find(|row| row.edits > 0).unwrap().clone();
    assert!(first(&all).edits > first(&some).edits);
    assert!(first(&some).sent <= 25_000 && first(&some).sent > 20_000);
    assert!(first(&all).sent < 10_000);
}

#[test]
fn keep_last_n_clears_all_but_the_newest_over_its_trigger() {
    let run = commands(8).replay("keep-last-n", &["trigger=4000", "keep=2"], 100_000);
    let first = run.rows.iter().position(|row| row.edits > 0).unwrap();
    assert_eq!(run.rows[first].edits, first - 2);
    assert!(run.rows[first].whole > 4_000 && run.rows[first - 1].whole <= 4_000);
    // The window is small again, and nothing happens until it is not.
    assert_eq!(run.rows[first + 1].edits, 0);
    let gated = commands(8).replay(
        "keep-last-n",
        &["trigger=4000", "keep=2", "clear_at_least=1000000"],
        100_000,
    );
    assert!(edits(&gated).iter().all(|&edits| edits == 0));
}

#[test]
fn fixed_triggers_give_way_to_small_windows() {
    let run = commands(8).replay("keep-last-n", &[], 6_000);
    assert!(edits(&run).iter().any(|&edits| edits > 0));
    let run = commands(8).replay("keep-last-n", &[], 1_000_000);
    assert!(edits(&run).iter().all(|&edits| edits == 0));
}

#[test]
fn langchain_clears_one_more_with_every_request() {
    let run = commands(9).replay("langchain", &["trigger=3000", "keep=3"], 100_000);
    let edits = edits(&run);
    let first = edits.iter().position(|&edits| edits > 0).unwrap();
    assert_eq!(edits[first], first - 3);
    assert!(
        edits[first + 1..].iter().all(|&edits| edits == 1),
        "{edits:?}"
    );
}

#[test]
fn masking_hides_what_is_older_than_the_last_turns() {
    let run = commands(8).replay("mask-last-10", &["keep=3"], 1_000_000);
    assert_eq!(edits(&run), [0, 0, 0, 0, 1, 1, 1, 1]);
    let polled = commands(8).replay("mask-last-10", &["keep=3", "poll=2"], 1_000_000);
    assert_eq!(edits(&polled), [0, 0, 0, 0, 1, 0, 2, 0]);
    assert_eq!(
        edits(&commands(8).replay("mask-last-10", &[], 1_000)),
        [0; 8]
    );
}

#[test]
fn opencode_prunes_between_rounds_what_is_far_behind() {
    let mut made = commands(6);
    for round in 0..3 {
        made = made.say("done").user(&format!("round {round}"));
    }
    let made = made.say("done");
    let set = ["protect=1200", "minimum=1000", "rounds=2"];
    let run = made.replay("opencode", &set, 1_000_000);
    let edits = edits(&run);
    let first = edits.iter().position(|&edits| edits > 0).unwrap();
    // The first round's results are two rounds behind when the third round ends.
    assert_eq!(first, 6 + 3, "{edits:?}");
    assert!(edits[first] >= 3 && edits[first] < 6, "{edits:?}");
    let gated = made.replay("opencode", &["protect=1200"], 1_000_000);
    assert!(self::edits(&gated).iter().all(|&edits| edits == 0));
}

#[test]
fn openclaw_trims_then_clears_and_waits_for_an_idle_gap() {
    let made = commands(8);
    assert!(
        edits(&made.replay("openclaw", &[], 2_000))
            .iter()
            .all(|&edits| edits == 0)
    );
    let big = (0..22).fold(Made::new(), |made, number| {
        made.bash(&format!("step {number}"), &code(&format!("s{number}"), 400))
    });
    let set = ["ttl_minutes=0", "keep_turns=3"];
    let run = big.replay("openclaw", &set, 40_000);
    let first = run.rows.iter().find(|row| row.edits > 0).unwrap();
    assert!(
        first.sent as f64 > 40_000.0 * 0.2,
        "trimmed, not cleared: {}",
        first.sent
    );
    let small = big.replay("openclaw", &["ttl_minutes=0", "hard=0.1"], 40_000);
    assert!(small.rows.last().unwrap().sent < run.rows.last().unwrap().sent);
}

#[test]
fn stop_at_target_takes_the_oldest_and_no_more() {
    let run = commands(10).replay("stop-at-target", &[], 8_000);
    let first = run.rows.iter().find(|row| row.edits > 0).unwrap();
    assert!(first.whole > 5_600);
    assert!(first.sent <= 3_200 && first.sent > 2_000, "{}", first.sent);
    let small = Made::new()
        .bash("true", "ok")
        .replay("stop-at-target", &["trigger=0"], 8_000);
    assert_eq!(edits(&small), [0]);
}

#[test]
fn dedupe_keeps_the_newest_of_equal_calls_and_purges_errors() {
    let text = code("alpha", 30);
    let failed = "Error: no such file or directory\n".repeat(20);
    let made = Made::new()
        .bash("git status", &text)
        .read("gone.rs", &failed)
        .bash("git status", &text)
        .bash("git diff", &text)
        .say("a")
        .user("b")
        .say("c")
        .user("d")
        .say("e");
    let run = made.replay("dedupe-purge-errors", &["error_turns=1000"], 1_000_000);
    assert_eq!(edits(&run), [0, 0, 0, 1, 0, 0, 0]);
    let is_error = made.recorded(|recording| recording.results()[1].is_error);
    let run = made.replay("dedupe-purge-errors", &[], 1_000_000);
    assert_eq!(edits(&run).iter().sum::<usize>(), 1 + usize::from(is_error));
}

#[test]
fn the_oracle_keeps_what_will_be_needed_and_nothing_else() {
    let mut made = Made::new().read("a.rs", &code("alpha", 80));
    for number in 0..10 {
        made = made.bash(&format!("step {number}"), &code(&format!("s{number}"), 80));
    }
    let made = made.edit("a.rs", &line_of("alpha", 40), "x").say("done");
    let run = made.replay("oracle", &[], 6_000);
    assert!(needed(&run) > 0);
    assert_eq!(missed(&run), 0);
    let last = run.rows.last().unwrap();
    assert!(last.sent < 8_000 && last.whole > 12_000, "{last:?}");
    let forgetful = made.replay("oracle", &["forget=1"], 6_000);
    assert_eq!(missed(&forgetful), needed(&forgetful));
    let sent = |run: &Run| run.rows.iter().map(|row| row.sent).sum::<usize>();
    assert!(sent(&forgetful) < sent(&run));
}

#[test]
fn the_cache_aware_policy_prunes_only_what_pays() {
    let set = |horizon: &str| vec!["protect_tokens=0".to_owned(), format!("horizon={horizon}")];
    let run = |horizon| {
        let set = set(horizon);
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        commands(12).replay("ours-cache-aware", &set, 12_000)
    };
    // With no request to come nothing pays before the window is nearly full.
    let never = run("0");
    let first = never.rows.iter().find(|row| row.edits > 0);
    assert!(first.is_none_or(|row| row.whole > 10_200), "{first:?}");
    let often = run("1000");
    let first = often.rows.iter().find(|row| row.edits > 0).unwrap();
    assert!(
        first.whole > 3_600 && first.whole < 10_200,
        "{}",
        first.whole
    );
}

/// On a long made-up session: nobody but the oracle may look ahead, and no sum may be off.
#[test]
fn all_policies_hold_on_a_long_session() {
    let spec = SessionSpec {
        results: 150,
        files: 12,
        bytes: 400_000,
        seed: 3,
    };
    let body = neenee_testkit::session::anthropic_body(&spec.build(), "claude-sonnet-4-5");
    let document = neenee_wire::read(&body, None).unwrap();
    let ground = Ground::new(60_000);
    let recording = neenee_replay::Recording::new(&document, &ground, &mut Default::default());
    let terms = neenee_replay::Terms::new(&ground);
    for entry in policy::ALL {
        let build = || policy::build(entry.name, &Params::default(), &ground, &recording).unwrap();
        let run = neenee_replay::replay(&recording, &mut *build(), &terms);
        let again = neenee_replay::replay(&recording, &mut *build(), &terms);
        assert_eq!(
            run.rows, again.rows,
            "{} is no function of the session",
            entry.name
        );
        assert_eq!(run.rows.len(), recording.turns().len());
        assert!(run.trigger.is_some());
        let mut reclaimed = 0;
        for row in &run.rows {
            reclaimed += row.reclaimed;
            assert_eq!(row.sent + reclaimed, row.whole, "{}", entry.name);
            assert!(row.prefix + row.resent <= row.sent);
            assert!(row.missed <= row.needed && row.names_missed <= row.names_needed);
            assert!(row.stale <= row.sent);
        }
        if ["none", "oracle"].contains(&entry.name) {
            assert_eq!(missed(&run), 0);
        }
    }
}
