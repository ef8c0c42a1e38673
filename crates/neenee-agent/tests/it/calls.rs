//! Tools as a round runs them: together, refused, cancelled, interrupted, in an envoy, in a loop.
//! Deliberately seen through what the model is sent next.

use std::sync::Arc;
use std::time::{Duration, Instant};

use neenee_agent::provider::Wire;
use neenee_agent::tool::{Boxed, Context, DenyAll, Nature, Output, Tool};
use neenee_agent::{AgentResponse, Journal as _, RoundEnd};
use neenee_core::message::{Message, Part, Role, ToolCall};
use neenee_testkit::upstream::{Op, Script, Turn};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{self, Bed, messages, results};

fn tool(name: &str, arguments: &Value) -> Op {
    Op::Tool {
        name: name.into(),
        arguments: arguments.to_string(),
    }
}

/// The last result that the model was sent.
fn last_result(bed: &Bed) -> String {
    let results = results(bed.agent.window().messages());
    results.last().unwrap().text.clone()
}

/// Waits, beside others of its kind or alone.
struct Wait {
    parallel: bool,
}

impl Tool for Wait {
    fn schema(&self) -> neenee_agent::provider::ToolSchema {
        neenee_agent::provider::ToolSchema {
            name: "wait".into(),
            description: "Waits.".into(),
            parameters: json!({ "type": "object" }),
        }
    }

    fn nature(&self) -> Nature {
        Nature {
            parallel: self.parallel,
            ..Nature::default()
        }
    }

    fn run<'a>(&'a self, arguments: &'a Value, _: &'a Context<'a>) -> Boxed<'a, Output> {
        Box::pin(async move {
            let ms = arguments["ms"].as_u64().unwrap();
            tokio::time::sleep(Duration::from_millis(ms)).await;
            Output::ok(format!("waited {ms}"))
        })
    }
}

#[tokio::test]
async fn calls_run_side_by_side_only_where_the_tool_allows_it() {
    for (parallel, order) in [
        (true, ["waited 100", "waited 300"]),
        (false, ["waited 300", "waited 100"]),
    ] {
        let folder = support::folder();
        let turns = vec![
            Turn::call([
                tool("wait", &json!({ "ms": 300 })),
                tool("wait", &json!({ "ms": 100 })),
            ]),
            Turn::say("Done."),
        ];
        let script = Script::new(support::root(&folder)).round("go", turns);
        let mut bed = Bed::new(folder, Wire::Chat, script, 32_000, |options, _| {
            options.tools = options.tools.clone().with(Wait { parallel });
        })
        .await;
        let begun = Instant::now();
        bed.agent
            .run("go", &CancellationToken::new())
            .await
            .unwrap();
        let texts: Vec<&str> = results(bed.agent.window().messages())
            .iter()
            .map(|result| result.text.as_str())
            .collect();
        assert_eq!(texts, order);
        assert!(!parallel || begun.elapsed() < Duration::from_millis(390));
        bed.bodies();
    }
}

#[tokio::test]
async fn failures_go_back_to_the_model() {
    let folder = support::folder();
    let turns = vec![
        Turn::call([tool("read", &json!({ "path": "no.txt" }))]),
        Turn::call([tool("read", &json!({ "path": "../outside" }))]),
        Turn::call([tool("read", &json!({}))]),
        Turn::call([tool(
            "edit",
            &json!({ "path": "a.txt", "old": "zzz", "new": "y" }),
        )]),
        Turn::say("I give up."),
    ];
    let script = Script::new(support::root(&folder)).round("go", turns);
    let mut bed = Bed::new(folder, Wire::Anthropic, script, 32_000, |_, _| {}).await;
    support::file(&bed.folder, "a.txt", 1);
    let outcome = bed
        .agent
        .run("go", &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(outcome.text, "I give up.");
    let results = results(bed.agent.window().messages());
    for (result, piece) in results.iter().zip([
        "cannot read",
        "outside of the project",
        "`path`",
        "Could not find",
    ]) {
        assert!(result.text.contains(piece), "{}", result.text);
        assert_eq!(result.failed, Some(true));
    }
    let bodies = bed.bodies();
    let block = &messages(&bodies[1])[2]["content"][0];
    assert_eq!(
        (&block["type"], &block["is_error"]),
        (&json!("tool_result"), &json!(true))
    );
}

#[tokio::test]
async fn nobody_writes_a_placeholder_into_a_file() {
    let folder = support::folder();
    let copied = "fn main() {}\n[cleared tool result: read src/a.rs (42 lines, 1500 chars)]\n";
    let turns = vec![
        Turn::call([tool("write", &json!({ "path": "a.rs", "content": copied }))]),
        Turn::say("Ah."),
    ];
    let script = Script::new(support::root(&folder)).round("go", turns);
    let mut bed = Bed::new(folder, Wire::Chat, script, 32_000, |_, _| {}).await;
    bed.agent
        .run("go", &CancellationToken::new())
        .await
        .unwrap();
    assert!(last_result(&bed).contains("read the file again"));
    assert!(!bed.folder.path().join("project/a.rs").exists());
}

#[tokio::test]
async fn what_is_not_allowed_is_not_done() {
    let folder = support::folder();
    let turns = vec![
        Turn::call([
            Op::shell("touch made"),
            tool("write", &json!({ "path": "made", "content": "x" })),
            tool("list", &json!({})),
        ]),
        Turn::say("Well."),
    ];
    let script = Script::new(support::root(&folder)).round("go", turns);
    let mut bed = Bed::new(folder, Wire::Responses, script, 32_000, |options, _| {
        options.approve = Arc::new(DenyAll);
    })
    .await;
    bed.agent
        .run("go", &CancellationToken::new())
        .await
        .unwrap();
    assert!(!bed.folder.path().join("project/made").exists());
    let results = results(bed.agent.window().messages());
    let texts: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
    assert!(texts[0].contains("not allowed") && texts[1].contains("not allowed"));
    assert_eq!(texts[2], "(the folder is empty)");
}

#[tokio::test]
async fn cancelling_ends_the_command_and_keeps_the_session() {
    let folder = support::folder();
    let turns = vec![
        Turn::call([Op::shell("sleep 60"), Op::shell("touch made")]),
        Turn::say("Again."),
    ];
    let script = Script::new(support::root(&folder)).round("go", turns);
    let mut bed = Bed::new(folder, Wire::Chat, script, 32_000, |_, _| {}).await;
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let begun = Instant::now();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(400)).await;
        stop.cancel();
    });
    let outcome = bed.agent.run("go", &cancel).await.unwrap();
    assert_eq!(outcome.end, RoundEnd::Cancelled);
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert!(!bed.folder.path().join("project/made").exists());
    // Every call has its result, so the next request is one that the API takes.
    let outcome = bed.agent.resume(&CancellationToken::new()).await.unwrap();
    assert_eq!(outcome.text, "Again.");
    bed.bodies();
}

#[tokio::test]
async fn a_session_that_died_between_call_and_result_goes_on_without_running_it_again() {
    let folder = support::folder();
    let turns = vec![Turn::call([Op::shell("touch made")]), Turn::say("Looked.")];
    let script = Script::new(support::root(&folder)).round("go", turns);
    let mut bed = Bed::new(folder, Wire::Anthropic, script, 32_000, |_, _| {}).await;
    {
        // What a journal holds after a kill: the call is there, its result is not.
        let mut journal = bed.journal.lock().unwrap();
        let message = |role, part| Message {
            role,
            parts: vec![part],
        };
        journal
            .admit(&message(Role::User, Part::Text("go".into())))
            .unwrap();
        journal
            .append(&message(
                Role::Assistant,
                Part::Call(ToolCall {
                    id: Some("toolu_1".into()),
                    name: "bash".into(),
                    arguments: r#"{"command":"touch made"}"#.into(),
                }),
            ))
            .unwrap();
    }
    let project = neenee_agent::tool::Project::new(
        &bed.folder.path().join("project"),
        &bed.folder.path().join("spill"),
    );
    let options = neenee_agent::AgentOptions::new("", project.unwrap());
    let provider = support::provider(Wire::Anthropic, &bed.upstream);
    let model = bed.agent.model().clone();
    let journal = Box::new(Arc::clone(&bed.journal));
    bed.agent = neenee_agent::Agent::new(provider, model, journal, options).unwrap();
    let outcome = bed.agent.resume(&CancellationToken::new()).await.unwrap();
    assert_eq!(outcome.text, "Looked.");
    assert!(last_result(&bed).contains("interrupted"));
    assert!(!bed.folder.path().join("project/made").exists());
    bed.bodies();
}

#[tokio::test]
async fn an_envoy_answers_with_its_transcript_and_cannot_send_another() {
    let folder = support::folder();
    support::file(&folder, "a.txt", 40);
    let envoy =
        json!({ "description": "count the lines", "prompt": "errand: how many lines has a.txt?" });
    let script = Script::new(support::root(&folder))
        .round(
            "errand",
            vec![
                Turn::call([Op::read("a.txt")]),
                Turn::call([
                    tool("envoy", &json!({ "description": "x", "prompt": "y" })),
                    Op::shell("wc -l a.txt"),
                ]),
                Turn::say("It has 40 lines."),
            ],
        )
        .round(
            "go",
            vec![Turn::call([tool("envoy", &envoy)]), Turn::say("40.")],
        );
    let mut bed = Bed::new(folder, Wire::Chat, script, 32_000, |_, _| {}).await;
    let outcome = bed
        .agent
        .run("go", &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(outcome.text, "40.");
    let window = bed.agent.window().messages();
    let Part::Result(result) = &window[2].parts[0] else {
        panic!("{window:?}");
    };
    assert_eq!(result.text, "It has 40 lines.");
    // Its question, a read with its result, a command with its result.
    assert_eq!(result.children.len(), 5);
    let bodies = bed.bodies();
    let offers = |body: &Value| body["tools"].to_string().contains("\"envoy\"");
    let offered: Vec<bool> = bodies.iter().map(offers).collect();
    assert_eq!(offered, [true, false, false, false, true]);
    // The parent is sent the transcript that it pays for.
    assert!(bodies[4].to_string().contains("a.txt says"));
    let sent = bed.agent.window().pressure_tokens();
    assert!(sent > 600, "{sent}");
    let seen = bed.seen.lock().unwrap();
    assert!(seen.iter().any(|response| matches!(response, AgentResponse::Envoy { title, .. } if title == "count the lines")));
    let entries = bed.agent.ledger().entries();
    assert_eq!(entries.len(), 5);
}

#[tokio::test]
async fn a_loop_of_the_same_read_is_told_to_the_model() {
    let folder = support::folder();
    support::file(&folder, "a.txt", 3);
    let mut turns = vec![Turn::call([Op::read("a.txt")]); 4];
    turns.push(Turn::say("Oh."));
    let script = Script::new(support::root(&folder))
        .in_order()
        .round("", turns);
    let mut bed = Bed::new(folder, Wire::Chat, script, 32_000, |_, _| {}).await;
    bed.agent
        .run("go", &CancellationToken::new())
        .await
        .unwrap();
    let told: Vec<bool> = results(bed.agent.window().messages())
        .iter()
        .map(|result| result.text.contains("[notice: this call has been made"))
        .collect();
    assert_eq!(told, [false, false, true, true]);
}
