//! OpenHands' events: pairs, condensations, evaluations. Not the requests it sends.

use neenee_wire::Format;

use crate::check;

const USER: &str = r#"{"id":1,"timestamp":"2026-01-01T00:00:00.5","source":"user","action":"message","args":{"content":"go"}}"#;
const RUN: &str = r#"{"id":2,"source":"agent","action":"run","args":{"command":"ls","thought":"I look"},"tool_call_metadata":{"tool_call_id":"c1","model_response":{"choices":[{"message":{"tool_calls":[{"id":"c1","function":{"name":"execute_bash","arguments":"{\"command\": \"ls\"}"}}]}}]}}}"#;
const RAN: &str = r#"{"id":3,"source":"agent","cause":2,"observation":"run","content":"a","extras":{"metadata":{"exit_code":2,"working_dir":"/w"}}}"#;
const READ: &str =
    r#"{"id":4,"source":"agent","action":"read","args":{"path":"/w/a","thought":""}}"#;
const GONE: &str =
    r#"{"id":5,"source":"agent","cause":4,"observation":"error","content":"gone","extras":{}}"#;

const WORK: &str = r#"user
  text "go"
assistant
  text "I look"
  call c1 execute_bash {"command": "ls"}
tool
  cwd /w
  result c1 exit 2 "a"
assistant
  call event-4 read {"path":"/w/a","thought":""}
tool
  result event-4 failed "gone"
"#;

#[track_caller]
fn expect(events: &str, picture: &str) {
    let document = check::read(events.as_bytes(), Format::OpenHands);
    assert_eq!(check::picture(&document), picture);
    check::splices(events.as_bytes(), Format::OpenHands);
}

#[test]
fn observations_answer_what_caused_them() {
    let state = r#"{"id":6,"source":"environment","observation":"agent_state_changed","content":"","extras":{}}"#;
    let events = format!("[{USER},{RUN},{RAN},{READ},{GONE},{state}]");
    expect(&events, WORK);
    expect(&format!("{{\"trajectory\":{events}}}"), WORK);
    // Older evaluations keep pairs.
    expect(
        &format!("{{\"history\":[[{USER},{RUN}],[{RAN},{READ}],[{GONE}]]}}"),
        WORK,
    );
    let document = check::read(events.as_bytes(), Format::OpenHands);
    assert_eq!(
        document.messages()[0].timestamp,
        Some(1_767_225_600_500),
        "a time without an offset is UTC"
    );
}

#[test]
fn of_several_conversations_the_last_one_is_read() {
    let other = format!("{{\"history\":[{USER}]}}");
    let this = format!(
        "{{\"metadata\":{{\"llm_config\":{{\"model\":\"m\"}}}},\"history\":[{USER},{RUN},{RAN},{READ},{GONE}]}}"
    );
    let lines = format!("{other}\n{this}\n{{\"history\":[]}}\n");
    expect(&lines, WORK);
    let document = check::read(lines.as_bytes(), Format::OpenHands);
    assert_eq!(document.model(), Some("m"));
    assert_eq!(document.outside()[0].what, "other conversations");
    assert_eq!(document.outside()[0].bytes, other.len());
}

#[test]
fn what_a_condensation_forgot_is_outside() {
    for forgotten in [
        r#""forgotten_event_ids":[2,3]"#,
        r#""forgotten_events_start_id":2,"forgotten_events_end_id":3"#,
    ] {
        let condensation = format!(
            r#"{{"id":6,"source":"agent","action":"condensation","args":{{{forgotten},"summary":"so far","summary_offset":1}}}}"#
        );
        expect(
            &format!("[{USER},{RUN},{RAN},{READ},{GONE},{condensation}]"),
            r#"user
  text "go"
user
  text "so far"
assistant
  call event-4 read {"path":"/w/a","thought":""}
tool
  result event-4 failed "gone"
"#,
        );
    }
}

#[test]
fn faults_name_their_place() {
    let bad = RAN.replace("\"content\":\"a\"", "\"content\":7");
    let error = neenee_wire::read(format!("[{USER},{RUN},{bad}]").as_bytes(), None).unwrap_err();
    assert_eq!(error.path(), "[2].content", "{error}");
    let error = neenee_wire::read(format!("[{USER},{{}}]").as_bytes(), None).unwrap_err();
    assert_eq!(error.path(), "[1]", "{error}");
    let error = neenee_wire::read(b"{\"a\":1}", Some(Format::OpenHands)).unwrap_err();
    assert!(error.to_string().contains("as OpenHands writes"), "{error}");
}
