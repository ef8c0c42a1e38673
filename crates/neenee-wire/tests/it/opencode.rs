//! opencode's exports: what is sent of them. Not the recordings, which `recorded` runs over.

use neenee_wire::Format;

use crate::check;

fn export(info: &str, messages: &[&str]) -> String {
    format!(
        "{{\n  \"info\": {{\"id\": \"s\", \"directory\": \"/repo\"{info}}},\n  \"messages\": [{}]\n}}",
        messages.join(",\n")
    )
}

fn user(id: &str, parts: &str) -> String {
    format!(
        r#"{{"info":{{"id":"{id}","role":"user","time":{{"created":5}},"summary":{{"diffs":[]}}}},"parts":[{parts}]}}"#
    )
}

fn says(id: &str) -> String {
    user(id, &format!(r#"{{"type":"text","text":"of {id}"}}"#))
}

fn answer(id: &str, more: &str, parts: &str) -> String {
    format!(
        r#"{{"info":{{"id":"{id}","role":"assistant","modelID":"m","path":{{"cwd":"/repo"}},"tokens":{{"input":1,"output":2,"cache":{{"read":3,"write":4}}}}{more}}},"parts":[{{"type":"step-start"}},{parts},{{"type":"step-finish"}}]}}"#
    )
}

fn tool(id: &str, state: &str) -> String {
    format!(r#"{{"type":"tool","tool":"bash","callID":"{id}","state":{{"input":{{}},{state}}}}}"#)
}

#[track_caller]
fn expect(export: &str, picture: &str) {
    let document = check::read(export.as_bytes(), Format::OpenCode);
    assert_eq!(check::picture(&document), picture);
    check::splices(export.as_bytes(), Format::OpenCode);
}

#[test]
fn results_follow_all_calls_of_their_step() {
    let parts = [
        r#"{"type":"reasoning","text":"hm","metadata":{"anthropic":{"signature":"x"}}}"#.to_owned(),
        tool(
            "c1",
            r#""status":"completed","output":"one","metadata":{"output":"one","exit":2}"#,
        ),
        tool("c2", r#""status":"error","error":"gone""#),
        r#"{"type":"step-start"}"#.to_owned(),
        r#"{"type":"text","text":"then"}"#.to_owned(),
        tool(
            "c3",
            r#""status":"completed","output":"seen","attachments":[{"type":"file","mime":"image/png","url":"data:image/png;base64,AAAA"}]"#,
        ),
        tool("c4", r#""status":"running""#),
    ]
    .join(",");
    let export = export("", &[&says("u1"), &answer("a1", "", &parts)]);
    expect(
        &export,
        r#"  cwd /repo
user
  text "of u1"
assistant
  reasoning signed "hm"
  call c1 bash {}
  call c2 bash {}
tool
  result c1 bash succeeded exit 2 "one"
tool
  result c2 bash failed "gone"
assistant
  text "then"
  call c3 bash {}
  call c4 bash {}
tool
  result c3 bash succeeded [image 3 bytes] "seen"
"#,
    );
    let document = check::read(export.as_bytes(), Format::OpenCode);
    assert_eq!(document.model(), Some("m"));
    assert_eq!(document.messages()[0].timestamp, Some(5));
    assert_eq!(document.messages()[1].usage.unwrap().cache_read, Some(3));
}

#[test]
fn a_compaction_is_sent_before_the_tail_that_it_kept() {
    let asked = user("c", r#"{"type":"compaction","tail_start_id":"u2"}"#);
    let summary = answer(
        "s",
        r#","summary":true"#,
        r#"{"type":"text","text":"so far"}"#,
    );
    expect(
        &export(
            "",
            &[&says("u1"), &says("u2"), &asked, &summary, &says("u3")],
        ),
        r#"  cwd /repo
user
  text "What did we do so far?"
assistant
  text "so far"
user
  text "of u2"
user
  text "of u3"
"#,
    );
    // A compaction that failed compacted nothing.
    let failed = answer(
        "s",
        r#","summary":true,"error":{"name":"APIError"}"#,
        r#"{"type":"text","text":"so"}"#,
    );
    expect(
        &export("", &[&says("u1"), &asked, &failed]),
        "  cwd /repo\nuser\n  text \"of u1\"\nuser\n  text \"What did we do so far?\"\n",
    );
}

#[test]
fn what_was_taken_back_is_not_sent() {
    let two = user(
        "u2",
        r#"{"id":"p1","type":"text","text":"a"},{"id":"p2","type":"text","text":"b"}"#,
    );
    let messages = [&*says("u1"), &*two, &*says("u3")];
    expect(
        &export(r#","revert":{"messageID":"u2"}"#, &messages),
        "  cwd /repo\nuser\n  text \"of u1\"\n",
    );
    let part = export(r#","revert":{"messageID":"u2","partID":"p2"}"#, &messages);
    expect(
        &part,
        "  cwd /repo\nuser\n  text \"of u1\"\nuser\n  text \"a\"\n",
    );
    let document = check::read(part.as_bytes(), Format::OpenCode);
    assert_eq!(document.outside()[0].what, "messages that were taken back");
}

#[test]
fn a_result_that_the_client_cleared_is_what_it_sends() {
    let cleared = tool(
        "c1",
        r#""status":"completed","output":"long","time":{"start":1,"compacted":9}"#,
    );
    expect(
        &export("", &[&says("u1"), &answer("a1", "", &cleared)]),
        "  cwd /repo\nuser\n  text \"of u1\"\nassistant\n  call c1 bash {}\ntool\n  result c1 bash succeeded \"[Old tool result content cleared]\"\n",
    );
}

#[test]
fn faults_name_their_place() {
    for (message, place) in [
        (r#"{"info":{"role":"user"}}"#, "messages[1]"),
        (r#"{"info":{"role":7},"parts":[]}"#, "messages[1].info.role"),
        (
            r#"{"info":{"role":"user"},"parts":[{"type":"tool","tool":"x","state":{"output":7}}]}"#,
            "messages[1].parts[0].state.output",
        ),
    ] {
        let export = export("", &[&says("u1"), message]);
        let error = neenee_wire::read(export.as_bytes(), None).unwrap_err();
        assert_eq!((error.line(), error.path()), (4, place), "{error}");
    }
}
