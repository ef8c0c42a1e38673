//! opencode's prune: at the end of a round, all results beyond the newest 40 000 tokens of them.
//! Deliberately without its compaction, which is another layer.
//!
//! Source: `packages/opencode/src/session/compaction.ts` of <https://github.com/sst/opencode>:
//! `PRUNE_PROTECT` 40 000, `PRUNE_MINIMUM` 20 000, the last two rounds spared, `skill` protected, 4 chars
//! a token, `[Old tool result content cleared]`. It looks once a round, whatever the window holds.
//! Parameters: `protect`, `minimum` (tokens), `rounds`.

use neenee_core::estimate::count_chars;
use neenee_core::message::{Role, Tier};
use neenee_core::pressure::PRUNED_TOOL_PLACEHOLDER;
use neenee_core::pressure::view::View;

use super::{Entry, Policy};
use crate::params::{ParamError, Reading};
use crate::window::{Edit, Window};

pub(super) const ENTRY: Entry = Entry {
    name: "opencode",
    about: "once a round clears what is beyond the newest 40 000 tokens of results, 20 000 at least",
    build: |params, _, _| Ok(Box::new(OpenCode::new(params)?)),
};

struct OpenCode {
    protect: usize,
    minimum: usize,
    rounds: usize,
    speaker: Role,
    results: usize,
    /// How many results there were when each round began.
    begun: Vec<usize>,
    looked: usize,
}

impl OpenCode {
    fn new(params: &Reading<'_>) -> Result<Self, ParamError> {
        Ok(OpenCode {
            protect: params.count("protect", 40_000)?,
            minimum: params.count("minimum", 20_000)?,
            rounds: params.count("rounds", 2)?,
            speaker: Role::System,
            results: 0,
            begun: Vec::new(),
            looked: 0,
        })
    }
}

impl Policy for OpenCode {
    fn see(&mut self, view: &View<'_>) {
        match view {
            View::Message(role) => self.speaker = *role,
            View::Result(_) => self.results += 1,
            // A message that carries results only is no round.
            View::Text(text) if self.speaker == Role::User && !text.trim().is_empty() => {
                self.begun.push(self.results);
                self.speaker = Role::System;
            }
            _ => {}
        }
    }

    fn project(&mut self, window: &Window<'_, '_>) -> Vec<Edit> {
        // What is pruned at the end of a round is missing from the next one's first request on.
        if self.begun.len() == self.looked {
            return Vec::new();
        }
        self.looked = self.begun.len();
        // The round that has just begun was not there yet when the last one ended.
        let spared = self.begun.len().checked_sub(self.rounds + 1);
        let Some(&end) = spared.and_then(|at| self.begun.get(at)) else {
            return Vec::new();
        };
        let (mut total, mut pruned) = (0, 0);
        let mut edits = Vec::new();
        for at in (0..end.min(window.held().len())).rev() {
            if window.held()[at].tier == Tier::Cleared {
                break;
            }
            if window.found(at).tool == "skill" {
                continue;
            }
            let tokens = count_chars(window.result(at).text).div_ceil(4);
            total += tokens;
            if total > self.protect {
                pruned += tokens;
                edits.push(Edit::clear(at, PRUNED_TOOL_PLACEHOLDER, "old"));
            }
        }
        if pruned > self.minimum {
            edits
        } else {
            Vec::new()
        }
    }
}
