//! The fit: ridge regression of token counts on feature counts, by coordinate descent.
//! Deliberately no random numbers and one thread, so that a fit is the same everywhere.

use super::automaton::{self, FEATURES};
use super::data::{Data, Row, TOKENIZERS};
use super::scripts::PRIORS;

/// Whose tokens: 0 is the mean of the tokenizers, then each of them.
pub(super) const TARGETS: usize = TOKENIZERS.len() + 1;

/// One weight, in tokens, per feature.
pub(super) type Weights = Vec<f64>;

/// The fits of one target.
pub(super) struct Fit {
    /// To all sources; what is shipped.
    pub(super) whole: Weights,
    /// To all sources but one, by source; what is judged.
    pub(super) without: Vec<Weights>,
}

/// Every target's fits.
pub(super) fn all(data: &Data) -> Vec<Fit> {
    (0..TARGETS)
        .map(|target| {
            let whole = solve(data, target, None, &start(target));
            let without = (0..data.sources.len())
                .map(|source| solve(data, target, Some(source), &start(target)))
                .collect();
            Fit { whole, without }
        })
        .collect()
}

/// The true tokens of a text.
pub(super) fn truth(row: &Row, target: usize) -> f64 {
    match target {
        0 => row.tokens.iter().sum::<f64>() / TOKENIZERS.len() as f64,
        _ => row.tokens[target - 1],
    }
}

/// What `weights` estimate.
pub(super) fn estimate(row: &Row, weights: &[f64]) -> f64 {
    row.counts
        .iter()
        .map(|(feature, count)| weights[usize::from(*feature)] * count)
        .sum::<f64>()
        .max(1.0)
}

/// How much weights are held to their priors, and by how much more in scripts and in pairs of marks.
/// These five were chosen by the held-out errors; they are flat around these values.
const RIDGE: f64 = 2.0;
const SCRIPT_RIDGE: f64 = 10.0;
const PAIR_RIDGE: f64 = 5.0;
/// The error from which on a text counts by its amount, as a part of its tokens.
const HUBER: f64 = 0.05;
/// Passes over all features in one round; as many do not converge, which is a ridge of its own.
const SWEEPS: usize = 60;
/// Rounds of weighing the texts anew by their errors.
const ROUNDS: usize = 4;

fn start(target: usize) -> Weights {
    let mut weights = vec![0.0; FEATURES];
    for (script, prior) in PRIORS.iter().enumerate() {
        weights[usize::from(automaton::F_SCRIPT) + script] = match target {
            0 => prior.iter().sum::<f64>() / prior.len() as f64,
            _ => prior[target - 1],
        };
    }
    weights
}

/// Minimises the squared errors over the tokens of each text, plus the distance to `prior`.
fn solve(data: &Data, target: usize, omitted: Option<usize>, prior: &[f64]) -> Weights {
    let rows: Vec<&Row> = data
        .rows
        .iter()
        .filter(|row| Some(row.source) != omitted)
        .collect();
    let mut columns: Vec<Vec<(usize, f64)>> = vec![Vec::new(); FEATURES];
    for (index, row) in rows.iter().enumerate() {
        for (feature, count) in &row.counts {
            columns[usize::from(*feature)].push((index, *count));
        }
    }
    let truth: Vec<f64> = rows.iter().map(|row| truth(row, target)).collect();
    let mut importance: Vec<f64> = truth.iter().map(|tokens| 1.0 / (tokens + 10.0)).collect();
    let mut weights = prior.to_vec();
    for round in 0..ROUNDS {
        if round > 0 {
            for ((importance, row), tokens) in importance.iter_mut().zip(&rows).zip(&truth) {
                let error = (raw(row, &weights) - tokens).abs() / (tokens + 10.0);
                // Huber: what is off by more counts by its amount, not by its square.
                *importance = (1.0 / (tokens + 10.0)) * (HUBER / error).min(1.0);
            }
        }
        descend(&columns, &rows, &truth, &importance, prior, &mut weights);
    }
    weights
}

fn raw(row: &Row, weights: &[f64]) -> f64 {
    row.counts
        .iter()
        .map(|(feature, count)| weights[usize::from(*feature)] * count)
        .sum()
}

fn descend(
    columns: &[Vec<(usize, f64)>],
    rows: &[&Row],
    truth: &[f64],
    importance: &[f64],
    prior: &[f64],
    weights: &mut [f64],
) {
    let mut residual: Vec<f64> = rows
        .iter()
        .zip(truth)
        .map(|(row, tokens)| tokens - raw(row, weights))
        .collect();
    let curvature: Vec<f64> = columns
        .iter()
        .map(|column| {
            column
                .iter()
                .map(|(row, count)| importance[*row] * count * count)
                .sum()
        })
        .collect();
    for _ in 0..SWEEPS {
        for feature in 0..FEATURES {
            let column = &columns[feature];
            if column.is_empty() {
                continue;
            }
            let slope: f64 = column
                .iter()
                .map(|(row, count)| importance[*row] * count * residual[*row])
                .sum();
            let penalty = RIDGE * stiffness(feature);
            let change = (slope + penalty * (prior[feature] - weights[feature]))
                / (curvature[feature] + penalty);
            weights[feature] += change;
            for (row, count) in column {
                residual[*row] -= change * count;
            }
        }
    }
}

/// How much a weight is held to its prior.
fn stiffness(feature: usize) -> f64 {
    let scripts = usize::from(automaton::F_SCRIPT)..usize::from(automaton::F_MARKS);
    if scripts.contains(&feature) {
        SCRIPT_RIDGE
    } else if feature >= scripts.end {
        PAIR_RIDGE
    } else {
        1.0
    }
}
