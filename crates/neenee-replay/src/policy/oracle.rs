//! The oracle: knows what every later turn will need, and keeps exactly the results that hold it.
//! Deliberately not possible; it is the limit that the others are read against.
//!
//! It engages where ours does and spares what the model has not seen yet. Of several results that hold a
//! need, the newest is the one that is kept. With `forget`, it gives up needed results as well, the
//! fewest needed chars for the most tokens first, up to that fraction of all needed chars: so its
//! frontier is drawn. Parameters: `trigger` (fraction of the window), `forget` (fraction).

use neenee_core::message::Tier;

use super::{Entry, Policy};
use crate::ground::Ground;
use crate::needs::NeedKind;
use crate::params::{ParamError, Reading};
use crate::recording::Recording;
use crate::window::{Edit, Window};

pub(super) const ENTRY: Entry = Entry {
    name: "oracle",
    about: "knows the future and keeps exactly the results that will be needed",
    build: |params, ground, recording| Ok(Box::new(Oracle::new(params, ground, recording)?)),
};

const PLACEHOLDER: &str = "[cleared tool result]";

struct Oracle<'r, 'd> {
    recording: &'r Recording<'d>,
    trigger: usize,
    /// Needed chars that may still be missed.
    credit: usize,
    min_reclaim_tokens: usize,
    given_up: Vec<bool>,
}

impl<'r, 'd> Oracle<'r, 'd> {
    fn new(
        params: &Reading<'_>,
        ground: &Ground,
        recording: &'r Recording<'d>,
    ) -> Result<Self, ParamError> {
        let forget = params.number("forget", 0.0)?;
        let lines = recording.needs().all().iter();
        let needed: usize = lines
            .filter(|need| need.kind == NeedKind::Line)
            .map(|need| need.chars)
            .sum();
        Ok(Oracle {
            recording,
            trigger: ground.tokens(params.number("trigger", ground.policy.prune_utilization)?),
            credit: (needed as f64 * forget) as usize,
            min_reclaim_tokens: ground.options.min_reclaim_chars / 4,
            given_up: vec![false; recording.results().len()],
        })
    }

    /// For each result so far, the chars of lines that it alone will have to give from `turn` on.
    fn future(&self, window: &Window<'_, '_>) -> Vec<usize> {
        let mut future = vec![0; window.held().len()];
        let needs = self.recording.needs();
        let later = needs
            .all()
            .partition_point(|need| need.turn < window.turn());
        for need in &needs.all()[later..] {
            if need.kind != NeedKind::Line {
                continue;
            }
            let mut holders = needs.holders(need).rev();
            // One that comes later will hold it as well, or will be the one that does.
            let newest = holders.next().filter(|&at| at < window.held().len());
            if let Some(at) = newest {
                future[at] += need.chars;
            }
        }
        future
    }
}

impl Policy for Oracle<'_, '_> {
    fn project(&mut self, window: &Window<'_, '_>) -> Vec<Edit> {
        if window.tokens() <= self.trigger {
            return Vec::new();
        }
        let after = window.count(PLACEHOLDER);
        let future = self.future(window);
        let open = |at: &usize| {
            let held = &window.held()[*at];
            held.tier != Tier::Cleared && !window.is_unseen(*at) && held.tokens > after
        };
        let mut edits = Vec::new();
        let mut needed: Vec<usize> = Vec::new();
        let mut saved = 0;
        for at in (0..window.held().len()).filter(open) {
            if future[at] > 0 && !self.given_up[at] {
                needed.push(at);
                continue;
            }
            saved += window.held()[at].tokens - after;
            edits.push(Edit::clear(at, PLACEHOLDER, "unneeded"));
        }
        let weight = |at: usize| future[at] as f64 / window.held()[at].tokens as f64;
        needed.sort_by(|&left, &right| weight(left).total_cmp(&weight(right)));
        let mut spent = 0;
        for at in needed {
            if spent + future[at] > self.credit {
                continue;
            }
            spent += future[at];
            saved += window.held()[at].tokens - after;
            self.given_up[at] = true;
            edits.push(Edit::clear(at, PLACEHOLDER, "given-up"));
        }
        if saved <= self.min_reclaim_tokens {
            return Vec::new();
        }
        self.credit -= spent;
        edits
    }
}
