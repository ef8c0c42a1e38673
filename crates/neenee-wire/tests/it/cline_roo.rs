//! Cline's and Roo Code's histories: envelopes, calls in text, summaries. Not Anthropic's blocks.

use neenee_wire::Format;

use crate::check;

fn message(role: &str, more: &str, texts: &[&str]) -> String {
    let blocks: Vec<String> = texts
        .iter()
        .map(|text| format!(r#"{{"type":"text","text":"{text}"}}"#))
        .collect();
    format!(
        r#"{{"role":"{role}","content":[{}],"ts":7{more}}}"#,
        blocks.join(",")
    )
}

fn user(texts: &[&str]) -> String {
    message("user", "", texts)
}

fn says(text: &str) -> String {
    message("assistant", "", &[text])
}

fn history(messages: &[String]) -> String {
    format!("[{}]", messages.join(",\n"))
}

#[track_caller]
fn expect(history: &str, picture: &str) {
    let document = check::read(history.as_bytes(), Format::ClineRoo);
    assert_eq!(check::picture(&document), picture);
    check::splices(history.as_bytes(), Format::ClineRoo);
}

const READ: &str = r"I read\n<read_file>\n<args>\n<file>\n<path>a.rs</path>\n<line_range>1-9</line_range>\n</file>\n<file>\n<path>b.rs</path>\n</file>\n</args>\n</read_file>";
const CALL: &str = r#"  call - read_file {"files":[{"path":"a.rs","start_line":"1","end_line":"9"},{"path":"b.rs"}]}"#;

#[test]
fn a_result_is_the_block_behind_the_envelope_or_the_rest_of_it() {
    let head = format!(
        "assistant\n  text \"{READ}\"\n{CALL}\nuser\n  text \"[read_file for 'a.rs'. More is better.] Result:"
    );
    let details = "<environment_details>\\n# Tabs\\n</environment_details>";
    expect(
        &history(&[
            says(READ),
            user(&[
                "[read_file for 'a.rs'. More is better.] Result:",
                "1 | x",
                details,
            ]),
        ]),
        &format!("{head}\"\n  result - read_file \"1 | x\"\n  text \"{details}\"\n"),
    );
    expect(
        &history(&[
            says(READ),
            user(&[
                r"[read_file for 'a.rs'. More is better.] Result:\n\n1 | x",
                details,
            ]),
        ]),
        &format!("{head}\\n\\n\"\n  result - read_file \"1 | x\"\n  text \"{details}\"\n"),
    );
}

#[test]
fn failures_and_missing_results() {
    let run = r"<execute_command>\n<command>grep '<b>' a</command>\n</execute_command>";
    expect(
        &history(&[
            says(run),
            user(&[
                "[execute_command for 'undefined'] Result:",
                r"The tool execution failed with the following error:\n<error>\nno\n</error>",
            ]),
            says(run),
            user(&["[execute_command for 'x'] Result:", "<environment_details>"]),
        ]),
        &format!(
            r#"assistant
  text "{run}"
  call - execute_command {{"command":"grep '<b>' a"}}
user
  text "[execute_command for 'undefined'] Result:"
  result - execute_command failed "<error>\nno\n</error>"
assistant
  text "{run}"
  call - execute_command {{"command":"grep '<b>' a"}}
user
  text "[execute_command for 'x'] Result:"
  text "<environment_details>"
"#
        ),
    );
}

#[test]
fn text_that_only_looks_like_an_envelope_is_text() {
    for text in [
        "see [read_file for 'a'] Result:",
        "[Read file] Result:",
        "[] Result:",
        "[read_file for 'a'",
        "[read-file] Result:",
    ] {
        let history = history(&[says(READ), user(&[text, "1 | x"])]);
        let document = check::read(history.as_bytes(), Format::ClineRoo);
        assert!(document.results().is_empty(), "{text}");
    }
}

#[test]
fn blocks_are_anthropic_s_and_structured_results_take_text_where_the_first_is() {
    let history = r#"{"version":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read_files","input":{"files":[]}},{"type":"tool_use","id":"t2","name":"editor","input":{}}],"ts":1,"modelInfo":{"id":"claude-sonnet-4-5"}},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","name":"read_files","content":[{"query":"a","result":"1 | x","success":true},{"query":"b","result":"2 | y","success":true}]},{"type":"tool_result","tool_use_id":"t2","name":"editor","content":"{\"success\":true}"}],"ts":2}],"system_prompt":"be good"}"#;
    expect(
        history,
        r#"system
  text "be good"
assistant
  call t1 read_files {"files":[]}
  call t2 editor {}
user
  result t1 read_files "1 | x\n2 | y"
  result t2 "{\"success\":true}"
"#,
    );
    let document = check::read(history.as_bytes(), Format::ClineRoo);
    assert_eq!(document.model(), Some("claude-sonnet-4-5"));
    assert_eq!(document.messages()[1].timestamp, Some(1));
}

#[test]
fn the_window_starts_at_the_last_summary() {
    let summary = |role: &str| message(role, ",\"isSummary\":true", &["so far"]);
    let of = |role: &str| {
        history(&[
            user(&["task"]),
            says("old"),
            summary(role),
            message("user", ",\"truncationParent\":\"x\"", &["cut"]),
            user(&["on"]),
        ])
    };
    expect(
        &of("user"),
        "user\n  text \"so far\"\nuser\n  text \"on\"\n",
    );
    expect(
        &of("assistant"),
        "user\n  text \"task\"\nassistant\n  text \"so far\"\nuser\n  text \"on\"\n",
    );
}

#[test]
fn faults_name_their_place() {
    let history = history(&[user(&["go"]), r#"{"role":"user","content":7}"#.to_owned()]);
    let error = neenee_wire::read(history.as_bytes(), Some(Format::ClineRoo)).unwrap_err();
    assert_eq!(error.path(), "[1].content", "{error}");
}
