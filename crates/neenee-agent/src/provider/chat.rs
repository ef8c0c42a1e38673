//! OpenAI Chat Completions: the request body and the stream of chunks.
//! Deliberately lenient with what comes in: a dozen servers speak this format, each a little differently.

use neenee_core::message::{Message, Part, Role};
use serde::Serialize;
use serde_json::Value;

use super::decode::{count, text};
use super::draft::Draft;
use super::request::{Endpoint, Request, ToolSchema};
use super::{Stop, Usage};
use crate::render;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Spoken<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Spoken<'a> {
    role: &'static str,
    /// `null` is what an assistant says that only calls.
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Described<'a>,
}

#[derive(Serialize)]
struct Described<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

/// The body of a request.
pub(crate) fn body(
    request: &Request<'_>,
    endpoint: &Endpoint,
) -> Result<Vec<u8>, serde_json::Error> {
    let openai = endpoint.is_openai();
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        messages.push(Spoken::text("system", request.system.to_owned()));
    }
    // Models that think between tool calls want their reasoning back until the round is over; OpenAI's
    // own do not show it.
    let round = request
        .messages
        .iter()
        .rposition(|message| message.role == Role::User)
        .unwrap_or(0);
    for (index, message) in request.messages.iter().enumerate() {
        push(&mut messages, message, !openai && index > round);
    }
    serde_json::to_vec(&Body {
        model: request.model,
        messages,
        tools: request.tools.iter().map(Tool::of).collect(),
        stream: true,
        stream_options: StreamOptions {
            include_usage: true,
        },
        max_tokens: request.max_output_tokens.filter(|_| !openai),
        max_completion_tokens: request.max_output_tokens.filter(|_| openai),
        reasoning_effort: request.thinking.effort(),
    })
}

impl<'a> Tool<'a> {
    fn of(schema: &'a ToolSchema) -> Self {
        Tool {
            r#type: "function",
            function: Described {
                name: &schema.name,
                description: &schema.description,
                parameters: &schema.parameters,
            },
        }
    }
}

impl<'a> Spoken<'a> {
    fn text(role: &'static str, content: String) -> Self {
        Spoken {
            role,
            content: Some(content),
            reasoning_content: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
        }
    }
}

fn push<'a>(messages: &mut Vec<Spoken<'a>>, message: &'a Message, with_reasoning: bool) {
    let texts: Vec<&str> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let content = (!texts.is_empty()).then(|| texts.join("\n"));
    match message.role {
        Role::Assistant => {
            let mut spoken = Spoken::text("assistant", String::new());
            for part in &message.parts {
                match part {
                    Part::Call(call) => spoken.tool_calls.push(Call {
                        id: call.id.as_deref().unwrap_or(""),
                        r#type: "function",
                        function: Function {
                            name: &call.name,
                            arguments: if call.arguments.is_empty() {
                                "{}"
                            } else {
                                &call.arguments
                            },
                        },
                    }),
                    Part::Reasoning(reasoning) if with_reasoning => {
                        spoken.reasoning_content = Some(&reasoning.text);
                    }
                    _ => {}
                }
            }
            spoken.content = content;
            if spoken.content.is_none() && spoken.tool_calls.is_empty() {
                spoken.content = Some(String::new());
            }
            messages.push(spoken);
        }
        Role::User | Role::Tool | Role::System => {
            for part in &message.parts {
                if let Part::Result(result) = part {
                    let mut spoken = Spoken::text("tool", render::result(result).into_owned());
                    spoken.tool_call_id = result.call_id.as_deref().or(Some(""));
                    messages.push(spoken);
                }
            }
            if let Some(content) = content {
                let role = match message.role {
                    Role::System => "system",
                    _ => "user",
                };
                messages.push(Spoken::text(role, content));
            }
        }
    }
}

/// Which call of the draft each of the server's slots is.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    /// The server's index, the id it gave, our running number.
    calls: Vec<(u64, String, usize)>,
}

impl Slots {
    /// Takes one chunk. The stream ends with `[DONE]`, so no chunk is the last one.
    pub(crate) fn event(&mut self, chunk: &Value, draft: &mut Draft) -> bool {
        let choice = &chunk["choices"][0];
        let delta = &choice["delta"];
        for key in ["reasoning_content", "reasoning"] {
            if let Some(piece) = delta[key].as_str() {
                draft.reasoning(piece);
                break;
            }
        }
        draft.text(text(delta, "content"));
        draft.text(text(delta, "refusal"));
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.call(call, draft);
        }
        match choice["finish_reason"].as_str() {
            Some("tool_calls" | "function_call") => draft.stop = Some(Stop::Calls),
            Some("length") => draft.stop = Some(Stop::Length),
            Some("content_filter") => draft.stop = Some(Stop::Refused),
            Some("error") | None => {}
            Some(_) => draft.stop = Some(Stop::Done),
        }
        if chunk["usage"].is_object() {
            draft.usage = Some(usage(&chunk["usage"]));
        }
        false
    }

    fn call(&mut self, call: &Value, draft: &mut Draft) {
        let index = call["index"].as_u64().unwrap_or(0);
        let id = text(call, "id");
        let name = text(&call["function"], "name");
        // Some servers number every call 0; another id is another call then.
        let known = self
            .calls
            .iter()
            .rfind(|(slot, known, _)| *slot == index && (id.is_empty() || known == id))
            .map(|(.., ours)| *ours)
            .filter(|_| !id.is_empty() || name.is_empty());
        let ours = known.unwrap_or_else(|| {
            let ours = draft.call(id, name);
            self.calls.push((index, id.to_owned(), ours));
            ours
        });
        match &call["function"]["arguments"] {
            Value::String(piece) => draft.arguments(ours, piece),
            // A server that has parsed them already.
            Value::Object(object) if !object.is_empty() => {
                draft.arguments(ours, &call["function"]["arguments"].to_string());
            }
            _ => {}
        }
    }
}

fn usage(usage: &Value) -> Usage {
    let cached = count(&usage["prompt_tokens_details"]["cached_tokens"]);
    Usage {
        input: count(&usage["prompt_tokens"]),
        output: count(&usage["completion_tokens"]),
        // DeepSeek tells it under a name of its own.
        cache_read: cached.max(count(&usage["prompt_cache_hit_tokens"])),
        cache_write: count(&usage["prompt_tokens_details"]["cache_write_tokens"]),
    }
}
