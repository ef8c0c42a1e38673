//! What an agent tells, as lines of JSON for programs.
//! Deliberately a form of its own: fields are added, none is renamed, and no key is ever among them.

use std::sync::Arc;

use neenee_agent::AgentResponse;
use neenee_agent::orchestration::{Author, Sink, UsageSource};
use neenee_agent::provider::StreamEvent;
use serde_json::{Value, json};

use crate::output;

/// Prints each event on stdout.
pub(crate) fn sink() -> Sink {
    Arc::new(|response| {
        // Whoever has stopped reading may still want the work done.
        let _ = output::json(&event(&response));
    })
}

/// The event as JSON.
pub(crate) fn event(response: &AgentResponse) -> Value {
    match response {
        AgentResponse::Stream(StreamEvent::Text(text)) => json!({ "event": "text", "text": text }),
        AgentResponse::Stream(StreamEvent::Reasoning(text)) => {
            json!({ "event": "reasoning", "text": text })
        }
        AgentResponse::Stream(StreamEvent::CallBegun { index, id, name }) => {
            json!({ "event": "call-begun", "index": index, "id": id, "name": name })
        }
        AgentResponse::Stream(StreamEvent::CallArguments { index, text }) => {
            json!({ "event": "call-arguments", "index": index, "text": text })
        }
        AgentResponse::Answered { text, calls } => {
            json!({ "event": "answered", "text": text, "calls": calls })
        }
        AgentResponse::CallStarted { id, name, label } => {
            json!({ "event": "call-started", "id": id, "name": name, "label": label })
        }
        AgentResponse::CallFinished {
            id,
            name,
            label,
            failed,
            lines,
            chars,
            took,
        } => json!({
            "event": "call-finished", "id": id, "name": name, "label": label, "failed": failed,
            "lines": lines, "chars": chars, "ms": took.as_millis(),
        }),
        AgentResponse::Retrying {
            attempt,
            wait,
            error,
        } => json!({
            "event": "retrying", "attempt": attempt, "wait_ms": wait.as_millis(),
            "error": error.to_string(), "status": error.status,
        }),
        AgentResponse::Context(meter) => json!({
            "event": "context", "used_tokens": meter.used_tokens,
            "window_tokens": meter.window_tokens, "pruned_tokens": meter.pruned_tokens,
            "source": match meter.source {
                UsageSource::Reported => "reported",
                UsageSource::Estimated => "estimated",
            },
        }),
        AgentResponse::Compacted(done) => json!({
            "event": "compacted", "rounds": done.rounds, "turns": done.turns,
            "messages": done.messages, "tokens_before": done.tokens_before,
            "tokens_after": done.tokens_after,
            "author": match done.author {
                Author::Model => "model",
                Author::Excerpt => "excerpt",
            },
        }),
        AgentResponse::Envoy { title, response } => {
            json!({ "event": "envoy", "title": title, "response": event(response) })
        }
        _ => json!({ "event": "other" }),
    }
}
