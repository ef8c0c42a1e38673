//! The page in a real browser: what stands in it once its script has run.
//! Deliberately skipped where `NEENEE_CHROMIUM` names no Chromium.

use std::process::Stdio;
use std::time::Duration;

use neenee_proxy::ProxySettings;
use tokio::process::Command;

use crate::harness::{Bare, Served, settings};
use crate::talk::{Shape, Talk};

const PATIENCE: Duration = Duration::from_secs(120);

async fn dom(chromium: &std::ffi::OsStr, url: &str, width: u32) -> (String, String) {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(chromium);
    command
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ])
        .args([
            "--enable-logging=stderr",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ])
        .arg(format!("--window-size={width},900"))
        .arg(format!("--user-data-dir={}", home.path().display()))
        .arg(url)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let ended = tokio::time::timeout(PATIENCE, command.output()).await;
    let ended = ended.unwrap().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(ended.stdout), text(ended.stderr))
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_and_what_was_pruned_are_shown() {
    let Some(chromium) = std::env::var_os("NEENEE_CHROMIUM") else {
        return;
    };
    let usage = br#"{"content":[],"usage":{"input_tokens":10,"cache_read_input_tokens":8000,"cache_creation_input_tokens":30,"output_tokens":4}}"#;
    let upstream = Bare::answering("200 OK", "content-type: application/json\r\n", usage).await;
    let served = Served::start(ProxySettings {
        window: Some(30_000),
        ..settings(&upstream.url)
    })
    .await;
    let mut talk = Talk::reading("claude-sonnet-4-5", 10, 3_000);
    // What a tool says is text, whatever it looks like.
    talk.turns[0].file = "/repo/<img src=x onerror=document.title='run'>.rs".to_owned();
    for _ in 0..14 {
        talk.read(3_000);
        let headers = "user-agent: claude-cli/2.1.197\r\n";
        served
            .post_with(Shape::Messages.path(), headers, &talk.body(Shape::Messages))
            .await;
    }
    let listed = served.get("/_neenee/api/conversations").await.json();
    let id = listed["conversations"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for width in [360, 1200] {
        let url = format!("http://{}/_neenee/#{id}", served.address);
        let (dom, said) = dom(&chromium, &url, width).await;
        for part in [
            "claude-cli/2.1.197 · claude-sonnet-4-5",
            &format!("Conversation {id}"),
            "class=\"forwarded\"",
            "class=\"cached\"",
            "<td class=\"\">threshold</td>",
            "<td class=\"\">applied</td>",
            "Read /repo/src/part_1/unit1.rs</button>",
            "onerror=document.title='run'&gt;.rs",
            "version 0.",
        ] {
            assert!(dom.contains(part), "{part}\n{dom}\n{said}");
        }
        assert!(!dom.contains("<img"), "{dom}");
        for trouble in ["Content Security Policy", "Uncaught", "TypeError"] {
            assert!(!said.contains(trouble), "{said}");
        }
    }
}
