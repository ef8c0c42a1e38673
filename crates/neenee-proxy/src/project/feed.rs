//! Bringing the planner of a conversation up to what a request holds.
//! Deliberately only what is new: a turn costs what it adds, unless the history is another one.

use std::sync::Arc;

use neenee_core::message::{Degraded, Tier};
use neenee_core::pressure::plan::Change;
use neenee_core::pressure::{
    Decision, Edit, Plan, Planner, PruneOptions, Reason, Replacement, Rewrite, Setup, View,
    contains_marker,
};

use super::Request;
use crate::archive::DegradedResult;
use crate::conversation::{Fed, SetupId, State};
use crate::metrics::add;

impl Request<'_> {
    /// Feeds what the planner has not seen. Returns the estimated tokens that stand in front of the
    /// messages: instructions and tool schemas, which may be others with each request.
    pub(super) fn feed(&self, state: &mut State, setup: SetupId) -> usize {
        let chain = self.chain;
        let mut fed = match state.fed.take() {
            Some(fed) if fed.setup == setup && chain.nodes.starts_with(&fed.nodes) => fed,
            _ => Fed {
                planner: self.planner(self.job.current.settings.options.clone()),
                setup,
                nodes: Vec::new(),
                results: 0,
            },
        };
        self.push(&mut fed.planner, fed.nodes.len(), fed.nodes.is_empty());
        fed.planner.record(&self.done(state, fed.results));
        fed.nodes.extend_from_slice(&chain.nodes[fed.nodes.len()..]);
        fed.results = chain.keys.len();
        state.fed = Some(fed);
        self.preamble()
    }

    /// A planner that was fed everything, with other options.
    pub(super) fn fresh(&self, state: &State, options: PruneOptions) -> Planner {
        let mut planner = self.planner(options);
        self.push(&mut planner, 0, true);
        planner.record(&self.done(state, 0));
        planner
    }

    fn planner(&self, options: PruneOptions) -> Planner {
        Planner::new(Arc::new(Setup {
            tools: self.job.current.settings.tools.clone(),
            options: PruneOptions {
                rewrite: self.target.rule,
                ..options
            },
            estimator: self.target.estimator(),
        }))
    }

    /// Pushes the messages after the first `known`.
    fn push(&self, planner: &mut Planner, known: usize, first: bool) {
        let mut views = self.document.views();
        for view in views.by_ref().take(self.chain.preamble) {
            if first && matches!(view, View::Cwd(_)) {
                planner.push(&view);
            }
        }
        let mut message = 0;
        for view in views {
            // A result that stands in no message is one.
            if matches!(view, View::Message(_)) || message == 0 {
                message += 1;
            }
            if message <= known {
                continue;
            }
            if let View::Call(call) = &view
                && contains_marker(call.arguments)
            {
                add(&self.shared.metrics.imitations, 1);
            }
            planner.push(&view);
        }
    }

    /// What was degraded already, of the results after the first `known`, as the plan that did it.
    fn done(&self, state: &State, known: usize) -> Plan {
        let mut plan = Plan::default();
        let keys = self.chain.keys.iter().enumerate().skip(known);
        for (ordinal, key) in keys {
            if let Some(result) = state.degraded.get(key) {
                plan.edits.push(edit(ordinal, result));
                plan.reclaimed_chars += result.chars.0.saturating_sub(result.chars.1);
                plan.reclaimed_tokens += result.tokens.0.saturating_sub(result.tokens.1);
            }
        }
        plan
    }

    fn preamble(&self) -> usize {
        let estimator = self.target.estimator();
        let views = self.document.views().take(self.chain.preamble);
        views
            .map(|view| match view {
                View::Text(text) | View::Opaque(text) => estimator.tokens(text),
                View::Weight { tokens } => tokens,
                _ => 0,
            })
            .sum()
    }
}

/// The edit that led to a degraded result, as far as the planner takes note of one.
fn edit(ordinal: usize, result: &DegradedResult) -> Edit {
    let change = |(before, after): (usize, usize)| Change { before, after };
    let tier = if result.truncated {
        Tier::Truncated
    } else {
        Tier::Cleared
    };
    Edit {
        decision: Decision {
            ordinal,
            tier,
            reason: Reason::AlreadyCleared,
            superseded_by: None,
            chars: change(result.chars),
            tokens: change(result.tokens),
        },
        replacement: Some(Replacement {
            text: result.text.clone(),
            record: result.original_chars.map(|chars| Degraded {
                tier,
                lines: result.lines,
                chars,
            }),
        }),
        children: Plan {
            rewrite: Rewrite::default(),
            ..Plan::default()
        },
    }
}
