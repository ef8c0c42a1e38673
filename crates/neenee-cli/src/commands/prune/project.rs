//! One projection: read, measure, plan, gate, splice.
//! Deliberately no I/O and nothing printed: bytes in, bytes and a report out.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use neenee_core::model::RewriteRule;
use neenee_core::pressure::view::View;
use neenee_core::pressure::{Decision, Plan, Planner, Setup};
use neenee_core::touch::ToolTable;
use neenee_wire::{Delegate, Document, Edit, Format, Insertion, InsertionError, SpliceError};

use crate::settings::Settings;
use crate::window::Window;

/// What is asked, the same for every file.
pub(super) struct Request<'a> {
    /// The configuration, flags included.
    pub(super) settings: &'a Settings,
    /// What calls touch.
    pub(super) tools: ToolTable,
    /// The format, where it is not to be recognised.
    pub(super) format: Option<Format>,
    /// Whether the gate is to be passed by.
    pub(super) now: bool,
    /// Whether each result is to be reported.
    pub(super) rows: bool,
}

/// What came of a file.
pub(super) struct Projection {
    /// The new bytes; `None` when they are those of the input.
    pub(super) bytes: Option<Vec<u8>>,
    /// What was done and why.
    pub(super) report: Report,
}

/// What was done to a file, and why.
pub(super) struct Report {
    /// What it was read as.
    pub(super) format: Format,
    /// What it is measured against.
    pub(super) window: Window,
    /// What became of the plan.
    pub(super) gate: Gate,
    /// What was applied; empty when nothing was.
    pub(super) plan: Plan,
    /// Estimated tokens of the window before.
    pub(super) tokens: usize,
    /// Chars of the window before.
    pub(super) chars: usize,
    /// How many messages there are.
    pub(super) messages: usize,
    /// How many results there are.
    pub(super) results: usize,
    /// Call ids of the results that were changed.
    pub(super) changed: Vec<String>,
    /// Each result in order, when asked for.
    pub(super) rows: Vec<ResultRow>,
    /// What the provider has to be told besides.
    pub(super) told: Told,
    /// What was carried without being understood.
    pub(super) warnings: Vec<String>,
}

/// What became of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    /// It was applied.
    Applied,
    /// Pruning is switched off.
    Off,
    /// The window is not over its threshold.
    BelowThreshold,
    /// It would give back these chars, which are not over the floor.
    BelowFloor {
        /// What it would give back.
        reclaim: usize,
    },
    /// There is nothing that could go.
    Nothing,
    /// The provider is asked to do it.
    Delegated,
}

/// What has to be told to the provider along with the result, as signed reasoning does not fit any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// Nothing.
    Nothing,
    /// The body tells it; it needs a header.
    InBody,
    /// Whoever sends the window has to.
    ByTheSender,
}

/// One result.
pub(super) struct ResultRow {
    /// What was decided; of a plan that was not applied, what is so.
    pub(super) decision: Decision,
    /// The reason by its name for programs.
    pub(super) reason: &'static str,
    /// The reason for people.
    pub(super) why: String,
    /// The id of the call.
    pub(super) call_id: Option<String>,
    /// The tool.
    pub(super) tool: String,
    /// Tool and salient argument.
    pub(super) label: String,
    /// The files.
    pub(super) targets: Vec<String>,
}

/// Prunes one session or body. `name` is what it is called in errors.
pub(super) fn project(bytes: &[u8], name: &str, request: &Request<'_>) -> Result<Projection> {
    let document = neenee_wire::read(bytes, request.format)
        .with_context(|| format!("failed to read {name}"))?;
    let window = Window::resolve(request.settings, document.model())?;
    let mut options = request.settings.options(window.rule())?;
    if request.now {
        options.min_reclaim_chars = 0;
    }
    let mut planner = Planner::new(Arc::new(Setup {
        tools: request.tools.clone(),
        options,
        estimator: window.estimator(),
    }));
    planner.extend(document.views());

    let mut gate = shut(request, &window, planner.pressure_tokens());
    let mut plan = Plan::default();
    if gate.is_none() {
        plan = planner.plan();
        gate = match plan.rewrite.rule {
            RewriteRule::Delegate => Some(Gate::Delegated),
            _ if plan.is_empty() => Some(Gate::Nothing),
            _ if !planner.exceeds_floor(&plan) => Some(Gate::BelowFloor {
                reclaim: plan.reclaimed_chars,
            }),
            _ => None,
        };
    }
    let gate = gate.unwrap_or(Gate::Applied);
    let (new, told) = match gate {
        Gate::Applied => write(&document, &plan).map(|(new, told)| (Some(new), told)),
        Gate::Delegated => {
            let threshold = window.budget.prune_threshold_tokens;
            delegate(&document, &mut planner, threshold).map(|new| (Some(new), Told::InBody))
        }
        _ => {
            plan = Plan::default();
            Ok((None, Told::Nothing))
        }
    }
    .with_context(|| format!("failed to prune {name}"))?;
    let changed = changed(&document, &plan);
    let rows = if request.rows {
        rows(&document, &mut planner, &plan, gate)
    } else {
        Vec::new()
    };
    Ok(Projection {
        bytes: new,
        report: Report {
            format: document.format(),
            window,
            gate,
            plan,
            tokens: planner.pressure_tokens(),
            chars: planner.chars(),
            messages: document.messages().len(),
            results: planner.result_count(),
            changed,
            rows,
            told,
            warnings: document
                .warnings()
                .iter()
                .map(ToString::to_string)
                .collect(),
        },
    })
}

/// Why nothing is even planned; `None` when something is.
fn shut(request: &Request<'_>, window: &Window, tokens: usize) -> Option<Gate> {
    if request.now || window.budget.prune_engages(tokens) {
        None
    } else if window.budget.prune {
        Some(Gate::BelowThreshold)
    } else {
        Some(Gate::Off)
    }
}

fn write(document: &Document<'_>, plan: &Plan) -> Result<(Vec<u8>, Told), SpliceError> {
    let edits: Vec<Edit<'_>> = plan
        .edits
        .iter()
        .filter_map(|edit| {
            Some(Edit {
                ordinal: edit.decision.ordinal,
                content: &edit.replacement.as_ref()?.text,
            })
        })
        .collect();
    if plan.rewrite.rule != RewriteRule::Drop {
        return Ok((document.splice(&edits)?, Told::Nothing));
    }
    match document.splice_with(&edits, &Insertion::Drop) {
        Ok(new) => Ok((new, Told::InBody)),
        // A session file and a bare array of messages are sent by somebody who has a body to put it into.
        Err(SpliceError::Insertion {
            reason: InsertionError::Unsupported | InsertionError::BareMessages,
            ..
        }) => Ok((document.splice(&edits)?, Told::ByTheSender)),
        // Without `thinking` the provider reads no reasoning, so that none can be in its way.
        Err(SpliceError::Insertion {
            reason: InsertionError::NoThinking,
            ..
        }) => Ok((document.splice(&edits)?, Told::Nothing)),
        Err(error) => Err(error),
    }
}

fn delegate(
    document: &Document<'_>,
    planner: &mut Planner,
    threshold: usize,
) -> Result<Vec<u8>, SpliceError> {
    let delegated = planner.delegated(threshold);
    document.splice_with(
        &[],
        &Insertion::Delegate(Delegate {
            trigger_input_tokens: delegated.trigger_tokens,
            keep_tool_uses: delegated.keep_results,
            clear_at_least_input_tokens: delegated.clear_at_least_tokens,
            exclude_tools: delegated.exclude_tools,
        }),
    )
}

/// The call ids of what `plan` changes.
fn changed(document: &Document<'_>, plan: &Plan) -> Vec<String> {
    let mut edits = plan.edits.iter().peekable();
    document
        .views()
        .filter_map(|view| match view {
            View::Result(result) => Some(result.call_id),
            _ => None,
        })
        .enumerate()
        .filter_map(|(ordinal, id)| {
            edits.next_if(|edit| edit.decision.ordinal == ordinal)?;
            id.map(str::to_owned)
        })
        .collect()
}

/// Every result: what happens to it in `plan`, else what is so now and why it stays.
fn rows(document: &Document<'_>, planner: &mut Planner, plan: &Plan, gate: Gate) -> Vec<ResultRow> {
    let named: Vec<(Option<&str>, Option<&str>)> = document
        .views()
        .filter_map(|view| match view {
            View::Result(result) => Some((result.call_id, result.name)),
            _ => None,
        })
        .collect();
    let mut edits = plan.edits.iter().peekable();
    let decisions = planner.decisions();
    let rows = decisions.into_iter().filter_map(|mut decision| {
        let info = planner.result(decision.ordinal)?;
        let edit = edits.next_if(|edit| edit.decision.ordinal == decision.ordinal);
        let mut reason = decision.reason.name();
        let mut why = decision.reason.to_string();
        if let Some(edit) = edit {
            decision.clone_from(&edit.decision);
        } else if decision.tier != info.tier || decision.chars.after != decision.chars.before {
            (reason, why) = gate.reason();
            decision.tier = info.tier;
            decision.chars.after = decision.chars.before;
            decision.tokens.after = decision.tokens.before;
        }
        if let Some(later) = decision.superseded_by {
            why.push_str(&format!(" (#{later})"));
        }
        let (call_id, name) = named.get(decision.ordinal).copied().unwrap_or_default();
        let tool = if info.tool.is_empty() {
            name.unwrap_or_default()
        } else {
            info.tool
        };
        Some(ResultRow {
            reason,
            why,
            call_id: info.call_id.or(call_id).map(str::to_owned),
            tool: tool.to_owned(),
            label: info.label.to_owned(),
            targets: info
                .targets
                .iter()
                .map(|target| target.path.as_str().to_owned())
                .collect(),
            decision,
        })
    });
    rows.collect()
}

impl Gate {
    /// A stable name for programs.
    pub(super) fn name(self) -> &'static str {
        match self {
            Gate::Applied => "applied",
            Gate::Off => "off",
            Gate::BelowThreshold => "below-threshold",
            Gate::BelowFloor { .. } => "below-floor",
            Gate::Nothing => "nothing",
            Gate::Delegated => "delegated",
        }
    }

    /// Why a result stays that a plan would have degraded: its name and its words.
    fn reason(self) -> (&'static str, String) {
        let why = match self {
            Gate::Off => "pruning is switched off",
            Gate::BelowThreshold => "the window is below its threshold",
            Gate::BelowFloor { .. } => "too little would come back in all",
            Gate::Delegated => "left to the provider",
            Gate::Applied | Gate::Nothing => "nothing to do",
        };
        (self.name(), why.to_owned())
    }
}
