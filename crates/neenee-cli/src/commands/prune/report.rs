//! What is shown on stdout about a projection: a table for people, JSON for programs.
//! Deliberately the same rows in both.

use anyhow::{Context as _, Result};
use neenee_core::message::Tier;
use serde::Serialize;

use super::project::{Gate, Report, ResultRow};
use crate::render::number::grouped;
use crate::render::rule_name;
use crate::render::table::{Tone, left, right, table};
use crate::render::text::{line, tail};

/// A path longer than this is shown by its end.
const TARGET_CHARS: usize = 48;

#[derive(Serialize)]
struct Shown<'a> {
    results: Vec<ShownResult<'a>>,
    window: ShownWindow<'a>,
}

#[derive(Serialize)]
struct ShownResult<'a> {
    index: usize,
    call_id: Option<&'a str>,
    tool: &'a str,
    targets: &'a [String],
    tier: String,
    reason: &'static str,
    superseded_by: Option<usize>,
    chars: usize,
    chars_after: usize,
    tokens: usize,
    tokens_after: usize,
}

#[derive(Serialize)]
struct ShownWindow<'a> {
    file: &'a str,
    format: &'static str,
    model: Option<&'a str>,
    window: usize,
    window_from: &'static str,
    threshold: usize,
    tokens: usize,
    tokens_after: usize,
    chars: usize,
    chars_after: usize,
    applied: bool,
    gate: &'static str,
    truncated: usize,
    cleared: usize,
    rewrite_rule: &'static str,
    lost_reasoning_tokens: usize,
}

/// One object on one line.
pub(super) fn json(report: &Report, file: &str) -> Result<Vec<u8>> {
    let shown = Shown {
        results: report.rows.iter().map(shown).collect(),
        window: ShownWindow {
            file,
            format: report.format.name(),
            model: report.window.model.as_deref(),
            window: report.window.budget.window_tokens,
            window_from: report.window.source.name(),
            threshold: report.window.budget.prune_threshold_tokens,
            tokens: report.tokens,
            tokens_after: report.tokens.saturating_sub(report.plan.reclaimed_tokens),
            chars: report.chars,
            chars_after: report.chars.saturating_sub(report.plan.reclaimed_chars),
            applied: report.gate == Gate::Applied,
            gate: report.gate.name(),
            truncated: report.plan.count(Tier::Truncated),
            cleared: report.plan.count(Tier::Cleared),
            rewrite_rule: rule_name(report.plan.rewrite.rule),
            lost_reasoning_tokens: report.plan.rewrite.lost_reasoning_tokens,
        },
    };
    let mut text = serde_json::to_vec(&shown).context("failed to write JSON")?;
    text.push(b'\n');
    Ok(text)
}

fn shown(row: &ResultRow) -> ShownResult<'_> {
    ShownResult {
        index: row.decision.ordinal,
        call_id: row.call_id.as_deref(),
        tool: &row.tool,
        targets: &row.targets,
        tier: row.decision.tier.to_string(),
        reason: row.reason,
        superseded_by: row.decision.superseded_by,
        chars: row.decision.chars.before,
        chars_after: row.decision.chars.after,
        tokens: row.decision.tokens.before,
        tokens_after: row.decision.tokens.after,
    }
}

/// The table. Of several files each has its name above.
pub(super) fn explain(report: &Report, file: &str, many: bool, colour: bool) -> String {
    let columns = [
        right("#"),
        left("tool"),
        left("target"),
        right("chars"),
        right("tokens"),
        left("tier"),
        left("why"),
    ];
    let rows: Vec<(Tone, Vec<String>)> = report.rows.iter().map(cells).collect();
    let body = table(&columns, &rows, colour);
    if many {
        format!("{file}\n{body}\n")
    } else {
        body
    }
}

fn cells(row: &ResultRow) -> (Tone, Vec<String>) {
    let decision = &row.decision;
    let change = |before: usize, after: usize| {
        if before == after {
            grouped(before)
        } else {
            format!("{} → {}", grouped(before), grouped(after))
        }
    };
    let changed = decision.chars.before != decision.chars.after;
    let tone = match decision.tier {
        Tier::Truncated if changed => Tone::Some,
        Tier::Cleared if changed => Tone::Strong,
        _ => Tone::Faint,
    };
    let cells = vec![
        decision.ordinal.to_string(),
        line(&row.tool),
        target(row),
        change(decision.chars.before, decision.chars.after),
        change(decision.tokens.before, decision.tokens.after),
        decision.tier.to_string(),
        row.why.clone(),
    ];
    (tone, cells)
}

/// The files of a call; of a call without files, its salient argument.
fn target(row: &ResultRow) -> String {
    match &row.targets[..] {
        [] => {
            let argument = row.label.strip_prefix(&row.tool).unwrap_or(&row.label);
            line(argument.trim())
        }
        [only] => tail(&line(only), TARGET_CHARS),
        [first, rest @ ..] => format!("{} +{}", tail(&line(first), TARGET_CHARS), rest.len()),
    }
}
