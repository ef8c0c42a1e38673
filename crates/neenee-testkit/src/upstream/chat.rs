//! OpenAI Chat Completions: reading and checking a request, a completion and its stream of chunks.
//! Deliberately only what agents use; the format is documented at platform.openai.com/docs/api-reference/chat.

use super::script::{Said, id};
use super::tools::Offered;
use super::wire::{Answer, Request, data, list, pieces, string, text_of};
use serde_json::{Value, json};

pub(super) fn read(body: &Value) -> Request {
    let mut request = Request {
        model: string(body, "model"),
        streamed: body["stream"] == true,
        ..Request::default()
    };
    for tool in list(body, "tools") {
        request.offered.push(Offered {
            name: string(&tool["function"], "name"),
            freeform: false,
        });
    }
    let mut open: Vec<String> = Vec::new();
    for (index, message) in list(body, "messages").iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role != "tool" {
            unanswered(&mut open, &mut request.problems);
        }
        match role {
            "system" | "developer" => {}
            "user" => request.said.push(Said::User(text_of(&message["content"]))),
            "assistant" => {
                request.said.push(Said::Model);
                open = list(message, "tool_calls")
                    .iter()
                    .map(|call| string(call, "id"))
                    .collect();
            }
            "tool" => {
                request.said.push(Said::Result);
                let call = string(message, "tool_call_id");
                match open.iter().position(|id| *id == call) {
                    Some(place) => drop(open.remove(place)),
                    None => request.problems.push(format!(
                        "Invalid parameter: messages with role 'tool' must be a response to a preceding \
                         message with 'tool_calls': messages[{index}], {call}"
                    )),
                }
            }
            _ => request.problems.push(format!(
                "Invalid value for 'messages[{index}].role': '{role}'."
            )),
        }
    }
    unanswered(&mut open, &mut request.problems);
    request
}

pub(super) fn whole(answer: &Answer) -> Value {
    let mut message = json!({ "role": "assistant", "content": answer.text });
    if let Some(reasoning) = &answer.reasoning {
        message["reasoning_content"] = json!(reasoning);
    }
    if !answer.calls.is_empty() {
        let calls: Vec<Value> = answer
            .calls
            .iter()
            .enumerate()
            .map(|(number, call)| {
                json!({
                    "id": id("call_", answer.seed, number), "type": "function",
                    "function": { "name": call.name, "arguments": call.input.text() }
                })
            })
            .collect();
        message["tool_calls"] = json!(calls);
    }
    let mut whole = frame(answer, "chat.completion");
    whole["choices"] = json!([{
        "index": 0, "message": message, "logprobs": null, "finish_reason": finish(answer)
    }]);
    whole["usage"] = usage(answer);
    whole
}

pub(super) fn events(answer: &Answer) -> Vec<String> {
    let chunk = |delta: Value, finish: Value| {
        let mut chunk = frame(answer, "chat.completion.chunk");
        chunk["choices"] = json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
        data(&chunk)
    };
    let mut events = vec![chunk(
        json!({ "role": "assistant", "content": "" }),
        Value::Null,
    )];
    for (key, text) in [
        ("reasoning_content", &answer.reasoning),
        ("content", &answer.text),
    ] {
        for piece in text.iter().flat_map(|text| pieces(text)) {
            events.push(chunk(json!({ key: piece }), Value::Null));
        }
    }
    for (number, call) in answer.calls.iter().enumerate() {
        let begun = json!({
            "index": number, "id": id("call_", answer.seed, number), "type": "function",
            "function": { "name": call.name, "arguments": "" }
        });
        events.push(chunk(json!({ "tool_calls": [begun] }), Value::Null));
        for piece in pieces(&call.input.text()) {
            let more = json!({ "index": number, "function": { "arguments": piece } });
            events.push(chunk(json!({ "tool_calls": [more] }), Value::Null));
        }
    }
    events.push(chunk(json!({}), json!(finish(answer))));
    let mut last = frame(answer, "chat.completion.chunk");
    last["choices"] = json!([]);
    last["usage"] = usage(answer);
    events.push(data(&last));
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn frame(answer: &Answer, object: &str) -> Value {
    json!({
        "id": id("chatcmpl-", answer.seed, 0), "object": object, "created": 1_764_547_200,
        "model": answer.model
    })
}

fn usage(answer: &Answer) -> Value {
    json!({
        "prompt_tokens": answer.input_tokens, "completion_tokens": answer.output_tokens(),
        "total_tokens": answer.input_tokens + answer.output_tokens()
    })
}

fn finish(answer: &Answer) -> &'static str {
    if answer.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    }
}

fn unanswered(open: &mut Vec<String>, problems: &mut Vec<String>) {
    if !open.is_empty() {
        problems.push(format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
             'tool_call_id'. The following tool_call_ids did not have response messages: {}",
            open.join(", ")
        ));
        open.clear();
    }
}
