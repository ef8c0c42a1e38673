//! Anthropic Messages: reading and checking a request, a message and its stream of events.
//! Deliberately only what agents use; the format is documented at docs.anthropic.com/en/api/messages.

use super::script::{Said, id};
use super::tools::{Input, Offered};
use super::wire::{Answer, Request, event, list, pieces, string};
use serde_json::{Value, json};

pub(super) fn read(body: &Value) -> Request {
    let mut request = Request {
        model: string(body, "model"),
        streamed: body["stream"] == true,
        ..Request::default()
    };
    for tool in list(body, "tools") {
        request.offered.push(Offered {
            name: string(tool, "name"),
            freeform: false,
        });
    }
    let messages = list(body, "messages");
    if messages.is_empty() {
        request
            .problems
            .push("messages: at least one message is required".to_owned());
    }
    let mut open: Vec<String> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let place = format!("messages.{index}");
        let blocks = blocks(&message["content"]);
        match message["role"].as_str() {
            Some("user" | "system") => {
                let answered = results(&blocks, &mut request.said);
                check_results(&place, &open, &answered, &mut request.problems);
                open.clear();
            }
            Some("assistant") if index > 0 => {
                unanswered(&place, &open, &mut request.problems);
                open = calls(&blocks);
                check_answer(&place, &blocks, &mut request.problems);
                request.said.push(Said::Model);
            }
            Some("assistant") => {
                request
                    .problems
                    .push(format!("{place}: first message must use the \"user\" role"));
            }
            _ => request
                .problems
                .push(format!("{place}.role: unexpected role")),
        }
    }
    unanswered("messages", &open, &mut request.problems);
    request
}

pub(super) fn whole(answer: &Answer) -> Value {
    let mut content = Vec::new();
    if let Some(reasoning) = &answer.reasoning {
        content.push(json!({
            "type": "thinking", "thinking": reasoning, "signature": id("EqQB", answer.seed, 0)
        }));
    }
    if let Some(text) = &answer.text {
        content.push(json!({ "type": "text", "text": text }));
    }
    for (number, call) in answer.calls.iter().enumerate() {
        content.push(json!({
            "type": "tool_use", "id": id("toolu_01", answer.seed, number), "name": call.name,
            "input": call.input.object()
        }));
    }
    let stop = if answer.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    json!({
        "id": id("msg_01", answer.seed, 0), "type": "message", "role": "assistant",
        "model": answer.model, "content": content, "stop_reason": stop, "stop_sequence": null,
        "usage": {
            "input_tokens": answer.input_tokens, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0, "output_tokens": answer.output_tokens()
        }
    })
}

pub(super) fn events(answer: &Answer) -> Vec<String> {
    let whole = whole(answer);
    let mut start = whole.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"]["output_tokens"] = json!(1);
    let mut events = vec![
        event(
            "message_start",
            &json!({ "type": "message_start", "message": start }),
        ),
        event("ping", &json!({ "type": "ping" })),
    ];
    for (index, block) in list(&whole, "content").iter().enumerate() {
        let (empty, deltas) = streamed(block);
        events.push(event(
            "content_block_start",
            &json!({ "type": "content_block_start", "index": index, "content_block": empty }),
        ));
        for delta in deltas {
            events.push(event(
                "content_block_delta",
                &json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            ));
        }
        events.push(event(
            "content_block_stop",
            &json!({ "type": "content_block_stop", "index": index }),
        ));
    }
    events.push(event(
        "message_delta",
        &json!({
            "type": "message_delta",
            "delta": { "stop_reason": whole["stop_reason"], "stop_sequence": null },
            "usage": { "output_tokens": answer.output_tokens() }
        }),
    ));
    events.push(event("message_stop", &json!({ "type": "message_stop" })));
    events
}

/// A block as its stream begins it, and the deltas that fill it.
fn streamed(block: &Value) -> (Value, Vec<Value>) {
    let mut empty = block.clone();
    let mut deltas = Vec::new();
    match block["type"].as_str() {
        Some("thinking") => {
            empty["thinking"] = json!("");
            empty["signature"] = json!("");
            for piece in pieces(&string(block, "thinking")) {
                deltas.push(json!({ "type": "thinking_delta", "thinking": piece }));
            }
            deltas.push(json!({ "type": "signature_delta", "signature": block["signature"] }));
        }
        Some("tool_use") => {
            empty["input"] = json!({});
            let input = Input::Object(block["input"].clone()).text();
            for piece in pieces(&input) {
                deltas.push(json!({ "type": "input_json_delta", "partial_json": piece }));
            }
        }
        _ => {
            empty["text"] = json!("");
            for piece in pieces(&string(block, "text")) {
                deltas.push(json!({ "type": "text_delta", "text": piece }));
            }
        }
    }
    (empty, deltas)
}

fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![json!({ "type": "text", "text": text })],
        Value::Array(blocks) => blocks.clone(),
        _ => Vec::new(),
    }
}

/// Ids that a user message answers, in order; what it says goes to `said`.
fn results(blocks: &[Value], said: &mut Vec<Said>) -> Vec<String> {
    let mut answered = Vec::new();
    for block in blocks {
        match block["type"].as_str() {
            Some("tool_result") => {
                answered.push(string(block, "tool_use_id"));
                said.push(Said::Result);
            }
            Some("text") => said.push(Said::User(string(block, "text"))),
            _ => {}
        }
    }
    answered
}

fn calls(blocks: &[Value]) -> Vec<String> {
    let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
    calls.map(|block| string(block, "id")).collect()
}

fn check_results(place: &str, open: &[String], answered: &[String], problems: &mut Vec<String>) {
    for (number, id) in answered.iter().enumerate() {
        if !open.contains(id) {
            problems.push(format!(
                "{place}.content: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each \
                 `tool_result` block must have a corresponding `tool_use` block in the previous message"
            ));
        } else if answered[..number].contains(id) {
            problems.push(format!(
                "{place}.content: each tool_use must have a single result: {id}"
            ));
        }
    }
    let missing: Vec<String> = open
        .iter()
        .filter(|id| !answered.contains(id))
        .cloned()
        .collect();
    unanswered(place, &missing, problems);
}

fn unanswered(place: &str, open: &[String], problems: &mut Vec<String>) {
    if !open.is_empty() {
        problems.push(format!(
            "{place}: `tool_use` ids were found without `tool_result` blocks immediately after: {}",
            open.join(", ")
        ));
    }
}

fn check_answer(place: &str, blocks: &[Value], problems: &mut Vec<String>) {
    for (number, block) in blocks.iter().enumerate() {
        let empty = |key: &str| block[key].as_str().is_none_or(str::is_empty);
        match block["type"].as_str() {
            Some("text") if empty("text") => {
                problems.push(format!(
                    "{place}.content.{number}: text content blocks must be non-empty"
                ));
            }
            Some("thinking") if empty("signature") => {
                problems.push(format!(
                    "{place}.content.{number}: invalid `signature` in `thinking` block"
                ));
            }
            _ => {}
        }
    }
}
