//! What calls touch, case by case: a tool, its arguments, and the files and lines that follow.
//! Deliberately no conversation: what supersedes what stands in `cases`.

use neenee_core::touch::{Access, Outcome, ToolTable};

/// `read a.rs 1..40`, `mutate a.rs`; the end is not included, none means to the end of the file.
fn touched(tool: &str, arguments: &str, outcome: &Outcome<'_>) -> Vec<String> {
    let table = ToolTable::builtin();
    let call = table.call(tool, arguments, Some("/repo"));
    let settled = call.settle(&table, outcome);
    let counts = !settled.failed || settled.mutations_hold;
    let targets = settled.targets.iter().filter(|_| counts);
    targets
        .map(|target| match target.access {
            Access::Read(range) => {
                let end = range.end.map_or(String::new(), |end| end.to_string());
                format!("read {} {}..{end}", target.path.as_str(), range.start)
            }
            Access::Mutate => format!("mutate {}", target.path.as_str()),
        })
        .collect()
}

#[track_caller]
fn shell(command: &str, result: &str, expected: &[&str]) {
    let arguments = serde_json::json!({ "command": command }).to_string();
    let outcome = Outcome {
        text: result,
        ..Outcome::default()
    };
    assert_eq!(touched("bash", &arguments, &outcome), expected, "{command}");
}

#[test]
fn shell_commands_that_read() {
    let ten = "line\n".repeat(10);
    shell("cat a.rs", &ten, &["read /repo/a.rs 1.."]);
    shell(
        "cat a.rs b.rs",
        &ten,
        &["read /repo/a.rs 1..", "read /repo/b.rs 1.."],
    );
    shell("head -n 10 a.rs", &ten, &["read /repo/a.rs 1..11"]);
    shell("head -n 20 a.rs", &ten, &["read /repo/a.rs 1.."]);
    shell("sed -n '5,14p' a.rs", &ten, &["read /repo/a.rs 5..15"]);
    shell(
        "nl -ba a.rs | sed -n '40,49p'",
        &ten,
        &["read /repo/a.rs 40..50"],
    );
    shell("cd sub && cat a.rs", &ten, &["read /repo/sub/a.rs 1.."]);
    shell(
        "cat 'with space.rs'",
        &ten,
        &["read /repo/with space.rs 1.."],
    );
    shell("cat /repo/x/../a.rs", &ten, &["read /repo/a.rs 1.."]);
    let both = ["read /repo/a 1..", "read /repo/b 1.."];
    shell("for f in a b; do cat $f; done", &ten, &both);
    shell("cat 設計.md", &ten, &["read /repo/設計.md 1.."]);
}

#[test]
fn shell_commands_that_change() {
    shell("sed -i 's/a/b/' a.rs", "", &["mutate /repo/a.rs"]);
    shell("echo x > a.rs", "", &["mutate /repo/a.rs"]);
    shell("echo x >> a.rs", "", &["mutate /repo/a.rs"]);
    shell("make | tee log.txt", "", &["mutate /repo/log.txt"]);
    shell("rm a.rs", "", &["mutate /repo/a.rs"]);
    shell("git checkout -- a.rs", "", &["mutate /repo/a.rs"]);
    shell(
        "cat > a.rs <<'EOF'\nfn a() {}\nEOF",
        "",
        &["mutate /repo/a.rs"],
    );
}

#[test]
fn shell_commands_that_touch_nothing_known() {
    for command in [
        "ls -la src",
        "grep -rn foo src",
        "cat a.rs | grep foo",
        "cat $FILE",
        "cat *.rs",
        "for f in *.rs; do cat $f; done",
        "python3 run.py a.rs",
        "cat 'unterminated",
        "echo a.rs",
        "",
    ] {
        shell(command, "x\n", &[]);
    }
}

#[test]
fn failures_of_commands() {
    let status = |exit_status, command: &str, expected: &[&str]| {
        let arguments = serde_json::json!({ "command": command }).to_string();
        let outcome = Outcome {
            text: "cat: no",
            exit_status: Some(exit_status),
            ..Outcome::default()
        };
        assert_eq!(touched("bash", &arguments, &outcome), expected, "{command}");
    };
    status(1, "cat a.rs", &[]);
    status(2, "sed -i s/a/b/ a.rs; false", &["mutate /repo/a.rs"]);
    status(0, "cat a.rs", &["read /repo/a.rs 1.."]);
    shell("cat a.rs", "Exit code: 1\ncat: a.rs: No such file", &[]);
}

#[test]
fn ranges_as_agents_ask_for_them() {
    let plain = "x\n".repeat(30);
    for (tool, arguments, result, expected) in [
        (
            "Read",
            r#"{"file_path":"/repo/a.rs","offset":10,"limit":30}"#,
            plain.as_str(),
            "read /repo/a.rs 10..40",
        ),
        (
            "Read",
            r#"{"file_path":"a.rs"}"#,
            "     1\tx\n     2\ty\n",
            "read /repo/a.rs 1..",
        ),
        (
            "read_file",
            r#"{"path":"a.rs","start_line":5,"end_line":34}"#,
            plain.as_str(),
            "read /repo/a.rs 5..35",
        ),
        (
            "read_file",
            r#"{"absolute_path":"/repo/a.rs","offset":0,"limit":30}"#,
            plain.as_str(),
            "read /repo/a.rs 1..31",
        ),
        (
            "mcp__fs__read_text_file",
            r#"{"path":"a.rs","head":30}"#,
            plain.as_str(),
            "read /repo/a.rs 1..31",
        ),
        (
            "str_replace_editor",
            r#"{"command":"view","path":"/repo/a.rs","view_range":[3,32]}"#,
            plain.as_str(),
            "read /repo/a.rs 3..33",
        ),
        (
            "Edit",
            r#"{"file_path":"/repo/a.rs","old_string":"a","new_string":"b"}"#,
            "ok",
            "mutate /repo/a.rs",
        ),
        (
            "write_to_file",
            r#"{"path":"a.rs","content":"x"}"#,
            "saved",
            "mutate /repo/a.rs",
        ),
        (
            "Read",
            r#"{"file_path":"C:\\x\\B.rs"}"#,
            "x",
            "read c:/x/B.rs 1..",
        ),
    ] {
        let outcome = Outcome {
            text: result,
            ..Outcome::default()
        };
        assert_eq!(
            touched(tool, arguments, &outcome),
            [expected],
            "{tool} {arguments}"
        );
    }
}

#[test]
fn a_patch_touches_the_files_it_changes() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-see b.rs\n+see c.rs\n*** Add File: d/e.rs\n+x\n*** End Patch";
    let outcome = Outcome {
        text: "Exit code: 0\nSuccess. Updated the following files:\nM a.rs\nA d/e.rs",
        ..Outcome::default()
    };
    assert_eq!(
        touched("apply_patch", patch, &outcome),
        ["mutate /repo/a.rs", "mutate /repo/d/e.rs"]
    );
    let failed = Outcome {
        text: "apply_patch verification failed: no such lines",
        ..Outcome::default()
    };
    assert_eq!(touched("apply_patch", patch, &failed), Vec::<String>::new());
}

#[test]
fn labels_are_short_lines_without_secrets() {
    let table = ToolTable::builtin();
    for (command, hidden) in [
        (
            "curl -H 'Authorization: Bearer abcdef1234567890' https://x",
            "abcdef1234567890",
        ),
        ("PASSWORD=hunter2hunter2 make", "hunter2hunter2"),
        ("git clone https://me:s3cr3tpass@host/x", "s3cr3tpass"),
        ("curl -u me:s3cr3tpass https://x", "s3cr3tpass"),
        ("export K=ghp_0123456789abcdefghij", "0123456789abcdefghij"),
        ("mysql -ps3cr3tpass db", "s3cr3tpass"),
        ("deploy --token s3cr3ttoken9", "s3cr3ttoken9"),
    ] {
        let arguments =
            serde_json::json!({ "command": format!("{command}\n\u{7}{}", "z".repeat(99)) });
        let label = table.call("bash", &arguments.to_string(), None).label;
        assert!(
            label.starts_with("bash ") && !label.contains(hidden),
            "{label}"
        );
        assert!(
            label.chars().count() <= 65 && !label.contains(char::is_control),
            "{label}"
        );
    }
}

#[test]
fn hostile_commands_end_soon_and_do_not_overflow() {
    for command in [
        "(".repeat(100_000),
        "$(".repeat(50_000),
        "'".repeat(99_999),
        "cat <<EOF\n".repeat(10_000),
        "if true; then ".repeat(20_000),
        "a | ".repeat(100_000),
        "{ ".repeat(100_000),
        "`".repeat(99_999),
        "${x:-".repeat(30_000),
        "a.rs ".repeat(200_000),
    ] {
        shell(&command, "x", &[]);
    }
}
