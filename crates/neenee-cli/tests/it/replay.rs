//! `neenee replay` on made sessions: tables, JSON, pages, the check of a CI.
//! Deliberately not the measures themselves; those are held to in their crate.

use serde_json::{Value, json};

use crate::Bed;

/// A session of ten long results, of which the last edit quotes the first.
fn session() -> String {
    let code = |name: &str| -> String {
        let line = |number| format!("let {name}_value_{number} = compute({number});\n");
        (0..200).map(line).collect()
    };
    let mut messages = vec![json!({"role": "user", "content": "Please look after the project."})];
    let mut call = |number: usize, name: &str, arguments: Value, result: &str| {
        let id = format!("c{number}");
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{
            "id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()},
        }]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
    };
    call(0, "Read", json!({"file_path": "a.rs"}), &code("alpha"));
    for number in 1..10 {
        call(
            number,
            "Bash",
            json!({"command": format!("step {number}")}),
            &code(&format!("s{number}")),
        );
    }
    let quoted = "let alpha_value_100 = compute(100);";
    call(
        10,
        "Edit",
        json!({"file_path": "a.rs", "old_string": quoted, "new_string": "x"}),
        "ok",
    );
    json!({"model": "gpt-5", "messages": messages}).to_string()
}

#[test]
fn policies_are_compared_in_a_table() {
    let bed = Bed::new();
    bed.write("sessions/one.json", session());
    bed.write("sessions/deeper/notes.txt", "no session");
    let (out, err) = bed.run(
        &[
            "replay",
            "--compare",
            "all",
            "--window",
            "20000",
            "sessions",
        ],
        0,
    );
    assert!(out.starts_with("window 20 000: 1 sessions, "), "{out}");
    for name in ["none", "ours", "keep-last-n", "langchain", "oracle"] {
        assert!(
            out.lines().any(|line| line.starts_with(name)),
            "{name} in {out}"
        );
    }
    assert!(
        err.contains("skipped: failed to replay") && err.contains("notes.txt"),
        "{err}"
    );
}

#[test]
fn json_tells_sessions_then_sums() {
    let bed = Bed::new();
    bed.write("one.json", session());
    bed.write("two.json", session());
    let args = [
        "replay",
        "--json",
        "--policy",
        "keep-last-n",
        "--set",
        "keep=1",
        "--window",
        "20000",
    ];
    let (out, _) = bed.run(&[&args[..], &["one.json", "two.json"]].concat(), 0);
    let lines: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["session"], "one.json");
    assert_eq!(lines[1]["session"], "two.json");
    assert_eq!(lines[0]["outcomes"][0]["policy"], "keep-last-n keep=1");
    assert_eq!(lines[0]["outcomes"][0]["misses"][0]["label"], "Read a.rs");
    assert_eq!(lines[2]["sessions"], 2);
    let missed = |line: &Value| line["totals"]["missed"].as_u64().unwrap();
    assert_eq!(missed(&lines[2]), 2 * missed(&lines[0]["outcomes"][0]));
}

#[test]
fn misses_are_listed_when_asked_for() {
    let bed = Bed::new();
    bed.write("one.json", session());
    let args = [
        "replay",
        "--policy",
        "keep-last-n",
        "--misses",
        "5",
        "--window",
        "20000",
        "one.json",
    ];
    let (out, _) = bed.run(&args, 0);
    assert!(out.contains("of #0 Read a.rs (old before turn "), "{out}");
    assert!(out.contains("let alpha_value_100 = compute(100);"), "{out}");
}

#[test]
fn a_page_and_plots_are_written() {
    let bed = Bed::new();
    bed.write("one.json", session());
    let args = [
        "replay",
        "--compare",
        "none,ours,oracle",
        "--window",
        "20000",
        "one.json",
    ];
    bed.run(
        &[&args[..], &["--html", "page.html", "--svg", "plots"]].concat(),
        0,
    );
    let page = std::fs::read_to_string(bed.path("page.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("oracle forget=0.1"));
    for name in ["pareto-20000.svg", "tokens-20000-1.svg", "cost-20000-1.svg"] {
        let svg = std::fs::read_to_string(bed.path("plots").join(name)).unwrap();
        assert!(svg.starts_with("<svg"), "{name}");
    }
}

#[test]
fn a_check_ends_with_1_past_its_bound() {
    let bed = Bed::new();
    bed.write("one.json", session());
    bed.write(
        "bad.toml",
        "policy = 'keep-last-n'\nwindow = 20000\n[set]\nkeep = 1\n",
    );
    bed.write("good.toml", "policy = 'none'\nwindow = 20000\n");
    bed.write("odd.toml", "policy = 'none'\nwindows = 20000\n");
    let check = |file, most| ["replay", "--check", file, "--max-missed", most, "one.json"];
    let (_, err) = bed.run(&check("bad.toml", "0.5%"), 1);
    assert!(
        err.contains("check failed: keep-last-n keep=1 misses"),
        "{err}"
    );
    bed.run(&check("bad.toml", "100%"), 0);
    bed.run(&check("good.toml", "0%"), 0);
    let (_, err) = bed.run(&check("odd.toml", "0%"), 2);
    assert!(err.contains("windows"), "{err}");
    let args = ["--window", "1000000"];
    let (_, err) = bed.run(&[&check("good.toml", "0%")[..], &args].concat(), 2);
    assert!(err.contains("no session comes over the trigger"), "{err}");
}

#[test]
fn mistakes_are_told_before_anything_is_read() {
    let bed = Bed::new();
    let refused = |args: &[&str], expected: &str| {
        let (_, err) = bed.run(&[&["replay"], args, &["missing.json"]].concat(), 2);
        assert!(err.contains(expected), "{err}");
    };
    refused(&["--policy", "our"], "did you mean `ours`?");
    refused(&["--set", "nonsense=1"], "no parameter `nonsense`");
    refused(
        &["--compare", "all", "--set", "keep=1"],
        "run with their defaults",
    );
    refused(&["--window", "0"], "number of tokens");
    refused(&["--check", "p.toml", "--max-missed", "half"], "percentage");
    refused(&[], "missing.json");
}

#[test]
fn the_configuration_reaches_our_policy() {
    let bed = Bed::new();
    bed.write("one.json", session());
    let projections = |set: &[&str]| {
        let args = ["replay", "--json", "--window", "20000", "one.json"];
        let (out, _) = bed.run(&[&args[..], set].concat(), 0);
        let sums: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
        sums["totals"]["projections"].as_u64().unwrap()
    };
    assert!(projections(&[]) > 0);
    assert_eq!(projections(&["--set", "compaction_prune=false"]), 0);
}
