//! Sessions that compacted themselves: each part is replayed, nothing twice.
//! Deliberately with the least lines that readers take for a session.

use neenee_replay::{Comparison, Ground, Session, Spec, compare, segments};
use serde_json::json;

struct Lines {
    text: String,
    parent: Option<String>,
}

impl Lines {
    fn line(&mut self, mut line: serde_json::Value) {
        let uuid = format!("u{}", self.text.lines().count());
        line["uuid"] = json!(uuid);
        line["parentUuid"] = json!(self.parent);
        line["sessionId"] = json!("s");
        line["isSidechain"] = json!(false);
        self.text.push_str(&line.to_string());
        self.text.push('\n');
        self.parent = Some(uuid);
    }

    fn round(&mut self, number: usize) {
        self.line(json!({"type": "user", "message": {"role": "user", "content": format!("ask {number}")}}));
        self.line(json!({"type": "assistant", "message": {
            "id": format!("m{number}"), "role": "assistant",
            "content": [{"type": "text", "text": format!("answer {number}")}],
        }}));
    }

    fn compact(&mut self) {
        self.parent = None;
        self.line(json!({"type": "system", "subtype": "compact_boundary", "content": "compacted"}));
        self.line(
            json!({"type": "user", "isCompactSummary": true, "message": {
                "role": "user", "content": "summary of all that",
            }}),
        );
    }
}

fn replayed(bytes: &[u8]) -> Session {
    let comparison = Comparison {
        windows: vec![10],
        specs: vec![Spec::plain("none")],
        rows: true,
        ..Comparison::default()
    };
    let ground = |_: &neenee_wire::Document<'_>| Ok::<_, ()>(Ground::new(10));
    compare(bytes, &comparison, ground).unwrap()
}

#[test]
fn each_part_between_compactions_is_replayed_once() {
    let mut lines = Lines {
        text: String::new(),
        parent: None,
    };
    (0..3).for_each(|number| lines.round(number));
    lines.compact();
    (3..5).for_each(|number| lines.round(number));
    lines.compact();
    lines.round(5);
    let session = replayed(lines.text.as_bytes());
    assert_eq!(segments(lines.text.as_bytes()).len(), 3);
    assert_eq!((session.segments, session.turns), (3, 6));
    let rows = &session.outcomes[0].rows;
    assert_eq!(rows.len(), 6);
    // The window is small again after each compaction.
    assert!(rows[3].sent < rows[2].sent && rows[5].sent < rows[4].sent);
}

#[test]
fn a_turn_that_a_compaction_carried_over_is_no_turn_again() {
    let message = |role: &str, text: &str| {
        let kind = if role == "user" {
            "input_text"
        } else {
            "output_text"
        };
        json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
    };
    let record = |payload: serde_json::Value| {
        json!({"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": payload})
            .to_string()
    };
    let kept = message("assistant", "an answer that is kept");
    let lines = [
        json!({"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "s", "cwd": "/p"}})
            .to_string(),
        record(message("user", "the first question")),
        record(kept.clone()),
        json!({"timestamp": "2026-01-01T00:00:01Z", "type": "compacted", "payload": {
            "message": "", "replacement_history": [message("user", "the first question"), kept],
        }})
        .to_string(),
        record(message("user", "the second question")),
        record(message("assistant", "the second answer")),
    ];
    let session = replayed(lines.join("\n").as_bytes());
    assert_eq!((session.segments, session.turns), (2, 2));
    assert_eq!(session.outcomes[0].rows.len(), 2);
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let ground = |_: &neenee_wire::Document<'_>| Ok::<_, ()>(Ground::new(10));
    let error = compare(b"no session", &Comparison::default(), ground).unwrap_err();
    assert!(error.to_string().contains("JSON"), "{error}");
}
