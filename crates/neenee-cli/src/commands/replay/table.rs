//! The comparison as a table for a terminal, and the misses as a list.
//! Deliberately few columns; everything else is in the JSON.

use std::fmt::Write as _;

use neenee_replay::report::percent;
use neenee_replay::{Corpus, NeedKind, Session, Tariff};

use crate::render::number::grouped;
use crate::render::table::{Tone, left, right, table};
use crate::render::text::line;

/// A table for each window.
pub(super) fn render(sums: &[Corpus], colour: bool) -> String {
    let mut text = String::new();
    let mut windows: Vec<usize> = sums.iter().map(|sum| sum.window).collect();
    windows.dedup();
    let columns = [
        left("policy"),
        right("missed"),
        right("worst"),
        right("names"),
        right("tokens"),
        right("/ oracle"),
        right("mean"),
        right("peak"),
        right("pruned"),
        right("changed"),
        right("net $"),
        right("/ none"),
        right("plan ms"),
    ];
    for window in windows {
        let of_window: Vec<&Corpus> = sums
            .iter()
            .filter(|sum| sum.window == window && !sum.policy.starts_with("oracle forget"))
            .collect();
        let named = |name: &str| of_window.iter().find(|sum| sum.policy == name);
        let oracle = named("oracle").map(|sum| sum.totals.sent as f64);
        let none = named("none").map(|sum| first(&sum.totals.net));
        let Some(any) = of_window.first() else {
            continue;
        };
        let _ = writeln!(
            text,
            "window {}: {} sessions, {} requests from the first one over the trigger on",
            grouped(window),
            any.sessions,
            grouped(any.totals.requests)
        );
        let ratio = |value: f64, base: Option<f64>| match base {
            Some(base) if base > 0.0 => format!("{:.2}", value / base),
            _ => String::new(),
        };
        let row = |sum: &&Corpus| {
            let totals = &sum.totals;
            let cells = vec![
                sum.policy.clone(),
                percent(totals.missed_fraction()),
                percent(sum.worst),
                percent(totals.names_missed_fraction()),
                grouped(totals.sent),
                ratio(totals.sent as f64, oracle),
                grouped(totals.mean()),
                grouped(totals.peak),
                grouped(totals.projections),
                percent(totals.changed_fraction()),
                format!("{:.2}", first(&totals.net)),
                ratio(first(&totals.net), none),
                grouped(totals.planning.as_millis() as usize),
            ];
            let tone = if sum.policy == "oracle" {
                Tone::Faint
            } else {
                Tone::Plain
            };
            (tone, cells)
        };
        let rows: Vec<_> = of_window.iter().map(row).collect();
        text.push_str(&table(&columns, &rows, colour));
        for sum in &of_window {
            if sum.totals.over > 0 && sum.policy.starts_with("ours") {
                let _ = writeln!(
                    text,
                    "{}: {} requests stayed over the trigger; arguments of calls were {} tokens of each on average",
                    sum.policy,
                    grouped(sum.totals.over),
                    grouped(sum.totals.over_calls / sum.totals.over)
                );
            }
        }
        text.push('\n');
    }
    if let Some(tariff) = Tariff::all().first() {
        let _ = writeln!(
            text,
            "Prices are those of {}; all others are in --json.",
            tariff.model
        );
    }
    text
}

fn first(costs: &[f64]) -> f64 {
    costs.first().copied().unwrap_or(0.0)
}

/// The misses, one a line.
pub(super) fn misses(sessions: &[(String, Session)]) -> String {
    let mut text = String::new();
    for (name, session) in sessions {
        for outcome in session
            .outcomes
            .iter()
            .filter(|outcome| !outcome.misses.is_empty())
        {
            let _ = writeln!(
                text,
                "\n{name}, window {}, {}:",
                grouped(outcome.window),
                outcome.policy
            );
            for miss in &outcome.misses {
                let kind = match miss.kind {
                    NeedKind::Line => "line",
                    NeedKind::Identifier => "name",
                };
                let _ = writeln!(
                    text,
                    "  turn {} {kind} of #{} {} ({} before turn {}): {}",
                    miss.turn,
                    miss.ordinal,
                    line(&miss.label),
                    miss.pruned.pass,
                    miss.pruned.turn,
                    line(&miss.text)
                );
            }
        }
    }
    text
}
