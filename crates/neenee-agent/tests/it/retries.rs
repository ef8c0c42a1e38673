//! Failures that pass: they are waited for and asked again, and no tool runs twice.
//! Deliberately with a real server that fails, closes and asks for time.

use std::time::{Duration, Instant};

use neenee_agent::provider::{ProviderErrorKind, Wire};
use neenee_agent::{AgentError, AgentResponse};
use neenee_testkit::upstream::{Fault, Op, Script, Turn};
use tokio_util::sync::CancellationToken;

use crate::support::{self, Bed, KEY};

fn fault(status: u16, body: &str) -> Fault {
    Fault {
        status,
        headers: Vec::new(),
        body: body.to_owned(),
    }
}

fn script(root: String) -> Script {
    Script::new(root).round(
        "go",
        vec![
            Turn::call([Op::shell("echo ran >> ran.txt")]),
            Turn::say("Done it."),
        ],
    )
}

#[tokio::test]
async fn transient_failures_are_asked_again_and_tools_run_once() {
    let folder = support::folder();
    let script = script(support::root(&folder))
        .fault(0, fault(503, "busy"))
        .fault(
            1,
            fault(
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            ),
        )
        .fault(3, fault(408, ""))
        .fault(4, fault(500, r#"{"error":{"message":"oops"}}"#));
    let mut bed = Bed::new(folder, Wire::Anthropic, script, 32_000, |_, _| {}).await;
    let outcome = bed
        .agent
        .run("go", &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!((outcome.text.as_str(), outcome.turns), ("Done it.", 2));
    let ran = std::fs::read_to_string(bed.folder.path().join("project/ran.txt")).unwrap();
    assert_eq!(ran, "ran\n");
    let seen = bed.seen.lock().unwrap();
    let attempts: Vec<usize> = seen
        .iter()
        .filter_map(|response| match response {
            AgentResponse::Retrying { attempt, .. } => Some(*attempt),
            _ => None,
        })
        .collect();
    assert_eq!(attempts, [1, 2, 1, 2]);
    let entries = bed.agent.ledger().entries();
    let answered: Vec<bool> = entries.iter().map(|entry| entry.answered).collect();
    assert_eq!(answered, [false, false, true, false, false, true]);
}

#[tokio::test]
async fn a_server_that_asks_for_time_gets_it() {
    let folder = support::folder();
    let mut asks = fault(
        429,
        r#"{"error":{"message":"slow down","code":"rate_limit_exceeded"}}"#,
    );
    asks.headers.push(("retry-after-ms".into(), "300".into()));
    let script = script(support::root(&folder)).fault(0, asks);
    let mut bed = Bed::new(folder, Wire::Chat, script, 32_000, |_, _| {}).await;
    let begun = Instant::now();
    bed.agent
        .run("go", &CancellationToken::new())
        .await
        .unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(300));
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_no_answer() {
    let folder = support::folder();
    let script = script(support::root(&folder)).cut_at(300);
    let mut bed = Bed::new(folder, Wire::Responses, script, 32_000, |options, _| {
        options.retry.attempts = 3;
    })
    .await;
    let error = bed.agent.run("go", &CancellationToken::new()).await;
    let Err(AgentError::Provider(error)) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.kind, ProviderErrorKind::Connection);
    assert_eq!(bed.upstream.requests().len(), 3);
    assert!(!bed.folder.path().join("project/ran.txt").exists());
    // Nothing of the broken answers is kept: the window still ends with the question.
    assert_eq!(bed.agent.window().messages().len(), 1);
}

#[tokio::test]
async fn what_would_fail_again_is_not_asked_again_and_the_key_is_in_no_error() {
    let folder = support::folder();
    let body = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}."}}}}"#);
    let script = script(support::root(&folder)).fault(0, fault(401, &body));
    let mut bed = Bed::new(folder, Wire::Chat, script, 32_000, |_, _| {}).await;
    let error = bed
        .agent
        .run("go", &CancellationToken::new())
        .await
        .unwrap_err();
    assert!(
        matches!(&error, AgentError::Provider(error) if error.kind == ProviderErrorKind::Authentication)
    );
    for text in [
        format!("{error}"),
        format!("{error:?}"),
        format!("{:?}", bed.agent),
    ] {
        assert!(!text.contains(KEY), "{text}");
    }
    assert_eq!(bed.upstream.requests().len(), 1);
}

#[tokio::test]
async fn a_refused_connection_is_a_connection_error() {
    let folder = support::folder();
    let mut bed = Bed::new(
        folder,
        Wire::Chat,
        Script::new("/"),
        32_000,
        |options, _| {
            options.retry.attempts = 2;
        },
    )
    .await;
    let gone = {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.local_addr().unwrap()
    };
    let endpoint = neenee_agent::provider::Endpoint::new(Wire::Chat, format!("http://{gone}/v1"));
    let provider = neenee_agent::provider::Provider::new(endpoint).unwrap();
    let model = bed.agent.model().clone();
    bed.agent.set_model(provider, model);
    let error = bed
        .agent
        .run("go", &CancellationToken::new())
        .await
        .unwrap_err();
    assert!(
        matches!(&error, AgentError::Provider(error) if error.kind == ProviderErrorKind::Connection),
        "{error}"
    );
}
