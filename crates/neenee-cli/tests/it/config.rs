//! Where settings come from, and what is refused.
//! Deliberately not every key: docs and defaults are checked where keys are defined.

use crate::{Bed, recorded};

#[test]
fn later_places_win_and_the_command_says_which() {
    let bed = Bed::new();
    bed.write(
        "config/neenee/config.toml",
        "compaction_prune_protect_tokens = 1_000\nprotect_tools = [\"mine*\"]\n",
    );
    bed.write("neenee.toml", "compaction_prune_protect_tokens = 2_000\n");
    let value = |command: &mut assert_cmd::Command| {
        let output = command.output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        json.to_string()
    };
    let plain = value(&mut bed.neenee(&["config", "--json"]));
    assert!(
        plain.contains("2000") && plain.contains("mine*") && plain.contains("neenee.toml"),
        "{plain}"
    );
    let by_env = value(
        bed.neenee(&["config", "--json"])
            .env("NEENEE_COMPACTION_PRUNE_PROTECT_TOKENS", "3000"),
    );
    assert!(
        by_env.contains("3000") && !by_env.contains("2000"),
        "{by_env}"
    );
    let by_flag = value(
        bed.neenee(&[
            "config",
            "--json",
            "--set",
            "compaction_prune_protect_tokens=4000",
        ])
        .env("NEENEE_COMPACTION_PRUNE_PROTECT_TOKENS", "3000"),
    );
    assert!(
        by_flag.contains("4000") && !by_flag.contains("3000"),
        "{by_flag}"
    );
}

#[test]
fn mistakes_are_named_with_file_line_and_nearest_key() {
    let bed = Bed::new();
    for (text, expected) in [
        (
            "\ncompaction_prune_protect_token = 1\n",
            "compaction_prune_protect_tokens",
        ),
        ("\n\ncompaction_prune = 3\n", "3"),
        (
            "[compaction]\nprune_utilisation = 0.5\n",
            "prune_utilization",
        ),
    ] {
        bed.write("neenee.toml", text);
        let (_, said) = bed.run(&["config"], 2);
        assert!(
            said.contains("neenee.toml") && said.contains(expected),
            "{said}"
        );
    }
    bed.write("neenee.toml", "");
    let output = bed
        .neenee(&["config"])
        .env("NEENEE_COMPACTION__PRUNE_UTILISATION", "0.5")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_switch_and_the_window_reach_the_plan() {
    let bed = Bed::new();
    let file = recorded("claude-code/session.jsonl");
    let (_, said) = bed.run(
        &["prune", "--window", "50000", &file, "-o", "small.jsonl"],
        0,
    );
    assert!(said.contains("50 000"), "{said}");
    let before = std::fs::read(&file).unwrap();
    assert!(std::fs::read(bed.path("small.jsonl")).unwrap().len() < before.len());
    bed.run(
        &[
            "prune",
            "--window",
            "50000",
            "--set",
            "compaction_prune=false",
            &file,
            "-o",
            "off.jsonl",
        ],
        0,
    );
    assert_eq!(std::fs::read(bed.path("off.jsonl")).unwrap(), before);
}
