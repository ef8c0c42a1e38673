//! Claude Code's sessions: which lines are the window. Not its content blocks, which are Anthropic's.

use neenee_wire::{Format, Outside};

use crate::check;

/// A line of a session: `uuid parent` and what else there is, as JSON fields without braces.
fn line(uuid: &str, parent: &str, fields: &str) -> String {
    let parent = match parent {
        "-" => "null".to_owned(),
        parent => format!("\"{parent}\""),
    };
    format!(
        "{{\"parentUuid\":{parent},\"isSidechain\":false,\"sessionId\":\"s\",\"uuid\":\"{uuid}\",{fields}}}\n"
    )
}

fn user(uuid: &str, parent: &str, text: &str) -> String {
    line(
        uuid,
        parent,
        &format!(r#""type":"user","message":{{"role":"user","content":"{text}"}}"#),
    )
}

fn call(uuid: &str, parent: &str, message: &str, id: &str) -> String {
    line(
        uuid,
        parent,
        &format!(
            r#""type":"assistant","message":{{"id":"{message}","model":"claude-opus-4-6","role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"Read","input":{{}}}}]}}"#
        ),
    )
}

fn result(uuid: &str, parent: &str, id: &str) -> String {
    line(
        uuid,
        parent,
        &format!(
            r#""type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"of {id}"}}]}},"toolUseResult":{{"stdout":"of {id}"}}"#
        ),
    )
}

fn says(uuid: &str, parent: &str, message: &str, text: &str) -> String {
    line(
        uuid,
        parent,
        &format!(
            r#""type":"assistant","message":{{"id":"{message}","role":"assistant","content":[{{"type":"text","text":"{text}"}}]}}"#
        ),
    )
}

#[track_caller]
fn expect(session: &str, picture: &str) {
    let document = check::read(session.as_bytes(), Format::ClaudeCode);
    assert_eq!(check::picture(&document), picture);
    check::splices(session.as_bytes(), Format::ClaudeCode);
}

const PARALLEL: &str = r#"user
  text "go"
assistant
  call t1 Read {}
  call t2 Read {}
  call t3 Read {}
user
  result t1 "of t1"
user
  result t2 "of t2"
user
  result t3 "of t3"
assistant
  text "done"
"#;

#[test]
fn following_parent_links_alone_loses_parallel_results() {
    // One answer in a chain of three lines, each result a child of its own call.
    expect(
        &[
            user("u", "-", "go"),
            call("a1", "u", "m1", "t1"),
            call("a2", "a1", "m1", "t2"),
            result("r1", "a1", "t1"),
            call("a3", "a2", "m1", "t3"),
            result("r2", "a2", "t2"),
            result("r3", "a3", "t3"),
            says("e", "r3", "m2", "done"),
        ]
        .concat(),
        PARALLEL,
    );
    // The chain goes on from the first result: the other calls are off it too.
    expect(
        &[
            user("u", "-", "go"),
            call("a1", "u", "m1", "t1"),
            call("a2", "a1", "m1", "t2"),
            call("a3", "a2", "m1", "t3"),
            result("r1", "a1", "t1"),
            result("r2", "a2", "t2"),
            result("r3", "a3", "t3"),
            says("e", "r1", "m2", "done"),
        ]
        .concat(),
        PARALLEL,
    );
    // Results that come while the answer is still being streamed.
    expect(
        &[
            user("u", "-", "go"),
            call("a1", "u", "m1", "t1"),
            result("r1", "a1", "t1"),
            call("a2", "r1", "m1", "t2"),
            result("r2", "a2", "t2"),
            call("a3", "r2", "m1", "t3"),
            result("r3", "a3", "t3"),
            says("e", "r3", "m2", "done"),
        ]
        .concat(),
        PARALLEL,
    );
}

#[test]
fn links_lead_through_progress_records_and_attachments() {
    let session = [
        user("u", "-", "go"),
        call("a1", "u", "m1", "t1"),
        line(
            "p",
            "a1",
            r#""type":"progress","data":{"type":"hook_progress"}"#,
        ),
        line(
            "g",
            "p",
            r#""type":"progress","data":{"type":"agent_progress","message":{"type":"user"}}"#,
        ),
        result("r1", "g", "t1"),
        line(
            "h",
            "r1",
            r#""type":"attachment","attachment":{"type":"command_permissions"}"#,
        ),
        line(
            "q",
            "h",
            r#""type":"attachment","attachment":{"type":"queued_command","prompt":"and b.rs"}"#,
        ),
        line(
            "n",
            "q",
            r#""type":"attachment","attachment":{"type":"nested_memory"}"#,
        ),
    ]
    .concat();
    expect(
        &session,
        r#"user
  text "go"
assistant
  call t1 Read {}
user
  result t1 "of t1"
user
  text "and b.rs"
user
  opaque {"type":"nested_memory"}
"#,
    );
    let document = check::read(session.as_bytes(), Format::ClaudeCode);
    let outside: Vec<_> = document
        .outside()
        .iter()
        .map(|outside| (outside.what, outside.count))
        .collect();
    assert_eq!(
        outside,
        [
            ("progress records", 1),
            ("sub-agents' progress records", 1),
            ("records of the host", 1),
            ("host's copies of results", 1)
        ]
    );
}

#[test]
fn a_rewind_leaves_its_branch() {
    let session = [
        user("u", "-", "go"),
        call("a1", "u", "m1", "t1"),
        result("r1", "a1", "t1"),
        says("e1", "r1", "m2", "wrong"),
        user("u2", "u", "again"),
        call("b1", "u2", "m3", "t1"),
        result("s1", "b1", "t1"),
    ]
    .concat();
    expect(
        &session,
        r#"user
  text "go"
user
  text "again"
assistant
  call t1 Read {}
user
  result t1 "of t1"
"#,
    );
    let document = check::read(session.as_bytes(), Format::ClaudeCode);
    assert_eq!(
        document.outside()[0],
        Outside {
            what: "messages on abandoned branches",
            count: 3,
            bytes: session.lines().skip(1).take(3).map(str::len).sum(),
        }
    );
}

#[test]
fn the_window_begins_at_the_last_compaction() {
    let boundary = |metadata: &str| {
        line(
            "c",
            "-",
            &format!(
                r#""type":"system","subtype":"compact_boundary","logicalParentUuid":"r1","compactMetadata":{metadata}"#
            ),
        )
    };
    let session = |metadata: &str| {
        [
            user("u", "-", "go"),
            call("a1", "u", "m1", "t1"),
            result("r1", "a1", "t1"),
            boundary(metadata),
            line(
                "s",
                "c",
                r#""type":"user","isCompactSummary":true,"message":{"role":"user","content":"summary"}"#,
            ),
            user("u2", "s", "more"),
        ]
        .concat()
    };
    let whole = session(r#"{"trigger":"auto"}"#);
    expect(&whole, "user\n  text \"summary\"\nuser\n  text \"more\"\n");
    let document = check::read(whole.as_bytes(), Format::ClaudeCode);
    assert_eq!(
        document.outside()[0].what,
        "messages before the last compaction"
    );
    assert_eq!(document.outside()[0].count, 3);

    let kept = r#"user
  text "summary"
assistant
  call t1 Read {}
user
  result t1 "of t1"
user
  text "more"
"#;
    for metadata in [
        r#"{"preservedSegment":{"headUuid":"a1","anchorUuid":"s","tailUuid":"r1"}}"#,
        r#"{"preservedMessages":{"anchorUuid":"s","uuids":["a1","r1"]}}"#,
    ] {
        expect(&session(metadata), kept);
    }
}

#[test]
fn side_chains_are_conversations_of_their_own() {
    let side = [
        user("v", "-", "sub-task"),
        call("b1", "v", "m9", "t9"),
        result("q1", "b1", "t9"),
    ]
    .concat()
    .replace("\"isSidechain\":false", "\"isSidechain\":true");
    let main = [user("u", "-", "go"), says("e", "u", "m1", "done")].concat();
    let both = format!("{main}{side}");
    expect(&both, "user\n  text \"go\"\nassistant\n  text \"done\"\n");
    let document = check::read(both.as_bytes(), Format::ClaudeCode);
    assert_eq!(document.outside()[0].what, "side chains");
    // The file of a sub-agent holds nothing else.
    expect(
        &side,
        "user\n  text \"sub-task\"\nassistant\n  call t9 Read {}\nuser\n  result t9 \"of t9\"\n",
    );
}

#[test]
fn faults_of_files_are_carried() {
    let (u, a, r) = (
        user("u", "-", "go"),
        call("a1", "u", "m1", "t1"),
        result("r1", "a1", "t1"),
    );
    let torn = &r[..r.len() / 2];
    let session = format!(
        "\u{feff}{{\"type\":\"custom-title\",\"n\":2.50}}\r\n\r\n{}{}{{\"torn\": \"in the mid\n{}\n\n{torn}",
        u.trim_end(),
        a.replace('\n', "\r\n"),
        r.trim_end()
    );
    expect(
        &session,
        "user\n  text \"go\"\nassistant\n  call t1 Read {}\nuser\n  result t1 \"of t1\"\n",
    );
    let document = check::read(session.as_bytes(), Format::ClaudeCode);
    let warnings: Vec<_> = document
        .warnings()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        warnings,
        [
            "line 4: not JSON, carried as it is",
            "line 7: the last line is cut off or not JSON, carried as it is"
        ]
    );
}

#[test]
fn a_line_that_is_not_utf8_is_carried() {
    let mut session = [user("u", "-", "go"), call("a1", "u", "m1", "t1")]
        .concat()
        .into_bytes();
    session.extend(b"{\"type\":\"user\",\"message\":\"\xff\"}\n");
    session.extend(result("r1", "a1", "t1").into_bytes());
    let document = check::read(&session, Format::ClaudeCode);
    assert_eq!(document.warnings().len(), 1);
    assert_eq!(document.results().len(), 1);
    check::splices(&session, Format::ClaudeCode);
}

#[test]
fn folders_times_and_usage_are_told() {
    let session = [
        line(
            "u",
            "-",
            r#""type":"user","cwd":"/repo","timestamp":"2026-01-02T03:04:05.678Z","message":{"role":"user","content":"go"}"#,
        ),
        line(
            "a",
            "u",
            r#""type":"assistant","cwd":"/repo","message":{"id":"m","model":"claude-opus-4-6","content":[],"usage":{"input_tokens":3,"cache_read_input_tokens":4,"cache_creation_input_tokens":5,"output_tokens":1}}"#,
        ),
        line(
            "b",
            "a",
            r#""type":"assistant","cwd":"/repo/src","message":{"id":"m","model":"<synthetic>","content":[{"type":"text","text":"hi"}],"usage":{"input_tokens":3,"output_tokens":6}}"#,
        ),
    ]
    .concat();
    let document = check::read(session.as_bytes(), Format::ClaudeCode);
    assert_eq!(
        check::picture(&document),
        "user\n  cwd /repo\n  text \"go\"\nassistant\n  cwd /repo/src\n  text \"hi\"\n"
    );
    assert_eq!(document.model(), Some("claude-opus-4-6"));
    assert_eq!(document.messages()[0].timestamp, Some(1_767_323_045_678));
    let usage = document.messages()[1].usage.unwrap();
    assert_eq!((usage.input, usage.output), (Some(3), Some(6)));
}

#[test]
fn many_values_on_one_line_and_one_id_for_all_calls_stay_linear() {
    let mut session = [user("u", "-", "go"), says("e", "u", "m0", "done")].concat();
    let many = 200_000;
    session.push_str(&"{}".repeat(many));
    session.push('\n');
    let mut parent = "e".to_owned();
    for nth in 0..many / 20 {
        let (a, u) = (format!("a{nth}"), format!("u{nth}"));
        session.push_str(&call(&a, &parent, "m", "t"));
        session.push_str(&user(&u, &a, "on"));
        parent = u;
    }
    let started = std::time::Instant::now();
    let document = check::read(session.as_bytes(), Format::ClaudeCode);
    assert_eq!(document.messages().len(), 2 + many / 10);
    // Squares of these numbers take minutes; this takes a fraction of a second.
    assert!(started.elapsed().as_secs() < 20);
}
