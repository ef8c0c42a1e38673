//! Pi's session files: branches, compactions, roles. Not other agents' lines.

use neenee_wire::Format;

use crate::check;

const HEADER: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/repo"}"#;

/// A tree of entries, each `id parent` and its other fields.
fn session(entries: &[(&str, &str, &str)]) -> String {
    let mut out = format!("{HEADER}\n");
    for (id, parent, fields) in entries {
        let parent = match *parent {
            "" => "null".to_owned(),
            parent => format!("\"{parent}\""),
        };
        out += &format!(
            "{{{fields},\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2026-01-01T00:00:01.000Z\"}}\n"
        );
    }
    out
}

const ASK: &str = r#""type":"message","message":{"role":"user","content":"go","timestamp":7}"#;
const CALL: &str = r#""type":"message","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"x"},{"type":"text","text":"I read"},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"a.rs"}}],"model":"claude-sonnet-4-5","usage":{"input":3,"output":4,"cacheRead":5,"cacheWrite":6}}"#;
const RESULT: &str = r#""type":"message","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"fn a"},{"type":"image","data":"AAAA","mimeType":"image/png"}],"details":{"x":1},"isError":false}"#;

#[track_caller]
fn expect(session: &str, picture: &str) {
    let document = check::read(session.as_bytes(), Format::Pi);
    assert_eq!(check::picture(&document), picture);
    check::splices(session.as_bytes(), Format::Pi);
}

#[test]
fn the_branch_of_the_last_entry_is_the_window() {
    let session = session(&[
        ("1", "", ASK),
        ("2", "1", CALL),
        ("3", "2", RESULT),
        (
            "4",
            "3",
            r#""type":"message","message":{"role":"user","content":"abandoned"}"#,
        ),
        (
            "5",
            "3",
            r#""type":"branch_summary","fromId":"4","summary":"tried"}"#.trim_end_matches('}'),
        ),
        ("6", "5", r#""type":"label","targetId":"1","label":"l""#),
        (
            "7",
            "6",
            r#""type":"custom_message","customType":"x","content":[{"type":"text","text":"note"}]"#,
        ),
    ]);
    expect(
        &session,
        r#"  cwd /repo
user
  text "go"
assistant
  reasoning signed "hm"
  text "I read"
  call c1 read {"path":"a.rs"}
tool
  result c1 read succeeded [image 3 bytes] "fn a"
user
  text "tried"
user
  text "note"
"#,
    );
    let document = check::read(session.as_bytes(), Format::Pi);
    assert_eq!(document.model(), Some("claude-sonnet-4-5"));
    assert_eq!(document.messages()[0].timestamp, Some(7));
    let usage = document.messages()[1].usage.unwrap();
    assert_eq!((usage.input, usage.cache_read), (Some(3), Some(5)));
    let outside: Vec<_> = document
        .outside()
        .iter()
        .map(|o| (o.what, o.count))
        .collect();
    assert_eq!(
        outside,
        [
            ("records of the host", 2),
            ("messages on abandoned branches", 1),
            ("host's details of results", 1),
        ]
    );
}

#[test]
fn a_compaction_keeps_what_it_names() {
    let tail = r#"user
  text "so far"
tool
  result c1 read succeeded [image 3 bytes] "fn a"
user
  text "go"
"#;
    let by_id = session(&[
        ("1", "", ASK),
        ("2", "1", CALL),
        ("3", "2", RESULT),
        (
            "4",
            "3",
            r#""type":"compaction","summary":"so far","firstKeptEntryId":"3","tokensBefore":9"#,
        ),
        ("5", "4", ASK),
    ]);
    expect(&by_id, &format!("  cwd /repo\n{tail}"));
    // The first version has neither ids nor parents.
    let compaction = r#""type":"compaction","summary":"so far","firstKeptEntryIndex":3"#;
    let by_index = format!(
        "{HEADER}\n{}",
        [ASK, CALL, RESULT, compaction, ASK]
            .map(|fields| format!("{{{fields},\"timestamp\":\"\"}}\n"))
            .concat()
    );
    expect(&by_index, &format!("  cwd /repo\n{tail}"));
}

#[test]
fn what_the_user_ran_is_said_by_the_user_unless_it_is_kept_from_the_model() {
    let run = |excluded: bool| {
        format!(
            r#""type":"message","message":{{"role":"bashExecution","command":"ls","output":"a.rs","exitCode":0,"excludeFromContext":{excluded}}}"#
        )
    };
    expect(
        &session(&[("1", "", &run(false)), ("2", "1", &run(true))]),
        "  cwd /repo\nuser\n  text \"ls\"\n  text \"a.rs\"\n",
    );
}

#[test]
fn damaged_links_lose_no_more_than_the_client_would() {
    // A parent that is not there ends the branch; a circle ends.
    expect(
        &session(&[("1", "", ASK), ("2", "gone", CALL), ("3", "2", RESULT)]),
        "  cwd /repo\nassistant\n  reasoning signed \"hm\"\n  text \"I read\"\n  call c1 read {\"path\":\"a.rs\"}\ntool\n  result c1 read succeeded [image 3 bytes] \"fn a\"\n",
    );
    expect(
        &session(&[("1", "2", ASK), ("2", "1", ASK)]),
        "  cwd /repo\nuser\n  text \"go\"\nuser\n  text \"go\"\n",
    );
    let whole = session(&[("1", "", ASK), ("2", "1", CALL), ("3", "2", RESULT)]);
    let torn = &whole[..whole.len() - 9];
    let document = check::read(torn.as_bytes(), Format::Pi);
    assert_eq!(document.results().len(), 0);
    assert_eq!(document.warnings()[0].line, 4);
}

#[test]
fn faults_name_their_place() {
    for (message, place) in [
        (r#"{"role":7}"#, "line 3, column 37, at message.role"),
        (
            r#"{"role":"user","content":7}"#,
            "line 3, column 54, at message.content",
        ),
        (
            r#"{"role":"assistant","content":[{"type":"toolCall"}]}"#,
            "line 3, column 60, at message.content[0]",
        ),
    ] {
        let bad = format!(r#""type":"message","message":{message}"#);
        let session = session(&[("1", "", ASK), ("2", "1", &bad)]);
        let error = neenee_wire::read(session.as_bytes(), None).unwrap_err();
        assert!(error.to_string().starts_with(place), "{error}");
    }
    let error = neenee_wire::read(b"{\"a\":1}\n{\"b\":2}\n", Some(Format::Pi)).unwrap_err();
    assert!(error.to_string().contains("as pi writes them"), "{error}");
}
