//! `envoy`: a sub-agent with a window of its own.
//! Deliberately one level: inside of an envoy nobody can spawn one.

use neenee_core::message::Message;
use serde_json::{Value, json};

use super::{Boxed, Context, Nature, Output, Tool, required, schema};
use crate::provider::ToolSchema;

/// Runs sub-agents for a tool; the agent that runs the tool implements it.
pub trait Spawn: Send + Sync {
    /// Runs a round of a new agent with this task. A failure is words for the model.
    fn spawn<'a>(&'a self, title: &'a str, prompt: &'a str) -> Boxed<'a, Result<Spawned, String>>;
}

/// What a sub-agent brought back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spawned {
    /// Its final answer.
    pub answer: String,
    /// Its window at the end.
    pub transcript: Vec<Message>,
}

/// Hands a task to a sub-agent.
#[derive(Clone, Copy, Debug)]
pub struct Envoy;

impl Tool for Envoy {
    fn schema(&self) -> ToolSchema {
        schema(
            "envoy",
            "Hands a task to a sub-agent that has the same tools and sees nothing of this conversation. It \
             answers once. Use it for searches that read much and report little.",
            &json!({
                "description": { "type": "string", "description": "Three to five words for the person" },
                "prompt": { "type": "string", "description": "The whole task, with all that it must know" },
            }),
            &["description", "prompt"],
        )
    }

    fn nature(&self) -> Nature {
        Nature {
            mutates: true,
            ..Nature::default()
        }
    }

    fn run<'a>(&'a self, arguments: &'a Value, context: &'a Context<'a>) -> Boxed<'a, Output> {
        Box::pin(async move {
            let Some(spawn) = context.spawn else {
                return Output::failed("Error: an envoy cannot send one");
            };
            let prompt = match required(arguments, "prompt") {
                Ok(prompt) => prompt,
                Err(error) => return Err(error).into(),
            };
            let title = arguments["description"].as_str().unwrap_or("");
            match spawn.spawn(title, prompt).await {
                Ok(spawned) => Output {
                    text: spawned.answer,
                    children: spawned.transcript,
                    ..Output::default()
                },
                Err(error) => Output::failed(format!("Error: the envoy failed: {error}")),
            }
        })
    }
}
