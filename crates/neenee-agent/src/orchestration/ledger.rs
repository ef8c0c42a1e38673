//! What requests cost: one entry for each attempt, with where its numbers come from.
//! Deliberately no gauge of the next request's pressure: that request may hold other things.

use crate::provider::Usage;

/// One attempt of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// The model, as the provider names it.
    pub model: String,
    /// What it was for.
    pub purpose: Purpose,
    /// Which attempt it was, from 1.
    pub attempt: usize,
    /// Whether it brought an answer.
    pub answered: bool,
    /// What was estimated before it was sent, in tokens.
    pub estimated_input: usize,
    /// Tokens read and written.
    pub usage: Usage,
    /// Who counted them.
    pub source: UsageSource,
}

/// What a request was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A turn of a round.
    Turn,
    /// The summary of older rounds.
    Summary,
    /// A turn of an envoy.
    Envoy,
}

/// Who counted tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UsageSource {
    /// The provider, which bills by them.
    Reported,
    /// We did, since it said nothing.
    Estimated,
}

/// All attempts of a session, as far as this process knows it.
#[derive(Clone, Debug, Default)]
pub struct TokenLedger {
    entries: Vec<LedgerEntry>,
}

impl TokenLedger {
    pub(crate) fn record(&mut self, entry: LedgerEntry) {
        self.entries.push(entry);
    }

    /// The attempts, oldest first.
    pub fn entries(&self) -> &[LedgerEntry] {
        &self.entries
    }

    /// The sum of all attempts that were answered.
    pub fn total(&self) -> Usage {
        let answered = self.entries.iter().filter(|entry| entry.answered);
        answered.fold(Usage::default(), |sum, entry| Usage {
            input: sum.input.saturating_add(entry.usage.input),
            output: sum.output.saturating_add(entry.usage.output),
            cache_read: sum.cache_read.saturating_add(entry.usage.cache_read),
            cache_write: sum.cache_write.saturating_add(entry.usage.cache_write),
        })
    }
}

/// How full the window is, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextMeter {
    /// Tokens in the window: after a request what the provider counted, else our estimate.
    pub used_tokens: usize,
    /// What the model accepts.
    pub window_tokens: usize,
    /// Who counted.
    pub source: UsageSource,
    /// Estimated tokens that pruning has given back in this session, as far as this process knows it.
    pub pruned_tokens: usize,
}

impl ContextMeter {
    /// Percent of the window, rounded; over 100 when it does not fit.
    pub fn percent(&self) -> usize {
        (self.used_tokens.saturating_mul(100) + self.window_tokens / 2) / self.window_tokens.max(1)
    }
}
