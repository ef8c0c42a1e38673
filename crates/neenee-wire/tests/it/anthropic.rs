//! Anthropic Messages bodies, and what is inserted into them. Not Claude Code's sessions.

use neenee_wire::{Delegate, Edit, Format, Insertion, InsertionError, SpliceError};

use crate::check;

const BODY: &str = r#"{
  "model": "claude-sonnet-4-5", "max_tokens": 1024,
  "tools": [{"name": "read", "input_schema": {"type": "object"}}],
  "system": [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}],
  "thinking": {"type": "enabled", "budget_tokens": 1024},
  "messages": [
    {"role": "user", "content": "look"},
    {"role": "assistant", "content": [
      {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
      {"type": "redacted_thinking", "data": "ZGF0YQ"},
      {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a.rs", "n": 2.50}},
      {"type": "tool_use", "id": "t2", "name": "shot", "input": {}},
      {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}]},
    {"role": "user", "content": [
      {"type": "tool_result", "tool_use_id": "t1", "content": "a\tb", "is_error": true},
      {"type": "tool_result", "tool_use_id": "t2", "content": [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAAA"}},
        {"type": "tool_reference", "tool_name": "x"}]},
      {"type": "tool_result", "tool_use_id": "t3"},
      {"type": "tool_result", "tool_use_id": "t4", "content": []},
      {"type": "tool_result", "tool_use_id": "t5", "content": null},
      {"type": "text", "text": "go on"},
      {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}]}
  ]
}"#;

#[test]
fn a_body_is_read() {
    let document = check::read(BODY.as_bytes(), Format::Anthropic);
    assert_eq!(document.model(), Some("claude-sonnet-4-5"));
    assert_eq!(
        check::picture(&document),
        r#"  opaque [{"name": "read", "input_schema": {"type": "object"}}]
system
  text "be brief"
user
  text "look"
assistant
  reasoning signed "hm"
  reasoning signed "ZGF0YQ"
  call t1 read {"path": "a.rs", "n": 2.50}
  call t2 shot {}
  opaque {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
user
  result t1 failed "a\tb"
  result t2 [image 30 bytes] ""
  opaque {"type": "tool_reference", "tool_name": "x"}
  result t3 ""
  result t4 ""
  result t5 ""
  text "go on"
  weight 1334
"#
    );
    check::splices(BODY.as_bytes(), Format::Anthropic);
}

/// What becomes of a result's `content` when it is replaced by `new`.
#[track_caller]
fn expect(content: &str, expected: &str) {
    let body = |content: &str| {
        format!(
            r#"{{"system":"","messages":[{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t"{content}}}]}}]}}"#
        )
    };
    let before = body(content);
    let document = check::read(before.as_bytes(), Format::Anthropic);
    let spliced = document
        .splice(&[Edit {
            ordinal: 0,
            content: "new",
        }])
        .unwrap();
    assert_eq!(String::from_utf8(spliced).unwrap(), body(expected));
    check::splices(before.as_bytes(), Format::Anthropic);
}

#[test]
fn content_keeps_a_valid_shape() {
    expect(r#","content":"old""#, r#","content":"new""#);
    expect(r#","content": null"#, r#","content": "new""#);
    expect(
        r#","content": []"#,
        r#","content": [{"type":"text","text":"new"}]"#,
    );
    // Further blocks go, with the comma that belongs to them.
    expect(
        r#","content":[{"type":"image","source":{"data":"A"}} , {"type":"text","text":"a"} , {"text":"b","type":"text"}]"#,
        r#","content":[{"type":"text","text":"new"}]"#,
    );
    expect(
        r#","content":[{"type":"image","source":{"data":"A"}},{"type":"image","source":{"data":"B"}}]"#,
        r#","content":[{"type":"text","text":"new"}]"#,
    );
    // Blocks that nobody knows stay.
    expect(
        r#","content":[{"type":"new"},{"type":"text","text":"a"},{"type":"new"},{"type":"text","text":"b"}]"#,
        r#","content":[{"type":"new"},{"type":"text","text":"new"},{"type":"new"}]"#,
    );
    expect(
        r#","content":[{"type":"new"}]"#,
        r#","content":[{"type":"text","text":"new"},{"type":"new"}]"#,
    );
}

#[test]
fn cache_markers_and_unknown_fields_stay() {
    expect(
        r#","content":[{"cache_control":{"type":"ephemeral"},"type":"text","text":"a","x":1.0}]"#,
        r#","content":[{"cache_control":{"type":"ephemeral"},"type":"text","text":"new","x":1.0}]"#,
    );
    expect(
        r#","content":[{"type":"image","source":{"data":"A"},"cache_control":{"type":"ephemeral"}}]"#,
        r#","content":[{"type":"text","text":"new","cache_control":{"type":"ephemeral"}}]"#,
    );
    expect(
        r#","content":[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{"type":"ephemeral"},"citations":null}]"#,
        r#","content":[{"type":"text","text":"new","cache_control":{"type":"ephemeral"},"citations":null}]"#,
    );
    // The same field on both, with one value or, for the marker, any.
    expect(
        r#","content":[{"type":"text","text":"a","cache_control":{"ttl":"1h"},"c":[]},{"type":"text","text":"b","cache_control":{"ttl":"5m"},"c":[]}]"#,
        r#","content":[{"type":"text","text":"new","cache_control":{"ttl":"1h"},"c":[]}]"#,
    );
}

#[test]
fn an_extra_field_with_two_values_keeps_both_blocks() {
    let before = r#"{"system":"","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a","x":1},{"type":"text","text":"b","x":2}]}]}]}"#;
    let document = check::read(before.as_bytes(), Format::Anthropic);
    let spliced = document
        .splice(&[Edit {
            ordinal: 0,
            content: "new",
        }])
        .unwrap();
    assert_eq!(
        String::from_utf8(spliced).unwrap(),
        before
            .replace(r#""text":"a""#, r#""text":"new""#)
            .replace(r#""text":"b""#, r#""text":"…""#)
    );
}

#[track_caller]
fn inserted(body: &str, insertion: &Insertion) -> Result<String, SpliceError> {
    let document = check::read(body.as_bytes(), Format::Anthropic);
    let bytes = document.splice_with(&[], insertion)?;
    let document = neenee_wire::read(&bytes, None).expect("what was inserted is JSON");
    assert_eq!(document.format(), Format::Anthropic);
    Ok(String::from_utf8(bytes).unwrap())
}

#[test]
fn a_request_to_drop_blocks_is_merged_into_thinking() {
    for (thinking, expected) in [
        (
            r#"{"type": "enabled" }"#,
            r#"{"type": "enabled","block_binding":{"prefix_mismatch_behavior":"drop_block"} }"#,
        ),
        (
            "{}",
            r#"{"block_binding":{"prefix_mismatch_behavior":"drop_block"}}"#,
        ),
        (
            r#"{"block_binding": {"x": 1}}"#,
            r#"{"block_binding": {"x": 1,"prefix_mismatch_behavior":"drop_block"}}"#,
        ),
        (
            r#"{"block_binding": {"prefix_mismatch_behavior": "error", "x": 1}}"#,
            r#"{"block_binding": {"prefix_mismatch_behavior": "drop_block", "x": 1}}"#,
        ),
    ] {
        let body = |thinking: &str| format!(r#"{{"thinking": {thinking}, "messages": []}}"#);
        assert_eq!(
            inserted(&body(thinking), &Insertion::Drop).unwrap(),
            body(expected)
        );
    }
    assert_eq!(
        inserted(r#"{"system": "", "messages": []}"#, &Insertion::Drop),
        Err(SpliceError::Insertion {
            format: Format::Anthropic,
            reason: InsertionError::NoThinking
        })
    );
}

#[test]
fn a_request_to_clear_is_appended_to_context_management() {
    let delegate = Insertion::Delegate(Delegate {
        trigger_input_tokens: 130_000,
        keep_tool_uses: 3,
        clear_at_least_input_tokens: 2_000,
        exclude_tools: vec!["todo\"é".to_owned()],
    });
    let edit = r#"{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":130000},"keep":{"type":"tool_uses","value":3},"clear_at_least":{"type":"input_tokens","value":2000},"exclude_tools":["todo\"\u00e9"]}"#;
    for (before, after) in [
        (
            r#"{"system": "", "messages": []}"#,
            r#"{"system": "", "messages": [],"context_management":{"edits":[EDIT]}}"#,
        ),
        (
            r#"{"context_management": {"x": 1}, "messages": []}"#,
            r#"{"context_management": {"x": 1,"edits":[EDIT]}, "messages": []}"#,
        ),
        (
            r#"{"context_management": {"edits": [ ]}, "messages": []}"#,
            r#"{"context_management": {"edits": [EDIT ]}, "messages": []}"#,
        ),
        (
            r#"{"context_management": {"edits": [{"type": "clear_thinking_20251015"}]}, "messages": []}"#,
            r#"{"context_management": {"edits": [{"type": "clear_thinking_20251015"},EDIT]}, "messages": []}"#,
        ),
    ] {
        assert_eq!(
            inserted(before, &delegate).unwrap(),
            after.replace("EDIT", edit)
        );
    }
    assert_eq!(
        inserted(r#"{"context_management": 1, "messages": []}"#, &delegate),
        Err(SpliceError::Insertion {
            format: Format::Anthropic,
            reason: InsertionError::NotAnObject("context_management")
        })
    );
}
