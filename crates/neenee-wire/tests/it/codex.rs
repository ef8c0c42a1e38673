//! Codex's rollouts: which records are the window. Not the kinds of items, which are Responses'.

use neenee_wire::{Format, Outside};

use crate::check;

const META: &str = r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"s","cwd":"/repo","instructions":"rules"}}
"#;

fn item(payload: &str) -> String {
    format!(
        "{{\"timestamp\":\"2026-01-01T00:00:01.000Z\",\"type\":\"response_item\",\"payload\":{payload}}}\n"
    )
}

fn says(role: &str, text: &str) -> String {
    let kind = if role == "assistant" {
        "output_text"
    } else {
        "input_text"
    };
    item(&format!(
        r#"{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}"#
    ))
}

fn work(id: &str) -> String {
    item(&format!(
        r#"{{"type":"function_call","call_id":"{id}","name":"exec_command","arguments":"{{\"cmd\":\"ls\"}}"}}"#
    )) + &item(&format!(
        r#"{{"type":"function_call_output","call_id":"{id}","output":"of {id}"}}"#
    ))
}

fn event(payload: &str) -> String {
    format!("{{\"type\":\"event_msg\",\"payload\":{payload}}}\n")
}

#[track_caller]
fn expect(session: &str, picture: &str) {
    let document = check::read(session.as_bytes(), Format::Codex);
    assert_eq!(check::picture(&document), picture);
    check::splices(session.as_bytes(), Format::Codex);
}

#[test]
fn items_are_the_window_and_events_are_not() {
    let session = META.to_owned()
        + r#"{"type":"turn_context","payload":{"cwd":"/repo/sub","model":"gpt-5.5"}}"#
        + "\n"
        + &says("user", "go")
        + &work("c1")
        + &event(r#"{"type":"item_completed","item":{"aggregated_output":"of c1"}}"#)
        + &event(
            r#"{"type":"token_count","info":{"last_token_usage":{"input_tokens":90,"cached_input_tokens":60,"output_tokens":7}}}"#,
        )
        + &item(r#"{"type":"ghost_snapshot","ghost_commit":{}}"#)
        + &says("assistant", "done")
        + r#"{"type":"world_state","payload":{}}"#;
    expect(
        &session,
        r#"  cwd /repo/sub
system
  text "rules"
user
  text "go"
assistant
  call c1 exec_command {"cmd":"ls"}
tool
  result c1 "of c1"
assistant
  text "done"
"#
        .replacen(
            "  cwd /repo/sub\nsystem\n  text \"rules\"\n",
            "system\n  text \"rules\"\n  cwd /repo\n  cwd /repo/sub\n",
            1,
        )
        .as_str(),
    );
    let document = check::read(session.as_bytes(), Format::Codex);
    assert_eq!(document.model(), Some("gpt-5.5"));
    let usage = document.messages()[2].usage.unwrap();
    assert_eq!(
        (usage.input, usage.cache_read, usage.output),
        (Some(30), Some(60), Some(7))
    );
    assert_eq!(document.messages()[1].timestamp, Some(1_767_225_601_000));
    let [Outside { what, count: 1, .. }] = document.outside() else {
        panic!("{:?}", document.outside())
    };
    assert_eq!(*what, "host's copies and events");
}

#[test]
fn a_compaction_replaces_what_was_before() {
    let session = META.to_owned()
        + &says("user", "go")
        + &work("c1")
        + r#"{"type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]},{"type":"function_call","call_id":"k","name":"read","arguments":"{}"},{"type":"function_call_output","call_id":"k","output":"kept"}]}}"#
        + "\n"
        + &work("c2");
    expect(
        &session,
        r#"system
  text "rules"
  cwd /repo
user
  text "go"
assistant
  call k read {}
tool
  result k "kept"
assistant
  call c2 exec_command {"cmd":"ls"}
tool
  result c2 "of c2"
"#,
    );
}

#[test]
fn an_older_compaction_keeps_what_the_user_wrote() {
    let session = META.to_owned()
        + &says("user", "<environment_context>x</environment_context>")
        + &says("user", "go")
        + &work("c1")
        + r#"{"type":"compacted","payload":{"message":"so far: nothing"}}"#
        + "\n"
        + &says("user", "on");
    expect(
        &session,
        "system\n  text \"rules\"\n  cwd /repo\nuser\n  text \"go\"\nuser\n  text \"so far: nothing\"\nuser\n  text \"on\"\n",
    );
}

#[test]
fn turns_that_were_taken_back_are_gone() {
    let session = META.to_owned()
        + &says("user", "one")
        + &work("c1")
        + &says("user", "two")
        + &work("c2")
        + &says("user", "three")
        + &event(r#"{"type":"thread_rolled_back","num_turns":2}"#)
        + &says("user", "four");
    let document = check::read(session.as_bytes(), Format::Codex);
    let picture = check::picture(&document);
    assert!(
        picture.contains("c1") && !picture.contains("c2"),
        "{picture}"
    );
    assert!(picture.ends_with("user\n  text \"four\"\n"), "{picture}");
}

#[test]
fn files_of_the_first_versions_hold_bare_items() {
    expect(
        r#"{"id":"s","timestamp":"2025-07-01T00:00:00.000Z","instructions":null,"git":{}}
{"record_type":"state"}
{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}
{"type":"function_call","call_id":"c","name":"shell","arguments":"{\"command\":[\"ls\"]}"}
{"type":"function_call_output","call_id":"c","output":"{\"output\":\"a\\n\",\"metadata\":{\"exit_code\":0}}"}
"#,
        r#"user
  text "go"
assistant
  call c shell {"command":["ls"]}
tool
  result c "{\"output\":\"a\\n\",\"metadata\":{\"exit_code\":0}}"
"#,
    );
}

#[test]
fn lines_that_are_none_of_codex_are_refused() {
    let error = neenee_wire::read(b"{\"a\":1}\n{\"b\":2}\n", Some(Format::Codex)).unwrap_err();
    assert!(
        error.to_string().contains("as Codex writes them"),
        "{error}"
    );
}
