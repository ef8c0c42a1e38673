//! A session over its turns: tokens sent with projections marked, and what each turn cost.
//! Deliberately few points: a line of thousands of them shows no more than one of hundreds.

use super::plot::{Plot, colour, short};
use crate::replay::Row;
use crate::session::Outcome;

/// Lines longer than this are thinned out; the largest of a group stays.
const POINTS: usize = 400;

/// Tokens sent over turns; a dot is a projection.
pub(super) fn tokens(outcomes: &[&Outcome]) -> String {
    draw(outcomes, "tokens sent", short, true, |row| row.sent as f64)
}

/// US dollars over turns, at the first price table.
pub(super) fn cost(outcomes: &[&Outcome]) -> String {
    let dollars = |value: f64| format!("${value:.2}");
    draw(outcomes, "cost of a turn", dollars, false, |row| {
        row.cost.first().copied().unwrap_or(0.0)
    })
}

fn draw(
    outcomes: &[&Outcome],
    name: &str,
    tick: fn(f64) -> String,
    marks: bool,
    value: impl Fn(&Row) -> f64,
) -> String {
    let rows = || outcomes.iter().flat_map(|outcome| &outcome.rows);
    let most = rows().map(&value).fold(0.0, f64::max);
    let turns = outcomes.iter().map(|outcome| outcome.rows.len()).max();
    let turns = turns.unwrap_or(0).max(2) - 1;
    let whole = |value: f64| format!("{value:.0}");
    let mut plot = Plot::new(
        220.0,
        (turns as f64, most * 1.05),
        ("request", whole),
        (name, tick),
    );
    for (position, outcome) in outcomes.iter().enumerate() {
        let step = outcome.rows.len().div_ceil(POINTS).max(1);
        let points = outcome.rows.chunks(step).enumerate().map(|(at, rows)| {
            let most = rows.iter().map(&value).fold(0.0, f64::max);
            ((at * step) as f64, most)
        });
        let style = format!("stroke=\"{}\" stroke-width=\"1.2\"", colour(position));
        plot.line(points, &style);
        if !marks {
            continue;
        }
        let projections = outcome.rows.iter().enumerate();
        for (at, row) in projections.filter(|(_, row)| row.edits > 0).take(POINTS) {
            let title = format!(
                "{}: {} results, {} tokens",
                outcome.policy, row.edits, row.reclaimed
            );
            let title = super::escape(&title);
            plot.dot((at as f64, value(row)), 2.0, colour(position), &title);
        }
    }
    let names = outcomes.iter().enumerate();
    plot.legend(names.map(|(position, outcome)| (outcome.policy.as_str(), colour(position))));
    plot.finish()
}
