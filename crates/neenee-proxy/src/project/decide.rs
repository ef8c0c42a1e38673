//! Whether a request is pruned now: over its threshold, or below it while that costs little.
//! Deliberately no policy of its own about results: what goes is the planner's to say.

use std::sync::Arc;

use memchr::memmem;
use neenee_core::message::Tier;
use neenee_core::model::RewriteRule;
use neenee_core::pressure::{Edit, Plan, Planner, PruneOptions};
use neenee_wire::Delegate;

use super::{Attempt, Request};
use crate::archive::{DegradedResult, Original, Projection};
use crate::conversation::{Decision, State};
use crate::economics::{self, Balance};
use crate::fault::Fault;
use crate::metrics::add;
use crate::route::Kind;

/// What led to a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trigger {
    /// The window is over its threshold.
    Threshold,
    /// It is over the lower one, and the provider's cache has gone.
    Cold,
    /// It is over the lower one, and the plan may pay although the cache is warm.
    Pays,
    /// The provider said that the window is full.
    Overflow,
}

impl Trigger {
    fn name(self) -> &'static str {
        match self {
            Trigger::Threshold => "threshold",
            Trigger::Cold => "cold",
            Trigger::Pays => "pays",
            Trigger::Overflow => "overflow",
        }
    }
}

/// What is known of the provider's cache.
struct Cache {
    idle: Option<i64>,
    warm: Option<bool>,
    long: bool,
}

impl Request<'_> {
    /// Plans where it is time to, and applies the plan once its originals are durable.
    pub(super) fn decide(&self, state: &mut State, preamble: usize) -> Result<(), Fault> {
        let Some(mut fed) = state.fed.take() else {
            return Ok(());
        };
        let pressure = preamble + fed.planner.pressure_tokens();
        let cache = self.cache();
        let decided = match self.trigger(pressure, &cache) {
            None => Ok(()),
            Some(_) if self.job.quick => Err(Fault::Slow),
            Some(Trigger::Overflow) => {
                let mut planner = self.fresh(state, self.harder());
                let plan = planner.plan();
                self.settle(
                    state,
                    &mut planner,
                    &plan,
                    Trigger::Overflow,
                    pressure,
                    &cache,
                )
            }
            Some(trigger) => {
                let plan = fed.planner.plan();
                self.settle(state, &mut fed.planner, &plan, trigger, pressure, &cache)
            }
        };
        // What was planned with other options is not in this planner.
        if self.job.attempt == Attempt::Harder {
            fed.planner = self.fresh(state, self.job.current.settings.options.clone());
        }
        state.fed = Some(fed);
        decided
    }

    fn trigger(&self, pressure: usize, cache: &Cache) -> Option<Trigger> {
        let budget = &self.target.budget;
        if self.job.attempt == Attempt::Harder {
            Some(Trigger::Overflow)
        } else if budget.prune_engages(pressure) {
            Some(Trigger::Threshold)
        } else if !budget.prune
            || !self.job.current.settings.cache_aware
            || pressure <= self.target.cold
        {
            None
        } else if cache.warm == Some(false) {
            Some(Trigger::Cold)
        } else {
            Some(Trigger::Pays)
        }
    }

    /// All that may go: no budget for what is recent, no floor. What the model has not seen stays.
    fn harder(&self) -> PruneOptions {
        PruneOptions {
            protect_recent_chars: 0,
            min_reclaim_chars: 0,
            ..self.job.current.settings.options.clone()
        }
    }

    fn settle(
        &self,
        state: &mut State,
        planner: &mut Planner,
        plan: &Plan,
        trigger: Trigger,
        pressure: usize,
        cache: &Cache,
    ) -> Result<(), Fault> {
        let balance = self.balance(plan, pressure, cache);
        let mut decision = Decision {
            at: self.shared.now(),
            trigger: trigger.name(),
            pressure,
            reclaimed_tokens: plan.reclaimed_tokens,
            results: plan.edits.len(),
            warm: cache.warm,
            idle: cache.idle.map(|idle| idle as f64 / 1e3),
            cost: balance.map(|balance| balance.cost),
            gain_per_request: balance.map(|balance| balance.gain),
            lost_reasoning_tokens: plan.rewrite.lost_reasoning_tokens,
            ..Decision::default()
        };
        let mut settled = Ok(());
        decision.outcome = if plan.rewrite.rule == RewriteRule::Delegate {
            self.delegate(state, planner, trigger)
        } else if plan.is_empty() {
            "nothing"
        } else if !planner.exceeds_floor(plan) {
            "below-floor"
        } else if trigger == Trigger::Pays && !balance.is_some_and(|it| it.pays()) {
            "waits"
        } else {
            settled = self.apply(state, planner, plan, trigger);
            match &settled {
                Ok(()) => "applied",
                Err(_) => "not-archived",
            }
        };
        let mut story = self.conversation.story();
        if decision.outcome == "applied"
            && cache.warm != Some(false)
            && let (Some(saved), Some(balance)) = (&mut story.saved, balance)
        {
            // What rewriting costs is taken off what pruning saves.
            *saved -= balance.cost;
        }
        // A conversation that waits says so once, with its latest numbers.
        if story.decisions.back().is_some_and(|last| {
            last.outcome == decision.outcome
                && last.trigger == decision.trigger
                && decision.outcome != "applied"
        }) {
            story.decisions.pop_back();
        }
        story.decide(decision);
        settled
    }

    /// Asks the provider to clear by itself, from now on and always in the same words.
    fn delegate(&self, state: &mut State, planner: &mut Planner, trigger: Trigger) -> &'static str {
        if state.delegated.is_some() {
            return "delegated";
        }
        if trigger == Trigger::Pays {
            // The provider rewrites as much as we would.
            return "waits";
        }
        let asked = planner.delegated(self.target.budget.prune_threshold_tokens);
        state.delegated = Some(Delegate {
            trigger_input_tokens: asked.trigger_tokens,
            keep_tool_uses: asked.keep_results,
            clear_at_least_input_tokens: asked.clear_at_least_tokens,
            exclude_tools: asked.exclude_tools,
        });
        add(&self.shared.metrics.delegated, 1);
        "delegated"
    }

    fn apply(
        &self,
        state: &mut State,
        planner: &mut Planner,
        plan: &Plan,
        trigger: Trigger,
    ) -> Result<(), Fault> {
        let mut results = Vec::with_capacity(plan.edits.len());
        let mut originals = Vec::with_capacity(plan.edits.len());
        let mut last = 0;
        for edit in &plan.edits {
            let ordinal = edit.decision.ordinal;
            let (Some(slot), Some(degraded)) = (
                self.document.results().get(ordinal),
                self.degraded(state, planner, edit),
            ) else {
                continue;
            };
            originals.push(Original {
                key: degraded.key,
                content: &self.job.body[slot.range()],
            });
            results.push(degraded);
            last = last.max(self.chain.at[ordinal]);
        }
        let projection = Projection {
            conversation: self.conversation.id.clone(),
            node: self.chain.nodes[last],
            at: self.shared.now(),
            model: self.target.name.clone(),
            trigger: trigger.name().to_owned(),
            drops_reasoning: state.drops_reasoning || plan.rewrite.rule == RewriteRule::Drop,
            results,
        };
        self.shared.archive.record(&projection, &originals)?;
        planner.record(plan);
        state.apply(&projection);
        let metrics = &self.shared.metrics;
        add(&metrics.prunes, 1);
        add(&metrics.truncated, plan.count(Tier::Truncated));
        add(&metrics.cleared, plan.count(Tier::Cleared));
        Ok(())
    }

    fn degraded(&self, state: &State, planner: &Planner, edit: &Edit) -> Option<DegradedResult> {
        let ordinal = edit.decision.ordinal;
        let replacement = edit.replacement.as_ref()?;
        let info = planner.result(ordinal)?;
        let key = *self.chain.keys.get(ordinal)?;
        // Of what was truncated before, the size that counts is the whole one's.
        let before = state.degraded.get(&key);
        let whole = |now: usize, old: fn(&Arc<DegradedResult>) -> usize| before.map_or(now, old);
        let decision = &edit.decision;
        Some(DegradedResult {
            key,
            call_id: info.call_id.map(str::to_owned),
            tool: info.tool.to_owned(),
            label: info.label.to_owned(),
            reason: decision.reason.name().to_owned(),
            truncated: decision.tier == Tier::Truncated,
            lines: replacement.record.and_then(|record| record.lines),
            original_chars: replacement.record.map(|record| record.chars),
            chars: (
                whole(decision.chars.before, |old| old.chars.0),
                decision.chars.after,
            ),
            tokens: (
                whole(decision.tokens.before, |old| old.tokens.0),
                decision.tokens.after,
            ),
            text: replacement.text.clone(),
        })
    }

    fn cache(&self) -> Cache {
        let body = &self.job.body;
        let long = match self.job.kind {
            Kind::Messages | Kind::CountTokens => {
                memmem::find(body, b"\"ttl\":\"1h\"").is_some()
                    || memmem::find(body, b"\"ttl\": \"1h\"").is_some()
            }
            _ => memmem::find(body, b"\"prompt_cache_retention\"").is_some(),
        };
        let last = self.conversation.story().last;
        let idle = (last > 0).then(|| (self.shared.now() - last).max(0));
        Cache {
            idle,
            warm: economics::warm(idle, economics::lifetime(self.job.kind, long)),
            long,
        }
    }

    fn balance(&self, plan: &Plan, pressure: usize, cache: &Cache) -> Option<Balance> {
        let first = plan.edits.first()?.decision.ordinal;
        let start = self.document.results().get(first)?.range().start;
        // What stands behind the first edit, by its share of the bytes: near enough for a price.
        let share = 1.0 - start as f64 / self.job.body.len().max(1) as f64;
        let suffix = (pressure as f64 * share) as usize;
        economics::balance(
            self.target.prices,
            plan.reclaimed_tokens,
            suffix.saturating_sub(plan.reclaimed_tokens),
            cache.long,
        )
    }
}
