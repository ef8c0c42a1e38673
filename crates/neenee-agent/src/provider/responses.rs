//! OpenAI Responses: the request body and the stream of events.
//! Deliberately stateless: nothing is stored at the provider, encrypted reasoning travels with the window.

use std::borrow::Cow;

use neenee_core::message::{Message, Part, Role};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::decode::{count, text};
use super::draft::Draft;
use super::error::ProviderError;
use super::overflow;
use super::request::{Request, Thinking, ToolSchema};
use super::{Stop, Usage};
use crate::render;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    input: Vec<Item<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Effort>,
}

#[derive(Serialize)]
struct Effort {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    summary: &'static str,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    strict: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Item<'a> {
    Message {
        r#type: &'static str,
        role: &'static str,
        content: [Text<'a>; 1],
    },
    Call {
        r#type: &'static str,
        call_id: &'a str,
        name: &'a str,
        arguments: &'a str,
    },
    Output {
        r#type: &'static str,
        call_id: &'a str,
        output: Cow<'a, str>,
    },
    /// An item of the provider's own, byte for byte.
    Own(&'a RawValue),
}

#[derive(Serialize)]
struct Text<'a> {
    r#type: &'static str,
    text: &'a str,
}

/// The body of a request.
pub(crate) fn body(request: &Request<'_>) -> Result<Vec<u8>, serde_json::Error> {
    let reasons = reasons(request);
    let mut input = Vec::new();
    for message in request.messages {
        push(&mut input, message, reasons);
    }
    serde_json::to_vec(&Body {
        model: request.model,
        instructions: request.system,
        input,
        tools: request.tools.iter().map(Tool::of).collect(),
        stream: true,
        store: false,
        include: if reasons {
            &["reasoning.encrypted_content"]
        } else {
            &[]
        },
        max_output_tokens: request.max_output_tokens,
        reasoning: reasons.then(|| Effort {
            effort: request.thinking.effort(),
            summary: "auto",
        }),
    })
}

/// Whether the model reasons: asking another one for its reasoning is an error.
fn reasons(request: &Request<'_>) -> bool {
    let name = request.model.rsplit('/').next().unwrap_or_default();
    let o_series = name
        .strip_prefix('o')
        .is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()));
    let gpt = name
        .strip_prefix("gpt-")
        .and_then(|rest| rest.chars().next())
        .and_then(|digit| digit.to_digit(10))
        .is_some_and(|version| version >= 5);
    request.thinking != Thinking::Unasked
        || o_series
        || (gpt && !name.contains("chat"))
        || name.starts_with("codex")
}

impl<'a> Tool<'a> {
    fn of(schema: &'a ToolSchema) -> Self {
        Tool {
            r#type: "function",
            name: &schema.name,
            description: &schema.description,
            parameters: &schema.parameters,
            strict: false,
        }
    }
}

fn push<'a>(input: &mut Vec<Item<'a>>, message: &'a Message, reasons: bool) {
    let (role, kind) = match message.role {
        Role::Assistant => ("assistant", "output_text"),
        Role::System => ("developer", "input_text"),
        Role::User | Role::Tool => ("user", "input_text"),
    };
    for part in &message.parts {
        let item = match part {
            Part::Text(text) if text.is_empty() => continue,
            Part::Text(text) => Item::Message {
                r#type: "message",
                role,
                content: [Text { r#type: kind, text }],
            },
            Part::Call(call) => Item::Call {
                r#type: "function_call",
                call_id: call.id.as_deref().unwrap_or(""),
                name: &call.name,
                arguments: if call.arguments.is_empty() {
                    "{}"
                } else {
                    &call.arguments
                },
            },
            Part::Result(result) => Item::Output {
                r#type: "function_call_output",
                call_id: result.call_id.as_deref().unwrap_or(""),
                output: render::result(result),
            },
            Part::Opaque(json) if reasons && is_own(json) => {
                match serde_json::from_str::<&RawValue>(json) {
                    Ok(raw) => Item::Own(raw),
                    Err(_) => continue,
                }
            }
            // Reasoning of another provider's, and attachments.
            Part::Reasoning(_) | Part::Media(_) | Part::Opaque(_) => continue,
        };
        input.push(item);
    }
}

/// Whether an opaque part is a reasoning item of this API; other providers' blocks stay behind.
fn is_own(json: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Typed<'a> {
        #[serde(borrow, default)]
        r#type: Cow<'a, str>,
    }
    serde_json::from_str::<Typed<'_>>(json).is_ok_and(|typed| typed.r#type == "reasoning")
}

/// Which call of the draft each output item is.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    calls: Vec<(u64, usize)>,
}

impl Slots {
    /// Takes one event; true for the one that ends the response.
    pub(crate) fn event(
        &mut self,
        event: &Value,
        draft: &mut Draft,
    ) -> Result<bool, ProviderError> {
        let index = event["output_index"].as_u64().unwrap_or(0);
        match text(event, "type") {
            "response.output_text.delta" | "response.refusal.delta" => {
                draft.text(text(event, "delta"));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                draft.show_reasoning(text(event, "delta"));
            }
            "response.output_item.added" if event["item"]["type"] == "function_call" => {
                let item = &event["item"];
                let call = draft.call(text(item, "call_id"), text(item, "name"));
                self.calls.push((index, call));
            }
            "response.function_call_arguments.delta" => {
                if let Some(call) = self.call(index) {
                    draft.arguments(call, text(event, "delta"));
                }
            }
            "response.output_item.done" => self.done(index, &event["item"], draft),
            "response.completed" => {
                self.usage(&event["response"], draft);
                draft.stop = Some(Stop::Done);
                return Ok(true);
            }
            "response.incomplete" => {
                let response = &event["response"];
                self.usage(response, draft);
                let reason = text(&response["incomplete_details"], "reason");
                draft.stop = Some(match reason {
                    "content_filter" => Stop::Refused,
                    _ => Stop::Length,
                });
                return Ok(true);
            }
            "response.failed" => return Err(overflow::of_stream(&event["response"])),
            "error" => return Err(overflow::of_stream(event)),
            _ => {}
        }
        Ok(false)
    }

    fn call(&self, index: u64) -> Option<usize> {
        let call = self.calls.iter().rfind(|(slot, _)| *slot == index);
        call.map(|(_, call)| *call)
    }

    fn done(&mut self, index: u64, item: &Value, draft: &mut Draft) {
        match text(item, "type") {
            "reasoning" => draft.opaque(resendable(item)),
            "function_call" => {
                // The whole arguments win over the pieces; a server may send no pieces at all.
                let call = self
                    .call(index)
                    .unwrap_or_else(|| draft.call(text(item, "call_id"), text(item, "name")));
                let whole = text(item, "arguments");
                let known = draft.call_mut(call).map(|call| call.arguments.clone());
                if known.as_deref() == Some("") {
                    draft.arguments(call, whole);
                } else if let Some(call) = draft.call_mut(call)
                    && !whole.is_empty()
                {
                    whole.clone_into(&mut call.arguments);
                }
            }
            _ => {}
        }
    }

    fn usage(&self, response: &Value, draft: &mut Draft) {
        let usage = &response["usage"];
        if usage.is_object() {
            draft.usage = Some(Usage {
                input: count(&usage["input_tokens"]),
                output: count(&usage["output_tokens"]),
                cache_read: count(&usage["input_tokens_details"]["cached_tokens"]),
                cache_write: 0,
            });
        }
    }
}

/// A reasoning item as the next request takes it: without `status`, which is refused as input.
fn resendable(item: &Value) -> String {
    let mut item = item.clone();
    if let Some(fields) = item.as_object_mut() {
        fields.remove("status");
    }
    item.to_string()
}
