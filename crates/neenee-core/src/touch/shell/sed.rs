//! Which lines a `sed` script lets through, when it does nothing but choose lines by number.
//! Deliberately no other script: one that matches or changes text shows what no range can describe.

use crate::touch::range::LineRange;

/// The lines that `script` prints under `-n` (`quiet`) or lets through without; `None` when it does
/// anything else than that.
pub(super) fn lines_shown(script: &str, quiet: bool) -> Option<Vec<LineRange>> {
    let mut shown = Vec::new();
    let mut stop: Option<u64> = None;
    for command in script.split([';', '\n']) {
        let command = command.trim();
        if command.is_empty() {
            continue;
        }
        let (range, action) = address(command)?;
        match (action.trim(), quiet) {
            ("p" | "{p}", true) => shown.push(range),
            ("q" | "{q}", _) => stop = Some(stop.map_or(range.start, |stop| stop.min(range.start))),
            ("!d", false) => shown.push(range),
            ("d", false) => shown.push(rest_without(range)?),
            _ => return None,
        }
    }
    if let Some(stop) = stop {
        let window = LineRange::new(1, Some(stop.saturating_add(1)));
        if shown.is_empty() && !quiet {
            shown.push(window);
        }
        for range in &mut shown {
            let end = range.end.map_or(stop + 1, |end| end.min(stop + 1));
            *range = LineRange::new(range.start, Some(end));
        }
    }
    (!shown.is_empty() && shown.len() <= MAX_RANGES).then_some(shown)
}

/// More pieces of one file than a command line asks for.
const MAX_RANGES: usize = 64;

/// `10`, `10,20`, `10,+5`, `10,$`, `$` and what follows.
fn address(command: &str) -> Option<(LineRange, &str)> {
    let (first, rest) = number_or_end(command)?;
    let rest = rest.trim_start();
    let Some(rest) = rest.strip_prefix(',') else {
        let range = match first {
            Some(first) => LineRange::new(first, Some(first.checked_add(1)?)),
            None => LineRange::NOTHING,
        };
        return Some((range, rest));
    };
    let first = first?;
    let rest = rest.trim_start();
    if let Some(rest) = rest.strip_prefix('+') {
        let (more, rest) = number_or_end(rest)?;
        let end = first.checked_add(more?)?.checked_add(1)?;
        return Some((LineRange::new(first, Some(end)), rest));
    }
    let (last, rest) = number_or_end(rest)?;
    let end = match last {
        // An end before the start still prints the first line.
        Some(last) => Some(last.max(first).checked_add(1)?),
        None => None,
    };
    Some((LineRange::new(first, end), rest))
}

/// A line number, or `None` for `$`.
fn number_or_end(text: &str) -> Option<(Option<u64>, &str)> {
    if let Some(rest) = text.strip_prefix('$') {
        return Some((None, rest));
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = text[..digits].parse().ok()?;
    Some((Some(number), &text[digits..]))
}

/// What is left of the file when `range` is deleted, where that is one run of lines.
fn rest_without(range: LineRange) -> Option<LineRange> {
    match range {
        range if range.is_empty() => None,
        LineRange {
            start: 1,
            end: Some(end),
        } => Some(LineRange::new(end, None)),
        LineRange { start, end: None } => Some(LineRange::new(1, Some(start))),
        _ => None,
    }
}
