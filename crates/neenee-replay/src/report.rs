//! What was measured, for people and programs: JSON, pages, plots.
//! Deliberately no files; whoever asks gets text.

mod html;
mod json;
mod pareto;
mod plot;
mod turns;

use crate::session::{Outcome, Session};
use crate::totals::Corpus;

pub use html::html;
pub use json::session;

/// What a page shows.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// The sums, by window and policy.
    pub sums: &'a [Corpus],
    /// Sessions to show one by one, by name.
    pub sessions: &'a [(String, Session)],
}

impl Page<'_> {
    /// The windows that were compared, each once.
    fn windows(&self) -> Vec<usize> {
        let mut windows: Vec<usize> = self.sums.iter().map(|sum| sum.window).collect();
        windows.sort_unstable();
        windows.dedup();
        windows
    }

    fn at(&self, window: usize) -> Vec<&Corpus> {
        let sums = self.sums.iter();
        sums.filter(|sum| sum.window == window).collect()
    }
}

/// The outcomes of a session at a window; none when it never came over the trigger there.
fn outcomes(session: &Session, window: usize) -> Vec<&Outcome> {
    let outcomes = session.outcomes.iter();
    outcomes
        .filter(|outcome| outcome.window == window && outcome.totals.requests > 0)
        .filter(|outcome| !outcome.policy.starts_with("oracle "))
        .collect()
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

/// The plots as SVG files of their own, by file name: the Pareto plot of each window, and for each
/// session its tokens and its cost over turns.
pub fn svg(page: &Page<'_>) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for window in page.windows() {
        files.push((
            format!("pareto-{window}.svg"),
            pareto::pareto(&page.at(window)),
        ));
        for (number, (_, session)) in page.sessions.iter().enumerate() {
            let outcomes = outcomes(session, window);
            if outcomes.iter().any(|outcome| !outcome.rows.is_empty()) {
                let number = number + 1;
                files.push((
                    format!("tokens-{window}-{number}.svg"),
                    turns::tokens(&outcomes),
                ));
                files.push((
                    format!("cost-{window}-{number}.svg"),
                    turns::cost(&outcomes),
                ));
            }
        }
    }
    files
}

/// `0.0123` as `1.23%`.
pub fn percent(fraction: f64) -> String {
    format!("{:.2}%", fraction * 100.0)
}

/// `1234567` as `1 234 567`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// Text of strangers in a page.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Control characters other than white space are not allowed in a page at all.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::totals::Totals;

    #[test]
    fn sessions_add_up_by_window_and_policy() {
        let session = |missed| Session {
            outcomes: vec![Outcome {
                window: 60_000,
                policy: "ours".to_owned(),
                totals: Totals {
                    requests: 1,
                    needed: 100,
                    missed,
                    ..Totals::default()
                },
                ..Outcome::default()
            }],
            ..Session::default()
        };
        let mut sums = Vec::new();
        add(&mut sums, &session(10));
        add(&mut sums, &session(30));
        assert_eq!(sums.len(), 1);
        assert_eq!((sums[0].sessions, sums[0].totals.missed), (2, 40));
        assert!((sums[0].worst - 0.3).abs() < 1e-9);
        assert!((sums[0].totals.missed_fraction() - 0.2).abs() < 1e-9);
    }

    #[test]
    fn text_is_made_safe_and_numbers_readable() {
        assert_eq!(
            escape("<a href=\"x\">&\u{1b}"),
            "&lt;a href=&quot;x&quot;&gt;&amp;\u{fffd}"
        );
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(percent(0.0123), "1.23%");
    }
}
