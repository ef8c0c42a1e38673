//! What is said on stderr about a projection: what came back, or why nothing was done.
//! Deliberately short; the whole plan is what --explain prints.

use neenee_core::message::Tier;
use neenee_core::pressure::{PRUNE_MIN_RECLAIM_CHARS, Plan};

use super::project::{Gate, Report, Told};
use crate::render::number::{counted, grouped};
use crate::render::text::plain;

/// So many warnings are told, the others counted.
const MOST_WARNINGS: usize = 3;

/// The lines, each with the file's name before it when there are several.
pub(super) fn notes(report: &Report, file: Option<&str>) -> Vec<String> {
    let mut notes: Vec<String> = report
        .warnings
        .iter()
        .take(MOST_WARNINGS)
        .map(|warning| format!("warning: {warning}"))
        .collect();
    if report.warnings.len() > MOST_WARNINGS {
        let more = report.warnings.len() - MOST_WARNINGS;
        notes.push(format!(
            "warning: {} like these",
            counted(more, "more line")
        ));
    }
    notes.extend(
        report
            .window
            .assumption()
            .map(|what| format!("note: {what}")),
    );
    notes.push(outcome(report));
    if report.gate == Gate::Applied {
        notes.push(counts(report));
    }
    notes.extend(reasoning(report).map(|what| format!("note: {what}")));
    notes
        .into_iter()
        .map(|note| match file {
            Some(file) => format!("{file}: {}", plain(&note)),
            None => plain(&note),
        })
        .collect()
}

fn outcome(report: &Report) -> String {
    let budget = &report.window.budget;
    let (tokens, window) = (grouped(report.tokens), grouped(budget.window_tokens));
    let threshold = grouped(budget.prune_threshold_tokens);
    match report.gate {
        Gate::Applied => format!(
            "{tokens} → {} of {window} tokens: {} ({}) given back",
            grouped(report.tokens.saturating_sub(report.plan.reclaimed_tokens)),
            counted(report.plan.reclaimed_tokens, "token"),
            counted(report.plan.reclaimed_chars, "char"),
        ),
        Gate::Off => format!(
            "{tokens} of {window} tokens, and pruning is switched off (compaction_prune): nothing to do"
        ),
        Gate::BelowThreshold => format!(
            "{tokens} of {window} tokens, below the prune threshold of {threshold}: nothing to do"
        ),
        Gate::BelowFloor { reclaim } => format!(
            "{tokens} of {window} tokens, but only {} would come back, below the floor of {}: nothing to do",
            counted(reclaim, "char"),
            grouped(PRUNE_MIN_RECLAIM_CHARS),
        ),
        Gate::Nothing => format!(
            "{tokens} of {window} tokens, and none of {} can go: nothing to do",
            counted(report.results, "result"),
        ),
        Gate::Delegated => format!(
            "{tokens} of {window} tokens: the provider is asked to clear over {threshold}, nothing is edited"
        ),
    }
}

/// How many of which tier, and why.
fn counts(report: &Report) -> String {
    let plan = &report.plan;
    let changed = plan.edits.iter().filter(|edit| edit.replacement.is_some());
    let kept = report.results - changed.count();
    let tiers = [
        (plan.count(Tier::Cleared), "cleared"),
        (plan.count(Tier::Truncated), "truncated"),
        (kept, "left as they are"),
    ];
    format!(
        "{} of {}; {}",
        listed(tiers.into_iter()),
        counted(report.results, "result"),
        listed(reasons(plan).into_iter())
    )
}

/// How often each reason decided, in the order of their first.
fn reasons(plan: &Plan) -> Vec<(usize, &'static str)> {
    let mut reasons: Vec<(usize, &'static str)> = Vec::new();
    for edit in plan.edits.iter().filter(|edit| edit.replacement.is_some()) {
        let name = edit.decision.reason.name();
        match reasons.iter_mut().find(|(_, known)| *known == name) {
            Some((count, _)) => *count += 1,
            None => reasons.push((1, name)),
        }
    }
    reasons.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    reasons
}

fn listed<'a>(counts: impl Iterator<Item = (usize, &'a str)>) -> String {
    let counts: Vec<String> = counts
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", grouped(count)))
        .collect();
    counts.join(", ")
}

/// What signed reasoning asks of whoever sends the result.
fn reasoning(report: &Report) -> Option<String> {
    let lost = counted(report.plan.rewrite.lost_reasoning_tokens, "token");
    match (report.told, report.gate) {
        (Told::Nothing, _) => None,
        (Told::InBody, Gate::Delegated) => Some(
            "send it with the header `anthropic-beta: context-management-2025-06-27`".to_owned(),
        ),
        (Told::InBody, _) => Some(format!(
            "the body asks the provider to drop {lost} of reasoning that no longer fit; \
             send it with the header `anthropic-beta: thinking-binding-controls-2026-08-01`"
        )),
        (Told::ByTheSender, _) => Some(format!(
            "{lost} of signed reasoning no longer fit what is before them, and the provider may refuse them \
             unless it is told `thinking.block_binding.prefix_mismatch_behavior = \"drop_block\"`"
        )),
    }
}
