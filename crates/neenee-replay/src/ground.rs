//! What all policies of one comparison share: the window, how tokens are counted, what tools touch.
//! Deliberately no policy's own numbers; those are its parameters.

use neenee_core::estimate::Estimator;
use neenee_core::pressure::{CompactionPolicy, ContextBudget, PruneOptions};
use neenee_core::touch::ToolTable;

/// The ground that policies are compared on.
#[derive(Clone, Debug)]
pub struct Ground {
    /// What the model accepts as input, in tokens.
    pub window_tokens: usize,
    /// The fractions of the window that our own policies engage at.
    pub policy: CompactionPolicy,
    /// The options of our own policies.
    pub options: PruneOptions,
    /// How tokens are counted, for every policy that does not bring its own way.
    pub estimator: Estimator,
    /// What each tool's calls touch.
    pub tools: ToolTable,
}

impl Ground {
    /// The defaults at a window of `window_tokens`.
    pub fn new(window_tokens: usize) -> Self {
        Ground {
            window_tokens,
            policy: CompactionPolicy::default(),
            options: PruneOptions::default(),
            estimator: Estimator::default(),
            tools: ToolTable::builtin(),
        }
    }

    /// The thresholds in tokens.
    pub fn budget(&self) -> ContextBudget {
        self.policy.budget(Some(self.window_tokens))
    }

    /// A fraction of the window, in tokens.
    pub fn tokens(&self, fraction: f64) -> usize {
        (self.window_tokens as f64 * fraction).round() as usize
    }
}
