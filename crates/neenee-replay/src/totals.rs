//! Sums over requests, sessions and corpora.
//! Deliberately additive: what is a ratio is worked out from sums, never averaged.

use std::time::Duration;

use serde::Serialize;

use crate::replay::Run;

/// What a policy did, summed over requests that count. Tokens are estimated, money is US dollars.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Requests from a session's first trigger on.
    pub requests: usize,
    /// Tokens that they sent.
    pub sent: usize,
    /// Tokens that they would have sent without any policy.
    pub whole: usize,
    /// The largest request, in tokens.
    pub peak: usize,
    /// Tokens that projections gave back, each counted once.
    pub reclaimed: usize,
    /// Requests before which something was taken out.
    pub projections: usize,
    /// Results changed, counted each time.
    pub edits: usize,
    /// Requests that changed what had been sent before.
    pub changed: usize,
    /// Tokens sent again behind the first change.
    pub resent: usize,
    /// Tokens of superseded results, summed over the requests that sent them.
    pub stale: usize,
    /// Requests that stayed over the trigger.
    pub over: usize,
    /// Tokens of calls, summed over the requests that stayed over the trigger.
    pub over_calls: usize,
    /// Chars of needed lines.
    pub needed: usize,
    /// Chars of needed lines that were missed.
    pub missed: usize,
    /// Needed identifiers.
    pub names_needed: usize,
    /// Needed identifiers that were missed.
    pub names_missed: usize,
    /// What the requests cost, by tariff.
    pub cost: Vec<f64>,
    /// The same with what fetching again would have cost, by tariff.
    pub net: Vec<f64>,
    /// Time spent planning.
    pub planning: Duration,
}

impl Totals {
    /// The sums of one run.
    pub fn of(run: &Run, trigger_tokens: usize) -> Self {
        let mut totals = Totals {
            planning: run.planning,
            ..Totals::default()
        };
        for row in run.counted() {
            totals.requests += 1;
            totals.sent += row.sent;
            totals.whole += row.whole;
            totals.peak = totals.peak.max(row.sent);
            totals.reclaimed += row.reclaimed;
            totals.projections += usize::from(row.edits > 0);
            totals.edits += row.edits;
            totals.changed += usize::from(row.changed);
            totals.resent += row.resent;
            totals.stale += row.stale;
            if row.sent > trigger_tokens {
                totals.over += 1;
                totals.over_calls += row.calls;
            }
            totals.needed += row.needed;
            totals.missed += row.missed;
            totals.names_needed += row.names_needed;
            totals.names_missed += row.names_missed;
            add(&mut totals.cost, row.cost.iter().copied());
            let net = row.cost.iter().zip(&row.refetch);
            add(&mut totals.net, net.map(|(cost, refetch)| cost + refetch));
        }
        totals
    }

    /// Adds the sums of another run.
    pub fn add(&mut self, other: &Totals) {
        self.requests += other.requests;
        self.sent += other.sent;
        self.whole += other.whole;
        self.peak = self.peak.max(other.peak);
        self.reclaimed += other.reclaimed;
        self.projections += other.projections;
        self.edits += other.edits;
        self.changed += other.changed;
        self.resent += other.resent;
        self.stale += other.stale;
        self.over += other.over;
        self.over_calls += other.over_calls;
        self.needed += other.needed;
        self.missed += other.missed;
        self.names_needed += other.names_needed;
        self.names_missed += other.names_missed;
        add(&mut self.cost, other.cost.iter().copied());
        add(&mut self.net, other.net.iter().copied());
        self.planning += other.planning;
    }

    /// Missed chars of needed lines, as a fraction of all needed.
    pub fn missed_fraction(&self) -> f64 {
        fraction(self.missed, self.needed)
    }

    /// Missed identifiers, as a fraction of all needed.
    pub fn names_missed_fraction(&self) -> f64 {
        fraction(self.names_missed, self.names_needed)
    }

    /// Requests that changed what had been sent before, as a fraction.
    pub fn changed_fraction(&self) -> f64 {
        fraction(self.changed, self.requests)
    }

    /// Mean tokens of a request.
    pub fn mean(&self) -> usize {
        self.sent.checked_div(self.requests).unwrap_or(0)
    }
}

fn add(sums: &mut Vec<f64>, values: impl ExactSizeIterator<Item = f64>) {
    sums.resize(sums.len().max(values.len()), 0.0);
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += value;
    }
}

fn fraction(part: usize, whole: usize) -> f64 {
    match whole {
        0 => 0.0,
        whole => part as f64 / whole as f64,
    }
}

/// A policy over many sessions at one window.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Corpus {
    /// The window in tokens.
    pub window: usize,
    /// The policy, with what was set of it.
    pub policy: String,
    /// Sessions that came over the trigger.
    pub sessions: usize,
    /// The sums.
    pub totals: Totals,
    /// The largest fraction of needed chars that any one session missed.
    pub worst: f64,
}

impl Corpus {
    /// Adds a session.
    pub fn add(&mut self, session: &Totals) {
        self.sessions += usize::from(session.requests > 0);
        self.worst = self.worst.max(session.missed_fraction());
        self.totals.add(session);
    }
}
