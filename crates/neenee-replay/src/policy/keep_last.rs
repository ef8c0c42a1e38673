//! Anthropic's `clear_tool_uses_20250919`: over the trigger, all results but the newest are cleared.
//! Deliberately as if the provider kept what it cleared: the trigger looks at the cleared window.
//!
//! Source: <https://docs.claude.com/en/docs/build-with-claude/context-editing>: trigger 100 000 input
//! tokens, keep 3 tool uses, `clear_at_least` unset, inputs kept. The placeholder is not published.
//! Parameters: `trigger`, `keep`, `clear_at_least` (tokens).

use super::{Entry, Policy, threshold};
use crate::ground::Ground;
use crate::params::{ParamError, Reading};
use crate::window::{Edit, Window};
use neenee_core::message::Tier;

pub(super) const ENTRY: Entry = Entry {
    name: "keep-last-n",
    about: "clears all but the newest 3 results over 100 000 tokens (Anthropic's tool clearing)",
    build: |params, ground, _| Ok(Box::new(KeepLast::new(params, ground)?)),
};

const PLACEHOLDER: &str = "[tool result cleared]";

struct KeepLast {
    trigger: usize,
    keep: usize,
    clear_at_least: usize,
    /// Results before this one are cleared.
    cleared: usize,
}

impl KeepLast {
    fn new(params: &Reading<'_>, ground: &Ground) -> Result<Self, ParamError> {
        Ok(KeepLast {
            trigger: params.count("trigger", threshold(ground, 100_000))?,
            keep: params.count("keep", 3)?,
            clear_at_least: params.count("clear_at_least", 0)?,
            cleared: 0,
        })
    }
}

impl Policy for KeepLast {
    fn project(&mut self, window: &Window<'_, '_>) -> Vec<Edit> {
        let end = window.held().len().saturating_sub(self.keep);
        if window.tokens() <= self.trigger || end <= self.cleared {
            return Vec::new();
        }
        let after = window.count(PLACEHOLDER);
        let fresh = (self.cleared..end).filter(|&at| window.held()[at].tier != Tier::Cleared);
        let fresh: Vec<usize> = fresh.collect();
        let saved = |at: &usize| window.held()[*at].tokens.saturating_sub(after);
        if fresh.iter().map(saved).sum::<usize>() < self.clear_at_least.max(1) {
            return Vec::new();
        }
        self.cleared = end;
        let clear = |at| Edit::clear(at, PLACEHOLDER, "old");
        fresh.into_iter().map(clear).collect()
    }
}
