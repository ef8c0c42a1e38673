//! Ours beyond the design of record: results are ranked by how soon they may be needed again, and the
//! best of them stay, within a budget.
//! Deliberately the planner's facts (staleness, targets, protection) and its tiers; only the choice
//! differs.
//!
//! A result's rank is its age: the tokens of results that came after it, or after its file was last read
//! or changed, times a factor for its kind. What is youngest stays while it fits: into what is left of
//! the `target` once everything that is no result has its place, or into the `budget` where that is more,
//! so that large arguments of calls do not cost the results that are in use. Reads of files that nobody
//! changed since are what later edits quote: they may fill the window up to `reads`. What a later result
//! shows again is no use at all.
//!
//! Parameters: `trigger`, `target`, `reads` (fractions of the window), `budget`, `floor` (the least that a
//! projection gives back), `horizon` (the oldest that stays; all in tokens), `mutated`, `shell`, `search`
//! (factors), `touch` (0 counts from the result itself, 1 from when its file was last touched).

use std::sync::Arc;

use neenee_core::message::{Degraded, Tier};
use neenee_core::pressure::tiers::{TRUNCATE_MIN_CHARS, cleared, truncated};
use neenee_core::pressure::view::View;
use neenee_core::pressure::{
    Decision, Edit as PlanEdit, Plan, Planner, PruneOptions, Reason, Replacement, ResultInfo, Setup,
};
use neenee_core::touch::Access;
use rustc_hash::FxHashMap;

use super::{Entry, Policy};
use crate::ground::Ground;
use crate::needs::key;
use crate::params::{ParamError, Reading};
use crate::window::{Edit, Window};

pub(super) const ENTRY: Entry = Entry {
    name: "ours-ranked",
    about: "keeps the results that may be needed soonest, within a budget",
    build: |params, ground, _| {
        let defaults = Defaults {
            trigger: ground.policy.prune_utilization,
            target: 0.3,
            reads: ground.policy.compact_utilization,
            floor: 7_500,
        };
        Ok(Box::new(Ranked::new(params, ground, &defaults, None)?))
    },
};

/// Where the two policies that rank differ unless told otherwise.
pub(super) struct Defaults {
    /// Fraction of the window.
    pub(super) trigger: f64,
    /// Fraction of the window.
    pub(super) target: f64,
    /// Fraction of the window.
    pub(super) reads: f64,
    /// Tokens.
    pub(super) floor: usize,
}

/// When a projection pays for the cached prefix that it breaks.
pub(super) struct Pays {
    /// How long a cache stays, in ms.
    pub(super) ttl: i64,
    /// Tokens over which a window is projected once its cache is cold.
    pub(super) cold: usize,
    /// Tokens over which it is projected whatever it costs.
    pub(super) hard: usize,
    /// Requests that are expected to come.
    pub(super) horizon: f64,
    /// What a token written costs more than one read, in reads.
    pub(super) write_reads: f64,
}

/// Even what has just come is not equal to what comes next.
const YOUNG: f64 = 500.0;

/// Where the cache is cold, and between two looks, this part of the floor is enough.
const COLD_FLOOR: usize = 4;

pub(super) struct Ranked {
    planner: Planner,
    pays: Option<Pays>,
    on: bool,
    trigger: usize,
    target: usize,
    reads: usize,
    budget: usize,
    floor: usize,
    horizon: f64,
    mutated: f64,
    shell: f64,
    search: f64,
    touch: f64,
    /// Tokens of all results so far.
    clock: usize,
    /// The clock after each result.
    born: Vec<usize>,
    /// The clock when a file of that name was last read or changed.
    touched: FxHashMap<u64, usize>,
    /// Tokens of results in the window after the last projection.
    kept: usize,
}

impl Ranked {
    pub(super) fn new(
        params: &Reading<'_>,
        ground: &Ground,
        defaults: &Defaults,
        pays: Option<Pays>,
    ) -> Result<Self, ParamError> {
        let options = PruneOptions {
            protect_recent_chars: 0,
            ..ground.options.clone()
        };
        Ok(Ranked {
            planner: Planner::new(Arc::new(Setup {
                tools: ground.tools.clone(),
                options,
                estimator: ground.estimator,
            })),
            pays,
            on: ground.policy.prune,
            trigger: ground.tokens(params.number("trigger", defaults.trigger)?),
            target: ground.tokens(params.number("target", defaults.target)?),
            reads: ground.tokens(params.number("reads", defaults.reads)?),
            budget: params.count("budget", 3_000)?,
            floor: params.count("floor", defaults.floor)?,
            horizon: params.count("horizon", 30_000)? as f64,
            mutated: params.number("mutated", 1.0)?,
            shell: params.number("shell", 1.0)?,
            search: params.number("search", 2.0)?,
            touch: params.number("touch", 0.9)?.min(1.0),
            clock: 0,
            born: Vec::new(),
            touched: FxHashMap::default(),
            kept: 0,
        })
    }

    /// Takes note of which files the newest result touched.
    fn touch(&mut self, tokens: usize) {
        self.clock += tokens;
        self.born.push(self.clock);
        let newest = self.planner.result(self.born.len() - 1);
        for target in newest
            .filter(|info| !info.is_error)
            .map_or(&[][..], |info| info.targets)
        {
            self.touched
                .insert(key(target.path.file_name()), self.clock);
        }
    }

    /// The rank; `None` for what is of no use whatever its age.
    fn age(&self, decision: &Decision) -> Option<f64> {
        let info = self.planner.result(decision.ordinal)?;
        let factor = match decision.reason {
            Reason::Reread | Reason::Covered | Reason::Duplicate | Reason::Disposable => {
                return None;
            }
            Reason::Mutated => self.mutated,
            _ if !info.targets.is_empty() => 1.0,
            _ => match info.tool.to_ascii_lowercase().as_str() {
                "grep" | "glob" | "list" | "ls" | "find" => self.search,
                _ => self.shell,
            },
        };
        let own = (self.clock - self.born[decision.ordinal]) as f64;
        let names = info
            .targets
            .iter()
            .map(|target| key(target.path.file_name()));
        let last = names.filter_map(|name| self.touched.get(&name)).max();
        let since = last.map_or(own, |&last| (self.clock - last) as f64);
        Some((own + (since - own).min(0.0) * self.touch + YOUNG) * factor)
    }

    /// Whether it shows a file that nobody changed since.
    fn is_unchanged_read(&self, decision: &Decision) -> bool {
        let info = self.planner.result(decision.ordinal);
        let read = |info: ResultInfo<'_>| {
            let mut targets = info.targets.iter();
            targets.any(|target| target.access != Access::Mutate)
        };
        !decision.reason.is_stale() && info.is_some_and(read)
    }

    /// Whether what `plan` saves in requests to come is more than writing again what stands behind
    /// its first edit.
    fn worth(&self, plan: &Plan, window: &Window<'_, '_>) -> bool {
        let (Some(pays), Some(first)) = (&self.pays, plan.edits.first()) else {
            return true;
        };
        let before = window.tokens_before(window.found(first.decision.ordinal).at);
        let behind = window.tokens() - before - plan.reclaimed_tokens;
        window.tokens() > pays.hard
            || plan.reclaimed_tokens as f64 * pays.horizon > behind as f64 * pays.write_reads
    }

    /// What becomes of a result that does not stay, when that is shorter.
    fn degrade(&self, window: &Window<'_, '_>, decision: &Decision) -> Option<PlanEdit> {
        let at = decision.ordinal;
        let (held, found, result) = (&window.held()[at], window.found(at), window.result(at));
        let fresh = !decision.reason.is_stale() && decision.reason != Reason::Disposable;
        let whole = held.tier == Tier::Kept && !found.media && result.children.is_empty();
        let large = found.size.chars >= TRUNCATE_MIN_CHARS;
        let tier = if fresh && whole && large {
            Tier::Truncated
        } else {
            Tier::Cleared
        };
        let record = Degraded {
            tier,
            lines: Some(found.size.lines),
            chars: found.size.chars,
        };
        let text = match tier {
            Tier::Truncated => truncated(result.text, found.size.chars),
            _ => cleared(&found.label, &record, result.media),
        };
        let mut decision = decision.clone();
        decision.tier = tier;
        decision.tokens.before = held.tokens;
        decision.tokens.after = window.count(&text);
        decision.chars.after = text.chars().count().min(decision.chars.before);
        (decision.tokens.after < held.tokens).then(|| PlanEdit {
            decision,
            replacement: Some(Replacement {
                text,
                record: Some(record),
            }),
            children: Plan::default(),
        })
    }
}

impl Policy for Ranked {
    fn see(&mut self, view: &View<'_>) {
        self.planner.push(view);
        if let View::Result(_) = view {
            let newest = self.planner.result(self.born.len());
            let tokens = newest.map_or(0, |info| info.tokens);
            self.touch(tokens);
        }
    }

    fn project(&mut self, window: &Window<'_, '_>) -> Vec<Edit> {
        let results = window.result_tokens();
        let cold = self.pays.as_ref().is_some_and(|pays| {
            let rested = window.idle().is_some_and(|idle| idle > pays.ttl);
            rested && window.tokens() > pays.cold
        });
        let floor = if cold {
            self.floor / COLD_FLOOR
        } else {
            self.floor
        };
        let over = cold || window.tokens() > self.trigger;
        if !self.on || !over || results < self.kept + floor {
            return Vec::new();
        }
        let decisions = self.planner.decisions();
        let open = |decision: &&Decision| {
            let at = decision.ordinal;
            window.held()[at].tier != Tier::Cleared
                && !matches!(
                    decision.reason,
                    Reason::Unseen
                        | Reason::ProtectedTool
                        | Reason::ProtectedFile
                        | Reason::Recalled
                )
        };
        let rank = |decision| (self.age(decision).unwrap_or(f64::INFINITY), decision);
        let mut ranked: Vec<(f64, &Decision)> = decisions.iter().filter(open).map(rank).collect();
        ranked.sort_by(|left, right| left.0.total_cmp(&right.0));

        let fixed = window.tokens() - results;
        let mut room = self.budget.max(self.target.saturating_sub(fixed));
        let mut more = self.reads.saturating_sub(fixed + room);
        let mut plan = Plan::default();
        for (age, decision) in ranked {
            let tokens = window.held()[decision.ordinal].tokens;
            let young = age <= self.horizon;
            if young && tokens <= room {
                room -= tokens;
            } else if young && tokens <= more && self.is_unchanged_read(decision) {
                more -= tokens;
            } else if let Some(edit) = self.degrade(window, decision) {
                plan.reclaimed_tokens += edit.decision.tokens.saved();
                plan.reclaimed_chars += edit.decision.chars.saved();
                plan.edits.push(edit);
            }
        }
        plan.edits.sort_by_key(|edit| edit.decision.ordinal);
        let free = cold || self.pays.is_none();
        if plan.reclaimed_tokens < floor || !(free || self.worth(&plan, window)) {
            // No need to look again before there is more to gain.
            self.kept = results.saturating_sub(floor - floor / COLD_FLOOR);
            return Vec::new();
        }
        self.kept = results - plan.reclaimed_tokens;
        self.planner.record(&plan);
        super::planned::edits(plan)
    }
}
