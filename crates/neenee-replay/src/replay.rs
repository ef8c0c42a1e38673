//! The walk: every request of a recording again, projected by a policy, measured one by one.
//! Deliberately one pass over the views; nothing is worked out twice because a policy acts often.

use std::time::{Duration, Instant};

use crate::ground::Ground;
use crate::money::Tariff;
use crate::needs::NeedKind;
use crate::policy::Policy;
use crate::recording::Recording;
use crate::window::{Pruned, Window};

/// What a run is measured in.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Price tables; a run is paid at each.
    pub tariffs: Vec<Tariff>,
    /// A session counts from its first request over so many tokens on, were nothing pruned.
    pub trigger_tokens: usize,
    ground: Ground,
}

impl Terms {
    /// The trigger of our own policies and the built-in price tables.
    pub fn new(ground: &Ground) -> Self {
        Terms {
            tariffs: Tariff::all(),
            trigger_tokens: ground.budget().prune_threshold_tokens,
            ground: ground.clone(),
        }
    }
}

/// One request, measured. All sizes are estimated tokens unless they say chars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The turn.
    pub turn: usize,
    /// What the request sent.
    pub sent: usize,
    /// What it would have sent without any policy.
    pub whole: usize,
    /// What the policy gave back before it.
    pub reclaimed: usize,
    /// Results that the policy changed before it.
    pub edits: usize,
    /// Whether something was changed that had been sent before.
    pub changed: bool,
    /// Of what had been sent before, what had to be sent again behind the first change.
    pub resent: usize,
    /// Of what had been sent before, what stands unchanged in front.
    pub prefix: usize,
    /// Results in the window that later ones have superseded.
    pub stale: usize,
    /// Calls with their arguments.
    pub calls: usize,
    /// The answer.
    pub output: usize,
    /// How long nothing had been sent, in ms.
    pub idle: Option<i64>,
    /// Chars of needed lines.
    pub needed: usize,
    /// Chars of needed lines that no result in the window held.
    pub missed: usize,
    /// Needed identifiers.
    pub names_needed: usize,
    /// Needed identifiers that no result in the window held.
    pub names_missed: usize,
    /// What the request and its answer cost, in US dollars, by tariff.
    pub cost: Vec<f64>,
    /// What fetching again what it missed would have cost on top, by tariff.
    pub refetch: Vec<f64>,
}

/// A need that no result in the window met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// The turn that needed it.
    pub turn: usize,
    /// The newest result that had held it.
    pub ordinal: usize,
    /// That result, as placeholders show it.
    pub label: String,
    /// What it is.
    pub kind: NeedKind,
    /// The text that was needed.
    pub text: String,
    /// Chars of it.
    pub chars: usize,
    /// What had become of the result.
    pub pruned: Pruned,
    /// What stood around it in the result.
    pub before: String,
    /// What the window held in its place.
    pub after: String,
}

/// A recording replayed under a policy.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The requests, in order.
    pub rows: Vec<Row>,
    /// The first row that counts; `None` when the window never came over the trigger.
    pub trigger: Option<usize>,
    /// Needs that were not met, from the trigger on.
    pub misses: Vec<Miss>,
    /// Time spent in the policy, feeding it included.
    pub planning: Duration,
}

impl Run {
    /// The rows that count.
    pub fn counted(&self) -> &[Row] {
        self.trigger.map_or(&[], |first| &self.rows[first..])
    }
}

/// Sends the requests of `recording` again while `policy` projects the window.
pub fn replay(recording: &Recording<'_>, policy: &mut dyn Policy, terms: &Terms) -> Run {
    let mut run = Run::default();
    let mut window = Window::new(recording, terms.ground.estimator);
    let mut stale = StaleOrder::new(recording);
    let mut sent = 0;
    let mut fetched = vec![false; recording.results().len()];
    let mut before: Option<i64> = None;
    for (number, turn) in recording.turns().iter().enumerate() {
        feed(&mut window, policy, turn.start, &mut run.planning);
        if number >= recording.carried() {
            let idle = turn
                .asked
                .zip(before)
                .map(|(now, then)| (now - then).max(0));
            window.begin(number, idle, stale.until(number));
            let begun = Instant::now();
            let edits = policy.project(&window);
            run.planning += begun.elapsed();
            let applied = window.apply(edits);
            let first = applied.first.filter(|&first| first < sent);
            let known = window.tokens_before(sent);
            let prefix = first.map_or(known, |first| window.tokens_before(first));
            let mut row = Row {
                turn: number,
                sent: window.tokens(),
                whole: window.whole_tokens(),
                reclaimed: applied.reclaimed,
                edits: applied.edits,
                changed: first.is_some(),
                resent: known - prefix,
                prefix,
                stale: window.stale_tokens(),
                calls: window.call_tokens(),
                output: turn.output,
                idle,
                ..Row::default()
            };
            if run.trigger.is_none() && row.whole > terms.trigger_tokens {
                run.trigger = Some(run.rows.len());
            }
            let missed = check(recording, &window, &mut row);
            let fresh: Vec<usize> = missed
                .iter()
                .filter(|miss| miss.kind == NeedKind::Line)
                .map(|miss| miss.ordinal)
                .filter(|&ordinal| !std::mem::replace(&mut fetched[ordinal], true))
                .collect();
            for tariff in &terms.tariffs {
                row.cost.push(tariff.cost(&row));
                let again = |&ordinal: &usize| {
                    let tokens = recording.tokens(recording.results()[ordinal].at);
                    tariff.refetch(&row, tokens)
                };
                row.refetch.push(fresh.iter().map(again).sum());
            }
            if run.trigger.is_some() {
                run.misses.extend(missed);
            }
            run.rows.push(row);
            sent = turn.start;
        }
        before = turn.answered.or(turn.asked).or(before);
        feed(&mut window, policy, turn.end, &mut run.planning);
    }
    run
}

/// Shows views up to `end` to the window and the policy.
fn feed(window: &mut Window<'_, '_>, policy: &mut dyn Policy, end: usize, planning: &mut Duration) {
    let begun = Instant::now();
    while window.views().len() < end {
        window.push();
        if let Some(view) = window.views().last() {
            policy.see(view);
        }
    }
    *planning += begun.elapsed();
}

/// Holds the turn's needs against the window.
fn check(recording: &Recording<'_>, window: &Window<'_, '_>, row: &mut Row) -> Vec<Miss> {
    let needs = recording.needs();
    let mut missed = Vec::new();
    for need in needs.of_turn(row.turn) {
        let held = |ordinal| window.shows(ordinal, need.key());
        let met = needs.holders(need).rev().any(held);
        match need.kind {
            NeedKind::Line => {
                row.needed += need.chars;
                row.missed += if met { 0 } else { need.chars };
            }
            NeedKind::Identifier => {
                row.names_needed += 1;
                row.names_missed += usize::from(!met);
            }
        }
        let newest = needs.holders(need).next_back();
        let (false, Some(ordinal)) = (met, newest) else {
            continue;
        };
        let result = &window.held()[ordinal];
        if let Some(pruned) = result.pruned {
            missed.push(Miss {
                turn: row.turn,
                ordinal,
                label: window.found(ordinal).label.clone(),
                kind: need.kind,
                text: need.text.to_string(),
                chars: need.chars,
                pruned,
                before: excerpt(recording.result(ordinal).text, &need.text),
                after: result.text().unwrap_or_default().to_owned(),
            });
        }
    }
    missed
}

/// What stands around `needle` in a result, a few lines of it.
fn excerpt(text: &str, needle: &str) -> String {
    const AROUND: usize = 240;
    let at = text.find(needle).unwrap_or(0);
    let mut start = at.saturating_sub(AROUND);
    let mut end = (at + needle.len() + AROUND).min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    text[start..end].to_owned()
}

/// Results by the turn from which on they are stale.
struct StaleOrder {
    by_turn: Vec<(usize, usize)>,
    ordinals: Vec<usize>,
    next: usize,
}

impl StaleOrder {
    fn new(recording: &Recording<'_>) -> Self {
        let results = recording.results().iter().enumerate();
        let mut by_turn: Vec<(usize, usize)> = results
            .filter_map(|(ordinal, found)| Some((found.stale?.0, ordinal)))
            .collect();
        by_turn.sort_unstable();
        StaleOrder {
            ordinals: by_turn.iter().map(|&(_, ordinal)| ordinal).collect(),
            by_turn,
            next: 0,
        }
    }

    /// Those that have become stale by `turn` and were not handed out yet.
    fn until(&mut self, turn: usize) -> &[usize] {
        let start = self.next;
        while self
            .by_turn
            .get(self.next)
            .is_some_and(|&(at, _)| at <= turn)
        {
            self.next += 1;
        }
        &self.ordinals[start..self.next]
    }
}
