//! The layers in their order: pruning, then compaction, then a cap on results that nobody has read yet.
//! Deliberately no loop: the round calls this between its turns.

use neenee_core::message::{Message, Part, Role};
use neenee_core::pressure::{ContextBudget, FoldGoal, Original, fold, tiers};
use tokio_util::sync::CancellationToken;

use super::compaction::{self, Author, Compacted};
use super::ledger::Purpose;
use super::response::AgentResponse;
use super::round::Ask;
use super::{Agent, AgentError, prune_and_commit};
use crate::journal::{JournalError, Projection, ProjectionKind};
use crate::provider::{ProviderErrorKind, Thinking};

/// Fraction of the window over which results that the model has not seen are cut: nothing else is left then.
const CAP_UTILIZATION: f64 = 0.95;
/// A result is cut to no less than this, in chars.
const LEAST_CAP_CHARS: usize = 2_000;

impl Agent {
    /// Before a round: prunes once when the pressure is over the threshold, compacts when that was not enough.
    pub(super) async fn relieve_before_round(
        &mut self,
        cancel: &CancellationToken,
    ) -> Result<(), AgentError> {
        let budget = self.budget();
        let outcome = prune_and_commit(&mut self.window, &mut *self.journal, &budget)?;
        if let Some(outcome) = outcome {
            self.pruned(outcome.reclaimed_tokens);
        }
        self.compact_if_needed(&budget, cancel).await
    }

    /// Between two turns: asks the gates, then the heavier layers.
    ///
    /// # Errors
    /// When the journal failed; the window is then as it was.
    pub async fn project_context_if_needed(
        &mut self,
        cancel: &CancellationToken,
    ) -> Result<(), AgentError> {
        let budget = self.budget();
        let mut reclaimed = 0;
        for gate in &self.gates {
            let outcome = gate.project(&mut self.window, &mut *self.journal, &budget)?;
            reclaimed += outcome.map_or(0, |outcome| outcome.reclaimed_tokens);
        }
        if reclaimed > 0 {
            self.pruned(reclaimed);
        }
        self.compact_if_needed(&budget, cancel).await
    }

    fn pruned(&mut self, reclaimed_tokens: usize) {
        self.pruned_tokens += reclaimed_tokens;
        self.repeats.forget();
    }

    async fn compact_if_needed(
        &mut self,
        budget: &ContextBudget,
        cancel: &CancellationToken,
    ) -> Result<(), AgentError> {
        if self.window.pressure_tokens() > budget.compact_threshold_tokens {
            self.compact(cancel).await?;
        }
        self.cap_unseen(budget)?;
        Ok(())
    }

    /// Folds older rounds into a checkpoint now, whatever the pressure. `None` when there is nothing to fold, a
    /// hook forbids it, or it would not make the window smaller.
    ///
    /// # Errors
    /// When the journal failed, or the caller cancelled; the window is then as it was. A model that does not
    /// answer is no error: the checkpoint is then written by rule.
    pub async fn compact(
        &mut self,
        cancel: &CancellationToken,
    ) -> Result<Option<Compacted>, AgentError> {
        let budget = self.budget();
        let estimator = *self.window.estimator();
        let limit = compaction::summary_tokens(budget.target_tokens);
        let goal = FoldGoal {
            preserve_rounds: self.options.settings.policy.preserve_rounds,
            room_tokens: budget
                .target_tokens
                .saturating_sub(self.window.fixed_tokens() + limit),
        };
        let carried = self.window.carried();
        let sizes = self.window.sizes();
        let Some(fold) = fold(self.window.messages(), &sizes, carried, &goal) else {
            return Ok(None);
        };
        let messages = self.window.messages();
        let hooks = &self.options.hooks;
        if !hooks.iter().all(|hook| hook.before(&fold, messages)) {
            return Ok(None);
        }
        let (mut archived, mut kept) = (Vec::new(), Vec::new());
        for (index, message) in messages.iter().enumerate() {
            if fold.folds(index) {
                archived.push(message.clone());
            } else {
                kept.push(message.clone());
            }
        }
        let (summary, author) = self.summary(&archived, carried, limit, cancel).await?;
        let summary = compaction::limited(&summary, limit, &estimator);
        let checkpoint = compaction::checkpoint(&summary, fold.rounds, fold.turns);
        let mut window = vec![checkpoint];
        window.append(&mut kept);
        self.commit_compaction(&archived, window, |before, after| Compacted {
            rounds: fold.rounds,
            turns: fold.turns,
            messages: archived.len(),
            tokens_before: before,
            tokens_after: after,
            author,
        })
    }

    fn commit_compaction(
        &mut self,
        archived: &[Message],
        window: Vec<Message>,
        told: impl FnOnce(usize, usize) -> Compacted,
    ) -> Result<Option<Compacted>, AgentError> {
        let before = self.window.pressure_tokens();
        let former = self.window.messages().to_vec();
        self.window.replace(window);
        let after = self.window.pressure_tokens();
        let committed = if after < before {
            self.journal.commit_context_projection(&Projection {
                kind: ProjectionKind::Compaction,
                originals: &[],
                archived,
                window: self.window.messages(),
                tokens_before: before,
                tokens_after: after,
            })
        } else {
            self.window.replace(former);
            return Ok(None);
        };
        if let Err(error) = committed {
            self.window.replace(former);
            return Err(error.into());
        }
        self.repeats.forget();
        self.meter = None;
        let compacted = told(before, after);
        for hook in &self.options.hooks {
            hook.after(&compacted);
        }
        (self.options.sink)(AgentResponse::Compacted(compacted));
        Ok(Some(compacted))
    }

    /// The summary of what leaves: by the model, else by rule.
    async fn summary(
        &mut self,
        archived: &[Message],
        carried: usize,
        limit: usize,
        cancel: &CancellationToken,
    ) -> Result<(String, Author), AgentError> {
        let budget = self.budget();
        let estimator = *self.window.estimator();
        // The request must fit although the conversation does not, with room for the answer.
        let room = budget.compact_threshold_tokens.saturating_sub(limit) * 3 / 4;
        let request = compaction::summary_request(archived, carried, room, limit, &estimator);
        let Part::Text(text) = &request.parts[0] else {
            return Ok((String::new(), Author::Excerpt));
        };
        let estimated = estimator.tokens(compaction::SUMMARY_SYSTEM) + estimator.tokens(text);
        let messages = [request.clone()];
        let ask = Ask {
            system: compaction::SUMMARY_SYSTEM,
            tools: false,
            messages: Some(&messages),
            max_output_tokens: Some(limit * 2),
            thinking: Thinking::Unasked,
            purpose: Purpose::Summary,
            estimated,
        };
        match self.ask(&ask, cancel).await {
            Ok(reply) => {
                let summary = super::round::text_of(&reply.message);
                if !summary.trim().is_empty() {
                    return Ok((summary, Author::Model));
                }
            }
            Err(AgentError::Provider(error)) if error.kind != ProviderErrorKind::Cancelled => {
                tracing::debug!(%error, "no summary from the model");
            }
            Err(error) => return Err(error),
        }
        let excerpt = compaction::excerpt(archived, carried, limit, &self.table, &estimator);
        Ok((excerpt, Author::Excerpt))
    }

    /// Cuts results that the model has not seen, the largest first, when they alone would not fit: nothing else
    /// may touch them, and the request would fail.
    fn cap_unseen(&mut self, budget: &ContextBudget) -> Result<(), JournalError> {
        let limit = (budget.window_tokens as f64 * CAP_UTILIZATION) as usize;
        let before = self.window.pressure_tokens();
        if before <= limit {
            return Ok(());
        }
        let mut messages = self.window.messages().to_vec();
        let (originals, saved) = cut_unseen(&mut messages, before - limit, self.window.estimator());
        if originals.is_empty() {
            return Ok(());
        }
        self.journal.commit_context_projection(&Projection {
            kind: ProjectionKind::Cap,
            originals: &originals,
            archived: &[],
            window: &messages,
            tokens_before: before,
            tokens_after: before.saturating_sub(saved),
        })?;
        self.window.replace(messages);
        tracing::debug!(
            before,
            after = self.window.pressure_tokens(),
            "cut results that would not fit"
        );
        Ok(())
    }
}

/// Cuts the largest results behind the last answer until about `excess` tokens are gone; what they were, with
/// their place among the results of the window, and the tokens given back.
fn cut_unseen(
    messages: &mut [Message],
    excess: usize,
    estimator: &neenee_core::estimate::Estimator,
) -> (Vec<Original>, usize) {
    let seen = messages
        .iter()
        .rposition(|message| message.role == Role::Assistant)
        .unwrap_or(0);
    let is_result = |part: &&Part| matches!(part, Part::Result(_));
    let mut ordinal = messages[..seen]
        .iter()
        .flat_map(|message| &message.parts)
        .filter(is_result)
        .count();
    let mut unseen = Vec::new();
    for message in &mut messages[seen..] {
        for part in &mut message.parts {
            if let Part::Result(result) = part {
                unseen.push((ordinal, estimator.measure(&result.text), result));
                ordinal += 1;
            }
        }
    }
    unseen.sort_by_key(|(ordinal, measure, _)| (std::cmp::Reverse(measure.tokens), *ordinal));
    let mut originals = Vec::new();
    let (mut excess, mut saved) = (excess, 0);
    let count = unseen.len();
    for (index, (ordinal, measure, result)) in unseen.into_iter().enumerate() {
        if excess == 0 || measure.chars <= LEAST_CAP_CHARS {
            break;
        }
        // The larger ones give more; the last of them gives all that is left to give.
        let share = excess.div_ceil((count - index).clamp(1, 2));
        let goal = measure.tokens.saturating_sub(share);
        let chars = measure.chars * goal / measure.tokens.max(1);
        let text = tiers::cut_to(&result.text, measure.chars, chars.max(LEAST_CAP_CHARS));
        let after = estimator.tokens(&text);
        if after >= measure.tokens {
            continue;
        }
        saved += measure.tokens - after;
        excess = excess.saturating_sub(measure.tokens - after);
        originals.push(Original {
            path: vec![ordinal],
            call_id: result.call_id.clone(),
            text: std::mem::replace(&mut result.text, text),
            media: result.media.clone(),
            degraded: result.degraded,
        });
    }
    originals.sort_by(|left, right| left.path.cmp(&right.path));
    (originals, saved)
}
