//! The Pareto plot: what a policy missed against what it sent, with the oracle's frontier.
//! Deliberately both axes from 0: a small difference shall look small.

use super::plot::{Plot, WIDTH, colour, short};
use super::{escape, percent};
use crate::totals::Corpus;

/// One window's plot. Policies named `oracle forget=…` are the frontier and no points of their own.
pub(super) fn pareto(sums: &[&Corpus]) -> String {
    let place = |sum: &Corpus| (sum.totals.sent as f64, sum.totals.missed_fraction());
    let most = sums
        .iter()
        .map(|sum| place(sum))
        .fold((0.0f64, 0.01f64), |most, at| {
            (most.0.max(at.0), most.1.max(at.1))
        });
    let mut plot = Plot::new(
        360.0,
        (most.0 * 1.04, most.1 * 1.08),
        ("tokens sent", short),
        ("needed chars missed", |value| {
            format!("{:.0}%", value * 100.0)
        }),
    );
    let mut frontier: Vec<(f64, f64)> = sums
        .iter()
        .filter(|sum| is_frontier(sum) || sum.policy == "oracle")
        .map(|sum| place(sum))
        .collect();
    frontier.sort_by(|left, right| left.1.total_cmp(&right.1));
    plot.line(
        frontier.into_iter(),
        "stroke=\"#22a06b\" stroke-width=\"1.5\" stroke-dasharray=\"5 4\"",
    );
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for (position, sum) in sums.iter().enumerate().filter(|(_, sum)| !is_frontier(sum)) {
        let at = place(sum);
        let title = format!(
            "{}: {} missed, {} tokens sent",
            escape(&sum.policy),
            percent(at.1),
            short(at.0)
        );
        plot.dot(at, 4.5, colour(position), &title);
        let (x, mut y) = (plot.x(at.0), plot.y(at.1) + 4.0);
        // A name gives way upwards to the names that are there already.
        while taken
            .iter()
            .any(|&(tx, ty)| (tx - x).abs() < 110.0 && (ty - y).abs() < 11.0)
        {
            y -= 11.0;
        }
        taken.push((x, y));
        let x = if x > WIDTH - 150.0 { x - 4.0 } else { x + 8.0 };
        plot.text((x, y), &escape(&sum.policy), colour(position));
    }
    plot.finish()
}

fn is_frontier(sum: &Corpus) -> bool {
    sum.policy.starts_with("oracle forget=")
}
