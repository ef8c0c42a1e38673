//! What the four formats have in common: a request read, an answer to render, events of a stream.
//! Deliberately thin: what a format really looks like is in the file of its name.

use super::script::Said;
use super::tools::{Call, Offered};
use super::{anthropic, chat, gemini, responses};
use serde_json::Value;

/// A wire format that the upstream plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    /// Anthropic `POST /v1/messages`.
    Anthropic,
    /// OpenAI `POST /v1/responses`.
    Responses,
    /// OpenAI `POST /v1/chat/completions`.
    Chat,
    /// Gemini `POST /v1beta/models/M:generateContent` and `:streamGenerateContent`.
    Gemini,
}

impl Wire {
    /// The format that a request path is of.
    pub fn of(path: &str) -> Option<Self> {
        let path = path.trim_end_matches('/');
        if path.ends_with("/messages") || path.ends_with("/messages/count_tokens") {
            Some(Self::Anthropic)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else if path.ends_with("/chat/completions") {
            Some(Self::Chat)
        } else if path.contains(":generateContent")
            || path.contains(":streamGenerateContent")
            || path.contains(":countTokens")
        {
            Some(Self::Gemini)
        } else {
            None
        }
    }

    pub(super) fn read(self, body: &Value) -> Request {
        match self {
            Self::Anthropic => anthropic::read(body),
            Self::Responses => responses::read(body),
            Self::Chat => chat::read(body),
            Self::Gemini => gemini::read(body),
        }
    }

    /// The answer as one JSON document.
    pub(super) fn whole(self, answer: &Answer) -> Value {
        match self {
            Self::Anthropic => anthropic::whole(answer),
            Self::Responses => responses::whole(answer),
            Self::Chat => chat::whole(answer),
            Self::Gemini => gemini::whole(answer),
        }
    }

    /// The answer as server-sent events, each with its empty line.
    pub(super) fn events(self, answer: &Answer) -> Vec<String> {
        match self {
            Self::Anthropic => anthropic::events(answer),
            Self::Responses => responses::events(answer),
            Self::Chat => chat::events(answer),
            Self::Gemini => gemini::events(answer),
        }
    }

    /// The body of a status 400, as the format words it.
    pub(super) fn refusal(self, message: &str) -> Value {
        match self {
            Self::Anthropic => serde_json::json!({
                "type": "error",
                "error": { "type": "invalid_request_error", "message": message }
            }),
            Self::Responses | Self::Chat => serde_json::json!({
                "error": { "message": message, "type": "invalid_request_error",
                           "param": null, "code": null }
            }),
            Self::Gemini => serde_json::json!({
                "error": { "code": 400, "message": message, "status": "INVALID_ARGUMENT" }
            }),
        }
    }
}

impl Wire {
    /// The body of a status 400 for a request that is larger than the window.
    pub(super) fn overflow(self, tokens: usize, window: usize) -> Value {
        let mut body = self.refusal(&match self {
            Self::Anthropic => format!("prompt is too long: {tokens} tokens > {window} maximum"),
            Self::Gemini => format!(
                "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."
            ),
            Self::Responses => "Your input exceeds the context window of this model. Please adjust your input and \
                                try again."
                .to_owned(),
            Self::Chat => format!(
                "This model's maximum context length is {window} tokens. However, your messages resulted in \
                 {tokens} tokens. Please reduce the length of the messages."
            ),
        });
        if matches!(self, Self::Responses | Self::Chat) {
            body["error"]["code"] = serde_json::json!("context_length_exceeded");
        }
        body
    }
}

/// A request, as far as answering it needs.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) model: String,
    pub(super) streamed: bool,
    pub(super) said: Vec<Said>,
    pub(super) offered: Vec<Offered>,
    /// What the real API would refuse it for.
    pub(super) problems: Vec<String>,
}

/// What is answered, in no format.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) model: String,
    pub(super) seed: u64,
    pub(super) reasoning: Option<String>,
    pub(super) text: Option<String>,
    pub(super) calls: Vec<Call>,
    /// Tokens that the answer claims for the request.
    pub(super) input_tokens: usize,
}

impl Answer {
    /// A rough count; clients only show it and compare it with a window.
    pub(super) fn output_tokens(&self) -> usize {
        let calls: usize = self.calls.iter().map(|call| call.input.text().len()).sum();
        let text = |part: &Option<String>| part.as_ref().map_or(0, String::len);
        1 + (text(&self.reasoning) + text(&self.text) + calls) / 4
    }
}

/// `event:` and `data:` of one event.
pub(super) fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// `data:` alone.
pub(super) fn data(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// Text in the pieces that a model streams, cut at characters; at least one, so that a block is seen.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    const CHARS: usize = 48;
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((cut, _)) = rest.char_indices().nth(CHARS) {
        let (piece, after) = rest.split_at(cut);
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

/// A string member, empty when there is none.
pub(super) fn string(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// The elements of an array member; none when there is no array.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// All text of a content that is a string or an array of parts with `text`.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| part["text"].as_str())
                .collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
