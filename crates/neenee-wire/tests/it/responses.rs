//! OpenAI Responses: kinds of items and of outputs. Not what Codex adds; that is its own format.

use neenee_wire::Format;

use crate::check;

#[track_caller]
fn expect(body: &str, picture: &str) {
    let document = check::read(body.as_bytes(), Format::OpenAiResponses);
    assert_eq!(check::picture(&document), picture);
    check::splices(body.as_bytes(), Format::OpenAiResponses);
}

#[test]
fn a_body_with_calls_of_every_kind() {
    expect(
        r#"{"model":"gpt-5.5","instructions":"be brief","tools":[{"type":"shell"}],"input":[
        {"role":"user","content":"go"},
        {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"I look"}],"encrypted_content":"gAAA"},
        {"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":\"a.rs\"}"},
        {"type":"custom_tool_call","call_id":"c2","name":"apply_patch","input":"*** Begin Patch"},
        {"type":"function_call_output","call_id":"c1","output":"fn a\n"},
        {"type":"custom_tool_call_output","call_id":"c2","output":"Done"},
        {"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"},{"type":"refusal","refusal":"no"}]},
        {"type":"web_search_call","id":"ws","status":"completed"}]}"#,
        r#"  opaque [{"type":"shell"}]
system
  text "be brief"
user
  text "go"
assistant
  reasoning signed "I look"
  call c1 read {"path":"a.rs"}
  call c2 apply_patch *** Begin Patch
tool
  result c1 "fn a\n"
  result c2 "Done"
assistant
  text "ok"
  text "no"
  opaque {"type":"web_search_call","id":"ws","status":"completed"}
"#,
    );
}

#[test]
fn outputs_of_shells_patches_and_pictures() {
    expect(
        r#"[{"type":"local_shell_call","call_id":"l","action":{"type":"exec","command":["ls"]}},
        {"type":"local_shell_call_output","id":"l","output":"a\nb"},
        {"type":"shell_call","call_id":"s","action":{"commands":["make","ls"]}},
        {"type":"shell_call_output","call_id":"s","output":[{"stdout":"","stderr":"no rule","outcome":{"type":"exit","exit_code":2}},{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]},
        {"type":"apply_patch_call","call_id":"p","operation":{"type":"update_file","path":"a.rs","diff":"@@"}},
        {"type":"apply_patch_call_output","call_id":"p","status":"failed","output":"no such line"},
        {"type":"function_call","call_id":"v","name":"view_image","arguments":"{}"},
        {"type":"function_call_output","call_id":"v","output":[{"type":"input_text","text":"a picture"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]},
        {"type":"computer_call_output","call_id":"k","output":{"type":"computer_screenshot","image_url":"https://x/y.png"}}]"#,
        r#"assistant
  call l local_shell {"type":"exec","command":["ls"]}
tool
  result l "a\nb"
assistant
  call s shell {"commands":["make","ls"]}
tool
  result s exit 2 "no rule\na"
assistant
  call p apply_patch {"type":"update_file","path":"a.rs","diff":"@@"}
tool
  result p failed "no such line"
assistant
  call v view_image {}
tool
  result v [image 3 bytes] "a picture"
  weight 1200
"#,
    );
}

#[test]
fn an_output_of_any_shape_is_replaced_by_one_text() {
    let body = r#"[{"type":"shell_call_output","call_id":"s","output":[{"stdout":"one","stderr":"two"},{"stdout":"three","stderr":""}]}]"#;
    let document = check::read(body.as_bytes(), Format::OpenAiResponses);
    let edits = [neenee_wire::Edit {
        ordinal: 0,
        content: "gone",
    }];
    assert_eq!(
        String::from_utf8(document.splice(&edits).unwrap()).unwrap(),
        r#"[{"type":"shell_call_output","call_id":"s","output":[{"stdout":"gone","stderr":""},{"stdout":"","stderr":""}]}]"#
    );
}

#[test]
fn what_is_another_format_is_not_taken() {
    for other in [
        r#"[{"role":"user","content":"hi"}]"#,
        r#"{"messages":[{"role":"user","content":"hi"}]}"#,
        r#"[{"role":"user","content":[{"type":"text","text":"hi"}]}]"#,
    ] {
        assert_ne!(
            neenee_wire::detect(other.as_bytes()),
            Some(Format::OpenAiResponses),
            "{other}"
        );
    }
}

#[test]
fn errors_name_the_place() {
    for (body, expected) in [
        (r#"{"model":"m"}"#, "a field `input`"),
        (r#"{"input":7}"#, "a string or an array of items"),
        (r#"{"input":[3]}"#, "an item, which is an object"),
        (r#"{"input":[{"content":"x"}]}"#, "`type` or `role`"),
        (
            r#"{"input":[{"type":"function_call_output","call_id":"c","output":3}]}"#,
            "the content of a result",
        ),
    ] {
        let error = neenee_wire::read(body.as_bytes(), Some(Format::OpenAiResponses)).unwrap_err();
        assert!(error.to_string().contains(expected), "{body}: {error}");
    }
}
