//! What is asked of a provider: where, by which format, and the conversation.
//! Deliberately no bytes: each format's file writes its own body.

use neenee_core::message::Message;
use neenee_core::pressure::Delegated;
use serde_json::Value;

use crate::secret::Secret;

/// A provider's format of requests and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    /// OpenAI Chat Completions, and the servers that speak it: vLLM, llama.cpp, Ollama, OpenRouter, …
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
}

impl Wire {
    /// A stable name for configurations and ledgers.
    pub fn name(self) -> &'static str {
        match self {
            Wire::Chat => "chat",
            Wire::Responses => "responses",
            Wire::Anthropic => "anthropic",
        }
    }

    pub(crate) fn path(self) -> &'static str {
        match self {
            Wire::Chat => "chat/completions",
            Wire::Responses => "responses",
            Wire::Anthropic => "messages",
        }
    }
}

/// Where requests go.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The format.
    pub wire: Wire,
    /// The address before the format's own path, with the version: `https://api.openai.com/v1`.
    pub base_url: String,
    /// The key; local servers want none.
    pub key: Option<Secret>,
    /// Further headers, such as those of a gateway. No keys: these are shown in debug output.
    pub headers: Vec<(String, String)>,
}

impl Endpoint {
    /// An endpoint without key or further headers.
    pub fn new(wire: Wire, base_url: impl Into<String>) -> Self {
        Endpoint {
            wire,
            base_url: base_url.into(),
            key: None,
            headers: Vec::new(),
        }
    }

    /// The same with a key.
    #[must_use]
    pub fn with_key(mut self, key: Secret) -> Self {
        self.key = Some(key).filter(|key| !key.is_empty());
        self
    }

    /// OpenAI itself takes fields that compatible servers do not know, and the other way round.
    pub(crate) fn is_openai(&self) -> bool {
        self.base_url.contains("://api.openai.com")
    }
}

/// A tool as a model is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSchema {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON schema of its arguments.
    pub parameters: Value,
}

/// How much a model may think before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thinking {
    /// As the provider does unasked.
    #[default]
    Unasked,
    /// Up to so many tokens (Anthropic), or with the effort that such a budget stands for (OpenAI:
    /// below 4 000 low, below 16 000 medium, else high).
    Budget(usize),
}

impl Thinking {
    pub(crate) fn effort(self) -> Option<&'static str> {
        match self {
            Thinking::Unasked => None,
            Thinking::Budget(tokens) => Some(match tokens {
                0..4_000 => "low",
                4_000..16_000 => "medium",
                _ => "high",
            }),
        }
    }
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The model, as the provider names it.
    pub model: &'a str,
    /// The system prompt; empty sends none.
    pub system: &'a str,
    /// The tools, in a stable order.
    pub tools: &'a [ToolSchema],
    /// The window.
    pub messages: &'a [Message],
    /// The longest answer, in tokens; `None` leaves it to the provider.
    pub max_output_tokens: Option<usize>,
    /// How much it may think.
    pub thinking: Thinking,
    /// Earlier results were edited, and reasoning signed over them must not be checked against them: the provider
    /// is told to drop it where there is a field to say so in, else it is not sent.
    pub drop_unbound_reasoning: bool,
    /// The provider is asked to clear old results itself.
    pub delegated: Option<&'a Delegated>,
}

impl<'a> Request<'a> {
    /// A request with neither tools nor limits.
    pub fn new(model: &'a str, system: &'a str, messages: &'a [Message]) -> Self {
        Request {
            model,
            system,
            tools: &[],
            messages,
            max_output_tokens: None,
            thinking: Thinking::Unasked,
            drop_unbound_reasoning: false,
            delegated: None,
        }
    }
}
