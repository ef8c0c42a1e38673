//! `neenee prune`: gate, output, plan, and what it refuses.
//! Deliberately not which results are chosen: that is the core's to prove.

use serde_json::Value;

use crate::{Bed, recorded};

/// Every recorded session and its format.
pub(crate) const RECORDED: [(&str, &str); 13] = [
    ("claude-code/session.jsonl", "claude-code"),
    ("claude-code/long-session.jsonl", "claude-code"),
    ("claude-code/compacted-session.jsonl", "claude-code"),
    ("claude-code/subagent.jsonl", "claude-code"),
    ("claude-code/anthropic-request.json", "anthropic"),
    ("codex/session.jsonl", "codex"),
    ("codex/compacted-session.jsonl", "codex"),
    ("codex/responses-request.json", "openai-responses"),
    ("gemini-cli/session.jsonl", "gemini-cli"),
    ("gemini-cli/gemini-request.json", "gemini"),
    ("opencode/session.json", "opencode"),
    ("opencode/compacted-session.json", "opencode"),
    ("opencode/chat-request.json", "openai-chat"),
];

#[test]
fn below_the_threshold_the_input_comes_back() {
    let bed = Bed::new();
    let file = recorded("claude-code/session.jsonl");
    let output = bed.neenee(&["prune", &file]).output().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, std::fs::read(&file).unwrap());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("below the prune threshold of 130 000: nothing to do"),
        "{said}"
    );
}

#[test]
fn every_recording_is_pruned_and_read_again() {
    let bed = Bed::new();
    for (file, format) in RECORDED {
        let args = [
            "prune",
            "--now",
            "--json",
            "--protect-tokens",
            "0",
            &recorded(file),
        ];
        let (out, _) = bed.run(&args, 0);
        let plan: Value = serde_json::from_str(&out).unwrap();
        let results = plan["results"].as_array().unwrap();
        for (index, result) in results.iter().enumerate() {
            assert_eq!(result["index"], index, "{file}");
            for key in [
                "call_id",
                "tool",
                "targets",
                "tier",
                "reason",
                "superseded_by",
                "chars",
                "chars_after",
                "tokens",
                "tokens_after",
            ] {
                assert!(result.get(key).is_some(), "{file}: no {key} in {result}");
            }
            let tier = result["tier"].as_str().unwrap();
            assert!(
                ["kept", "truncated", "cleared"].contains(&tier),
                "{file}: {tier}"
            );
            assert!(result["tokens_after"].as_u64() <= result["tokens"].as_u64());
        }
        assert!(plan["window"].is_object(), "{file}");

        let pruned = bed.path("pruned");
        let pruned = pruned.to_str().unwrap();
        bed.run(
            &[
                "prune",
                "--now",
                "--protect-tokens",
                "0",
                &recorded(file),
                "-o",
                pruned,
            ],
            0,
        );
        let changed = results.iter().any(|result| result["tier"] != "kept");
        let (before, after) = (
            std::fs::read(recorded(file)).unwrap(),
            std::fs::read(pruned).unwrap(),
        );
        assert_eq!(before != after, changed, "{file}");
        assert!(after.len() <= before.len(), "{file}");
        let (out, _) = bed.run(&["inspect", "--json", pruned], 0);
        assert!(
            out.contains(format),
            "{file} is no {format} any more: {out:.200}"
        );
        std::fs::remove_file(pruned).unwrap();
    }
}

#[test]
fn pruning_again_settles() {
    let bed = Bed::new();
    let mut file = recorded("claude-code/long-session.jsonl");
    let mut before = Vec::new();
    for pass in 0..4 {
        let next = bed.path(&format!("{pass}.jsonl"));
        let next = next.to_str().unwrap().to_owned();
        bed.run(&["prune", "--now", &file, "-o", &next], 0);
        let after = std::fs::read(&next).unwrap();
        assert_eq!(pass >= 2, after == before, "pass {pass}");
        before = after;
        file = next;
    }
}

#[test]
fn nothing_but_the_result_goes_to_stdout_and_a_dash_is_stdin() {
    let bed = Bed::new();
    let file = recorded("opencode/chat-request.json");
    let input = std::fs::read(&file).unwrap();
    let piped = bed
        .neenee(&["prune", "--now", "-"])
        .write_stdin(input)
        .output()
        .unwrap();
    let named = bed.neenee(&["prune", "--now", &file]).output().unwrap();
    assert!(piped.status.success());
    assert!(serde_json::from_slice::<Value>(&piped.stdout).is_ok());
    assert_eq!(piped.stdout, named.stdout);
}

#[test]
fn many_files_go_to_a_folder_of_the_same_names() {
    let bed = Bed::new();
    std::fs::create_dir(bed.path("out")).unwrap();
    let files = [
        recorded("claude-code/long-session.jsonl"),
        recorded("codex/compacted-session.jsonl"),
    ];
    bed.run(
        &["prune", "--now", &files[0], &files[1], "--out-dir", "out"],
        0,
    );
    for name in ["long-session.jsonl", "compacted-session.jsonl"] {
        assert!(bed.path("out").join(name).is_file(), "{name}");
    }
}

#[test]
fn an_input_is_never_written_over() {
    let bed = Bed::new();
    let input = std::fs::read(recorded("claude-code/long-session.jsonl")).unwrap();
    bed.write("s.jsonl", &input);
    #[cfg(unix)]
    std::os::unix::fs::symlink(bed.path("s.jsonl"), bed.path("link")).unwrap();
    for output in ["s.jsonl", "./s.jsonl", "link", "."] {
        if output == "link" && cfg!(windows) {
            continue;
        }
        let (_, said) = bed.run(&["prune", "--now", "s.jsonl", "-o", output], 2);
        assert!(!said.is_empty());
        assert_eq!(
            std::fs::read(bed.path("s.jsonl")).unwrap(),
            input,
            "-o {output}"
        );
    }
}

#[test]
fn bad_input_is_named_and_leaves_nothing_behind() {
    let bed = Bed::new();
    for (name, bytes, expected) in [
        ("empty.json", &b""[..], "empty"),
        ("none.json", b"{\"a\":1}", "format"),
        (
            "broken.json",
            b"{\"messages\":[{\"role\":\"user\",",
            "line 1",
        ),
        ("bytes.json", b"\xff\xfe\x00", "UTF-8"),
        (
            "shape.json",
            b"{\"messages\":[{\"role\":\"tool\",\"content\":7,\"tool_call_id\":\"x\"}]}",
            "messages[0]",
        ),
    ] {
        bed.write(name, bytes);
        let (out, said) = bed.run(&["prune", "--now", name, "-o", "out"], 2);
        assert_eq!(out, "");
        assert!(said.contains(name), "{name}: {said}");
        assert!(said.contains(expected), "{name}: {said}");
        assert!(!bed.path("out").exists(), "{name}");
        std::fs::remove_file(bed.path(name)).unwrap();
    }
    let (_, said) = bed.run(&["prune", "absent.jsonl"], 2);
    assert!(said.contains("absent.jsonl"), "{said}");
    assert_eq!(bed.files(), Vec::<String>::new());
}

#[test]
fn damage_that_sessions_have_is_kept() {
    let bed = Bed::new();
    let session = std::fs::read_to_string(recorded("claude-code/long-session.jsonl")).unwrap();
    let odd = format!(
        "\u{feff}{}\r\n\r\n{{\"type\":\"of-tomorrow\",\"n\":2.50}}\r\n{{\"type\":\"user\",\"mess",
        session.trim_end().replace('\n', "\r\n")
    );
    bed.write("odd.jsonl", &odd);
    bed.run(&["prune", "--now", "odd.jsonl", "-o", "out.jsonl"], 0);
    let pruned = std::fs::read_to_string(bed.path("out.jsonl")).unwrap();
    assert!(pruned.starts_with('\u{feff}') && pruned.len() < odd.len());
    let tail = "\r\n\r\n{\"type\":\"of-tomorrow\",\"n\":2.50}\r\n{\"type\":\"user\",\"mess";
    assert!(pruned.ends_with(tail));
    assert_eq!(pruned.matches("\r\n").count(), odd.matches("\r\n").count());
}

#[test]
fn the_plan_explains_itself_and_hides_secrets() {
    let bed = Bed::new();
    let output = "compiled\n".repeat(600);
    let body = serde_json::json!({"messages": [
        {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {
            "name": "bash", "arguments": "{\"command\":\"API_TOKEN=hunter2hunter2 make all\"}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": output},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "go on"},
    ]});
    bed.write("s.json", body.to_string());
    for args in [
        &[
            "prune",
            "--now",
            "--protect-tokens",
            "0",
            "--explain",
            "s.json",
        ][..],
        &[
            "prune",
            "--now",
            "--protect-tokens",
            "0",
            "--json",
            "s.json",
        ],
    ] {
        let (out, said) = bed.run(args, 0);
        assert!(out.contains("bash"), "{out}");
        assert!(out.contains("truncated"), "{out}");
        assert!(!format!("{out}{said}").contains("hunter2"), "{out}{said}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let bed = Bed::new();
    let file = recorded("claude-code/long-session.jsonl");
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("neenee"))
        .args(["prune", &file])
        .current_dir(bed.path("."))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !said.contains("panicked") && !said.contains("roken pipe"),
        "{said}"
    );
}
