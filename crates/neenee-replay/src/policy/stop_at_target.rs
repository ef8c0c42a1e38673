//! Haystack's `ToolResultPruningCompactor`: oldest results first, no further than the target.
//! Deliberately ignorant of what results hold.
//!
//! Source: <https://docs.haystack.deepset.ai/docs/tool-result-pruning-compactor>: compact at 0.7 of the
//! window down to 0.4, the last tool-calling step spared, results under 200 tokens left alone.
//! Parameters: `trigger`, `target` (fractions), `keep_steps`, `min_tokens`.

use neenee_core::message::Tier;

use super::{Entry, Policy};
use crate::ground::Ground;
use crate::params::{ParamError, Reading};
use crate::window::{Edit, Window};

pub(super) const ENTRY: Entry = Entry {
    name: "stop-at-target",
    about: "over 0.7 of the window clears the oldest results until it is at 0.4 (Haystack's)",
    build: |params, ground, _| Ok(Box::new(StopAtTarget::new(params, ground)?)),
};

struct StopAtTarget {
    trigger: usize,
    target: usize,
    keep_steps: usize,
    min_tokens: usize,
    /// Results before this one are done with.
    done: usize,
}

impl StopAtTarget {
    fn new(params: &Reading<'_>, ground: &Ground) -> Result<Self, ParamError> {
        Ok(StopAtTarget {
            trigger: ground.tokens(params.number("trigger", 0.7)?),
            target: ground.tokens(params.number("target", 0.4)?),
            keep_steps: params.count("keep_steps", 1)?,
            min_tokens: params.count("min_tokens", 200)?,
            done: 0,
        })
    }
}

impl Policy for StopAtTarget {
    fn project(&mut self, window: &Window<'_, '_>) -> Vec<Edit> {
        if window.tokens() <= self.trigger {
            return Vec::new();
        }
        // The results of the last step are those that the request is the first to send.
        let spared = (window.turn() + 1).saturating_sub(self.keep_steps);
        let mut left = window.tokens() - self.target.min(window.tokens());
        let mut edits = Vec::new();
        while left > 0 && self.done < window.held().len() && window.found(self.done).turn < spared {
            let held = &window.held()[self.done];
            if held.tokens >= self.min_tokens && held.tier != Tier::Cleared {
                let text = format!("[Result of {} removed]", window.found(self.done).tool);
                left = left.saturating_sub(held.tokens.saturating_sub(window.count(&text)));
                edits.push(Edit::clear(self.done, text, "old"));
            }
            self.done += 1;
        }
        edits
    }
}
