//! Originals in the store: pruned in place, looked at, restored, carried about, cleaned up.
//! Deliberately the files themselves compared, not what the command says of them.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::prune::RECORDED;
use crate::{Bed, recorded};

/// A recorded session in the bed, and its bytes.
fn session(bed: &Bed, name: &str) -> (String, Vec<u8>) {
    let bytes = fs::read(recorded(name)).unwrap();
    let path = bed.write(&name.replace('/', "-"), &bytes);
    (path.to_str().unwrap().to_owned(), bytes)
}

fn prune(bed: &Bed, file: &str) -> String {
    bed.run(
        &[
            "prune",
            "--now",
            "--protect-tokens",
            "0",
            "--in-place",
            file,
        ],
        0,
    )
    .1
}

fn json(bed: &Bed, args: &[&str]) -> Value {
    serde_json::from_str(&bed.run(args, 0).0).unwrap()
}

#[test]
fn every_format_pruned_in_place_comes_back_byte_for_byte() {
    let bed = Bed::new();
    let mut changed = 0;
    for (name, _) in RECORDED {
        let (file, bytes) = session(&bed, name);
        prune(&bed, &file);
        let pruned = fs::read(&file).unwrap();
        if pruned == bytes {
            continue;
        }
        changed += 1;
        let out = bed.path("restored");
        bed.run(&["restore", &file, "-o", out.to_str().unwrap()], 0);
        assert_eq!(fs::read(&out).unwrap(), bytes, "{name}");
        let again = bed
            .neenee(&["restore", &file, "--at", "2"])
            .output()
            .unwrap();
        assert_eq!(again.stdout, pruned, "{name} as of its prune");
        let first = bed
            .neenee(&["restore", &file, "--at", "1"])
            .output()
            .unwrap();
        assert_eq!(first.stdout, bytes, "{name} before its prune");
        bed.run(&["restore", &file, "--in-place"], 0);
        assert_eq!(fs::read(&file).unwrap(), bytes, "{name}");
        bed.run(&["restore", &file, "--in-place"], 0);
        assert_eq!(fs::read(&file).unwrap(), bytes, "{name}, twice");
        bed.run(&["sessions", "verify", &file], 0);
    }
    assert!(changed >= 8, "{changed} recordings have something to prune");
}

#[test]
fn what_the_agent_adds_between_prunes_comes_back_too() {
    let bed = Bed::new();
    let (file, mut whole) = session(&bed, "claude-code/long-session.jsonl");
    // The agent writes the second half once the first was pruned.
    let half = whole[..whole.len() / 2]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap()
        + 1;
    let later = whole.split_off(half);
    fs::write(&file, &whole).unwrap();
    for added in [&later[..], b"{\"type\":\"progress\"}\n"] {
        prune(&bed, &file);
        let mut now = fs::read(&file).unwrap();
        now.extend_from_slice(added);
        fs::write(&file, now).unwrap();
        whole.extend_from_slice(added);
    }
    bed.run(&["restore", &file, "--in-place"], 0);
    assert_eq!(fs::read(&file).unwrap(), whole);

    // A file that was rewritten is not overwritten.
    prune(&bed, &file);
    fs::write(&file, "something else\n").unwrap();
    let (_, said) = bed.run(&["restore", &file, "--in-place"], 2);
    assert!(said.contains("rewritten since it was pruned"), "{said}");
    assert_eq!(fs::read(&file).unwrap(), b"something else\n");
    fs::remove_file(&file).unwrap();
    bed.run(&["restore", &file, "--in-place"], 0);
    assert_eq!(
        fs::read(&file).unwrap(),
        whole,
        "a lost file comes back as well"
    );
}

#[test]
fn one_result_comes_back_by_its_call() {
    let bed = Bed::new();
    let (file, _) = session(&bed, "claude-code/session.jsonl");
    let before = json(
        &bed,
        &["prune", "--now", "--json", "--protect-tokens", "0", &file],
    );
    prune(&bed, &file);
    prune(&bed, &file);
    let mut seen = 0;
    for result in before["results"].as_array().unwrap() {
        if result["tier"] == "kept" {
            continue;
        }
        let id = result["call_id"].as_str().unwrap();
        let (text, _) = bed.run(&["restore", &file, "--call", id], 0);
        assert_eq!(
            text.chars().count() as u64,
            result["chars"].as_u64().unwrap(),
            "{id}"
        );
        seen += 1;
    }
    assert!(seen > 2);
    let (_, said) = bed.run(&["restore", &file, "--call", "nope"], 2);
    assert!(said.contains("no original for call \"nope\""), "{said}");
}

#[test]
fn a_named_session_keeps_the_original_beside_any_output() {
    let bed = Bed::new();
    let (file, bytes) = session(&bed, "codex/session.jsonl");
    let args = [
        "prune",
        "--now",
        "--protect-tokens",
        "0",
        "--session",
        "work",
        &file,
    ];
    let output = bed.neenee(&args).output().unwrap();
    assert!(output.status.success());
    assert_ne!(output.stdout, bytes);
    assert_eq!(fs::read(&file).unwrap(), bytes, "the file is not touched");
    let restored = bed.neenee(&["restore", "work"]).output().unwrap();
    assert_eq!(restored.stdout, bytes);
    let list = json(&bed, &["sessions", "--json"]);
    assert_eq!(list[0]["name"], "work");
    assert_eq!(list[0]["origin"], "file");
    let shown = json(&bed, &["sessions", "show", "work", "--json"]);
    let event = &shown["events"][1];
    assert_eq!(event["what"], "context_projection_committed");
    assert_eq!(event["operation"], "prune");
    assert!(event["after"]["tokens"].as_u64() < event["before"]["tokens"].as_u64());
    let (text, _) = bed.run(&["sessions", "show", "work"], 0);
    assert!(text.contains("prune: "), "{text}");
    let (diff, _) = bed.run(&["diff", "work"], 0);
    assert!(
        diff.contains("+[cleared tool result: ") && diff.contains("--- result "),
        "{diff}"
    );
    let (brief, _) = bed.run(&["diff", "work", "--brief", "--at", "2"], 0);
    assert_eq!(
        brief.lines().count() as u64,
        event["replaced"].as_u64().unwrap()
    );
    bed.run(&["diff", "work", "--at", "1"], 2);
}

#[test]
fn whatever_fails_leaves_the_file_as_it_was() {
    let bed = Bed::new();
    let (file, bytes) = session(&bed, "claude-code/session.jsonl");
    let args = [
        "prune",
        "--now",
        "--protect-tokens",
        "0",
        "--in-place",
        &file,
    ];
    let blocked = bed.write("a-file", "x");
    for place in [
        blocked.join("store"),
        PathBuf::from("postgres://u:hunter2@127.0.0.1:1/db"),
    ] {
        let output = bed
            .neenee(&args)
            .env("NEENEE_STORE", &place)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("cannot use the session store at"), "{said}");
        assert!(!said.contains("hunter2"), "{said}");
        assert_eq!(fs::read(&file).unwrap(), bytes);
    }
    let names = bed.files();
    assert!(
        names.iter().all(|name| !name.contains(".part")),
        "{names:?}"
    );
}

#[test]
fn a_password_is_never_shown() {
    let bed = Bed::new();
    let config = bed.write(
        "config/neenee/config.toml",
        "store = \"postgres://u:hunter2@h/db?password=hunter2\"\n",
    );
    assert!(config.is_file());
    for args in [&["config"][..], &["config", "--json"]] {
        let (out, said) = bed.run(args, 0);
        assert!(out.contains("postgres://u@h/db"), "{out}");
        assert!(
            !out.contains("hunter2") && !said.contains("hunter2"),
            "{out}"
        );
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let bed = Bed::new();
    let (one, _) = session(&bed, "claude-code/session.jsonl");
    let (two, _) = session(&bed, "codex/session.jsonl");
    for (args, says) in [
        (vec!["prune", "--in-place", "-"], "stdin is no file"),
        (
            vec!["prune", "--in-place", "--session", "x", &one, &two],
            "2 files, and one session",
        ),
        (
            vec!["prune", "--in-place", "-o", "x", &one],
            "cannot be used with",
        ),
        (
            vec!["restore", "x", "--call", "c", "--at", "1"],
            "cannot be used with",
        ),
        (
            vec!["restore", "missing"],
            "no session is called \"missing\"",
        ),
        (
            vec!["sessions", "show", "missing"],
            "no session is called \"missing\"",
        ),
        (vec!["sessions", "gc", "--keep", "soon"], "expected a time"),
        (
            vec!["sessions", "gc", "--max-size", "5GiB"],
            "expected a size",
        ),
        (
            vec!["sessions", "import", "missing"],
            "failed to read missing",
        ),
        (
            vec!["sessions", "import", &one],
            "not the header of a neenee session",
        ),
    ] {
        let (_, said) = bed.run(&args, 2);
        assert!(said.contains(says), "{args:?}: {said}");
    }
}

#[test]
fn sessions_are_carried_about_and_cleaned_up() {
    let bed = Bed::new();
    let (file, bytes) = session(&bed, "claude-code/session.jsonl");
    prune(&bed, &file);
    let (fork, _) = bed.run(&["sessions", "fork", &file, "--name", "branch"], 0);
    let fork = fork.trim();
    bed.run(&["sessions", "rename", fork, "twig"], 0);
    let export = bed.path("twig.jsonl");
    let export = export.to_str().unwrap();
    bed.run(&["sessions", "export", "twig", "-o", export], 0);
    bed.run(&["sessions", "delete", &file, "twig"], 2);
    bed.run(&["sessions", "delete", &file, "--yes"], 0);
    let restored = bed.neenee(&["restore", "twig"]).output().unwrap();
    assert_eq!(restored.stdout, bytes, "a fork keeps what it needs");
    bed.run(&["sessions", "delete", "twig", "--yes"], 0);
    assert_eq!(json(&bed, &["sessions", "--json"]), Value::Array(vec![]));

    let (id, _) = bed.run(&["sessions", "import", export], 0);
    let restored = bed.neenee(&["restore", id.trim()]).output().unwrap();
    assert_eq!(restored.stdout, bytes);
    let plan = json(&bed, &["sessions", "gc", "--keep", "1h", "--json"]);
    assert_eq!(
        (&plan["remove"], &plan["stay"]),
        (&Value::Array(vec![]), &1.into())
    );
    let plan = json(&bed, &["sessions", "gc", "--max-size", "0", "--json"]);
    assert_eq!(plan["remove"][0]["id"], id.trim());
    assert_eq!(plan["removed"], Value::Null, "a plan removes nothing");
    let done = json(
        &bed,
        &["sessions", "gc", "--max-size", "0", "--yes", "--json"],
    );
    assert_eq!(done["removed"]["sessions"], 1);
    let (out, said) = bed.run(&["sessions"], 0);
    assert!(out.is_empty() && said.contains("no sessions"), "{said}");
}

/// The folder of real sessions; `None` when it is absent and need not be there.
fn shared_sessions() -> Option<PathBuf> {
    let data = std::env::var_os("NEENEE_SHARED_DATA").map_or_else(
        || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let sessions = data.join("sessions");
    assert!(
        sessions.is_dir()
            || std::env::var_os("NEENEE_REQUIRE_SHARED_DATA").is_none_or(|value| value != "1"),
        "no real sessions in {}",
        sessions.display()
    );
    sessions.is_dir().then_some(sessions)
}

#[test]
fn every_real_session_pruned_in_place_comes_back_byte_for_byte() {
    let Some(sessions) = shared_sessions() else {
        return;
    };
    let bed = Bed::new();
    let mut originals = Vec::new();
    for folder in fs::read_dir(sessions).unwrap().flatten() {
        let files = fs::read_dir(folder.path()).into_iter().flatten().flatten();
        for file in files.filter(|file| file.path().is_file()) {
            let number = originals.len();
            let name = format!("{number}-{}", file.file_name().to_string_lossy());
            let bytes = fs::read(file.path()).unwrap();
            let copy = bed.write(&name, &bytes);
            originals.push((copy.to_str().unwrap().to_owned(), bytes));
        }
    }
    let mut args = vec![
        "prune",
        "-q",
        "--now",
        "--protect-tokens",
        "0",
        "--in-place",
    ];
    args.extend(originals.iter().map(|(copy, _)| copy.as_str()));
    // Files that are no session are told and left as they are.
    bed.neenee(&args).output().unwrap();
    let mut changed = 0;
    for (copy, bytes) in &originals {
        if fs::read(copy).unwrap() == *bytes {
            continue;
        }
        changed += 1;
        bed.run(&["restore", copy, "--in-place"], 0);
        assert!(fs::read(copy).unwrap() == *bytes, "{copy} is another");
    }
    assert!(changed > 15, "{changed} of {} were pruned", originals.len());
}
