//! Providers: one request to a model over HTTP, answered as a stream of events and a whole message.
//! Deliberately no retries and no policy: those are `orchestration`'s.

pub(crate) mod anthropic;
pub(crate) mod chat;
pub mod client;
pub(crate) mod decode;
mod draft;
pub mod error;
pub mod overflow;
pub mod request;
pub(crate) mod responses;
pub mod retry;

pub use client::Provider;
pub use decode::Decoder;
pub use error::{ProviderError, ProviderErrorKind};
pub use request::{Endpoint, Request, Thinking, ToolSchema, Wire};
pub use retry::RetryPolicy;

use neenee_core::message::Message;

/// A piece of an answer, as it arrives. Whoever shows them drops what it has shown when the attempt
/// fails and another begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamEvent {
    /// Text for the person.
    Text(String),
    /// The model's reasoning, where the provider shows it.
    Reasoning(String),
    /// A tool call begins.
    CallBegun {
        /// Its running number in this answer.
        index: usize,
        /// Its id; empty where the server sends none.
        id: String,
        /// The tool.
        name: String,
    },
    /// The next piece of a call's arguments.
    CallArguments {
        /// The call's running number in this answer.
        index: usize,
        /// JSON text, cut anywhere.
        text: String,
    },
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The assistant's message. Every call in it has an id.
    pub message: Message,
    /// What the provider counted; `None` when it did not say.
    pub usage: Option<Usage>,
    /// Why it ended.
    pub stop: Stop,
    /// What the provider itself took out of the window for this request, in tokens.
    pub cleared_by_provider_tokens: usize,
}

/// Tokens of one request, as the provider counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Everything the model read, from a cache or not.
    pub input: usize,
    /// Everything it wrote, reasoning included.
    pub output: usize,
    /// The part of `input` that came from a prompt cache.
    pub cache_read: usize,
    /// The part of `input` that was written to one.
    pub cache_write: usize,
}

impl Usage {
    /// What the window holds after the request: all that was read and written.
    pub fn context(&self) -> usize {
        self.input.saturating_add(self.output)
    }
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    /// The model has said what it had to say.
    #[default]
    Done,
    /// It wants tools to run.
    Calls,
    /// The limit of output tokens.
    Length,
    /// The window was full before the answer was.
    WindowFull,
    /// The provider withheld the answer.
    Refused,
}
