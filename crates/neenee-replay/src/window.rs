//! The window as it is sent: what was seen so far, less what projections took out. They stick.
//! Deliberately blind to the future: a policy sees what an agent would see at that moment.

use std::cell::OnceCell;

use neenee_core::estimate::Estimator;
use neenee_core::message::Tier;
use neenee_core::pressure::view::{ResultView, View};
use rustc_hash::FxHashSet;

use crate::fenwick::Fenwick;
use crate::needs::{identifiers, key, lines};
use crate::recording::{Found, Recording};

/// What a policy does to one result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// The result's running number.
    pub ordinal: usize,
    /// What the window holds instead; `None` leaves the content and only counts
    /// [`saved_inside`](Self::saved_inside).
    pub text: Option<String>,
    /// The tier that this is.
    pub tier: Tier,
    /// Which pass decided, in kebab case.
    pub pass: &'static str,
    /// Tokens given back inside a transcript that the result carries.
    pub saved_inside: usize,
}

impl Edit {
    /// An edit that clears to `text`.
    pub fn clear(ordinal: usize, text: impl Into<String>, pass: &'static str) -> Self {
        Edit {
            ordinal,
            text: Some(text.into()),
            tier: Tier::Cleared,
            pass,
            saved_inside: 0,
        }
    }
}

/// What became of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// The turn before which it was pruned last.
    pub turn: usize,
    /// The pass that decided.
    pub pass: &'static str,
}

/// A result in the window.
#[derive(Debug, Default)]
pub struct Held {
    /// Estimated tokens now.
    pub tokens: usize,
    /// The tier that it is in.
    pub tier: Tier,
    /// What became of it; `None` while it is whole.
    pub pruned: Option<Pruned>,
    text: Option<Box<str>>,
    keys: OnceCell<FxHashSet<u64>>,
}

impl Held {
    /// What the window holds in its place; `None` while it is whole.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}

/// What projecting did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) edits: usize,
    pub(crate) reclaimed: usize,
    /// The first view that changed.
    pub(crate) first: Option<usize>,
}

/// The window before a request.
#[derive(Debug)]
pub struct Window<'r, 'd> {
    recording: &'r Recording<'d>,
    estimator: Estimator,
    weights: Fenwick,
    held: Vec<Held>,
    end: usize,
    tokens: usize,
    whole: usize,
    turn: usize,
    idle: Option<i64>,
    stale_tokens: i64,
    calls: usize,
}

impl<'r, 'd> Window<'r, 'd> {
    /// An empty one.
    pub(crate) fn new(recording: &'r Recording<'d>, estimator: Estimator) -> Self {
        Window {
            recording,
            estimator,
            weights: Fenwick::new(recording.views().len()),
            held: Vec::new(),
            end: 0,
            tokens: 0,
            whole: 0,
            turn: 0,
            idle: None,
            stale_tokens: 0,
            calls: 0,
        }
    }

    /// Estimated tokens that the request would send.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// The same if nothing had ever been taken out.
    pub fn whole_tokens(&self) -> usize {
        self.whole
    }

    /// Estimated tokens before a view.
    pub fn tokens_before(&self, view: usize) -> usize {
        self.weights.before(view)
    }

    /// Estimated tokens of the calls in the window.
    pub fn call_tokens(&self) -> usize {
        self.calls
    }

    /// The turn that is about to be asked for.
    pub fn turn(&self) -> usize {
        self.turn
    }

    /// How long nothing was sent, in ms, where the recording tells.
    pub fn idle(&self) -> Option<i64> {
        self.idle
    }

    /// The views so far.
    pub fn views(&self) -> &'r [View<'d>] {
        &self.recording.views()[..self.end]
    }

    /// The results so far, in order.
    pub fn held(&self) -> &[Held] {
        &self.held
    }

    /// What is recorded of a result so far; its staleness is of no policy's knowledge.
    pub fn found(&self, ordinal: usize) -> &'r Found {
        &self.recording.results()[ordinal]
    }

    /// A result as recorded.
    pub fn result(&self, ordinal: usize) -> ResultView<'d> {
        self.recording.result(ordinal)
    }

    /// Whether the model has not seen this result yet.
    pub fn is_unseen(&self, ordinal: usize) -> bool {
        self.found(ordinal).turn >= self.turn
    }

    /// Tokens of `text` as this window counts them.
    pub fn count(&self, text: &str) -> usize {
        self.estimator.tokens(text)
    }

    /// Takes the next view in.
    pub(crate) fn push(&mut self) {
        let tokens = self.recording.tokens(self.end);
        self.weights.add(self.end, tokens as i64);
        self.tokens += tokens;
        self.whole += tokens;
        match self.recording.views()[self.end] {
            View::Result(_) => self.held.push(Held {
                tokens,
                ..Held::default()
            }),
            View::Call(_) => self.calls += tokens,
            _ => {}
        }
        self.end += 1;
    }

    /// The request of `turn` is next.
    pub(crate) fn begin(&mut self, turn: usize, idle: Option<i64>, stale: &[usize]) {
        self.turn = turn;
        self.idle = idle;
        for &ordinal in stale {
            self.stale_tokens += self.held[ordinal].tokens as i64;
        }
    }

    /// Tokens of results that later ones have superseded.
    pub(crate) fn stale_tokens(&self) -> usize {
        usize::try_from(self.stale_tokens).unwrap_or(0)
    }

    /// Takes out what a policy decided. Edits of results that are not there yet, and edits that
    /// would give nothing back, are left out.
    pub(crate) fn apply(&mut self, edits: Vec<Edit>) -> Applied {
        let mut applied = Applied::default();
        for edit in edits {
            let Some(held) = self.held.get_mut(edit.ordinal) else {
                continue;
            };
            let found = &self.recording.results()[edit.ordinal];
            let after = match &edit.text {
                Some(text) => self.estimator.tokens(text),
                None => held.tokens.saturating_sub(edit.saved_inside),
            };
            if after >= held.tokens {
                continue;
            }
            let saved = held.tokens - after;
            held.tokens = after;
            if let Some(text) = edit.text {
                held.text = Some(text.into());
                held.keys = OnceCell::new();
                held.tier = edit.tier;
                held.pruned = Some(Pruned {
                    turn: self.turn,
                    pass: edit.pass,
                });
            }
            if found.stale.is_some_and(|(turn, _)| turn <= self.turn) {
                self.stale_tokens -= saved as i64;
            }
            self.weights.add(found.at, -(saved as i64));
            self.tokens -= saved.min(self.tokens);
            applied.edits += 1;
            applied.reclaimed += saved;
            applied.first = Some(applied.first.map_or(found.at, |first| first.min(found.at)));
        }
        applied
    }

    /// Whether a result still shows a piece of text that it held when it was whole.
    pub(crate) fn shows(&self, ordinal: usize, wanted: u64) -> bool {
        let Some(held) = self.held.get(ordinal) else {
            return false;
        };
        let Some(text) = &held.text else { return true };
        let keys = held.keys.get_or_init(|| {
            let pieces = lines(text).chain(identifiers(text));
            pieces.map(key).collect()
        });
        keys.contains(&wanted)
    }
}
