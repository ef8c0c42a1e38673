//! What each format is sent: breakpoints of the cache, reasoning as it came, and the fields of rewrite rules.
//! Deliberately read from recorded requests, not from our own structures.

use neenee_agent::provider::{Thinking, Wire};
use neenee_core::model::RewriteRule;
use neenee_testkit::upstream::{Fault, Op, Script, Turn};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{self, Bed};

/// A model that signs its reasoning over everything before it, and whose provider checks.
const BINDING: &str = "claude-opus-5-5";

fn thinking_reads(files: usize) -> Vec<Turn> {
    let mut turns: Vec<Turn> = (0..files)
        .map(|file| Turn::call([Op::read(format!("f{file}.txt"))]).thinking("I should read on."))
        .collect();
    turns.push(Turn::say("Read.").thinking("That is all."));
    turns
}

async fn read_all(rule: Option<RewriteRule>, thinking: Thinking) -> Bed {
    let folder = support::folder();
    for file in 0..9 {
        support::file(&folder, &format!("f{file}.txt"), 240);
    }
    let script = Script::new(support::root(&folder))
        .in_order()
        .round("", thinking_reads(9));
    let mut bed = Bed::new(folder, Wire::Anthropic, script, 32_000, |options, model| {
        BINDING.clone_into(&mut model.name);
        model.thinking = thinking;
        options.settings.rewrite = rule;
    })
    .await;
    bed.agent
        .run("go", &CancellationToken::new())
        .await
        .unwrap();
    bed
}

fn header(bed: &Bed, request: usize, name: &str) -> Vec<String> {
    let requests = bed.upstream.requests();
    let headers = requests[request].headers.iter();
    headers
        .filter(|(key, _)| key == name)
        .map(|(_, value)| value.clone())
        .collect()
}

fn count(body: &Value, text: &str) -> usize {
    body.to_string().matches(text).count()
}

#[tokio::test]
async fn breakpoints_keep_the_stable_prefix_in_the_cache() {
    let bed = read_all(None, Thinking::Unasked).await;
    let bodies = bed.bodies();
    for (index, body) in bodies.iter().enumerate() {
        assert_eq!(count(body, "cache_control"), if index == 0 { 2 } else { 3 });
        assert_eq!(
            body["system"][0]["cache_control"],
            json!({ "type": "ephemeral" })
        );
        let messages = body["messages"].as_array().unwrap();
        let last = messages.last().unwrap()["content"].as_array().unwrap();
        assert!(last.last().unwrap()["cache_control"].is_object());
        assert_eq!(body["tools"], bodies[0]["tools"]);
        assert_eq!(body["system"], bodies[0]["system"]);
    }
    assert_eq!(header(&bed, 0, "anthropic-version"), ["2023-06-01"]);
}

#[tokio::test]
async fn edited_history_is_announced_where_the_provider_checks() {
    let bed = read_all(None, Thinking::Budget(4_000)).await;
    let bodies = bed.bodies();
    let edited = |body: &Value| {
        let text = body.to_string();
        text.contains("[cleared tool result")
            || text.contains("chars elided to relieve")
            || text.contains("[Checkpoint of this")
    };
    let turns: Vec<&Value> = bodies
        .iter()
        .filter(|body| body["tools"].is_array())
        .collect();
    let first = turns.iter().position(|body| edited(body)).unwrap();
    for (index, body) in turns.iter().enumerate() {
        let binding = &body["thinking"]["block_binding"]["prefix_mismatch_behavior"];
        if index < first {
            assert!(binding.is_null(), "{index}");
        } else {
            assert_eq!(binding, "drop_block", "{index}");
        }
        assert_eq!(body["thinking"]["budget_tokens"], 4_000);
        // Thinking is sent back as it came, signature and all.
        assert!(index == 0 || count(body, "\"signature\"") > 0);
    }
    let betas: Vec<usize> = (0..bodies.len())
        .filter(|&request| !header(&bed, request, "anthropic-beta").is_empty())
        .collect();
    assert!(!betas.is_empty() && betas[0] >= first);
}

#[tokio::test]
async fn thoughts_that_nobody_can_say_anything_about_stay_behind() {
    let bed = read_all(None, Thinking::Unasked).await;
    let bodies = bed.bodies();
    assert!(count(&bodies[1], "\"signature\"") > 0);
    let last = bodies.last().unwrap();
    assert_eq!(count(last, "\"signature\""), 0);
    assert!(last["thinking"].is_null());
}

#[tokio::test]
async fn a_provider_that_clears_by_itself_is_asked_to_and_nothing_is_edited() {
    let bed = read_all(Some(RewriteRule::Delegate), Thinking::Unasked).await;
    let bodies = bed.bodies();
    let edit = &bodies[0]["context_management"]["edits"][0];
    assert_eq!(edit["type"], "clear_tool_uses_20250919");
    assert_eq!(
        edit["trigger"],
        json!({ "type": "input_tokens", "value": 20_800 })
    );
    assert_eq!(
        header(&bed, 0, "anthropic-beta"),
        ["context-management-2025-06-27"]
    );
    for body in &bodies {
        assert_eq!(count(body, "[cleared tool result"), 0);
    }
}

#[tokio::test]
async fn responses_keep_encrypted_reasoning_and_store_nothing() {
    let folder = support::folder();
    support::file(&folder, "f0.txt", 3);
    let script = Script::new(support::root(&folder)).round("go", thinking_reads(1));
    let mut bed = Bed::new(folder, Wire::Responses, script, 32_000, |_, model| {
        "gpt-5".clone_into(&mut model.name);
    })
    .await;
    bed.agent
        .run("go", &CancellationToken::new())
        .await
        .unwrap();
    let bodies = bed.bodies();
    assert_eq!(bodies[0]["store"], false);
    assert_eq!(bodies[0]["include"], json!(["reasoning.encrypted_content"]));
    let kinds: Vec<&str> = bodies[1]["input"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "message",
            "reasoning",
            "function_call",
            "function_call_output"
        ]
    );
    assert!(bodies[1]["input"][1]["encrypted_content"].is_string());
}

#[tokio::test]
async fn without_a_model_the_summary_is_written_by_rule() {
    let folder = support::folder();
    let words = "The answer is long. ".repeat(500);
    let mut script = Script::new(support::root(&folder)).round("", vec![Turn::say(words)]);
    let refused = Fault {
        status: 400,
        body: r#"{"error":{"message":"no summaries today","type":"invalid_request_error"}}"#.into(),
        ..Fault::default()
    };
    // Four rounds are answered; whatever is asked then is not.
    for request in 4..20 {
        script = script.fault(request, refused.clone());
    }
    let mut bed = Bed::new(folder, Wire::Chat, script, 32_000, |_, _| {}).await;
    let cancel = CancellationToken::new();
    for round in 0..4 {
        bed.agent
            .run(&format!("question {round}"), &cancel)
            .await
            .unwrap();
    }
    let compacted = bed.agent.compact(&cancel).await.unwrap().unwrap();
    assert_eq!(
        compacted.author,
        neenee_agent::orchestration::Author::Excerpt
    );
    let window = format!("{:?}", bed.agent.window().messages());
    assert!(
        window.contains("The person asked:") && window.contains("question 0"),
        "{window}"
    );
}
