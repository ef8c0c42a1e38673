//! What a turn really used of earlier tool results, as evidence in what it said and called.
//! Deliberately literal: a line or an identifier that stands in a result and nowhere else that the
//! model could still see. What was understood and rephrased leaves no evidence.

mod evidence;
mod text;

use std::ops::Range;

use neenee_core::message::Role;
use neenee_core::pressure::view::View;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::recording::Recording;
use evidence::Evidence;
pub(crate) use text::{identifiers, key, lines};

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
    key: u64,
    holders: Range<usize>,
}

impl Need {
    /// What a window's results are looked through for.
    pub(crate) fn key(&self) -> u64 {
        self.key
    }
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

/// Text that only stands in results so far: which of them hold it.
#[derive(Default)]
struct Sources {
    /// What the model could see outside of results.
    elsewhere: FxHashSet<u64>,
    holders: FxHashMap<u64, Vec<u32>>,
}

impl Needs {
    /// What the turns of `recording` needed. Costs its length once.
    pub(crate) fn of(recording: &Recording<'_>) -> Self {
        // Most of what results hold is never used: only what some answer holds is looked for.
        let evidence: Vec<Evidence> = recording
            .turns()
            .iter()
            .map(|turn| Evidence::of(&recording.views()[turn.start..turn.end]))
            .collect();
        let wanted: FxHashSet<u64> = evidence.iter().flat_map(Evidence::keys).collect();

        let mut needs = Needs::default();
        let mut sources = Sources::default();
        let mut at = 0;
        let (mut ordinal, mut speaker) = (0, Role::System);
        for (number, (turn, evidence)) in recording.turns().iter().zip(evidence).enumerate() {
            for view in &recording.views()[at..turn.start] {
                match view {
                    View::Message(role) => speaker = *role,
                    View::Text(text) if speaker != Role::Tool => sources.see(text),
                    View::Result(result) => {
                        sources.hold(result.text, ordinal, &wanted);
                        ordinal += 1;
                    }
                    _ => {}
                }
            }
            at = turn.end;
            needs.starts.push(needs.needs.len());
            for piece in &evidence.pieces {
                if number >= recording.carried()
                    && !sources.elsewhere.contains(&piece.key)
                    && let Some(holders) = sources.holders.get(&piece.key)
                {
                    let start = needs.holders.len();
                    needs.holders.extend_from_slice(holders);
                    needs.needs.push(Need {
                        turn: number,
                        kind: piece.kind,
                        text: piece.text.as_str().into(),
                        chars: piece.chars,
                        key: piece.key,
                        holders: start..needs.holders.len(),
                    });
                }
            }
            sources.elsewhere.extend(evidence.keys());
        }
        needs.starts.push(needs.needs.len());
        needs
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
        self.elsewhere.extend(lines(text).map(key));
        self.elsewhere.extend(identifiers(text).map(key));
    }

    fn hold(&mut self, text: &str, ordinal: u32, wanted: &FxHashSet<u64>) {
        for piece in lines(text).chain(identifiers(text)) {
            let key = key(piece);
            if wanted.contains(&key) {
                let holders = self.holders.entry(key).or_default();
                if holders.last() != Some(&ordinal) {
                    holders.push(ordinal);
                }
            }
        }
    }
}
