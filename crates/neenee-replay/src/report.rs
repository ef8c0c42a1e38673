//! What was measured, for people and programs: JSON, pages, plots.
//! Deliberately no files; whoever asks gets text.

mod json;

use crate::session::Session;
use crate::totals::Corpus;

pub use json::session;

/// What a page shows.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// The sums, by window and policy.
    pub sums: &'a [Corpus],
    /// Sessions to show one by one, by name.
    pub sessions: &'a [(String, Session)],
}

/// Adds a session to the sums of its windows and policies.
pub fn add(sums: &mut Vec<Corpus>, session: &Session) {
    for outcome in &session.outcomes {
        let of = |sum: &&mut Corpus| sum.window == outcome.window && sum.policy == outcome.policy;
        match sums.iter_mut().find(of) {
            Some(sum) => sum.add(&outcome.totals),
            None => {
                let mut sum = Corpus {
                    window: outcome.window,
                    policy: outcome.policy.clone(),
                    ..Corpus::default()
                };
                sum.add(&outcome.totals);
                sums.push(sum);
            }
        }
    }
}

/// `0.0123` as `1.23%`.
pub fn percent(fraction: f64) -> String {
    format!("{:.2}%", fraction * 100.0)
}

pub fn html(_: &Page<'_>) -> String { String::new() }
pub fn svg(_: &Page<'_>) -> Vec<(String, String)> { Vec::new() }
