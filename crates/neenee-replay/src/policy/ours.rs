//! Ours: the core's planner as the entry points call it, engaged by pressure.
//! Deliberately the design of record by default; what goes beyond it is behind named parameters.
//!
//! Parameters: `trigger` (fraction of the window), `protect_tokens`, `target` (fraction of the window
//! at which taking out stops; 0 takes all that the plan offers).

use neenee_core::pressure::view::View;
use neenee_core::pressure::{CHARS_PER_TOKEN, Edit as PlanEdit, Plan, PruneOptions};

use super::planned::{Planned, partial, saved_tokens};
use super::{Entry, Policy};
use crate::ground::Ground;
use crate::params::{ParamError, Reading};
use crate::window::{Edit, Window};

pub(super) const ENTRY: Entry = Entry {
    name: "ours",
    about: "the planner with the configured options, over a fraction of the window",
    build: |params, ground, _| Ok(Box::new(Ours::new(params, ground)?)),
};

struct Ours {
    planned: Planned,
    on: bool,
    trigger_tokens: usize,
    target_tokens: usize,
}

impl Ours {
    fn new(params: &Reading<'_>, ground: &Ground) -> Result<Self, ParamError> {
        let trigger = params.number("trigger", ground.policy.prune_utilization)?;
        let target = params.number("target", 0.0)?;
        Ok(Ours {
            planned: Planned::new(ground, options(params, ground)?),
            on: ground.policy.prune,
            trigger_tokens: ground.tokens(trigger),
            target_tokens: ground.tokens(target),
        })
    }

    /// As much of `plan` as brings `pressure` to the target: stale results first, then those that
    /// name no file, then reads; of each the oldest first.
    fn select(&self, plan: &Plan, pressure: usize) -> Plan {
        let mut ranked: Vec<PlanEdit> = plan.edits.clone();
        ranked.sort_by_key(|edit| (self.rank(edit), edit.decision.ordinal));
        let mut left = pressure.saturating_sub(self.target_tokens);
        let mut taken = Vec::new();
        for edit in ranked {
            if left == 0 {
                break;
            }
            left = left.saturating_sub(saved_tokens(&edit));
            taken.push(edit);
        }
        partial(taken, plan)
    }

    fn rank(&self, edit: &PlanEdit) -> u8 {
        if edit.decision.reason.is_stale() {
            return 0;
        }
        let info = self.planned.planner().result(edit.decision.ordinal);
        match info.is_some_and(|info| !info.targets.is_empty()) {
            false => 1,
            true => 2,
        }
    }
}

/// The options that a parameter may change of those that are configured.
pub(super) fn options(params: &Reading<'_>, ground: &Ground) -> Result<PruneOptions, ParamError> {
    let protect = ground.options.protect_recent_chars / CHARS_PER_TOKEN;
    Ok(PruneOptions {
        protect_recent_chars: params.count("protect_tokens", protect)? * CHARS_PER_TOKEN,
        ..ground.options.clone()
    })
}

impl Policy for Ours {
    fn see(&mut self, view: &View<'_>) {
        self.planned.see(view);
    }

    fn project(&mut self, window: &Window<'_, '_>) -> Vec<Edit> {
        if !self.on || window.tokens() <= self.trigger_tokens {
            return Vec::new();
        }
        let plan = self.planned.plan();
        let plan = match self.target_tokens {
            0 => plan,
            _ => self.select(&plan, window.tokens()),
        };
        if plan.is_empty() || !self.planned.exceeds_floor(&plan) {
            return Vec::new();
        }
        self.planned.carry_out(plan)
    }
}
