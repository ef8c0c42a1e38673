//! What a turn really used of earlier tool results, as evidence in what it said and called.
//! Deliberately literal: a line or an identifier that stands in a result and nowhere else that the
//! model could still see. What was understood and rephrased leaves no evidence.

mod evidence;
mod lines;
mod text;

use std::ops::Range;

use neenee_core::message::Role;
use neenee_core::pressure::view::View;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::recording::Recording;
use evidence::{Evidence, for_each_text};
use lines::Lines;
pub(crate) use text::{identifiers, key};

/// The kinds of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NeedKind {
    /// A line of at least 16 chars, stripped, a tool's line numbering peeled off.
    Line,
    /// An identifier of at least 8 chars.
    Identifier,
}

/// A piece of text that a turn used and could have from tool results alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The turn that used it.
    pub turn: usize,
    /// What it is.
    pub kind: NeedKind,
    /// The text.
    pub text: Box<str>,
    /// Its length in chars.
    pub chars: usize,
    holders: Range<usize>,
}

/// All needs of a recording, by turn.
#[derive(Debug, Default)]
pub struct Needs {
    needs: Vec<Need>,
    /// By turn, where its needs begin; one more than there are turns.
    starts: Vec<usize>,
    /// Ordinals of results, a run for each need, oldest first.
    holders: Vec<u32>,
}

/// Text that is looked for: which results hold it so far, and whether it stood anywhere else.
struct Sources {
    lines: Lines,
    /// By the number of the line.
    line_holders: Vec<Vec<u32>>,
    line_elsewhere: Vec<bool>,
    /// Identifiers that some answer holds, by key.
    wanted: FxHashSet<u64>,
    name_holders: FxHashMap<u64, Vec<u32>>,
    name_elsewhere: FxHashSet<u64>,
}

impl Needs {
    /// What the turns of `recording` needed. Costs its length once.
    pub(crate) fn of(recording: &Recording<'_>) -> Self {
        // Most of what results hold is never used: only what some answer holds is looked for.
        let mut lines = Lines::default();
        let evidence: Vec<Evidence> = recording
            .turns()
            .iter()
            .map(|turn| Evidence::of(&recording.views()[turn.start..turn.end], &mut lines))
            .collect();
        let names = evidence.iter().flat_map(|evidence| &evidence.names);
        let mut sources = Sources {
            line_holders: vec![Vec::new(); lines.len()],
            line_elsewhere: vec![false; lines.len()],
            wanted: names.map(|name| key(name)).collect(),
            name_holders: FxHashMap::default(),
            name_elsewhere: FxHashSet::default(),
            lines,
        };

        let mut needs = Needs::default();
        let mut at = 0;
        let (mut ordinal, mut speaker) = (0, Role::System);
        for (number, (turn, evidence)) in recording.turns().iter().zip(evidence).enumerate() {
            for view in &recording.views()[at..turn.start] {
                match view {
                    View::Message(role) => speaker = *role,
                    View::Text(text) if speaker != Role::Tool => sources.see(text),
                    View::Result(result) => {
                        sources.hold(result.text, ordinal);
                        ordinal += 1;
                    }
                    _ => {}
                }
            }
            at = turn.end;
            needs.starts.push(needs.needs.len());
            if number >= recording.carried() {
                needs.take(number, &evidence, &sources);
            }
            for view in &recording.views()[turn.start..turn.end] {
                for_each_text(view, |text| sources.see(text));
            }
        }
        needs.starts.push(needs.needs.len());
        needs
    }

    fn take(&mut self, turn: usize, evidence: &Evidence, sources: &Sources) {
        for &line in &evidence.lines {
            if !sources.line_elsewhere[line as usize] {
                let text = sources.lines.text(line);
                self.enter(
                    turn,
                    NeedKind::Line,
                    text,
                    &sources.line_holders[line as usize],
                );
            }
        }
        for name in &evidence.names {
            let key = key(name);
            if let Some(holders) = sources.name_holders.get(&key)
                && !sources.name_elsewhere.contains(&key)
            {
                self.enter(turn, NeedKind::Identifier, name, holders);
            }
        }
    }

    fn enter(&mut self, turn: usize, kind: NeedKind, text: &str, holders: &[u32]) {
        if holders.is_empty() {
            return;
        }
        let start = self.holders.len();
        self.holders.extend_from_slice(holders);
        self.needs.push(Need {
            turn,
            kind,
            text: text.into(),
            chars: text.chars().count(),
            holders: start..self.holders.len(),
        });
    }

    /// What a turn needed.
    pub fn of_turn(&self, turn: usize) -> &[Need] {
        match (self.starts.get(turn), self.starts.get(turn + 1)) {
            (Some(&start), Some(&end)) => &self.needs[start..end],
            _ => &[],
        }
    }

    /// All of them, by turn.
    pub fn all(&self) -> &[Need] {
        &self.needs
    }

    /// The results that held it when the turn began, oldest first.
    pub fn holders(&self, need: &Need) -> impl DoubleEndedIterator<Item = usize> {
        let holders = &self.holders[need.holders.clone()];
        holders.iter().map(|&ordinal| ordinal as usize)
    }
}

impl Sources {
    fn see(&mut self, text: &str) {
        let elsewhere = &mut self.line_elsewhere;
        self.lines
            .find(text, |line| elsewhere[line as usize] = true);
        let names = identifiers(text).map(key);
        let wanted = &self.wanted;
        self.name_elsewhere
            .extend(names.filter(|name| wanted.contains(name)));
    }

    fn hold(&mut self, text: &str, ordinal: u32) {
        let holders = &mut self.line_holders;
        self.lines
            .find(text, |line| note(&mut holders[line as usize], ordinal));
        for name in identifiers(text).map(key) {
            if self.wanted.contains(&name) {
                note(self.name_holders.entry(name).or_default(), ordinal);
            }
        }
    }
}

fn note(holders: &mut Vec<u32>, ordinal: u32) {
    if holders.last() != Some(&ordinal) {
        holders.push(ordinal);
    }
}
