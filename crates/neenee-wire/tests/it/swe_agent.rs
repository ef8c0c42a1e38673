//! SWE-agent's trajectories: commands, observations, notes. Not Chat's messages.

use neenee_wire::Format;

use crate::check;

fn trajectory(history: &str) -> String {
    format!(
        r#"{{"environment":"e","trajectory":[{{"action":"ls","observation":"a"}}],"history":[{history}],"info":{{}}}}"#
    )
}

#[track_caller]
fn expect(history: &str, picture: &str) {
    let trajectory = trajectory(history);
    let document = check::read(trajectory.as_bytes(), Format::SweAgent);
    assert_eq!(check::picture(&document), picture);
    assert_eq!(document.outside()[0].what, "the trajectory's copies");
    check::splices(trajectory.as_bytes(), Format::SweAgent);
}

#[test]
fn commands_in_the_text_are_calls_and_notes_stay() {
    expect(
        r#"{"role":"user","content":"shown","is_demo":true},
{"role":"user","content":"go\n(Open file: n/a)\n(Current directory: /r)\nbash-$"},
{"role":"assistant","content":"I look","action":"open a.py 5\n"},
{"role":"user","content":"[File: /r/a.py]\n1:x\n(Open file: /r/a.py)\n(Current directory: /r)\nbash-$"},
{"role":"assistant","content":"I edit","action":"edit 1:1\ny\nend_of_edit"},
{"role":"user","content":"(Open file: /r/a.py)\n(Current directory: /r/b)\nbash-$"},
{"role":"assistant","content":"I run","action":"python a.py"},
{"role":"user","content":"ran"},
{"role":"user","content":"well"}"#,
        r#"user
  text "shown"
  cwd /r
user
  text "go\n(Open file: n/a)\n(Current directory: /r)\nbash-$"
assistant
  text "I look"
  call - open {"path":"a.py"}
tool
  result - "[File: /r/a.py]\n1:x"
assistant
  text "I edit"
  call - edit {"path":"/r/a.py","lines":"1:1","text":"y\nend_of_edit"}
tool
  cwd /r/b
  result - ""
assistant
  text "I run"
  call - bash {"command":"python a.py"}
tool
  result - "ran"
user
  text "well"
"#,
    );
}

#[test]
fn tools_pair_by_id() {
    expect(
        r#"{"role":"assistant","content":"I look","action":"ls -F","tool_calls":[{"type":"function","id":"c1","function":{"name":"bash","arguments":"{\"command\":\"ls -F\"}"}}]},
{"role":"tool","content":[{"type":"text","text":"a/\r\n(Open file: n/a)\n(Current directory: /r)\nbash-$"}],"tool_call_ids":["c1"]}"#,
        r#"assistant
  text "I look"
  call c1 bash {"command":"ls -F"}
tool
  cwd /r
  result c1 "a/\r"
"#,
    );
}

#[test]
fn faults_name_their_place() {
    let trajectory = trajectory(r#"{"role":"user","content":"go"},{"role":7}"#);
    let error = neenee_wire::read(trajectory.as_bytes(), None).unwrap_err();
    assert_eq!(error.path(), "history[1].role", "{error}");
}
