//! What an agent tells whoever runs it, while it runs.
//! Deliberately nothing about pruning: that is silent, and shows in the meter alone.

use std::sync::Arc;
use std::time::Duration;

use crate::orchestration::compaction::Compacted;
use crate::orchestration::ledger::ContextMeter;
use crate::provider::{ProviderError, StreamEvent};

/// Something that happened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AgentResponse {
    /// A piece of the model's answer.
    Stream(StreamEvent),
    /// The answer of one turn is whole.
    Answered {
        /// Its text, reasoning aside.
        text: String,
        /// How many tools it wants to run.
        calls: usize,
    },
    /// A tool starts.
    CallStarted {
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// Tool and salient argument, on one line, secrets masked.
        label: String,
    },
    /// A tool has answered.
    CallFinished {
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// Tool and salient argument, on one line, secrets masked.
        label: String,
        /// Whether it failed.
        failed: bool,
        /// Lines of its answer.
        lines: usize,
        /// Chars of its answer.
        chars: usize,
        /// How long it ran.
        took: Duration,
    },
    /// A request failed and is sent again; what it streamed is void.
    Retrying {
        /// The attempt that failed, from 1.
        attempt: usize,
        /// How long is waited.
        wait: Duration,
        /// Why it failed.
        error: ProviderError,
    },
    /// How full the window is after a request.
    Context(ContextMeter),
    /// Older rounds became a summary: the one relief that a person is told of.
    Compacted(Compacted),
    /// Something that an envoy did.
    Envoy {
        /// What it was sent for.
        title: String,
        /// What it did.
        response: Box<AgentResponse>,
    },
}

/// Who is told. Called from wherever the agent is, so it should return at once.
pub type Sink = Arc<dyn Fn(AgentResponse) + Send + Sync>;

/// Tells nobody.
pub fn silent() -> Sink {
    Arc::new(|_| ())
}
