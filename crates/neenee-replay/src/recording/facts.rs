//! What the planner knows of each result once the whole recording has been seen.
//! Deliberately by a planner that protects nothing, so that staleness is a fact and no policy.

use std::sync::Arc;

use neenee_core::pressure::{Planner, PruneOptions, Setup};

use super::Recording;
use crate::ground::Ground;

impl Recording<'_> {
    /// Fills in labels, failures, and from when on a result is stale: since the result that the
    /// planner names as having superseded it.
    pub(super) fn establish(&mut self, ground: &Ground) {
        let mut planner = Planner::new(Arc::new(Setup {
            tools: ground.tools.clone(),
            options: PruneOptions {
                union_coverage: true,
                dedupe_calls: true,
                ..PruneOptions::bare(0, 0)
            },
            estimator: ground.estimator,
        }));
        planner.extend(self.views.iter().copied());
        for decision in planner.decisions() {
            if !decision.reason.is_stale() {
                continue;
            }
            let Some(later) = decision.superseded_by else {
                continue;
            };
            let turn = self.results[later].turn;
            self.results[decision.ordinal].stale = Some((turn, later));
        }
        for (ordinal, found) in self.results.iter_mut().enumerate() {
            if let Some(info) = planner.result(ordinal) {
                info.label.clone_into(&mut found.label);
                info.tool.clone_into(&mut found.tool);
                found.is_error = info.is_error;
            }
        }
    }
}
