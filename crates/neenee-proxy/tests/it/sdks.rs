//! The Python SDKs of OpenAI and Anthropic: the same loop with and without the proxy in between.
//! Deliberately skipped where `NEENEE_PYTHON` names no interpreter that has both.

use std::process::Stdio;
use std::time::Duration;

use neenee_proxy::ProxySettings;
use neenee_testkit::upstream::{Op, Script, Turn, Upstream};
use tokio::process::Command;

use crate::harness::{Served, settings};

const FILES: usize = 14;
const PATIENCE: Duration = Duration::from_secs(120);

fn script() -> Script {
    let mut turns = Vec::new();
    for number in 0..FILES {
        let read = Op::read(format!("src/module_{number}.rs"));
        // Every third turn calls twice.
        let shell = (number % 3 == 0).then(|| Op::shell(format!("wc -l {number}")));
        turns.push(
            Turn::say(format!("Step {number}."))
                .and_call([read])
                .and_call(shell),
        );
    }
    turns.push(Turn::say("All modules were looked through."));
    Script::new("/repo").round("Look through every module", turns)
}

async fn run(python: &std::ffi::OsStr, url: &str) -> String {
    let mut command = Command::new(python);
    command
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/sdks.py"))
        .args([url, "6000", "40"])
        .env("NO_PROXY", "127.0.0.1")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let ended = tokio::time::timeout(PATIENCE, command.output()).await;
    let ended = ended.unwrap().unwrap();
    let said = String::from_utf8(ended.stdout).unwrap();
    assert!(
        ended.status.success(),
        "{said}\n{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sdks_see_the_same_with_and_without_it() {
    let Some(python) = std::env::var_os("NEENEE_PYTHON") else {
        return;
    };
    let upstream = Upstream::start(script()).await.unwrap();
    let direct = run(&python, &upstream.url()).await;
    let bare = upstream.requests().len();
    let served = Served::start(ProxySettings {
        window: Some(30_000),
        ..settings(&upstream.url())
    })
    .await;
    let proxied = run(&python, &format!("http://{}", served.address)).await;
    assert!(direct.lines().count() > 300, "{direct}");
    let differs = direct
        .lines()
        .zip(proxied.lines())
        .find(|(one, other)| one != other);
    assert_eq!(differs, None);
    assert_eq!(direct.lines().count(), proxied.lines().count());
    let requests = upstream.requests();
    assert_eq!(requests.len(), bare * 2);
    let (before, after) = requests.split_at(bare);
    let (mut smaller, mut refused) = (0, 0);
    for (one, other) in before.iter().zip(after) {
        assert_eq!(one.path, other.path);
        assert_eq!(one.problems, other.problems, "{}", one.path);
        refused += usize::from(!one.problems.is_empty());
        assert!(other.body.len() <= one.body.len());
        smaller += usize::from(other.body.len() < one.body.len());
    }
    assert_eq!(refused, 1, "the one that is meant to be");
    assert!(smaller > 10, "{smaller}");
    assert!(served.metric("neenee_prunes_total") >= 3);
    assert_eq!(
        served.metric("neenee_requests_total{kind=\"count_tokens\"}"),
        FILES as u64 + 1
    );
    assert!(served.metric("neenee_input_tokens_total") > 0);
    assert!(!served.log.all().join("\n").contains("sk-secret"));
}
