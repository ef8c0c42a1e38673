//! Sub-agents: an agent of the same make with a window of its own, one level deep.
//! Deliberately keeps no session: its transcript comes back as the children of a result.

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use super::ledger::{LedgerEntry, Purpose};
use super::response::{AgentResponse, Sink};
use super::{Agent, AgentOptions, LiveModel, RoundEnd};
use crate::journal::MemoryJournal;
use crate::provider::Provider;
use crate::tool::{Boxed, Spawn, Spawned};

/// What an envoy's system prompt ends with.
const TASK: &str = "\n\nYou are an envoy: another agent has sent you with one task and sees nothing but your final \
message. Do the task, then answer with what it needs to know, in full and without questions.";

/// Makes envoys.
pub(super) struct Spawner {
    provider: Provider,
    model: LiveModel,
    options: AgentOptions,
    cancel: CancellationToken,
    spent: Arc<Mutex<Vec<LedgerEntry>>>,
}

impl Spawner {
    pub(super) fn of(agent: &Agent, cancel: &CancellationToken) -> Self {
        let mut options = agent.options.clone();
        options.tools = options.tools.without(&["envoy"]);
        options.system.push_str(TASK);
        // Compactions of an envoy concern nobody but the envoy.
        options.hooks = Vec::new();
        Spawner {
            provider: agent.provider.clone(),
            model: agent.model.clone(),
            options,
            cancel: cancel.clone(),
            spent: Arc::default(),
        }
    }

    /// What the envoys' requests have cost.
    pub(super) fn spent(&self) -> Vec<LedgerEntry> {
        std::mem::take(&mut *self.spent.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Spawn for Spawner {
    fn spawn<'a>(&'a self, title: &'a str, prompt: &'a str) -> Boxed<'a, Result<Spawned, String>> {
        Box::pin(async move {
            let mut options = self.options.clone();
            options.sink = told(&self.options.sink, title);
            let mut agent = Agent::new(
                self.provider.clone(),
                self.model.clone(),
                Box::new(MemoryJournal::new()),
                options,
            )
            .map_err(|error| format!("failed to {error}"))?;
            agent.purpose = Purpose::Envoy;
            let outcome = agent.run(prompt, &self.cancel).await;
            self.spent
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend_from_slice(agent.ledger.entries());
            let outcome = outcome.map_err(|error| format!("failed to {error}"))?;
            if outcome.end == RoundEnd::Cancelled {
                return Err("cancelled".to_owned());
            }
            let answer = if outcome.text.is_empty() {
                "(the envoy ended without a word)".to_owned()
            } else {
                outcome.text
            };
            let mut transcript = agent.window.messages().to_vec();
            // The answer is the result itself.
            transcript.pop();
            Ok(Spawned { answer, transcript })
        })
    }
}

fn told(sink: &Sink, title: &str) -> Sink {
    let (sink, title) = (Arc::clone(sink), title.to_owned());
    Arc::new(move |response| {
        sink(AgentResponse::Envoy {
            title: title.clone(),
            response: Box::new(response),
        });
    })
}
