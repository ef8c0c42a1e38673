//! mini-swe-agent's trajectories: what is a command, what an observation. Not Chat's messages.

use neenee_wire::Format;

use crate::check;

fn trajectory(messages: &[(&str, &str)]) -> String {
    let messages: Vec<String> = messages
        .iter()
        .map(|(role, text)| format!(r#"{{"role":"{role}","content":"{text}"}}"#))
        .collect();
    format!(
        r#"{{"info":{{"mini_version":"1.15.0","config":{{"model":{{"model_name":"m"}},"environment":{{"cwd":"/testbed"}}}}}},"messages":[{}],"trajectory_format":"mini-swe-agent-1"}}"#,
        messages.join(",\n")
    )
}

#[track_caller]
fn expect(trajectory: &str, picture: &str) {
    let document = check::read(trajectory.as_bytes(), Format::MiniSweAgent);
    assert_eq!(check::picture(&document), picture);
    check::splices(trajectory.as_bytes(), Format::MiniSweAgent);
}

const LS: &str = r"I look\n\n```bash\nls src\n```";
const LOOK: &str = "assistant\n  text \"I look\\n\\n```bash\\nls src\\n```\"\n  call - bash {\"command\":\"ls src\"}\n";

#[test]
fn an_observation_is_what_the_envelope_holds() {
    for (text, result) in [
        (
            r"<returncode>0</returncode>\n<output>\na\nb\n</output>",
            r#"exit 0 "a\nb""#,
        ),
        (
            r"<returncode>1</returncode>\n<output>\n</output>",
            r#"exit 1 """#,
        ),
        (
            r"<returncode>-9</returncode>\n<warning>\nlong\n</warning><output_head>\na\n</output_head>",
            r#"exit -9 "<warning>\nlong\n</warning><output_head>\na\n</output_head>""#,
        ),
        (
            r"The last command <command>ls src</command> timed out and has been killed.\nThe output of the command was:\n <output>\nhalf\n</output>\nPlease try another.",
            r#"exit 124 "half""#,
        ),
    ] {
        expect(
            &trajectory(&[("user", "go"), ("assistant", LS), ("user", text)]),
            &format!("  cwd /testbed\nuser\n  text \"go\"\n{LOOK}tool\n  result - bash {result}\n"),
        );
    }
}

#[test]
fn what_only_looks_like_an_observation_is_what_the_user_says() {
    let two = r"```bash\nls\n```\n```bash\npwd\n```";
    let envelope = r"<returncode>0</returncode>\n<output>\na\n</output>";
    for (answer, reply) in [
        (LS, "Please always provide EXACTLY ONE action"),
        (two, envelope),
        ("done", envelope),
    ] {
        let trajectory = trajectory(&[("assistant", answer), ("user", reply)]);
        let document = check::read(trajectory.as_bytes(), Format::MiniSweAgent);
        assert!(document.results().is_empty(), "{answer} {reply}");
    }
}

#[test]
fn tools_of_the_second_version_pair_by_id() {
    let trajectory = r#"{"info":{"mini_version":"2.0.0"},"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}],"extra":{"cost":1}},{"role":"tool","tool_call_id":"c1","content":"<returncode>0</returncode>\n<output>\na\n</output>"},{"role":"exit","content":"done"}]}"#;
    expect(
        trajectory,
        "assistant\n  call c1 bash {\"command\":\"ls\"}\ntool\n  result c1 bash exit 0 \"a\"\n",
    );
}

#[test]
fn faults_name_their_place() {
    let trajectory = trajectory(&[("user", "go")]).replace("\"content\":\"go\"", "\"content\":7");
    let error = neenee_wire::read(trajectory.as_bytes(), None).unwrap_err();
    assert_eq!(error.path(), "messages[0].content", "{error}");
}
