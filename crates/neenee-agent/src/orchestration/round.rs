//! One round: turns of request, tool work and results, until the model has nothing more to ask for.
//! Deliberately no cap on turns: relief of the window and the person's hand are what ends a runaway.

use neenee_core::message::{Message, Part, Role, ToolCall};
use neenee_core::model::{self, Binding, RewriteRule};
use neenee_core::pressure::CHARS_PER_TOKEN;
use tokio_util::sync::CancellationToken;

use super::calls::{self, Answered, Runner};
use super::envoy::Spawner;
use super::ledger::{ContextMeter, LedgerEntry, Purpose, UsageSource};
use super::response::AgentResponse;
use super::{Agent, AgentError};
use crate::journal::JournalError;
use crate::provider::{
    ProviderError, ProviderErrorKind, Reply, Request, Stop, StreamEvent, Thinking, Usage,
};
use crate::tool::Context;

/// The longest tool result, in chars, whatever the window.
const MAX_RESULT_CHARS: usize = 30_000;

/// How a round ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundOutcome {
    /// The text of the last answer.
    pub text: String,
    /// Model requests that were answered.
    pub turns: usize,
    /// Why it ended.
    pub end: RoundEnd,
}

/// Why a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RoundEnd {
    /// The model has answered.
    Done,
    /// The model's answer was cut at its limit of output tokens.
    Length,
    /// The provider withheld the answer.
    Refused,
    /// The caller cancelled; what had happened is kept.
    Cancelled,
}

/// One request, besides what the agent itself brings.
pub(super) struct Ask<'a> {
    pub(super) system: &'a str,
    pub(super) tools: bool,
    /// `None` sends the window.
    pub(super) messages: Option<&'a [Message]>,
    pub(super) max_output_tokens: Option<usize>,
    pub(super) thinking: Thinking,
    pub(super) purpose: Purpose,
    pub(super) estimated: usize,
}

impl Agent {
    /// Runs a round: takes what the person says, and works until the model has answered.
    ///
    /// # Errors
    /// See [`AgentError`]. What had happened before is kept; [`resume`](Self::resume) goes on from there.
    pub async fn run(
        &mut self,
        text: &str,
        cancel: &CancellationToken,
    ) -> Result<RoundOutcome, AgentError> {
        self.mend()?;
        let message = Message {
            role: Role::User,
            parts: vec![Part::Text(text.to_owned())],
        };
        self.journal.admit(&message)?;
        self.window.push(message);
        self.repeats.forget();
        self.relieve_before_round(cancel).await?;
        self.turns(false, cancel).await
    }

    /// Goes on with a round that was interrupted; tools that had run are not run again. A session whose
    /// last round is over has nothing to go on with: its last answer comes back.
    ///
    /// # Errors
    /// See [`AgentError`].
    pub async fn resume(&mut self, cancel: &CancellationToken) -> Result<RoundOutcome, AgentError> {
        self.mend()?;
        let messages = self.window.messages();
        let over = messages
            .last()
            .is_none_or(|last| last.role == Role::Assistant);
        if over {
            return Ok(RoundOutcome {
                text: messages.last().map(text_of).unwrap_or_default(),
                turns: 0,
                end: RoundEnd::Done,
            });
        }
        let acted = messages.last().is_some_and(|last| last.role == Role::Tool);
        self.relieve_before_round(cancel).await?;
        self.turns(acted, cancel).await
    }

    async fn turns(
        &mut self,
        mut acted: bool,
        cancel: &CancellationToken,
    ) -> Result<RoundOutcome, AgentError> {
        let mut outcome = RoundOutcome {
            text: String::new(),
            turns: 0,
            end: RoundEnd::Cancelled,
        };
        let mut recovered = false;
        loop {
            if cancel.is_cancelled() {
                return Ok(outcome);
            }
            let reply = match self.turn(cancel).await {
                Ok(reply) => reply,
                Err(AgentError::Provider(error)) => match error.kind {
                    ProviderErrorKind::Cancelled => return Ok(outcome),
                    ProviderErrorKind::Overflow if acted => {
                        return Err(AgentError::Overflow(error));
                    }
                    ProviderErrorKind::Overflow if !recovered => {
                        recovered = true;
                        if self.compact(cancel).await?.is_none() {
                            return Err(error.into());
                        }
                        continue;
                    }
                    _ => return Err(error.into()),
                },
                Err(error) => return Err(error),
            };
            outcome.turns += 1;
            outcome.text = text_of(&reply.message);
            let calls = calls_of(&reply.message);
            self.append(reply.message)?;
            (self.options.sink)(AgentResponse::Answered {
                text: outcome.text.clone(),
                calls: calls.len(),
            });
            if calls.is_empty() {
                outcome.end = match reply.stop {
                    Stop::Length | Stop::WindowFull => RoundEnd::Length,
                    Stop::Refused => RoundEnd::Refused,
                    Stop::Done | Stop::Calls => RoundEnd::Done,
                };
                return Ok(outcome);
            }
            acted = true;
            self.work(calls, cancel).await?;
            if cancel.is_cancelled() {
                return Ok(outcome);
            }
            self.project_context_if_needed(cancel).await?;
        }
    }

    /// One model request of a round.
    async fn turn(&mut self, cancel: &CancellationToken) -> Result<Reply, AgentError> {
        let system = self.options.system.clone();
        let ask = Ask {
            system: &system,
            tools: true,
            messages: None,
            max_output_tokens: self.model.max_output_tokens,
            thinking: self.model.thinking,
            purpose: self.purpose,
            estimated: self.window.pressure_tokens(),
        };
        let reply = self.ask(&ask, cancel).await?;
        if reply.stop == Stop::WindowFull && calls_of(&reply.message).is_empty() {
            // The answer did not fit beside the conversation: the same trouble, told late.
            return Err(ProviderError::new(
                ProviderErrorKind::Overflow,
                "the window was full before the answer was whole",
            )
            .into());
        }
        Ok(reply)
    }

    /// Sends a request until it is answered or gives up, and enters each attempt into the ledger.
    pub(super) async fn ask(
        &mut self,
        ask: &Ask<'_>,
        cancel: &CancellationToken,
    ) -> Result<Reply, AgentError> {
        let is_turn = ask.purpose != Purpose::Summary;
        let delegated = (is_turn && self.rule() == RewriteRule::Delegate).then(|| {
            let threshold = self.budget().prune_threshold_tokens;
            self.window.delegated(threshold)
        });
        let drop_unbound = is_turn
            && model::traits(&self.model.name).binding == Binding::Checked
            && self.window.is_edited();
        let mut attempt = 0;
        loop {
            attempt += 1;
            let mut request = Request::new(
                &self.model.name,
                ask.system,
                ask.messages.unwrap_or(self.window.messages()),
            );
            if ask.tools {
                request.tools = &self.schemas;
            }
            request.max_output_tokens = ask.max_output_tokens;
            request.thinking = ask.thinking;
            request.drop_unbound_reasoning = drop_unbound;
            request.delegated = delegated.as_ref();
            let sink = self.options.sink.clone();
            let mut each = |event: StreamEvent| {
                if is_turn {
                    sink(AgentResponse::Stream(event));
                }
            };
            let answer = self.provider.send(&request, cancel, &mut each).await;
            let answer = answer.and_then(|reply| {
                if reply.message.parts.is_empty() && reply.stop != Stop::Refused {
                    let empty =
                        ProviderError::new(ProviderErrorKind::Unavailable, "the answer is empty");
                    return Err(empty);
                }
                Ok(reply)
            });
            self.enter(ask, attempt, answer.as_ref().ok());
            let error = match answer {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let Some(wait) = self.options.retry.wait(attempt, &error, fastrand::f64()) else {
                return Err(error.into());
            };
            (self.options.sink)(AgentResponse::Retrying {
                attempt,
                wait,
                error,
            });
            tokio::select! {
                () = cancel.cancelled() => return Err(ProviderError::cancelled().into()),
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    fn rule(&self) -> RewriteRule {
        self.options.settings.options_for(&self.model).rewrite
    }

    /// Enters an attempt into the ledger, and sets the meter after a turn.
    fn enter(&mut self, ask: &Ask<'_>, attempt: usize, reply: Option<&Reply>) {
        let reported = reply
            .and_then(|reply| reply.usage)
            .filter(|usage| usage.input > 0);
        let usage = reported.unwrap_or_else(|| Usage {
            input: ask.estimated,
            output: reply.map_or(0, |reply| self.weigh(&reply.message)),
            ..Usage::default()
        });
        let source = match reported {
            Some(_) => UsageSource::Reported,
            None => UsageSource::Estimated,
        };
        let entry = LedgerEntry {
            model: self.model.name.clone(),
            purpose: ask.purpose,
            attempt,
            answered: reply.is_some(),
            estimated_input: ask.estimated,
            usage,
            source,
        };
        self.record(entry);
        if reply.is_some() && ask.purpose != Purpose::Summary {
            let meter = ContextMeter {
                used_tokens: usage.context(),
                window_tokens: self.budget().window_tokens,
                source,
                pruned_tokens: self.pruned_tokens,
            };
            self.meter = Some(meter);
            (self.options.sink)(AgentResponse::Context(meter));
        }
    }

    fn record(&mut self, entry: LedgerEntry) {
        // A lost entry of the ledger is no reason to lose the answer.
        if let Err(error) = self.journal.record_usage(&entry) {
            tracing::warn!(%error, "usage was not kept");
        }
        self.ledger.record(entry);
    }

    fn weigh(&self, message: &Message) -> usize {
        let estimator = self.window.estimator();
        let parts = message.parts.iter().map(|part| match part {
            Part::Text(text) => estimator.tokens(text),
            Part::Reasoning(reasoning) => estimator.tokens(&reasoning.text),
            Part::Call(call) => estimator.tokens(&call.name) + estimator.tokens(&call.arguments),
            _ => 0,
        });
        parts.sum()
    }

    /// Runs the calls of a turn; each answer is kept as soon as it is there.
    async fn work(
        &mut self,
        calls: Vec<ToolCall>,
        cancel: &CancellationToken,
    ) -> Result<(), JournalError> {
        let spawner = Spawner::of(self, cancel);
        let may_spawn = self.options.tools.get("envoy").is_some();
        let window_tokens = self.budget().window_tokens;
        // An eighth of the window in tokens: a turn with several results must fit too.
        let max_chars = (window_tokens * CHARS_PER_TOKEN / 8).clamp(2_000, MAX_RESULT_CHARS);
        let Agent {
            options,
            table,
            journal,
            window,
            repeats,
            ..
        } = self;
        let runner = Runner {
            tools: &options.tools,
            approve: &*options.approve,
            context: Context {
                project: &options.project,
                cancel,
                max_chars,
                spawn: may_spawn.then_some(&spawner),
            },
            table,
            sink: &options.sink,
        };
        let done = runner
            .run(calls, |answered: Answered| {
                let Answered {
                    call,
                    mut output,
                    mutated,
                } = answered;
                if mutated {
                    repeats.forget();
                } else if !output.failed
                    && let Some(notice) = repeats.note(&call.name, &call.arguments, &output.text)
                {
                    output.text.push_str("\n\n");
                    output.text.push_str(&notice);
                }
                let message = calls::message(&call, output);
                journal.append(&message)?;
                window.push(message);
                Ok(())
            })
            .await;
        for entry in spawner.spent() {
            self.record(entry);
        }
        done
    }
}

/// All text of a message, reasoning aside.
pub(super) fn text_of(message: &Message) -> String {
    let texts: Vec<&str> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n")
}

fn calls_of(message: &Message) -> Vec<ToolCall> {
    let calls = message.parts.iter().filter_map(|part| match part {
        Part::Call(call) => Some(call.clone()),
        _ => None,
    });
    calls.collect()
}
