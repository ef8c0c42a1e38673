//! The front door of pruning: policy, budget, gate, plan.
//! Deliberately not what a call touches (`touch`) and not how a format is spliced (the codecs').

pub mod view;

pub use view::{CallView, ResultView, View, views};
