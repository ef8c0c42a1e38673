//! Ours with an eye on the prompt cache: a projection has to pay for the prefix that it breaks.
//! Deliberately the same planner; only when it acts, and from which result on, is different.
//!
//! Every edit makes what stands behind it be sent and written again. So a plan is cut to the suffix of its
//! edits that pays most: tokens given back, times the requests that are still to come, times the price of
//! reading; less what has to be written again. Where an idle gap has made the cache cold, breaking it
//! costs nothing. Over `hard` the whole plan is taken, whatever it costs.
//!
//! Parameters: `trigger`, `cold`, `hard` (fractions of the window), `horizon` (requests to come),
//! `write_reads` (what a token written costs more than one read, in reads), `ttl_minutes`, `protect_tokens`.

use neenee_core::pressure::Plan;
use neenee_core::pressure::view::View;

use super::ours::options;
use super::planned::{Planned, partial, saved_tokens};
use super::{Entry, Policy};
use crate::ground::Ground;
use crate::params::{ParamError, Reading};
use crate::window::{Edit, Window};

pub(super) const ENTRY: Entry = Entry {
    name: "ours-cache-aware",
    about: "the planner, where a projection pays for the cached prefix that it breaks",
    build: |params, ground, _| Ok(Box::new(CacheAware::new(params, ground)?)),
};

struct CacheAware {
    planned: Planned,
    on: bool,
    trigger: usize,
    cold: usize,
    hard: usize,
    horizon: f64,
    write_reads: f64,
    ttl: i64,
}

impl CacheAware {
    fn new(params: &Reading<'_>, ground: &Ground) -> Result<Self, ParamError> {
        let budget = ground.budget();
        let hard = budget.compact_threshold_tokens as f64 / ground.window_tokens as f64;
        Ok(CacheAware {
            planned: Planned::new(ground, options(params, ground)?),
            on: ground.policy.prune,
            trigger: ground.tokens(params.number("trigger", 0.3)?),
            cold: ground.tokens(params.number("cold", 0.2)?),
            hard: ground.tokens(params.number("hard", hard)?),
            horizon: params.number("horizon", 40.0)?,
            write_reads: params.number("write_reads", 11.5)?,
            ttl: params.count("ttl_minutes", 5)? as i64 * 60_000,
        })
    }

    /// The suffix of the edits that pays most, when any pays.
    fn cut(&self, plan: &Plan, window: &Window<'_, '_>) -> Option<Plan> {
        let (mut reclaimed, mut best, mut best_gain) = (0, None, 0.0);
        for (at, edit) in plan.edits.iter().enumerate().rev() {
            reclaimed += saved_tokens(edit);
            let view = window.found(edit.decision.ordinal).at;
            let behind = window.tokens() - window.tokens_before(view) - reclaimed;
            let gain = reclaimed as f64 * self.horizon - behind as f64 * self.write_reads;
            if gain > best_gain {
                (best, best_gain) = (Some(at), gain);
            }
        }
        Some(partial(plan.edits[best?..].to_vec(), plan))
    }
}

impl Policy for CacheAware {
    fn see(&mut self, view: &View<'_>) {
        self.planned.see(view);
    }

    fn project(&mut self, window: &Window<'_, '_>) -> Vec<Edit> {
        let cold = window.idle().is_some_and(|idle| idle > self.ttl);
        let trigger = if cold { self.cold } else { self.trigger };
        if !self.on || window.tokens() <= trigger {
            return Vec::new();
        }
        let plan = self.planned.plan();
        let plan = if cold || window.tokens() > self.hard {
            plan
        } else {
            match self.cut(&plan, window) {
                Some(plan) => plan,
                None => return Vec::new(),
            }
        };
        if plan.is_empty() || !self.planned.exceeds_floor(&plan) {
            return Vec::new();
        }
        self.planned.carry_out(plan)
    }
}
