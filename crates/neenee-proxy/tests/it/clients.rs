//! The real clients, unmodified, each on a task of many tools through the proxy.
//! Deliberately skipped where `NEENEE_CLIENTS` names no npm prefix: they are packages, to be installed first.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use neenee_proxy::ProxySettings;
use neenee_testkit::upstream::{Op, Received, Script, Turn, Upstream, Wire};
use tokio::process::Command;

use crate::harness::{Served, settings};

/// On a wrong event they retry for minutes.
const PATIENCE: Duration = Duration::from_secs(120);
const FILES: usize = 16;
const LAST: &str = "All modules were looked through and the fifth was corrected.";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Client {
    ClaudeCode,
    Codex,
    Gemini,
    Opencode,
}

impl Client {
    fn binary(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude",
            Client::Codex => "codex",
            Client::Gemini => "gemini",
            Client::Opencode => "opencode",
        }
    }

    /// So small that it is over its threshold several times; its instructions and tools fit well.
    fn window(self) -> usize {
        match self {
            Client::ClaudeCode => 90_000,
            Client::Codex | Client::Gemini | Client::Opencode => 45_000,
        }
    }

    fn wire(self) -> Wire {
        match self {
            Client::ClaudeCode => Wire::Anthropic,
            Client::Codex => Wire::Responses,
            Client::Gemini => Wire::Gemini,
            Client::Opencode => Wire::Chat,
        }
    }

    /// Its configuration in a home, and its command line for a prompt.
    fn command(self, binary: &Path, home: &Path, url: &str, prompt: &str) -> Command {
        let write = |path: &str, text: String| {
            let path = home.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let mut command = Command::new(binary);
        command
            .env_clear()
            .env("HOME", home)
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("NO_PROXY", "127.0.0.1");
        match self {
            Client::ClaudeCode => {
                write(
                    ".claude.json",
                    r#"{"hasCompletedOnboarding": true, "autoCompactEnabled": false}"#.to_owned(),
                );
                command
                    .env("ANTHROPIC_BASE_URL", url)
                    .env("ANTHROPIC_API_KEY", "sk-secret-key")
                    .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
                    .env("DISABLE_AUTOUPDATER", "1")
                    .args(["-p", prompt, "--model", "claude-sonnet-4-5"])
                    .args(["--allowedTools", "Read,Bash,Edit,Write"]);
            }
            Client::Codex => {
                write(
                    ".codex/config.toml",
                    format!(
                        "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\napproval_policy = \"never\"\n\
                         sandbox_mode = \"danger-full-access\"\n\n[model_providers.scripted]\nname = \"scripted\"\n\
                         base_url = \"{url}/v1\"\nenv_key = \"SCRIPTED_KEY\"\nwire_api = \"responses\"\n"
                    ),
                );
                command.env("SCRIPTED_KEY", "sk-secret-key").args([
                    "exec",
                    "--skip-git-repo-check",
                    prompt,
                ]);
            }
            Client::Gemini => {
                write(
                    ".gemini/settings.json",
                    r#"{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}}"#.to_owned(),
                );
                command
                    .env("GOOGLE_GEMINI_BASE_URL", url)
                    .env("GEMINI_API_KEY", "sk-secret-key")
                    .args([
                        "-m",
                        "gemini-2.5-pro",
                        "--yolo",
                        "--skip-trust",
                        "-p",
                        prompt,
                    ]);
            }
            Client::Opencode => {
                write(
                    ".config/opencode/opencode.json",
                    format!(
                        r#"{{"autoupdate": false, "share": "disabled",
 "permission": {{"edit": "allow", "bash": "allow", "webfetch": "allow"}},
 "provider": {{"scripted": {{"npm": "@ai-sdk/openai-compatible", "name": "scripted",
  "options": {{"baseURL": "{url}/v1", "apiKey": "sk-secret-key"}},
  "models": {{"m1": {{"name": "m1", "limit": {{"context": 400000, "output": 8000}}}}}}}}}}}}"#
                    ),
                );
                command
                    .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
                    .args(["run", "-m", "scripted/m1"])
                    .args(prompt.split(' '));
            }
        }
        command
    }
}

/// A project of files that fill a window.
fn project(folder: &Path) {
    std::fs::create_dir_all(folder.join("src")).unwrap();
    for number in 0..FILES {
        let mut text = format!("//! Module {number}.\n\n");
        for line in 0..220 {
            text.push_str(&format!(
                "pub fn step_{number}_{line}(input: u64) -> u64 {{ input.wrapping_mul({line}) }}\n"
            ));
        }
        std::fs::write(folder.join(format!("src/module_{number}.rs")), text).unwrap();
    }
}

fn script(root: &Path) -> Script {
    let module = |number: usize| format!("src/module_{number}.rs");
    let mut turns =
        vec![Turn::say("I look at what there is.").and_call([Op::Shell("ls -l src".to_owned())])];
    for number in 0..FILES {
        let turn = Turn::say("Next.")
            .thinking("One after the other.")
            .and_call([Op::Read {
                path: module(number),
                lines: None,
            }]);
        turns.push(turn);
        if number == 5 {
            turns.push(Turn::call([Op::Edit {
                path: module(5),
                old: "//! Module 5.\n".to_owned(),
                new: "//! Module 5, corrected.\n".to_owned(),
            }]));
            // In parallel.
            turns.push(Turn::call([
                Op::Read {
                    path: module(5),
                    lines: Some((1, 40)),
                },
                Op::Shell("wc -l src/*".to_owned()),
            ]));
        }
    }
    turns.push(Turn::say(LAST));
    Script::new(root.to_string_lossy()).round("Look through every module", turns)
}

/// The contents of the results of a body, whatever the format, by the id of their call or their place.
fn results(request: &Received) -> Vec<(usize, String)> {
    let format = match request.wire.unwrap() {
        Wire::Anthropic => neenee_wire::Format::Anthropic,
        Wire::Responses => neenee_wire::Format::OpenAiResponses,
        Wire::Chat => neenee_wire::Format::OpenAiChat,
        Wire::Gemini => neenee_wire::Format::Gemini,
    };
    let document = neenee_wire::read(&request.body, Some(format)).unwrap();
    let results = document.views().filter_map(|view| match view {
        neenee_core::pressure::View::Result(result) => Some(result.text.to_owned()),
        _ => None,
    });
    results.enumerate().collect()
}

async fn works_through_the_proxy(client: Client) {
    // Set where the packages are installed: `npm install --prefix DIR` of the four.
    let Some(prefix) = std::env::var_os("NEENEE_CLIENTS") else {
        return;
    };
    let binary = PathBuf::from(prefix)
        .join("node_modules/.bin")
        .join(client.binary());
    let bed = tempfile::tempdir().unwrap();
    let (home, shop) = (bed.path().join("home"), bed.path().join("shop"));
    project(&shop);
    let upstream = Upstream::start(script(&shop)).await.unwrap();
    let served = Served::start(ProxySettings {
        window: Some(client.window()),
        ..settings(&upstream.url())
    })
    .await;
    let url = format!("http://{}", served.address);
    let prompt = "Look through every module and correct what is wrong.";
    let mut command = client.command(&binary, &home, &url, prompt);
    command
        .current_dir(&shop)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let ended = tokio::time::timeout(PATIENCE, command.output()).await;
    let ended = ended.unwrap().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(
        ended.status.success() && said.contains(LAST),
        "{client:?}: {said}\n{}\n{:?}",
        String::from_utf8_lossy(&ended.stderr),
        served.log.all()
    );
    let corrected = std::fs::read_to_string(shop.join("src/module_5.rs")).unwrap();
    assert!(corrected.starts_with("//! Module 5, corrected."));

    let requests = upstream.requests();
    let (mut turns, mut largest, mut rewrites) = (0, 0, 0);
    let mut before: Vec<(usize, String)> = Vec::new();
    for request in &requests {
        assert_eq!(
            request.problems,
            Vec::<String>::new(),
            "{client:?}: {}",
            request.path
        );
        if request.wire != Some(client.wire()) || !request.has_tools {
            continue;
        }
        let now = results(request);
        rewrites += u64::from(before.iter().zip(&now).any(|(old, new)| old != new));
        before = now;
        turns += 1;
        largest = largest.max(request.body.len());
    }
    let prunes = served.metric("neenee_prunes_total");
    let told = format!(
        "{client:?}: {turns} turns, {prunes} prunes, {rewrites} rewrites, largest body {largest} bytes, \
         {} of {} tokens forwarded\n",
        served.metric("neenee_tokens_forwarded_total"),
        served.metric("neenee_tokens_received_total"),
    );
    std::io::Write::write_all(&mut std::io::stderr(), told.as_bytes()).unwrap();
    assert!(turns >= FILES, "{client:?}: {turns} turns");
    assert!(prunes >= 1, "{client:?}: {}", served.proxy.metrics());
    assert!(
        rewrites <= prunes,
        "{client:?}: {rewrites} rewrites, {prunes} prunes"
    );
    for cause in ["unreadable", "coding", "bomb", "splice", "archive", "panic"] {
        let name = format!("neenee_faults_total{{cause=\"{cause}\"}}");
        assert_eq!(
            served.metric(&name),
            0,
            "{client:?}: {:?}",
            served.log.all()
        );
    }
    let shown = served.get("/_neenee/api/conversations").await.text();
    assert!(!shown.contains("sk-secret-key"));
    assert!(!served.log.all().join("\n").contains("sk-secret-key"));
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_code() {
    works_through_the_proxy(Client::ClaudeCode).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn codex() {
    works_through_the_proxy(Client::Codex).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gemini_cli() {
    works_through_the_proxy(Client::Gemini).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn opencode() {
    works_through_the_proxy(Client::Opencode).await;
}
