//! A recorded conversation as an agent sent it: turns, results, what each turn needed.
//! Deliberately not a copy: views point into the document that they were read from.

mod facts;
mod pairs;

use std::hash::{BuildHasher as _, Hash as _, Hasher as _};

use neenee_core::estimate::{Estimator, Measure};
use neenee_core::message::{Message, Role};
use neenee_core::pressure::CHARS_PER_TOKEN;
use neenee_core::pressure::view::{ResultView, View, views};
use neenee_wire::Document;
use rustc_hash::FxHashSet;

use crate::ground::Ground;
use crate::needs::Needs;

/// One request and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The request sends all views before this one; the answer begins here.
    pub start: usize,
    /// The answer ends before this view.
    pub end: usize,
    /// When the request was sent, in ms since the epoch.
    pub asked: Option<i64>,
    /// When it was answered, in ms since the epoch.
    pub answered: Option<i64>,
    /// Estimated tokens of the answer.
    pub output: usize,
}

/// One tool result of the recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Its view.
    pub at: usize,
    /// The first turn whose request holds it.
    pub turn: usize,
    /// The view of the call that it answers.
    pub call: Option<usize>,
    /// Tool and salient argument, as placeholders show them.
    pub label: String,
    /// The tool's name; empty when its call is not recorded.
    pub tool: String,
    /// Whether it tells of a failure.
    pub is_error: bool,
    /// Whether it holds content that is not text.
    pub media: bool,
    /// The size of the whole, children included.
    pub size: Measure,
    /// The turn from which on a later result supersedes it, and that result.
    pub stale: Option<(usize, usize)>,
}

/// A conversation between two compactions, taken apart.
#[derive(Debug)]
pub struct Recording<'d> {
    views: Vec<View<'d>>,
    tokens: Vec<usize>,
    turns: Vec<Turn>,
    carried: usize,
    results: Vec<Found>,
    needs: Needs,
}

impl<'d> Recording<'d> {
    /// Nothing was said.
    pub(crate) fn empty() -> Self {
        Recording {
            views: Vec::new(),
            tokens: Vec::new(),
            turns: Vec::new(),
            carried: 0,
            results: Vec::new(),
            needs: Needs::default(),
        }
    }

    /// Takes `document` apart. Turns that a segment before had, and that a compaction carried over
    /// word by word, are not turns again; `marks` starts empty and goes from segment to segment.
    pub fn new(document: &'d Document<'_>, ground: &Ground, marks: &mut Marks) -> Self {
        let messages = document.messages();
        let mut recording = Recording {
            views: document.views().collect(),
            ..Recording::empty()
        };
        let (mut message, mut asked, mut open) = (0, None, false);
        for at in 0..recording.views.len() {
            let view = recording.views[at];
            let size = measure(&view, &ground.estimator);
            recording.tokens.push(size.tokens);
            match view {
                View::Message(role) => {
                    let info = messages.get(message);
                    message += 1;
                    let time = info.and_then(|info| info.timestamp);
                    let assistant = role == Role::Assistant;
                    if assistant && !open {
                        recording.turns.push(Turn {
                            start: at,
                            end: at,
                            asked: asked.or(time),
                            answered: time,
                            output: 0,
                        });
                    } else if let Some(turn) = recording.turns.last_mut().filter(|_| assistant) {
                        turn.answered = time.or(turn.answered);
                    }
                    open = assistant;
                    asked = time.or(asked);
                }
                View::Result(result) => {
                    // A client may note results while the rest of an answer is still coming in.
                    open = false;
                    recording.results.push(Found {
                        at,
                        turn: recording.turns.len(),
                        media: !result.media.is_empty(),
                        size,
                        ..Found::default()
                    });
                }
                _ => {}
            }
            if let Some(turn) = recording.turns.last_mut().filter(|_| open) {
                turn.end = at + 1;
                turn.output += size.tokens;
            }
        }
        recording.pair();
        recording.establish(ground);
        recording.mark(marks);
        recording.needs = Needs::of(&recording);
        recording
    }

    /// Everything in the order in which the model saw it.
    pub fn views(&self) -> &[View<'d>] {
        &self.views
    }

    /// Estimated tokens of a view as recorded.
    pub fn tokens(&self, view: usize) -> usize {
        self.tokens.get(view).copied().unwrap_or(0)
    }

    /// The turns, in order; the first [`carried`](Self::carried) of them were counted before.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// How many of the first turns belong to the segment before.
    pub fn carried(&self) -> usize {
        self.carried
    }

    /// The tool results, in order.
    pub fn results(&self) -> &[Found] {
        &self.results
    }

    /// What each turn needed of earlier results.
    pub fn needs(&self) -> &Needs {
        &self.needs
    }

    /// The view of a result.
    pub fn result(&self, ordinal: usize) -> ResultView<'d> {
        match self.results.get(ordinal).map(|found| self.views[found.at]) {
            Some(View::Result(result)) => result,
            _ => ResultView::default(),
        }
    }

    fn mark(&mut self, marks: &mut Marks) {
        let mut fresh = Vec::new();
        for turn in &self.turns {
            let mut hasher = rustc_hash::FxBuildHasher.build_hasher();
            for view in &self.views[turn.start..turn.end] {
                match view {
                    View::Text(text) => text.hash(&mut hasher),
                    View::Call(call) => (call.id, call.name, call.arguments).hash(&mut hasher),
                    View::Reasoning { text, .. } => text.hash(&mut hasher),
                    _ => {}
                }
            }
            let mark = hasher.finish();
            if fresh.is_empty() && marks.0.contains(&mark) {
                self.carried += 1;
            } else {
                fresh.push(mark);
            }
        }
        marks.0.extend(fresh);
    }
}

/// Which turns there were in the segments before.
#[derive(Clone, Debug, Default)]
pub struct Marks(FxHashSet<u64>);

/// The size of a view, measured as the planner does.
fn measure(view: &View<'_>, estimator: &Estimator) -> Measure {
    match *view {
        View::Message(_) | View::Cwd(_) => Measure::default(),
        View::Text(text) | View::Opaque(text) | View::Reasoning { text, .. } => {
            estimator.measure(text)
        }
        View::Weight { tokens } => media(tokens),
        View::Call(call) => estimator.measure(call.name) + estimator.measure(call.arguments),
        View::Result(result) => measure_result(&result, estimator),
    }
}

fn measure_result(result: &ResultView<'_>, estimator: &Estimator) -> Measure {
    let mut size = estimator.measure(result.text);
    size += media(result.media.iter().map(|media| media.tokens).sum());
    size + measure_children(result.children, estimator)
}

fn measure_children(children: &[Message], estimator: &Estimator) -> Measure {
    let mut size = Measure::default();
    for view in views(children) {
        size += measure(&view, estimator);
    }
    size
}

fn media(tokens: usize) -> Measure {
    Measure {
        chars: tokens * CHARS_PER_TOKEN,
        lines: 0,
        tokens,
    }
}
