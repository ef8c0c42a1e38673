//! What a fit errs, in tables, on sources it was fitted on and on sources it was not.
//! Deliberately no judgement of its own but the bars.

use super::data::{Data, TOKENIZERS};
use super::fit::{Fit, estimate, truth};

/// Most error per text on held-out sources, weighted by tokens, in percent: of the family-less default
/// against the mean of the tokenizers, and of each family against its own.
const MIXED_ERROR: f64 = 6.0;
const FAMILY_ERROR: f64 = 8.0;
/// Most error of the sum over a held-out session, in percent.
const SESSION_BIAS: f64 = 3.0;

/// Errors over some texts, in tokens.
#[derive(Clone, Copy, Default)]
struct Errors {
    truth: f64,
    signed: f64,
    absolute: f64,
}

impl Errors {
    fn add(&mut self, truth: f64, estimate: f64) {
        self.truth += truth;
        self.signed += estimate - truth;
        self.absolute += (estimate - truth).abs();
    }

    /// Absolute error per text, weighted by tokens, in percent.
    fn weighted(self) -> f64 {
        100.0 * self.absolute / self.truth
    }

    /// Error of the sum, in percent.
    fn bias(self) -> f64 {
        100.0 * self.signed / self.truth
    }
}

/// Prints the tables; returns what is above its bar.
pub(super) fn print(data: &Data, fits: &[Fit]) -> Vec<String> {
    let mut over = Vec::new();
    println!("{:10} {:>9} {:>9}", "", "fitted", "held out");
    let mut held = Vec::new();
    for (target, fit) in fits.iter().enumerate() {
        let mut fitted = Errors::default();
        let mut by_source = vec![Errors::default(); data.sources.len()];
        let mut all = Errors::default();
        for row in &data.rows {
            let truth = truth(row, target);
            fitted.add(truth, estimate(row, &fit.whole));
            let guess = estimate(row, &fit.without[row.source]);
            by_source[row.source].add(truth, guess);
            all.add(truth, guess);
        }
        println!(
            "{:10} {:8.2}% {:8.2}%",
            name(target),
            fitted.weighted(),
            all.weighted()
        );
        let bar = if target == 0 {
            MIXED_ERROR
        } else {
            FAMILY_ERROR
        };
        if all.weighted() > bar {
            over.push(format!(
                "{} is off by {:.2} %",
                name(target),
                all.weighted()
            ));
        }
        held.push(by_source);
    }
    println!("\nheld out, by source: error / bias");
    print!("{:42}", "");
    for target in 0..fits.len() {
        print!("{:>14}", name(target));
    }
    println!();
    for (source, label) in data.sources.iter().enumerate() {
        print!("{label:42}");
        for by_source in &held {
            let errors = by_source[source];
            print!("{:7.1}{:+7.1}", errors.weighted(), errors.bias());
            // Public files by kind are no session: nobody's window is all hashes.
            if errors.bias().abs() > SESSION_BIAS && label.ends_with(".jsonl") {
                over.push(format!("{label} is biased by {:+.2} %", errors.bias()));
            }
        }
        println!();
    }
    over
}

fn name(target: usize) -> &'static str {
    match target {
        0 => "mixed",
        _ => TOKENIZERS[target - 1],
    }
}
