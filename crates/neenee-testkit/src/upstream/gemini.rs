//! Gemini `contents`: reading and checking a request, a response and its stream.
//! Deliberately only what agents use; the format is documented at ai.google.dev/api/generate-content.

use super::script::{Said, id};
use super::tools::Offered;
use super::wire::{Answer, Request, data, list, pieces, string};
use serde_json::{Value, json};

/// The model and whether the answer is streamed stand in the path; the server fills them in.
pub(super) fn read(body: &Value) -> Request {
    let mut request = Request::default();
    for tools in list(body, "tools") {
        for tool in list(tools, "functionDeclarations") {
            request.offered.push(Offered {
                name: string(tool, "name"),
                freeform: false,
            });
        }
    }
    let mut open: Vec<String> = Vec::new();
    for (index, content) in list(body, "contents").iter().enumerate() {
        let parts = list(content, "parts");
        let names = |key: &str| -> Vec<String> {
            let with = parts.iter().filter(|part| part[key].is_object());
            with.map(|part| string(&part[key], "name")).collect()
        };
        match content["role"].as_str() {
            Some("model") => {
                check(&mut open, &[], &mut request.problems);
                open = names("functionCall");
                request.said.push(Said::Model);
            }
            Some("user" | "function") | None => {
                let answered = names("functionResponse");
                check(&mut open, &answered, &mut request.problems);
                request.said.extend(answered.iter().map(|_| Said::Result));
                let texts = parts.iter().filter_map(|part| part["text"].as_str());
                request
                    .said
                    .extend(texts.map(|text| Said::User(text.to_owned())));
            }
            Some(role) => request.problems.push(format!(
                "Please use a valid role: user, model. contents[{index}] has {role}"
            )),
        }
    }
    check(&mut open, &[], &mut request.problems);
    request
}

pub(super) fn whole(answer: &Answer) -> Value {
    let mut parts = Vec::new();
    if let Some(reasoning) = &answer.reasoning {
        parts.push(json!({ "text": reasoning, "thought": true }));
    }
    if let Some(text) = &answer.text {
        parts.push(json!({ "text": text }));
    }
    parts.extend(calls(answer));
    response(answer, &parts, true)
}

pub(super) fn events(answer: &Answer) -> Vec<String> {
    let mut events = Vec::new();
    for (text, thought) in [(&answer.reasoning, true), (&answer.text, false)] {
        for piece in text.iter().flat_map(|text| pieces(text)) {
            let part = if thought {
                json!({ "text": piece, "thought": true })
            } else {
                json!({ "text": piece })
            };
            events.push(data(&response(answer, &[part], false)));
        }
    }
    // A part is never split over events: a call comes whole.
    events.push(data(&response(answer, &calls(answer), true)));
    events
}

fn calls(answer: &Answer) -> Vec<Value> {
    let call = |(number, call): (usize, &super::tools::Call)| {
        let mut part = json!({
            "functionCall": { "name": call.name, "args": call.input.object() }
        });
        // The first call of a turn carries the signature of the thoughts before it.
        if number == 0 && answer.reasoning.is_some() {
            part["thoughtSignature"] = json!(id("Cq", answer.seed, 0));
        }
        part
    };
    answer.calls.iter().enumerate().map(call).collect()
}

fn response(answer: &Answer, parts: &[Value], last: bool) -> Value {
    let mut candidate = json!({ "index": 0, "content": { "role": "model", "parts": parts } });
    if last {
        candidate["finishReason"] = json!("STOP");
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": answer.input_tokens,
            "candidatesTokenCount": answer.output_tokens(),
            "totalTokenCount": answer.input_tokens + answer.output_tokens()
        },
        "modelVersion": answer.model,
        "responseId": id("", answer.seed, 0)
    })
}

/// As many responses as calls, of the same names, in the turn right after them.
fn check(open: &mut Vec<String>, answered: &[String], problems: &mut Vec<String>) {
    let mut left = answered.to_vec();
    left.sort();
    open.sort();
    if *open != left {
        problems.push(format!(
            "Please ensure that the number of function response parts is equal to the number of function \
             call parts of the function call turn: calls {open:?}, responses {left:?}"
        ));
    }
    open.clear();
}
