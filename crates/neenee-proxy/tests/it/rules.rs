//! When a conversation is pruned, and how where reasoning is bound to what stands before it.
//! Deliberately with upstreams that answer from a list: errors come when the test wants them.

use std::sync::Arc;

use neenee_core::model::RewriteRule;
use neenee_proxy::{FileArchive, ProxySettings};
use serde_json::{Value, json};

use crate::harness::{Bare, Served, Step, settings};
use crate::talk::{Shape, Talk, results};

const MINUTE: i64 = 60_000;

fn answer(status: &str, body: &Value) -> Vec<Step> {
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    vec![Step::Write(format!("{head}{body}").into_bytes())]
}

fn fine() -> Vec<Step> {
    answer(
        "200 OK",
        &json!({"content": [], "usage": {"input_tokens": 10, "cache_read_input_tokens": 20,
            "cache_creation_input_tokens": 30, "output_tokens": 4}}),
    )
}

fn mismatch() -> Vec<Step> {
    answer(
        "400 Bad Request",
        &json!({"type": "error", "error": {"type": "invalid_request_error",
            "message": "messages.5.content.0: `thinking` block does not match the prefix it was created with"}}),
    )
}

fn overflow() -> Vec<Step> {
    answer(
        "400 Bad Request",
        &json!({"type": "error", "error": {"type": "invalid_request_error",
            "message": "prompt is too long: 215000 tokens > 200000 maximum"}}),
    )
}

fn with_window(url: &str, window: usize) -> ProxySettings {
    ProxySettings {
        window: Some(window),
        ..settings(url)
    }
}

/// A conversation of a model that thinks before each call.
fn thinking(model: &str, turns: usize, chars: usize) -> Talk {
    let mut talk = Talk::reading(model, turns, chars);
    think(&mut talk);
    talk
}

fn think(talk: &mut Talk) {
    talk.extra = json!({"thinking": {"type": "enabled", "budget_tokens": 2000}});
    for (number, turn) in talk.turns.iter_mut().enumerate() {
        turn.thought = Some(format!("c2lnbmF0dXJl{number:08}"));
    }
}

async fn post(served: &Served, talk: &Talk) -> u16 {
    let body = talk.body(Shape::Messages);
    served.post("/v1/messages", &body).await.status
}

fn decisions(shown: &Value) -> Vec<(String, String)> {
    let decisions = shown["decisions"].as_array().unwrap();
    decisions
        .iter()
        .map(|decision| {
            let text = |key: &str| decision[key].as_str().unwrap().to_owned();
            (text("trigger"), text("outcome"))
        })
        .collect()
}

async fn shown(served: &Served) -> Value {
    let listed = served.get("/_neenee/api/conversations").await.json();
    let id = listed["conversations"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    served
        .get(&format!("/_neenee/api/conversations/{id}"))
        .await
        .json()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cold_conversation_is_pruned_early_and_a_warm_one_waits_until_it_pays() {
    let upstream = Bare::start(vec![fine()]).await;
    // 22 results of 3 000 chars: over 0.40 of this window, under 0.65 of it.
    let served = Served::start(with_window(&upstream.url, 70_000)).await;
    let mut talk = Talk::reading("claude-sonnet-4-5", 24, 3_000);
    let whole = |talk: &Talk| results(Shape::Messages, &talk.body(Shape::Messages));
    let sent = || results(Shape::Messages, &upstream.seen().pop().unwrap().body);
    post(&served, &talk).await;
    assert!(
        sent() == whole(&talk),
        "nobody knows whether its cache is warm"
    );
    for _ in 0..2 {
        served.pass_time(4 * MINUTE);
        talk.read(200);
        post(&served, &talk).await;
        assert!(sent() == whole(&talk), "warm, and a rewrite does not pay");
    }
    served.pass_time(6 * MINUTE);
    talk.read(200);
    post(&served, &talk).await;
    let pruned = sent();
    assert!(pruned != whole(&talk), "cold");
    let shown = shown(&served).await;
    let told = decisions(&shown);
    assert_eq!(told[0], ("pays".to_owned(), "waits".to_owned()));
    assert_eq!(told[1], ("cold".to_owned(), "applied".to_owned()));
    assert_eq!(told.len(), 2, "{told:?}");
    let cold = &shown["decisions"][1];
    assert_eq!(
        (&cold["warm"], &cold["idle"]),
        (&json!(false), &json!(360.0))
    );
    assert!(cold["cost"].as_f64().unwrap() > 0.0);
    assert!(cold["gain_per_request"].as_f64().unwrap() > 0.0);
    // What pruning when cold saves costs nothing.
    assert!(shown["saved"].as_f64().unwrap() > 0.0);
    // And it stays as it is.
    talk.read(200);
    post(&served, &talk).await;
    assert!(sent()[..pruned.len()] == pruned[..]);
    let usage = &shown["samples"].as_array().unwrap()[0]["usage"];
    assert_eq!(
        *usage,
        json!({"input": 10, "cache_read": 20, "cache_write": 30, "output": 4, "cleared": 0})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rewrite_that_pays_is_made_while_the_cache_is_warm() {
    let upstream = Bare::start(vec![fine()]).await;
    let served = Served::start(with_window(&upstream.url, 70_000)).await;
    // Old and large, then much that stays and stands before it: the suffix is short.
    let mut talk = Talk::reading("gpt-5", 26, 3_000);
    talk.opening = "Words of the user that stay. ".repeat(100);
    let body = talk.body(Shape::Chat);
    served.post(Shape::Chat.path(), &body).await;
    let first = upstream.seen().pop().unwrap();
    served.pass_time(1_000);
    talk.read(100);
    served
        .post(Shape::Chat.path(), &talk.body(Shape::Chat))
        .await;
    let shown = shown(&served).await;
    let last = shown["decisions"].as_array().unwrap().last().unwrap();
    let (cost, gain) = (
        last["cost"].as_f64().unwrap(),
        last["gain_per_request"].as_f64().unwrap(),
    );
    // What is decided follows from the numbers that are told.
    let applied = last["outcome"] == "applied";
    assert_eq!(applied, gain * 10.0 > cost, "{last}");
    let edited = upstream
        .seen()
        .iter()
        .any(|seen| seen.body.len() < first.body.len());
    assert_eq!(edited || first.body.len() < body.len(), applied);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_cache_awareness_only_the_threshold_counts() {
    let upstream = Bare::start(vec![fine()]).await;
    let served = Served::start(ProxySettings {
        cache_aware: false,
        ..with_window(&upstream.url, 70_000)
    })
    .await;
    let mut talk = Talk::reading("claude-sonnet-4-5", 24, 3_000);
    for _ in 0..3 {
        served.pass_time(60 * MINUTE);
        talk.read(100);
        post(&served, &talk).await;
    }
    assert_eq!(served.metric("neenee_prunes_total"), 0);
    assert_eq!(served.metric("neenee_edited_requests_total"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_window_is_pruned_harder_and_tried_once_more() {
    for shape in Shape::ALL {
        let upstream = Bare::start(vec![overflow(), fine()]).await;
        // The window is larger than the provider's really is.
        let served = Served::start(with_window(&upstream.url, 10_000_000)).await;
        let mut talk = Talk::reading("gpt-5", 12, 3_000);
        let body = talk.body(shape);
        let answer = served.post(shape.path(), &body).await;
        assert_eq!(answer.status, 200, "{shape:?}");
        let seen = upstream.seen();
        assert_eq!(seen.len(), 2);
        assert!(seen[0].body == body && seen[1].body.len() < body.len() / 2);
        let harder = results(shape, &seen[1].body);
        assert_eq!(harder.last().unwrap(), &talk.turns.last().unwrap().result);
        assert_eq!(served.metric("neenee_overflow_retries_total"), 1);
        // The next request goes on from there.
        talk.read(100);
        served.post(shape.path(), &talk.body(shape)).await;
        let next = results(shape, &upstream.seen().pop().unwrap().body);
        assert!(next[..12] == harder[..], "{shape:?}");
    }
    // When nothing is left that could go, the first error is what the client sees.
    let upstream = Bare::start(vec![overflow()]).await;
    let served = Served::start(with_window(&upstream.url, 10_000_000)).await;
    let talk = Talk::reading("gpt-5", 1, 3_000);
    let answer = served
        .post("/v1/messages", &talk.body(Shape::Messages))
        .await;
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("215000 tokens"));
    assert_eq!(upstream.seen().len(), 1);
    let long = Talk::reading("gpt-5", 9, 3_000);
    let answer = served
        .post("/v1/messages", &long.body(Shape::Messages))
        .await;
    assert!(answer.status == 400 && answer.text().contains("215000 tokens"));
    assert_eq!(upstream.seen().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_checks_reasoning_is_asked_to_clear_by_itself() {
    let upstream = Bare::start(vec![fine()]).await;
    let served = Served::start(with_window(&upstream.url, 30_000)).await;
    let mut talk = thinking("claude-opus-5-5", 22, 3_000);
    let mut asked = Vec::new();
    for _ in 0..3 {
        post(&served, &talk).await;
        let seen = upstream.seen().pop().unwrap();
        let mut body = seen.json();
        let management = body["context_management"].take();
        assert_eq!(management["edits"][0]["type"], "clear_tool_uses_20250919");
        asked.push(management);
        body.as_object_mut().unwrap().remove("context_management");
        let sent: Value = serde_json::from_slice(&talk.body(Shape::Messages)).unwrap();
        assert_eq!(body, sent, "nothing else is another");
        let head = seen.head.to_ascii_lowercase();
        assert!(
            head.contains("anthropic-beta: context-management-2025-06-27"),
            "{head}"
        );
        talk.read(1_000);
        think(&mut talk);
    }
    assert!(
        asked.windows(2).all(|pair| pair[0] == pair[1]),
        "in the same words"
    );
    // A client that asks for it has its way.
    let mut own = talk.clone();
    own.extra["context_management"] = json!({"edits": [{"type": "clear_tool_uses_20250919"}]});
    post(&served, &own).await;
    assert!(upstream.seen().pop().unwrap().body == own.body(Shape::Messages));
    // The same model without reasoning in the history has nothing bound.
    let plain = Talk::reading("claude-opus-5-5", 23, 3_000);
    post(&served, &plain).await;
    let body = upstream.seen().pop().unwrap().body;
    assert!(
        results(Shape::Messages, &body) != results(Shape::Messages, &plain.body(Shape::Messages))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_reasoning_is_told_each_time() {
    let upstream = Bare::start(vec![fine()]).await;
    let served = Served::start(ProxySettings {
        rewrite: Some(RewriteRule::Drop),
        ..with_window(&upstream.url, 30_000)
    })
    .await;
    let mut talk = thinking("claude-opus-5-5", 18, 3_000);
    for _ in 0..3 {
        post(&served, &talk).await;
        let seen = upstream.seen().pop().unwrap();
        let body = seen.json();
        assert_eq!(
            body["thinking"],
            json!({"type": "enabled", "budget_tokens": 2000,
                "block_binding": {"prefix_mismatch_behavior": "drop_block"}})
        );
        let head = seen.head.to_ascii_lowercase();
        assert!(
            head.contains("thinking-binding-controls-2026-08-01"),
            "{head}"
        );
        assert!(
            results(Shape::Messages, &seen.body)[0].starts_with("1\tlet value_1")
                || results(Shape::Messages, &seen.body)[0].starts_with("[cleared")
        );
        assert!(seen.body.len() < talk.body(Shape::Messages).len());
        talk.read(100);
        think(&mut talk);
    }
    let lost = &shown(&served).await["decisions"][0]["lost_reasoning_tokens"];
    assert!(lost.as_u64().unwrap() > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn reasoning_that_does_not_fit_makes_a_conversation_append_only() {
    let upstream = Bare::start(vec![mismatch(), fine()]).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let archive = Arc::new(FileArchive::open(&path).unwrap());
    // A model of which nobody knew that it checks.
    let mut served =
        Served::with_archive(with_window(&upstream.url, 30_000), archive, folder).await;
    let mut talk = thinking("claude-sonnet-4-5", 22, 3_000);
    assert_eq!(post(&served, &talk).await, 200);
    let seen = upstream.seen();
    assert_eq!(seen.len(), 2);
    assert!(seen[0].body.len() < seen[1].body.len());
    assert!(
        seen[1].body == talk.body(Shape::Messages),
        "the original, once"
    );
    for _ in 0..2 {
        talk.read(3_000);
        think(&mut talk);
        post(&served, &talk).await;
        assert!(upstream.seen().pop().unwrap().body == talk.body(Shape::Messages));
    }
    assert_eq!(upstream.seen().len(), 4);
    assert_eq!(served.metric("neenee_mismatch_retries_total"), 1);
    let story = shown(&served).await;
    assert_eq!(story["rule"], "append_only");
    // That is not forgotten.
    served.stop();
    served.server.take().unwrap().await.unwrap().unwrap();
    let folder = std::mem::replace(&mut served.folder, tempfile::tempdir().unwrap());
    drop(served);
    let archive = Arc::new(FileArchive::open(&path).unwrap());
    let served = Served::with_archive(with_window(&upstream.url, 30_000), archive, folder).await;
    talk.read(3_000);
    think(&mut talk);
    post(&served, &talk).await;
    assert!(upstream.seen().pop().unwrap().body == talk.body(Shape::Messages));
    assert_eq!(upstream.seen().len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_taken_up_while_conversations_go_on() {
    let upstream = Bare::start(vec![fine()]).await;
    let served = Served::start(with_window(&upstream.url, 10_000_000)).await;
    let mut talk = Talk::reading("gpt-5", 22, 3_000);
    post(&served, &talk).await;
    assert!(upstream.seen()[0].body == talk.body(Shape::Messages));
    served.proxy.reload(with_window(&upstream.url, 30_000));
    talk.read(100);
    post(&served, &talk).await;
    assert!(upstream.seen()[1].body.len() < talk.body(Shape::Messages).len());
    assert_eq!(served.metric("neenee_conversations"), 1);
}
