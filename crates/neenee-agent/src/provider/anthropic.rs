//! Anthropic Messages: the request body, its cache breakpoints and rewrite rules, and the stream of events.
//! Deliberately sends thinking blocks back only as they came, signature and all; unsigned ones stay behind.

use neenee_core::message::{Message, Part, Role};
use neenee_core::model;
use neenee_core::pressure::Delegated;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::decode::{count, text};
use super::draft::Draft;
use super::request::{Request, Thinking, ToolSchema};
use super::{Stop, Usage};
use crate::render;

/// The version of the API that this speaks.
pub(crate) const VERSION: &str = "2023-06-01";
/// Lets a request say what becomes of reasoning that no longer fits what stands before it.
const BINDING_BETA: &str = "thinking-binding-controls-2026-08-01";
/// Lets the provider clear old results.
const MANAGEMENT_BETA: &str = "context-management-2025-06-27";
/// The longest answer where neither the caller nor the table of models says one: the field is required.
const FALLBACK_MAX_TOKENS: usize = 8_192;
/// Longer answers than this are not asked for unless the caller does: room for them is taken from the window.
const USUAL_MAX_TOKENS: usize = 32_000;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: usize,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<Spoken<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingField>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_management: Option<Management<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct Spoken<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
struct Block<'a> {
    #[serde(flatten)]
    kind: Kind<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Kind<'a> {
    Text {
        text: &'a str,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: String,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: Input<'a>,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: std::borrow::Cow<'a, str>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

#[derive(Clone, Copy, Serialize)]
struct CacheControl {
    r#type: &'static str,
}

const EPHEMERAL: CacheControl = CacheControl {
    r#type: "ephemeral",
};

#[derive(Serialize)]
struct ThinkingField {
    r#type: &'static str,
    budget_tokens: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    block_binding: Option<BlockBinding>,
}

#[derive(Serialize)]
struct BlockBinding {
    prefix_mismatch_behavior: &'static str,
}

#[derive(Serialize)]
struct Management<'a> {
    edits: [Clearing<'a>; 1],
}

#[derive(Serialize)]
struct Clearing<'a> {
    r#type: &'static str,
    trigger: Amount,
    keep: Amount,
    clear_at_least: Amount,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    exclude_tools: &'a [String],
}

#[derive(Serialize)]
struct Amount {
    r#type: &'static str,
    value: usize,
}

/// Arguments as the model wrote them, byte for byte where they are an object; what is none is wrapped, so
/// that a malformed call can be answered and corrected.
#[derive(Serialize)]
#[serde(untagged)]
enum Input<'a> {
    Verbatim(&'a RawValue),
    Malformed { malformed_arguments: &'a str },
    Empty {},
}

impl<'a> Input<'a> {
    fn of(arguments: &'a str) -> Self {
        if arguments.trim().is_empty() {
            return Input::Empty {};
        }
        match serde_json::from_str::<&RawValue>(arguments) {
            Ok(raw) if raw.get().starts_with('{') => Input::Verbatim(raw),
            _ => Input::Malformed {
                malformed_arguments: arguments,
            },
        }
    }
}

/// The body of a request, and the beta features that its fields need.
pub(crate) fn body(
    request: &Request<'_>,
) -> Result<(Vec<u8>, Vec<&'static str>), serde_json::Error> {
    let mut betas = Vec::new();
    // Without `thinking` there is no place to say it, and no need of earlier thoughts.
    let says = request.thinking != Thinking::Unasked;
    let with_reasoning = says || !request.drop_unbound_reasoning;
    if request.drop_unbound_reasoning && says {
        betas.push(BINDING_BETA);
    }
    if request.delegated.is_some() {
        betas.push(MANAGEMENT_BETA);
    }
    let mut tools: Vec<Tool<'_>> = request.tools.iter().map(Tool::of).collect();
    let mut system = Vec::new();
    if !request.system.is_empty() {
        system.push(Block::new(Kind::Text {
            text: request.system,
        }));
    }
    let mut messages = spoken(request.messages, with_reasoning);
    // Four breakpoints may be set. The prefix that never changes ends behind the system prompt, or the
    // tools when there is none. The other two are the newest message, which the next request reads, and
    // the one before it that this request reads.
    if let Some(block) = system.last_mut() {
        block.cache_control = Some(EPHEMERAL);
    } else if let Some(tool) = tools.last_mut() {
        tool.cache_control = Some(EPHEMERAL);
    }
    let users = messages
        .iter_mut()
        .rev()
        .filter(|message| message.role == "user");
    for message in users.take(2) {
        if let Some(block) = message.content.last_mut() {
            block.cache_control = Some(EPHEMERAL);
        }
    }
    let body = serde_json::to_vec(&Body {
        model: request.model,
        max_tokens: max_tokens(request),
        stream: true,
        tools,
        system,
        messages,
        thinking: thinking(request),
        context_management: request.delegated.map(Management::of),
    })?;
    Ok((body, betas))
}

fn max_tokens(request: &Request<'_>) -> usize {
    let known = || {
        let model = model::find(request.model)?;
        let max = usize::try_from(model.max_output?).ok()?;
        Some(max.min(USUAL_MAX_TOKENS))
    };
    let asked = request.max_output_tokens.or_else(known);
    let max = asked.unwrap_or(FALLBACK_MAX_TOKENS);
    match request.thinking {
        Thinking::Unasked => max,
        // Thoughts count as output, and must leave room for an answer.
        Thinking::Budget(budget) => max.max(budget.saturating_add(1_024)),
    }
}

fn thinking(request: &Request<'_>) -> Option<ThinkingField> {
    /// Less is refused.
    const LEAST: usize = 1_024;
    let Thinking::Budget(budget) = request.thinking else {
        return None;
    };
    Some(ThinkingField {
        r#type: "enabled",
        budget_tokens: budget.max(LEAST),
        block_binding: request.drop_unbound_reasoning.then_some(BlockBinding {
            prefix_mismatch_behavior: "drop_block",
        }),
    })
}

impl<'a> Management<'a> {
    fn of(delegated: &'a Delegated) -> Self {
        let tokens = |value| Amount {
            r#type: "input_tokens",
            value,
        };
        Management {
            edits: [Clearing {
                r#type: "clear_tool_uses_20250919",
                trigger: tokens(delegated.trigger_tokens),
                keep: Amount {
                    r#type: "tool_uses",
                    value: delegated.keep_results,
                },
                clear_at_least: tokens(delegated.clear_at_least_tokens),
                exclude_tools: &delegated.exclude_tools,
            }],
        }
    }
}

impl<'a> Tool<'a> {
    fn of(schema: &'a ToolSchema) -> Self {
        Tool {
            name: &schema.name,
            description: &schema.description,
            input_schema: &schema.parameters,
            cache_control: None,
        }
    }
}

impl<'a> Block<'a> {
    fn new(kind: Kind<'a>) -> Self {
        Block {
            kind,
            cache_control: None,
        }
    }
}

/// The messages; neighbours of one role become one, as the format wants them to take turns.
fn spoken(messages: &[Message], with_reasoning: bool) -> Vec<Spoken<'_>> {
    let mut all: Vec<Spoken<'_>> = Vec::with_capacity(messages.len());
    for message in messages {
        let role = match message.role {
            Role::Assistant => "assistant",
            Role::User | Role::Tool | Role::System => "user",
        };
        let blocks = message
            .parts
            .iter()
            .filter(|part| with_reasoning || !matches!(part, Part::Reasoning(_) | Part::Opaque(_)));
        let blocks = blocks.filter_map(block).map(Block::new);
        match all.last_mut() {
            Some(last) if last.role == role => last.content.extend(blocks),
            _ => all.push(Spoken {
                role,
                content: blocks.collect(),
            }),
        }
    }
    all.retain(|message| !message.content.is_empty());
    all
}

fn block(part: &Part) -> Option<Kind<'_>> {
    match part {
        // The API refuses empty text.
        Part::Text(text) => (!text.trim().is_empty()).then_some(Kind::Text { text }),
        Part::Reasoning(reasoning) => Some(Kind::Thinking {
            thinking: &reasoning.text,
            signature: reasoning.signature.as_deref()?,
        }),
        Part::Call(call) => Some(Kind::ToolUse {
            id: call.id.as_deref().unwrap_or(""),
            name: &call.name,
            input: Input::of(&call.arguments),
        }),
        Part::Result(result) => Some(Kind::ToolResult {
            tool_use_id: result.call_id.as_deref().unwrap_or(""),
            content: render::result(result),
            is_error: result.failed == Some(true),
        }),
        Part::Opaque(json) => {
            let value: Value = serde_json::from_str(json).ok()?;
            (value["type"] == "redacted_thinking").then(|| Kind::RedactedThinking {
                data: text(&value, "data").to_owned(),
            })
        }
        Part::Media(_) => None,
    }
}

/// What the blocks of the stream are.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    /// The server's index of a block that calls, and our running number.
    calls: Vec<(u64, usize)>,
    input: Counted,
}

/// The three counts that make up what was read.
#[derive(Debug, Default)]
struct Counted {
    fresh: usize,
    cache_read: usize,
    cache_write: usize,
    output: usize,
}

impl Slots {
    /// Takes one event; true for the one that ends the message.
    pub(crate) fn event(&mut self, event: &Value, draft: &mut Draft) -> bool {
        match text(event, "type") {
            "message_start" => self.count(&event["message"]["usage"], draft),
            "content_block_start" => self.begin(event, draft),
            "content_block_delta" => self.delta(event, draft),
            "message_delta" => {
                self.count(&event["usage"], draft);
                draft.stop = Some(match text(&event["delta"], "stop_reason") {
                    "tool_use" => Stop::Calls,
                    "max_tokens" => Stop::Length,
                    "model_context_window_exceeded" => Stop::WindowFull,
                    "refusal" => Stop::Refused,
                    _ => Stop::Done,
                });
                let edits = event["context_management"]["applied_edits"].as_array();
                for edit in edits.into_iter().flatten() {
                    draft.cleared_tokens += count(&edit["cleared_input_tokens"]);
                }
            }
            "message_stop" => return true,
            // `ping`, `content_block_stop`, and whatever is new.
            _ => {}
        }
        false
    }

    fn begin(&mut self, event: &Value, draft: &mut Draft) {
        let block = &event["content_block"];
        match text(block, "type") {
            "text" => draft.text(text(block, "text")),
            "thinking" => {
                draft.reasoning(text(block, "thinking"));
                let signature = text(block, "signature");
                if !signature.is_empty() {
                    draft.signature(signature);
                }
            }
            "tool_use" => {
                let call = draft.call(text(block, "id"), text(block, "name"));
                let index = event["index"].as_u64().unwrap_or(0);
                self.calls.push((index, call));
                if block["input"]
                    .as_object()
                    .is_some_and(|input| !input.is_empty())
                {
                    draft.arguments(call, &block["input"].to_string());
                }
            }
            "" => {}
            // `redacted_thinking`, and whatever is new: sent back as it is, or left behind.
            _ => draft.opaque(block.to_string()),
        }
    }

    fn delta(&mut self, event: &Value, draft: &mut Draft) {
        let delta = &event["delta"];
        match text(delta, "type") {
            "text_delta" => draft.text(text(delta, "text")),
            "thinking_delta" => draft.reasoning(text(delta, "thinking")),
            "signature_delta" => draft.signature(text(delta, "signature")),
            "input_json_delta" => {
                let index = event["index"].as_u64().unwrap_or(0);
                let call = self.calls.iter().rfind(|(slot, _)| *slot == index);
                if let Some((_, call)) = call {
                    draft.arguments(*call, text(delta, "partial_json"));
                }
            }
            _ => {}
        }
    }

    /// Later counts replace earlier ones: they are totals.
    fn count(&mut self, usage: &Value, draft: &mut Draft) {
        let input = &mut self.input;
        for (key, total) in [
            ("input_tokens", &mut input.fresh),
            ("cache_read_input_tokens", &mut input.cache_read),
            ("cache_creation_input_tokens", &mut input.cache_write),
            ("output_tokens", &mut input.output),
        ] {
            if usage[key].is_u64() {
                *total = count(&usage[key]);
            }
        }
        draft.usage = Some(Usage {
            input: input.fresh + input.cache_read + input.cache_write,
            output: input.output,
            cache_read: input.cache_read,
            cache_write: input.cache_write,
        });
    }
}
