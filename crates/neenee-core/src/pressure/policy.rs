//! When pruning engages: fractions of a model's window, turned into token thresholds.
//! Deliberately not what is pruned; see `plan`.

/// Chars (Unicode scalars) that one token is converted to where a configuration speaks of tokens
/// and the planner of chars.
pub const CHARS_PER_TOKEN: usize = 4;

/// The reclaim floor in chars: a smaller win never touches the window. Not configurable.
pub const PRUNE_MIN_RECLAIM_CHARS: usize = 8_000;

/// Window in tokens that is assumed when nobody knows the model's.
pub const FALLBACK_WINDOW_TOKENS: usize = 32_000;

/// Fractions of the window at which the relief layers engage, model-independent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompactionPolicy {
    /// Master switch of pruning, both entry points.
    pub prune: bool,
    /// Fraction of the window over which pruning engages.
    pub prune_utilization: f64,
    /// Fraction of the window over which compaction engages.
    pub compact_utilization: f64,
    /// Fraction of the window that compaction aims at.
    pub target_utilization: f64,
    /// Recent tool output that pruning protects, in tokens.
    pub prune_protect_tokens: usize,
    /// Whole rounds that compaction leaves verbatim.
    pub preserve_rounds: usize,
    /// Window in tokens when the model's is unknown.
    pub fallback_window_tokens: usize,
}

impl Default for CompactionPolicy {
    fn default() -> Self {
        CompactionPolicy {
            prune: true,
            prune_utilization: 0.65,
            compact_utilization: 0.85,
            target_utilization: 0.25,
            prune_protect_tokens: 6_000,
            preserve_rounds: 6,
            fallback_window_tokens: FALLBACK_WINDOW_TOKENS,
        }
    }
}

impl CompactionPolicy {
    /// The thresholds for a model that accepts `window_tokens` of input; `None` when unknown.
    pub fn budget(&self, window_tokens: Option<usize>) -> ContextBudget {
        let window = window_tokens
            .filter(|&window| window > 0)
            .unwrap_or(self.fallback_window_tokens);
        ContextBudget {
            window_tokens: window,
            prune_threshold_tokens: fraction(window, self.prune_utilization),
            compact_threshold_tokens: fraction(window, self.compact_utilization),
            target_tokens: fraction(window, self.target_utilization),
            prune: self.prune,
        }
    }

    /// [`Self::prune_protect_tokens`] in chars.
    pub fn protect_recent_chars(&self) -> usize {
        self.prune_protect_tokens.saturating_mul(CHARS_PER_TOKEN)
    }
}

/// A policy resolved for one model: thresholds in tokens of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextBudget {
    /// What the model accepts as input.
    pub window_tokens: usize,
    /// Pruning engages over this.
    pub prune_threshold_tokens: usize,
    /// Compaction engages over this.
    pub compact_threshold_tokens: usize,
    /// What compaction aims at.
    pub target_tokens: usize,
    /// The master switch of the policy.
    pub prune: bool,
}

impl ContextBudget {
    /// The one gate of both entry points: pruning is on and the pressure is over its threshold.
    pub fn prune_engages(&self, pressure_tokens: usize) -> bool {
        self.prune && pressure_tokens > self.prune_threshold_tokens
    }
}

fn fraction(window: usize, utilization: f64) -> usize {
    // A float cast saturates and turns NaN into 0, so no configuration can make this panic.
    (window as f64 * utilization).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_follow_the_model() {
        let policy = CompactionPolicy::default();
        let budget = policy.budget(Some(200_000));
        assert_eq!(budget.prune_threshold_tokens, 130_000);
        assert_eq!(budget.compact_threshold_tokens, 170_000);
        assert_eq!(budget.target_tokens, 50_000);
        assert_eq!(policy.budget(None).window_tokens, 32_000);
        assert_eq!(policy.budget(Some(0)).prune_threshold_tokens, 20_800);
        assert!(budget.prune_engages(130_001));
        assert!(!budget.prune_engages(130_000));
        let off = CompactionPolicy {
            prune: false,
            ..policy
        };
        assert!(!off.budget(Some(10)).prune_engages(1_000_000));
    }
}
