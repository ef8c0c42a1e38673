//! `neenee run` and `neenee chat` as a user runs them: against a real local server, killed, resumed, as a demo.
//! Deliberately with scripted models: everything else is what a user has.

use std::time::{Duration, Instant};

use neenee_testkit::upstream::{Op, Script, Turn, Upstream};
use serde_json::Value;

use crate::Bed;

const KEY: &str = "sk-test-never-shown-0123456789";

/// A scripted server, and the runtime that it runs in.
struct Server {
    upstream: Upstream,
    _runtime: tokio::runtime::Runtime,
}

impl Server {
    fn new(script: Script) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let upstream = runtime.block_on(Upstream::start(script)).unwrap();
        Server {
            upstream,
            _runtime: runtime,
        }
    }

    fn url(&self) -> String {
        format!("{}/v1", self.upstream.url())
    }
}

fn script(bed: &Bed, turns: Vec<Turn>) -> Script {
    Script::new(bed.path("").to_str().unwrap())
        .in_order()
        .round("", turns)
}

/// The id that `run` names on stderr.
fn session(err: &str) -> String {
    let line = err.lines().find_map(|line| line.strip_prefix("session "));
    let id = line.unwrap_or_else(|| panic!("no session in {err}"));
    id.split(';').next().unwrap().to_owned()
}

#[test]
fn the_demo_prunes_at_both_entry_points_and_compacts() {
    let bed = Bed::new();
    let (out, _) = bed.run(&["run", "--demo", "--json"], 0);
    let events: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let report = events.last().unwrap();
    assert_eq!(report["event"], "demo");
    for count in [
        "prunings_before_round",
        "prunings_inside_round",
        "compactions",
        "originals_recovered",
    ] {
        assert!(report[count].as_u64().unwrap() > 0, "{count}: {report}");
    }
    assert!(report["largest_request_tokens"].as_u64() <= report["window_tokens"].as_u64());
    let compacted = events.iter().filter(|event| event["event"] == "compacted");
    assert_eq!(
        compacted.count() as u64,
        report["compactions"].as_u64().unwrap()
    );
    let (out, err) = bed.run(&["run", "--demo"], 0);
    assert!(out.contains("every one is there, whole"), "{out}");
    assert!(
        err.contains("Compacted ") && err.contains("· pruned "),
        "{err}"
    );
}

#[test]
fn a_task_is_answered_and_its_session_goes_on() {
    let bed = Bed::new();
    bed.write("a.txt", "one\ntwo\n");
    let server = Server::new(script(
        &bed,
        vec![
            Turn::say("I look.")
                .and_call([Op::read("a.txt"), Op::shell("wc -l a.txt; echo [$KEY]")]),
            Turn::say("It has two lines."),
            Turn::say("Still two."),
        ],
    ));
    let url = server.url();
    let args = [
        "run",
        "how long is a.txt?",
        "--model",
        "scripted",
        "--base-url",
        &url,
        "--window",
        "32000",
        "--key-env",
        "KEY",
        "--yes",
    ];
    let output = bed.neenee(&args).env("KEY", KEY).output().unwrap();
    let (out, err) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert!(output.status.success(), "{err}");
    assert_eq!(out, "I look.\nIt has two lines.\n");
    assert!(
        err.contains("✓ read ")
            && err.contains("✓ bash wc -l a.txt; echo")
            && err.contains("context "),
        "{err}"
    );
    let id = session(&err);
    let resumed = [
        "run",
        "and now?",
        "--resume",
        &id,
        "--base-url",
        &url,
        "--window",
        "32000",
        "--json",
    ];
    let (out, _) = bed.run(&resumed, 0);
    let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["event"], &last["text"]),
        (&"ended".into(), &"Still two.".into())
    );
    // The whole conversation was sent on, and the key was kept nowhere.
    let requests = server.upstream.requests();
    assert!(requests.iter().all(|request| request.problems.is_empty()));
    let body = String::from_utf8(requests[2].body.clone()).unwrap();
    assert!(
        body.contains("[]")
            && body.contains("how long is a.txt?")
            && body.contains("It has two lines.")
    );
    let (export, _) = bed.run(&["sessions", "export", &id], 0);
    assert!(export.contains("how long") && !export.contains(KEY));
    bed.run(&["sessions", "verify", &id], 0);
}

#[test]
fn a_killed_round_goes_on_and_runs_no_finished_tool_again() {
    let bed = Bed::new();
    let server = Server::new(script(
        &bed,
        vec![
            Turn::call([Op::shell("echo ran >> ran.txt")]),
            Turn::call([Op::shell(
                "echo begun >> begun.txt; sleep 2; echo end >> end.txt",
            )]),
            Turn::say("Went on."),
        ],
    ));
    let url = server.url();
    let server_args = ["--base-url", &url, "--window", "32000", "--yes"];
    let program = assert_cmd::cargo::cargo_bin("neenee");
    let mut child = std::process::Command::new(program)
        .args(["run", "work", "--model", "scripted", "--name", "killed"])
        .args(server_args)
        .current_dir(bed.path(""))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", bed.path(""))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !bed.path("begun.txt").exists() {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(10));
    }
    // SIGKILL: nothing can be tidied up.
    child.kill().unwrap();
    child.wait().unwrap();
    let mut args = vec!["run", "--resume", "killed"];
    args.extend(server_args);
    let (out, _) = bed.run(&args, 0);
    assert_eq!(out, "Went on.\n");
    assert_eq!(
        std::fs::read_to_string(bed.path("ran.txt")).unwrap(),
        "ran\n"
    );
    assert_eq!(
        std::fs::read_to_string(bed.path("begun.txt")).unwrap(),
        "begun\n"
    );
    let last = server.upstream.requests().pop().unwrap();
    assert_eq!(last.problems, Vec::<String>::new());
    assert!(
        String::from_utf8(last.body)
            .unwrap()
            .contains("session was interrupted")
    );
}

#[test]
fn without_a_person_nothing_is_written_unless_allowed() {
    let bed = Bed::new();
    let server = Server::new(script(
        &bed,
        vec![
            Turn::call([Op::shell("touch made")]),
            Turn::say("I may not."),
        ],
    ));
    let url = server.url();
    let (out, _) = bed.run(&["run", "make it", "--model", "x", "--base-url", &url], 0);
    assert_eq!(out, "I may not.\n");
    assert!(!bed.path("made").exists());
}

#[test]
fn chat_takes_lines_and_commands() {
    let bed = Bed::new();
    let server = Server::new(script(
        &bed,
        vec![Turn::say("First."), Turn::say("Second.")],
    ));
    let url = server.url();
    let output = bed
        .neenee(&["chat", "--model", "x", "--base-url", &url])
        .write_stdin("hello\n/context\n/nonsense\n/compact\nagain\n/exit\nnever\n")
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert!(output.status.success(), "{err}");
    assert_eq!(out, "First.\nSecond.\n");
    assert!(
        err.contains("no command /nonsense") && err.contains("nothing to summarise"),
        "{err}"
    );
    assert!(err.contains("neenee chat --resume"));
}

#[test]
fn what_is_missing_is_said_with_what_to_do() {
    let bed = Bed::new();
    let (_, err) = bed.run(&["run", "x"], 2);
    assert!(err.contains("fix: name one with --model"), "{err}");
    let (_, err) = bed.run(&["run", "x", "--model", "claude-opus-4-5"], 2);
    assert!(err.contains("ANTHROPIC_API_KEY is not set"), "{err}");
    let (_, err) = bed.run(&["run", "x", "--model", "mine"], 2);
    assert!(err.contains("--base-url"), "{err}");
    // Nothing of it has left a session behind.
    let (out, _) = bed.run(&["sessions", "--json"], 0);
    assert!(!out.contains("agent"), "{out}");
    let (_, err) = bed.run(&["run", "--resume", "nobody"], 2);
    assert!(err.contains("no session"), "{err}");
}
