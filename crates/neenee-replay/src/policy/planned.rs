//! The core's planner as a policy's hand: fed view by view, its plans carried out in part or whole.
//! Deliberately no rule of selection of its own; which edits of a plan are taken is the caller's.

use std::sync::Arc;

use neenee_core::message::Tier;
use neenee_core::pressure::view::View;
use neenee_core::pressure::{Edit as PlanEdit, Plan, Planner, PruneOptions, Setup};

use crate::ground::Ground;
use crate::window::Edit;

/// A planner that is fed with what the window sees.
pub(super) struct Planned {
    planner: Planner,
}

impl Planned {
    pub(super) fn new(ground: &Ground, options: PruneOptions) -> Self {
        Planned {
            planner: Planner::new(Arc::new(Setup {
                tools: ground.tools.clone(),
                options,
                estimator: ground.estimator,
            })),
        }
    }

    pub(super) fn see(&mut self, view: &View<'_>) {
        self.planner.push(view);
    }

    pub(super) fn planner(&self) -> &Planner {
        &self.planner
    }

    pub(super) fn plan(&mut self) -> Plan {
        self.planner.plan()
    }

    /// Whether carrying out `plan` gives back more than the floor.
    pub(super) fn exceeds_floor(&self, plan: &Plan) -> bool {
        self.planner.exceeds_floor(plan)
    }

    /// Takes note that `plan` is carried out, and says what that is for the window.
    pub(super) fn carry_out(&mut self, plan: Plan) -> Vec<Edit> {
        self.planner.record(&plan);
        let edit = |edit: PlanEdit| Edit {
            ordinal: edit.decision.ordinal,
            tier: edit
                .replacement
                .as_ref()
                .map_or(Tier::Kept, |_| edit.decision.tier),
            text: edit.replacement.map(|replacement| replacement.text),
            pass: edit.decision.reason.name(),
            saved_inside: edit.children.reclaimed_tokens,
        };
        plan.edits.into_iter().map(edit).collect()
    }
}

/// The plan with these edits alone, oldest first.
pub(super) fn partial(mut edits: Vec<PlanEdit>, whole: &Plan) -> Plan {
    edits.sort_by_key(|edit| edit.decision.ordinal);
    let chars = |edit: &PlanEdit| edit.decision.chars.saved() + edit.children.reclaimed_chars;
    Plan {
        reclaimed_chars: edits.iter().map(chars).sum(),
        reclaimed_tokens: edits.iter().map(saved_tokens).sum(),
        rewrite: whole.rewrite,
        edits,
    }
}

/// What an edit gives back, in tokens.
pub(super) fn saved_tokens(edit: &PlanEdit) -> usize {
    edit.decision.tokens.saved() + edit.children.reclaimed_tokens
}
