//! Observation masking: every result but those of the last turns is masked, always.
//! Deliberately with no trigger, as published.
//!
//! Source: Lindenbauer et al., "The Complexity Trap" (<https://arxiv.org/abs/2508.21433>): the last 10
//! turns' observations stay. With `poll`, masking waits until so many more have come, as SWE-agent's
//! polling does to spare the cache. Parameters: `keep` (turns), `poll` (turns).

use super::{Entry, Policy};
use crate::params::{ParamError, Reading};
use crate::window::{Edit, Window};

pub(super) const ENTRY: Entry = Entry {
    name: "mask-last-10",
    about: "masks every result but those of the last 10 turns, from the first turn on",
    build: |params, _, _| Ok(Box::new(MaskLast::new(params)?)),
};

struct MaskLast {
    keep: usize,
    poll: usize,
    masked: usize,
    last: usize,
}

impl MaskLast {
    fn new(params: &Reading<'_>) -> Result<Self, ParamError> {
        Ok(MaskLast {
            keep: params.count("keep", 10)?,
            poll: params.count("poll", 1)?.max(1),
            masked: 0,
            last: 0,
        })
    }
}

impl Policy for MaskLast {
    fn project(&mut self, window: &Window<'_, '_>) -> Vec<Edit> {
        // A result that the request of turn `t` first sent is of turn `t - 1`'s calls.
        let newest = (window.turn() + 1).saturating_sub(self.keep);
        if newest < self.last + self.poll {
            return Vec::new();
        }
        self.last = newest;
        let mut edits = Vec::new();
        while self.masked < window.held().len() && window.found(self.masked).turn < newest {
            let lines = window.found(self.masked).size.lines;
            let text = format!("Old environment output: ({lines} lines omitted)");
            edits.push(Edit::clear(self.masked, text, "old"));
            self.masked += 1;
        }
        edits
    }
}
