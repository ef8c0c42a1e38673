//! A survey for the terminal: gauge, bars and the biggest results.
//! Deliberately a string: who calls this prints it.

use std::fmt::Write;

use super::chart::{bar, gauge, percent};
use super::survey::{Share, Survey, biggest};
use crate::render::number::grouped;
use crate::render::table::{Tone, left, right, table};
use crate::render::text::{line, tail};

const BAR_CELLS: usize = 24;
const GAUGE_CELLS: usize = 60;
const NAME_CHARS: usize = 48;
const LABEL_CHARS: usize = 80;

/// What the survey does not know of the file.
pub(crate) struct Heading<'a> {
    pub(crate) file: &'a str,
    pub(crate) format: &'a str,
    pub(crate) model: Option<&'a str>,
    /// Where the window's size is from: a flag, the session's model, the fallback.
    pub(crate) window_from: &'a str,
    /// What the file holds beside the window, and how many bytes of it.
    pub(crate) outside: &'a [(String, usize, usize)],
    /// How many rows each list has at most.
    pub(crate) top: usize,
    pub(crate) colour: bool,
}

/// Renders the survey.
pub(crate) fn render(heading: &Heading<'_>, survey: &Survey) -> String {
    let mut out = String::new();
    let budget = &survey.budget;
    let model = heading.model.unwrap_or("unknown model");
    let _ = writeln!(out, "{}", heading.file);
    let _ = writeln!(
        out,
        "{}, {model}: {} messages, {} tool calls, {} results",
        heading.format,
        grouped(survey.messages),
        grouped(survey.calls),
        grouped(survey.results.len()),
    );
    let marks = [
        budget.prune_threshold_tokens,
        budget.compact_threshold_tokens,
    ];
    let _ = writeln!(
        out,
        "\n{}  {} of {} tokens ({}; {})",
        gauge(survey.tokens, budget.window_tokens, &marks, GAUGE_CELLS),
        grouped(survey.tokens),
        grouped(budget.window_tokens),
        percent(survey.tokens, budget.window_tokens),
        heading.window_from,
    );
    let relation = if budget.prune_engages(survey.tokens) {
        "over"
    } else {
        "below"
    };
    let _ = writeln!(
        out,
        "{relation} the prune threshold of {}; pruning now would give back {} tokens ({} of the window's content)",
        grouped(budget.prune_threshold_tokens),
        grouped(survey.prunable_tokens),
        percent(survey.prunable_tokens, survey.tokens),
    );
    let kinds = survey
        .kinds
        .iter()
        .map(|(kind, share)| (kind.name(), share));
    section(&mut out, "By kind", "parts", kinds, survey, heading.colour);
    let states = survey
        .states
        .iter()
        .map(|(state, share)| (state.name(), share));
    section(
        &mut out,
        "Results by state",
        "results",
        states,
        survey,
        heading.colour,
    );
    let tools = survey
        .tools
        .iter()
        .map(|(name, share)| (name.as_str(), share));
    section(
        &mut out,
        "Results by tool",
        "results",
        tools.take(heading.top),
        survey,
        heading.colour,
    );
    more(&mut out, survey.tools.len(), heading.top);
    let files = survey
        .files
        .iter()
        .map(|(path, share)| (path.as_str(), share));
    section(
        &mut out,
        "Results by file",
        "results",
        files.take(heading.top),
        survey,
        heading.colour,
    );
    more(&mut out, survey.files.len(), heading.top);
    largest(&mut out, survey, heading);
    if !heading.outside.is_empty() {
        let _ = writeln!(out, "\nIn the file, not in the window");
        let rows: Vec<_> = heading
            .outside
            .iter()
            .map(|(what, count, bytes)| {
                let cells = vec![what.clone(), grouped(*count), grouped(*bytes)];
                (Tone::Plain, cells)
            })
            .collect();
        let columns = [left(""), right("records"), right("bytes")];
        out.push_str(&table(&columns, &rows, heading.colour));
    }
    out
}

fn section<'a>(
    out: &mut String,
    title: &str,
    unit: &'static str,
    rows: impl Iterator<Item = (&'a str, &'a Share)>,
    survey: &Survey,
    colour: bool,
) {
    let rows: Vec<_> = rows.filter(|(_, share)| share.count > 0).collect();
    let Some(most) = rows.iter().map(|(_, share)| share.tokens).max() else {
        return;
    };
    let cells: Vec<_> = rows
        .into_iter()
        .map(|(name, share)| {
            let cells = vec![
                tail(&line(name), NAME_CHARS),
                grouped(share.count),
                grouped(share.tokens),
                percent(share.tokens, survey.tokens),
                bar(share.tokens, most, BAR_CELLS),
            ];
            (Tone::Plain, cells)
        })
        .collect();
    let columns = [
        left(""),
        right(unit),
        right("tokens"),
        right("share"),
        left(""),
    ];
    let _ = write!(out, "\n{title}\n{}", table(&columns, &cells, colour));
}

fn largest(out: &mut String, survey: &Survey, heading: &Heading<'_>) {
    let rows: Vec<_> = biggest(survey, heading.top)
        .into_iter()
        .map(|row| {
            let cells = vec![
                row.decision.ordinal.to_string(),
                grouped(row.decision.tokens.before),
                row.state.name().to_owned(),
                tail(&line(&row.label), LABEL_CHARS),
            ];
            (Tone::Plain, cells)
        })
        .collect();
    if !rows.is_empty() {
        let columns = [right("#"), right("tokens"), left("state"), left("result")];
        let table = table(&columns, &rows, heading.colour);
        let _ = write!(out, "\nBiggest results\n{table}");
    }
}

fn more(out: &mut String, all: usize, shown: usize) {
    if all > shown {
        let _ = writeln!(out, "  and {} more", grouped(all - shown));
    }
}
