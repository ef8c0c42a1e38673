//! Chat Completions bodies. Not the other formats.

use neenee_wire::{Edit, Format, ReadErrorKind};

use crate::check;

const BODY: &str = r#"{
  "model": "gpt-5", "temperature": 2.50, "seed": 12345678901234567890,
  "messages": [
    {"role": "developer", "content": "be brief"},
    {"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]},
    {"role": "assistant", "content": null, "tool_calls": [
      {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a.rs\"}"}},
      {"id": "c2", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "fn a() {}\né \ud83d\ude00", "x": 1, "x": 2},
    {"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two", "cache_control": {"type": "ephemeral"}}], "role": "tool", "tool_call_id": "c2"},
    {"role": "assistant", "content": "done", "reasoning_content": "hm"}
  ],
  "tools": [{"type": "function"}]
}"#;

#[test]
fn a_body_is_read() {
    let document = check::read(BODY.as_bytes(), Format::OpenAiChat);
    assert_eq!(document.model(), Some("gpt-5"));
    assert_eq!(
        check::picture(&document),
        r#"  opaque [{"type": "function"}]
system
  text "be brief"
user
  text "look"
  weight 910
assistant
  call c1 read {"path":"a.rs"}
  call c2 patch *** Begin
tool
  result c1 "fn a() {}\né 😀"
tool
  result c2 "one\ntwo"
assistant
  reasoning "hm"
  text "done"
"#
    );
    check::splices(BODY.as_bytes(), Format::OpenAiChat);
}

#[test]
fn only_the_replaced_content_changes() {
    let document = check::read(BODY.as_bytes(), Format::OpenAiChat);
    let edits = [
        Edit {
            ordinal: 1,
            content: "\"B\"",
        },
        Edit {
            ordinal: 0,
            content: "A\n",
        },
    ];
    let expected = BODY
        .replace(r"fn a() {}\né \ud83d\ude00", r"A\n")
        .replace(
            r#"[{"type": "text", "text": "one"}, {"type": "text", "text": "two", "cache_control": {"type": "ephemeral"}}]"#,
            r#"[{"type": "text", "text": "\"B\"","cache_control":{"type": "ephemeral"}}]"#,
        );
    let spliced = String::from_utf8(document.splice(&edits).unwrap()).unwrap();
    assert_eq!(spliced, expected);
}

#[test]
fn errors_name_the_place() {
    for (body, kind, text) in [
        (
            r#"{"messages": [{"role": "tool", "content": 7}]}"#,
            ReadErrorKind::Shape,
            "line 1, column 43, at messages[0].content: not openai-chat: expected the content of a result: a string, an array of blocks or null",
        ),
        (
            "{\"messages\": [{\"role\": \"user\",\n \"content\": \"a\nb\"}]}",
            ReadErrorKind::Json,
            "line 2, column 15, at messages[0].content: malformed JSON: expected an escape (`\\n`, `\\u0000`): a raw control character is not allowed in a string; found byte 0x0a",
        ),
        (
            r#"{"messages": 1}"#,
            ReadErrorKind::NotRecognised,
            "format not recognised: expected one of ",
        ),
        (
            "  \n",
            ReadErrorKind::Empty,
            "empty input: expected a request body",
        ),
    ] {
        let error = neenee_wire::read(body.as_bytes(), None)
            .err()
            .unwrap_or_else(|| panic!("{body} was read"));
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().starts_with(text), "{error}\n{text}");
    }
}
