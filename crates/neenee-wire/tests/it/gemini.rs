//! Gemini's bodies and Gemini CLI's chats: parts, pairing, updates, copies. Not the recordings, which `recorded` runs over.

use neenee_wire::{Edit, Format};

use crate::check;

#[track_caller]
fn expect(body: &str, format: Format, picture: &str) {
    let document = check::read(body.as_bytes(), format);
    assert_eq!(check::picture(&document), picture);
    check::splices(body.as_bytes(), format);
}

#[test]
fn a_body_with_parts_of_every_kind() {
    expect(
        r#"{"systemInstruction":{"parts":[{"text":"be brief"}]},"tools":[{}],"contents":[
        {"role":"user","parts":[{"text":"go"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},
        {"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"s"},{"functionCall":{"id":"c1","name":"read_file","args":{"file_path":"a.rs"}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"c2","name":"x","args":{}}},{"functionCall":{"id":"c3","name":"y","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"id":"c1","name":"read_file","response":{"output":"fn a"}}},{"functionResponse":{"id":"c2","name":"x","response":{"error":"no"}}},{"functionResponse":{"id":"c3","name":"y","response":{"n":[1,2]},"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}}]},
        {"role":"model","parts":[{"executableCode":{"code":"1"}}]}]}"#,
        Format::Gemini,
        r#"  opaque [{}]
system
  text "be brief"
user
  text "go"
  weight 1120
assistant
  reasoning signed "hm"
  call c1 read_file {"file_path":"a.rs"}
  call c2 x {}
  call c3 y {}
user
  result c1 read_file "fn a"
  result c2 x failed "no"
  result c3 y [image 3 bytes] "{\"n\":[1,2]}"
assistant
  opaque {"executableCode":{"code":"1"}}
"#,
    );
}

#[test]
fn a_response_of_another_shape_becomes_an_output() {
    let body = r#"[{"role":"user","parts":[{"functionResponse":{"name":"y","response":{"n":2},"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}}]}]"#;
    let document = check::read(body.as_bytes(), Format::Gemini);
    let edits = [Edit {
        ordinal: 0,
        content: "gone",
    }];
    assert_eq!(
        String::from_utf8(document.splice(&edits).unwrap()).unwrap(),
        r#"[{"role":"user","parts":[{"functionResponse":{"name":"y","response":{"output":"gone"},"parts":[]}}]}]"#
    );
}

#[test]
fn an_id_that_no_call_has_leaves_the_name_to_pair_by() {
    expect(
        r#"{"request":{"contents":[{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]},{"role":"function","parts":[{"functionResponse":{"id":"ls-17","name":"ls","response":{"output":"a"}}}]}]}}"#,
        Format::Gemini,
        "assistant\n  call - ls {}\ntool\n  result - ls \"a\"\n",
    );
}

const HEADER: &str = r#"{"sessionId":"s","projectHash":"p","kind":"main"}
"#;

fn answer(id: &str, calls: &str) -> String {
    format!(
        "{{\"id\":\"{id}\",\"type\":\"gemini\",\"content\":\"ok\",\"model\":\"gemini-2.5-pro\",\"tokens\":{{\"input\":9,\"cached\":4,\"output\":1,\"thoughts\":2}},\"toolCalls\":[{calls}]}}\n"
    )
}

const CALL: &str = r#"{"id":"c","name":"read_file","args":{},"status":"success","resultDisplay":"fn a","result":[{"functionResponse":{"id":"c","name":"read_file","response":{"output":"fn a"}}}]}"#;
const COPY: &str = r#"{"id":"u2","type":"user","content":[{"functionResponse":{"id":"c","name":"read_file","response":{"output":"fn a"}}}]}
"#;

#[test]
fn both_copies_of_a_response_are_replaced_and_one_is_counted() {
    let chat = HEADER.to_owned()
        + r#"{"id":"u","type":"user","content":[{"text":"go"}]}"#
        + "\n"
        + &answer("a", "")
        + &answer("a", CALL)
        + COPY;
    expect(
        &chat,
        Format::GeminiCli,
        "user\n  text \"go\"\nassistant\n  text \"ok\"\n  call c read_file {}\ntool\n  result c read_file succeeded \"fn a\"\nuser\n",
    );
    let document = check::read(chat.as_bytes(), Format::GeminiCli);
    let usage = document.messages()[1].usage.unwrap();
    assert_eq!(
        (usage.input, usage.cache_read, usage.output),
        (Some(5), Some(4), Some(3))
    );
    let edits = [Edit {
        ordinal: 0,
        content: "gone",
    }];
    let spliced = String::from_utf8(document.splice(&edits).unwrap()).unwrap();
    assert_eq!(spliced.matches("\"output\":\"gone\"").count(), 2);
    // The host's copy stays, and so does all else.
    assert_eq!(
        spliced.replace("\"output\":\"gone\"", "\"output\":\"fn a\""),
        chat
    );
}

#[test]
fn updates_replace_and_take_back() {
    let user = |id: &str| format!("{{\"id\":\"{id}\",\"type\":\"user\",\"content\":\"{id}\"}}\n");
    let chat = HEADER.to_owned()
        + &user("one")
        + &user("two")
        + r#"{"$rewindTo":"two"}"#
        + "\n"
        + &user("three");
    expect(
        &chat,
        Format::GeminiCli,
        "user\n  text \"one\"\nuser\n  text \"three\"\n",
    );
    let chat =
        chat + r#"{"$set":{"messages":[{"id":"four","type":"user","content":[{"text":"four"}]}]}}"#;
    expect(&chat, Format::GeminiCli, "user\n  text \"four\"\n");
}

#[test]
fn older_chats_are_one_object() {
    let chat = format!(
        r#"{{"sessionId":"s","projectHash":"p","messages":[{{"id":"u","type":"user","content":"go"}},{},{{"id":"i","type":"info","content":"note"}}]}}"#,
        answer("a", CALL).trim_end()
    );
    expect(
        &chat,
        Format::GeminiCli,
        "user\n  text \"go\"\nassistant\n  text \"ok\"\n  call c read_file {}\ntool\n  result c read_file succeeded \"fn a\"\n",
    );
}

#[test]
fn errors_name_the_place() {
    for (body, format, expected) in [
        (r#"{"contents":7}"#, Format::Gemini, "an array `contents`"),
        (r#"[{"role":"user"}]"#, Format::Gemini, "a field `parts`"),
        (
            r#"[{"parts":[{"functionCall":{}}]}]"#,
            Format::Gemini,
            "a call with a field `name`",
        ),
        (r#"{"a":1}"#, Format::GeminiCli, "as Gemini CLI writes it"),
    ] {
        let error = neenee_wire::read(body.as_bytes(), Some(format)).unwrap_err();
        assert!(error.to_string().contains(expected), "{body}: {error}");
    }
}
