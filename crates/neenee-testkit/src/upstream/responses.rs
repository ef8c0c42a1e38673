//! OpenAI Responses: reading and checking a request, a response and its stream of events.
//! Deliberately only what agents use; the format is documented at platform.openai.com/docs/api-reference/responses.

use super::script::{Said, id};
use super::tools::{Input, Offered};
use super::wire::{Answer, Request, event, list, pieces, string, text_of};
use serde_json::{Value, json};

pub(super) fn read(body: &Value) -> Request {
    let mut request = Request {
        model: string(body, "model"),
        streamed: body["stream"] == true,
        ..Request::default()
    };
    for tool in list(body, "tools") {
        // Built-in tools (web_search, local_shell, namespaces) have no schema to call them by.
        if matches!(tool["type"].as_str(), Some("function" | "custom")) {
            request.offered.push(Offered {
                name: string(tool, "name"),
                freeform: tool["type"] == "custom",
            });
        }
    }
    if let Some(text) = body["input"].as_str() {
        request.said.push(Said::User(text.to_owned()));
    }
    let items = list(body, "input");
    for item in items {
        match item["type"].as_str().unwrap_or("message") {
            "message" if item["role"] == "assistant" => request.said.push(Said::Model),
            "message" => request.said.push(Said::User(text_of(&item["content"]))),
            kind if kind.ends_with("_output") => request.said.push(Said::Result),
            kind if kind.ends_with("_call") || kind == "reasoning" => {
                request.said.push(Said::Model);
            }
            _ => {}
        }
    }
    pairing(items, &mut request.problems);
    request
}

pub(super) fn whole(answer: &Answer) -> Value {
    let mut output = Vec::new();
    if let Some(reasoning) = &answer.reasoning {
        output.push(json!({
            "type": "reasoning", "id": id("rs_", answer.seed, 0),
            "summary": [{ "type": "summary_text", "text": reasoning }],
            "encrypted_content": id("gAAAAAB", answer.seed, 1)
        }));
    }
    if let Some(text) = &answer.text {
        output.push(json!({
            "type": "message", "id": id("msg_", answer.seed, 0), "status": "completed",
            "role": "assistant",
            "content": [{ "type": "output_text", "text": text, "annotations": [], "logprobs": [] }]
        }));
    }
    for (number, call) in answer.calls.iter().enumerate() {
        let call_id = id("call_", answer.seed, number);
        output.push(match &call.input {
            Input::Object(_) => json!({
                "type": "function_call", "id": id("fc_", answer.seed, number), "call_id": call_id,
                "name": call.name, "arguments": call.input.text(), "status": "completed"
            }),
            Input::Text(text) => json!({
                "type": "custom_tool_call", "id": id("ctc_", answer.seed, number),
                "call_id": call_id, "name": call.name, "input": text, "status": "completed"
            }),
        });
    }
    json!({
        "id": id("resp_", answer.seed, 0), "object": "response", "created_at": 1_764_547_200,
        "status": "completed", "model": answer.model, "output": output,
        "parallel_tool_calls": true, "error": null, "incomplete_details": null,
        "usage": {
            "input_tokens": answer.input_tokens,
            "input_tokens_details": { "cached_tokens": 0 },
            "output_tokens": answer.output_tokens(),
            "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": answer.input_tokens + answer.output_tokens()
        }
    })
}

pub(super) fn events(answer: &Answer) -> Vec<String> {
    let whole = whole(answer);
    let mut begun = whole.clone();
    begun["output"] = json!([]);
    begun["status"] = json!("in_progress");
    begun["usage"] = Value::Null;
    let mut stream = Stream::default();
    stream.push("response.created", json!({ "response": begun }));
    stream.push("response.in_progress", json!({ "response": begun }));
    for (index, item) in list(&whole, "output").iter().enumerate() {
        stream.item(index, item);
    }
    stream.push("response.completed", json!({ "response": whole }));
    stream.events
}

#[derive(Default)]
struct Stream {
    events: Vec<String>,
}

impl Stream {
    fn push(&mut self, kind: &str, mut payload: Value) {
        payload["type"] = json!(kind);
        payload["sequence_number"] = json!(self.events.len());
        self.events.push(event(kind, &payload));
    }

    fn item(&mut self, index: usize, item: &Value) {
        let mut begun = item.clone();
        begun["status"] = json!("in_progress");
        for (key, empty) in [
            ("content", json!([])),
            ("summary", json!([])),
            ("arguments", json!("")),
            ("input", json!("")),
        ] {
            if !begun[key].is_null() {
                begun[key] = empty;
            }
        }
        self.push(
            "response.output_item.added",
            json!({ "output_index": index, "item": begun }),
        );
        let place = json!({ "item_id": item["id"], "output_index": index });
        match item["type"].as_str() {
            Some("reasoning") => self.part(&place, "summary", &item["summary"][0]),
            Some("message") => self.part(&place, "content", &item["content"][0]),
            Some("function_call") => {
                self.deltas(
                    &place,
                    "response.function_call_arguments",
                    "arguments",
                    item,
                );
            }
            _ => self.deltas(&place, "response.custom_tool_call_input", "input", item),
        }
        self.push(
            "response.output_item.done",
            json!({ "output_index": index, "item": item }),
        );
    }

    fn part(&mut self, place: &Value, of: &str, part: &Value) {
        let (added, text, done) = if of == "summary" {
            (
                "response.reasoning_summary_part.added",
                "response.reasoning_summary_text",
                "response.reasoning_summary_part.done",
            )
        } else {
            (
                "response.content_part.added",
                "response.output_text",
                "response.content_part.done",
            )
        };
        let mut place = place.clone();
        place[format!("{of}_index")] = json!(0);
        let with = |part: Value| {
            let mut payload = place.clone();
            payload["part"] = part;
            payload
        };
        let mut empty = part.clone();
        empty["text"] = json!("");
        self.push(added, with(empty));
        self.deltas(&place, text, "text", part);
        self.push(done, with(part.clone()));
    }

    /// `<name>.delta` for each piece of a member, then `<name>.done` with all of it.
    fn deltas(&mut self, place: &Value, name: &str, key: &str, of: &Value) {
        for piece in pieces(&string(of, key)) {
            let mut payload = place.clone();
            payload["delta"] = json!(piece);
            self.push(&format!("{name}.delta"), payload);
        }
        let mut payload = place.clone();
        payload[key] = of[key].clone();
        self.push(&format!("{name}.done"), payload);
    }
}

/// Every call has an output and every output a call before it.
fn pairing(items: &[Value], problems: &mut Vec<String>) {
    let mut open: Vec<String> = Vec::new();
    for item in items {
        let kind = item["type"].as_str().unwrap_or("message");
        let call = string(item, "call_id");
        match kind {
            "function_call" | "custom_tool_call" | "local_shell_call" | "shell_call" => {
                open.push(call);
            }
            "function_call_output"
            | "custom_tool_call_output"
            | "local_shell_call_output"
            | "shell_call_output" => match open.iter().position(|id| *id == call) {
                Some(place) => drop(open.remove(place)),
                None => problems.push(format!(
                    "No tool call found for function call output with call_id {call}."
                )),
            },
            _ => {}
        }
    }
    for call in open {
        problems.push(format!("No tool output found for function call {call}."));
    }
}
