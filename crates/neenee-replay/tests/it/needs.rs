//! What counts as a need, and when it is met.
//! Deliberately by lines that stand nowhere else, so that each case has one cause.

use neenee_replay::NeedKind;

use crate::{Made, code, line_of, missed, needed};

/// Clears every result that was seen, at once.
const CLEAR_ALL: (&str, &[&str]) = ("keep-last-n", &["trigger=0", "keep=0"]);

#[test]
fn a_line_that_an_edit_quotes_is_needed_and_missed_once_its_result_is_gone() {
    let line = line_of("alpha", 3);
    let made = Made::new()
        .read("src/a.rs", &code("alpha", 10))
        .bash("make", "ok")
        .edit("src/a.rs", &line, "let other = 1;");
    let none = made.replay("none", &[], 10_000);
    assert_eq!((needed(&none), missed(&none)), (line.chars().count(), 0));
    assert!(none.misses.is_empty());

    let cleared = made.replay(CLEAR_ALL.0, CLEAR_ALL.1, 10_000);
    assert_eq!(missed(&cleared), line.chars().count());
    let lines: Vec<_> = cleared
        .misses
        .iter()
        .filter(|miss| miss.kind == NeedKind::Line)
        .collect();
    assert_eq!(lines.len(), 1);
    let miss = lines[0];
    assert_eq!((miss.turn, miss.ordinal), (2, 0));
    assert_eq!(miss.text, line);
    assert_eq!((miss.pruned.turn, miss.pruned.pass), (1, "old"));
    assert_eq!(miss.label, "Read src/a.rs");
    assert!(miss.before.contains(&line) && miss.before.contains("alpha_value_4"));
    assert_eq!(miss.after, "[tool result cleared]");
}

#[test]
fn a_tools_line_numbers_are_no_part_of_the_line() {
    let line = line_of("alpha", 3);
    for numbered in [
        format!("  3\t{line}"),
        format!("   3→{line}"),
        format!("3: {line}"),
        format!("src/a.rs:3:  {line}"),
    ] {
        let made = Made::new()
            .bash("show", &numbered)
            .edit("src/a.rs", &line, "x");
        assert_eq!(
            needed(&made.replay("none", &[], 10_000)),
            line.len(),
            "{numbered}"
        );
    }
}

#[test]
fn what_stands_elsewhere_is_no_need() {
    let line = line_of("alpha", 3);
    let text = code("alpha", 10);
    let by_user = Made::new()
        .read("a.rs", &text)
        .user(&format!("Mind this:\n{line}"));
    let by_itself = Made::new()
        .read("a.rs", &text)
        .say(&format!("I see\n{line}"));
    let by_a_call = Made::new().read("a.rs", &text).edit("b.rs", &line, "x");
    let before_the_result = Made::new()
        .say(&format!("Perhaps\n{line}"))
        .read("a.rs", &text);
    for (made, earlier) in [
        (by_user, 0),
        (by_itself, line.len()),
        (by_a_call, line.len()),
        (before_the_result, 0),
    ] {
        let run = made.edit("a.rs", &line, "x").replay("none", &[], 10_000);
        assert_eq!(needed(&run), earlier);
    }
    let short = Made::new()
        .bash("cat a", "let x = 1;\n")
        .edit("a", "let x = 1;", "x");
    assert_eq!(needed(&short.replay("none", &[], 10_000)), 0);
}

#[test]
fn a_result_in_the_same_answers_future_is_no_source() {
    let line = line_of("alpha", 3);
    let made = Made::new()
        .edit("a.rs", "x", &line)
        .read("a.rs", &code("alpha", 5));
    assert_eq!(needed(&made.replay("none", &[], 10_000)), 0);
}

#[test]
fn a_re_read_before_use_meets_the_need() {
    let line = line_of("alpha", 3);
    let made = Made::new()
        .read("a.rs", &code("alpha", 10))
        .bash("make", "ok")
        .bash("cat a.rs", &code("alpha", 10))
        .edit("a.rs", &line, "x");
    // All but the newest result are gone; the newest is the re-read.
    let run = made.replay("keep-last-n", &["trigger=0", "keep=1"], 10_000);
    assert_eq!((needed(&run), missed(&run)), (line.len(), 0));
    let run = made.replay(CLEAR_ALL.0, CLEAR_ALL.1, 10_000);
    assert_eq!(missed(&run), line.len());
    // The miss is that of the newest result that held it.
    let miss = run
        .misses
        .iter()
        .find(|miss| miss.kind == NeedKind::Line)
        .unwrap();
    assert_eq!(miss.ordinal, 2);
}

#[test]
fn head_and_tail_of_a_trimmed_result_still_meet_needs() {
    let text = code("alpha", 400);
    let made = |number| {
        Made::new()
            .read("a.rs", &text)
            .say("one")
            .user("go on")
            .say("two")
            .user("go on")
            .edit("a.rs", &line_of("alpha", number), "x")
    };
    let set = ["ttl_minutes=0", "keep_turns=0", "soft=0.0", "hard=9"];
    for (number, met) in [(2, true), (397, true), (200, false)] {
        let run = made(number).replay("openclaw", &set, 10_000);
        assert_eq!(missed(&run) == 0, met, "line {number}");
        assert!(needed(&run) > 0);
    }
}

#[test]
fn identifiers_are_reported_apart() {
    let made = Made::new()
        .bash(
            "rg parse",
            "src/x.rs: fn parse_header_block() {}\nfn other() {}",
        )
        .say("It is parse_header_block that fails; the function is otherwise fine.");
    let run = made.replay(CLEAR_ALL.0, CLEAR_ALL.1, 10_000);
    // The result was not seen yet when it was needed for the first time.
    let row = run.rows.last().unwrap();
    assert_eq!((row.names_needed, row.names_missed), (1, 1));
    assert_eq!((row.needed, row.missed), (0, 0));
    let again = made
        .user("And?")
        .say("As said: parse_header_block.")
        .replay("none", &[], 10_000);
    assert_eq!(again.rows.last().unwrap().names_needed, 0);
}

#[test]
fn a_patch_quotes_what_it_removes() {
    let line = line_of("alpha", 3);
    let patch = format!(
        "*** Begin Patch\n*** Update File: a.rs\n@@\n {}\n-{line}\n+let y = 2;\n*** End Patch",
        line_of("alpha", 2)
    );
    let made = Made::new().bash("cat a.rs", &code("alpha", 10)).call(
        "apply_patch",
        &serde_json::json!({"input": patch}),
        "Done!",
    );
    let run = made.replay("none", &[], 10_000);
    assert_eq!(needed(&run), line.len() * 2);
}
