//! The front door of pruning: policy → budget → gate → plan.
//! Deliberately not what a call touches (`touch`) and not how a format is spliced (the codecs').

pub mod fold;
mod ledger;
pub mod options;
mod pairing;
mod paths;
pub mod plan;
pub mod planner;
pub mod policy;
pub mod prune;
mod recency;
mod references;
pub mod tiers;
pub mod view;

pub use crate::estimate::estimate_tokens;
pub use fold::{Fold, FoldGoal, fold};
pub use options::{Protected, PruneOptions};
pub use plan::{Decision, Delegated, Edit, Left, Plan, Reason, Replacement, ResultInfo, Rewrite};
pub use planner::{Planner, Setup};
pub use policy::{
    CHARS_PER_TOKEN, CompactionPolicy, ContextBudget, FALLBACK_WINDOW_TOKENS,
    PRUNE_MIN_RECLAIM_CHARS,
};
pub use prune::{Original, PruneOutcome, apply, prune_tool_results, prune_with};
pub use tiers::{
    CLEARED_TOOL_PREFIX, PRUNED_TOOL_PLACEHOLDER, TRUNCATE_MIN_CHARS, contains_marker,
};
pub use view::{CallView, ResultView, View, views};
