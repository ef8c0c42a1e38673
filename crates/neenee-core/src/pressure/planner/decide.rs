//! Asking the planner: which tier each result ends in and why, and the plan that follows.
//! Deliberately one decision function; a plan and an explanation are two readings of it.

use super::feed::original_size;
use super::{Held, Ordinal, Planner, Staleness};
use crate::message::{Degraded, Tier};
use crate::model::RewriteRule;
use crate::pressure::plan::{
    Change, Decision, Delegated, Edit, Plan, Reason, Replacement, Rewrite,
};
use crate::pressure::policy::CHARS_PER_TOKEN;
use crate::pressure::recency::{Weight, protected};
use crate::pressure::tiers::cleared;

impl Planner {
    /// What would be done now. The gate is the caller's: a plan may give back too little to be
    /// worth applying, see [`Planner::exceeds_floor`].
    pub fn plan(&mut self) -> Plan {
        self.refresh();
        let rule = self.setup.options.rewrite;
        let mut plan = Plan::default();
        if rule != RewriteRule::Delegate || !self.binds_after(0) {
            let recent = self.recent();
            for &ordinal in &self.live {
                self.edit(ordinal, ordinal >= recent, &mut plan);
            }
            self.cleared_envoys(&mut plan);
        } else {
            plan.rewrite.rule = RewriteRule::Delegate;
        }
        if rule == RewriteRule::Drop || rule == RewriteRule::AppendOnly {
            plan.rewrite = self.rewrite(rule, &plan);
        }
        plan
    }

    /// Whether `plan` gives back more than the floor.
    pub fn exceeds_floor(&self, plan: &Plan) -> bool {
        plan.reclaimed_chars > self.setup.options.min_reclaim_chars
    }

    /// The decision about every result, in order; what [`plan`](Self::plan) does and what it leaves.
    pub fn decisions(&mut self) -> Vec<Decision> {
        self.refresh();
        let recent = self.recent();
        (0..self.results.len() as Ordinal)
            .map(|ordinal| self.decide(ordinal, ordinal >= recent).0)
            .collect()
    }

    /// What to ask of a provider that clears by itself, once `trigger_tokens` of input are reached.
    pub fn delegated(&mut self, trigger_tokens: usize) -> Delegated {
        let recent = self.recent();
        let mut exclude_tools: Vec<String> = Vec::new();
        for held in self.results.iter().filter(|held| held.protected_tool) {
            let Some(call) = held.call else { continue };
            let name = &*self.calls[call as usize].name;
            if !exclude_tools.iter().any(|known| known == name) {
                exclude_tools.push(name.to_owned());
            }
        }
        Delegated {
            trigger_tokens,
            keep_results: self.results.len() - recent as usize,
            clear_at_least_tokens: self.setup.options.min_reclaim_chars / CHARS_PER_TOKEN,
            exclude_tools,
        }
    }

    /// The first ordinal that recency protects.
    fn recent(&self) -> Ordinal {
        let options = &self.setup.options;
        let eligible =
            self.live.iter().rev().filter(|&&ordinal| {
                !(options.disposable && self.results[ordinal as usize].disposable)
            });
        let weights = eligible.clone().map(|&ordinal| {
            let held = &self.results[ordinal as usize];
            Weight {
                chars: held.chars_with_children(),
                is_error: held.is_error,
            }
        });
        let count = protected(weights, options.protect_recent_chars, options.error_weight);
        match count {
            0 => self.results.len() as Ordinal,
            count => eligible
                .copied()
                .nth(count - 1)
                .unwrap_or(self.results.len() as Ordinal),
        }
    }

    fn edit(&self, ordinal: Ordinal, recent: bool, plan: &mut Plan) {
        let (decision, replacement) = self.decide(ordinal, recent);
        let children = self.children(ordinal, &decision);
        if replacement.is_none() && children.is_empty() {
            return;
        }
        plan.reclaimed_chars += decision.chars.saved() + children.reclaimed_chars;
        plan.reclaimed_tokens += decision.tokens.saved() + children.reclaimed_tokens;
        plan.edits.push(Edit {
            decision,
            replacement,
            children,
        });
    }

    /// An envoy's transcript is pruned unless the envoy's own result is left intact on purpose.
    fn children(&self, ordinal: Ordinal, decision: &Decision) -> Plan {
        let open = !decision.reason.spares();
        match &self.results[ordinal as usize].children {
            Some(child) if open => child.plan_children(),
            _ => Plan::default(),
        }
    }

    fn plan_children(&self) -> Plan {
        let recent = self.recent();
        let mut plan = Plan::default();
        for ordinal in 0..self.results.len() as Ordinal {
            self.edit(ordinal, ordinal >= recent, &mut plan);
        }
        plan
    }

    /// Envoys whose own result is a placeholder already may still hold whole children.
    fn cleared_envoys(&self, plan: &mut Plan) {
        let before = plan.edits.len();
        for &ordinal in &self.envoys {
            if self.results[ordinal as usize].tier() == Tier::Cleared {
                self.edit(ordinal, false, plan);
            }
        }
        if plan.edits.len() > before {
            plan.edits.sort_by_key(|edit| edit.decision.ordinal);
        }
    }

    fn decide(&self, ordinal: Ordinal, recent: bool) -> (Decision, Option<Replacement>) {
        let held = &self.results[ordinal as usize];
        let (tier, reason, superseded_by) = self.verdict(held, recent);
        let mut decision = Decision {
            ordinal: ordinal as usize,
            tier: held.tier(),
            reason,
            superseded_by: superseded_by.map(|later| later as usize),
            chars: Change::none(held.size.chars),
            tokens: Change::none(held.size.tokens),
        };
        if tier <= held.tier() && reason != Reason::OverCap {
            return (decision, None);
        }
        let replacement = replacement(held, tier, reason);
        let after = self.setup.estimator.measure(&replacement.text);
        if after.chars >= held.size.chars || after.tokens >= held.size.tokens {
            if !reason.is_stale() {
                decision.reason = Reason::NotShorter;
            }
            return (decision, None);
        }
        decision.tier = tier;
        decision.chars.after = after.chars;
        decision.tokens.after = after.tokens;
        (decision, Some(replacement))
    }

    /// The five passes, for one result.
    fn verdict(&self, held: &Held, recent: bool) -> (Tier, Reason, Option<Ordinal>) {
        let options = &self.setup.options;
        let keep = |reason| (held.tier(), reason, None);
        let unseen = held.turn == self.assistant_messages;
        if held.tier() == Tier::Cleared {
            return keep(Reason::AlreadyCleared);
        }
        if held.protected_tool {
            return keep(Reason::ProtectedTool);
        }
        if held.protected_file {
            return keep(Reason::ProtectedFile);
        }
        if options.rewrite == RewriteRule::AppendOnly && self.binds_after(0) {
            return match &held.capped {
                Some(_) => (Tier::Truncated, Reason::OverCap, None),
                None if unseen => keep(Reason::Unseen),
                None => keep(Reason::AlreadySent),
            };
        }
        if options.protect_unseen && unseen {
            return keep(Reason::Unseen);
        }
        let turns = self.assistant_messages - held.turn;
        if held.recalls
            && turns <= options.protect_recalled_turns
            && options.protect_recalled_turns > 0
        {
            return keep(Reason::Recalled);
        }
        if options.disposable && held.disposable {
            return (Tier::Cleared, Reason::Disposable, None);
        }
        if recent {
            return keep(Reason::Recent);
        }
        if let Some((reason, later)) = staleness(held) {
            return (Tier::Cleared, reason, Some(later));
        }
        if self.in_play(held) {
            return keep(Reason::InPlay);
        }
        if held.tier() == Tier::Truncated {
            return (Tier::Cleared, Reason::Escalated, None);
        }
        match held.truncated {
            Some(_) => (Tier::Truncated, Reason::Large, None),
            None => (Tier::Cleared, Reason::Small, None),
        }
    }

    /// Pass 3: one of its files that is not stale was referred to after it.
    fn in_play(&self, held: &Held) -> bool {
        let fresh = held.files.iter().zip(&held.stale);
        fresh
            .filter(|(_, stale)| stale.is_none())
            .any(|(&file, _)| self.paths.referred_at(file).is_some_and(|at| at > held.at))
    }

    /// Whether signed reasoning stands after this moment.
    fn binds_after(&self, at: u32) -> bool {
        self.signed.last().is_some_and(|&(signed, _)| signed > at)
    }

    fn rewrite(&self, rule: RewriteRule, plan: &Plan) -> Rewrite {
        let first = plan
            .edits
            .first()
            .map(|edit| &self.results[edit.decision.ordinal]);
        match first {
            Some(first) if self.binds_after(first.at) => Rewrite {
                rule,
                lost_reasoning_tokens: match rule {
                    RewriteRule::Drop => {
                        let start = self.signed.partition_point(|&(at, _)| at <= first.at);
                        self.signed[start..].iter().map(|&(_, tokens)| tokens).sum()
                    }
                    _ => 0,
                },
            },
            None if rule == RewriteRule::AppendOnly && self.binds_after(0) => Rewrite {
                rule,
                lost_reasoning_tokens: 0,
            },
            _ => Rewrite::default(),
        }
    }
}

/// Pass 2: stale only when all of what it read is stale; the newest of what superseded it is named.
fn staleness(held: &Held) -> Option<(Reason, Ordinal)> {
    if let Some(later) = held.duplicate {
        return Some((Reason::Duplicate, later));
    }
    let mut newest = None;
    for (target, stale) in held.targets.iter().zip(&held.stale) {
        if target.access == crate::touch::Access::Mutate {
            continue;
        }
        let found = match (*stale)? {
            Staleness::Mutated(later) => (Reason::Mutated, later),
            Staleness::Reread(later) => (Reason::Reread, later),
            Staleness::Covered(later) => (Reason::Covered, later),
        };
        if newest.is_none_or(|(_, later)| found.1 > later) {
            newest = Some(found);
        }
    }
    newest
}

fn replacement(held: &Held, tier: Tier, reason: Reason) -> Replacement {
    let original = original_size(held);
    let record = Degraded { tier, ..original };
    match (tier, reason) {
        (_, Reason::OverCap) => Replacement {
            text: held.capped.as_deref().unwrap_or_default().to_owned(),
            record: None,
        },
        (Tier::Truncated, _) => Replacement {
            text: held.truncated.as_deref().unwrap_or_default().to_owned(),
            record: Some(record),
        },
        _ => Replacement {
            text: cleared(&held.label, &original, &held.media),
            record: Some(record),
        },
    }
}
