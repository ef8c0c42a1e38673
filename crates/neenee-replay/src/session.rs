//! One session under several policies and windows: read once, cut at its compactions, replayed each.
//! Deliberately one session at a time, so that a corpus streams through.

use neenee_wire::{Document, Format, ReadError};

use crate::ground::Ground;
use crate::params::{ParamError, Params};
use crate::policy;
use crate::recording::{Marks, Recording};
use crate::replay::{Miss, Row, Terms, replay};
use crate::segments::segments;
use crate::totals::Totals;

/// A policy with what is set of it.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The name.
    pub policy: String,
    /// The parameters.
    pub params: Params,
}

impl Spec {
    /// A policy with its defaults.
    pub fn plain(policy: &str) -> Self {
        Spec {
            policy: policy.to_owned(),
            params: Params::default(),
        }
    }

    /// The name and what was set, as tables show it.
    pub fn label(&self) -> String {
        let mut label = self.policy.clone();
        for (key, value) in self.params.iter() {
            label.push_str(&format!(" {key}={value}"));
        }
        label
    }
}

/// What is compared.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Windows, in tokens; none asks each session's own ground.
    pub windows: Vec<usize>,
    /// Policies.
    pub specs: Vec<Spec>,
    /// The format; `None` recognises it.
    pub format: Option<Format>,
    /// Whether rows are kept.
    pub rows: bool,
    /// How many misses are kept of each outcome.
    pub misses: usize,
}

/// What a policy did to a session.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The window in tokens.
    pub window: usize,
    /// The policy, with what was set of it.
    pub policy: String,
    /// Sums over the requests that count.
    pub totals: Totals,
    /// Every request, if it was asked for, segment after segment.
    pub rows: Vec<Row>,
    /// The first misses.
    pub misses: Vec<Miss>,
}

/// A session, replayed.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// The format that it was read as.
    pub format: Option<Format>,
    /// The model that it names.
    pub model: Option<String>,
    /// Parts between compactions.
    pub segments: usize,
    /// Requests.
    pub turns: usize,
    /// Tool results, those that a compaction carried over counted again.
    pub results: usize,
    /// By window, then by policy.
    pub outcomes: Vec<Outcome>,
}

/// Why a session could not be replayed.
#[derive(Debug, thiserror::Error)]
pub enum Failed<G> {
    /// What it is replayed on cannot be told.
    #[error("no ground to replay on")]
    Ground(G),
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A policy cannot be built.
    #[error(transparent)]
    Policy(#[from] ParamError),
}

/// Replays one session. `ground` says what the session is replayed on; its window is used where the
/// comparison names none.
///
/// # Errors
/// When the bytes cannot be read, `ground` fails, or a policy cannot be built.
pub fn compare<G>(
    bytes: &[u8],
    comparison: &Comparison,
    ground: impl Fn(&Document<'_>) -> Result<Ground, G>,
) -> Result<Session, Failed<G>> {
    let mut session = Session::default();
    let mut marks = Marks::default();
    let parts = segments(bytes);
    let last = parts.len() - 1;
    for (number, part) in parts.into_iter().enumerate() {
        let document = match neenee_wire::read(part, comparison.format) {
            Ok(document) => document,
            // Before its first compaction a file may hold nothing that is a conversation.
            Err(_) if number < last => continue,
            Err(error) => return Err(error.into()),
        };
        let ground = ground(&document).map_err(Failed::Ground)?;
        let recording = Recording::new(&document, &ground, &mut marks);
        session.format = Some(document.format());
        session.model = document.model().map(str::to_owned);
        session.segments += 1;
        session.turns += recording.turns().len() - recording.carried();
        session.results += recording.results().len();
        session.replay(&recording, comparison, ground)?;
    }
    Ok(session)
}

impl Session {
    fn replay(
        &mut self,
        recording: &Recording<'_>,
        comparison: &Comparison,
        mut ground: Ground,
    ) -> Result<(), ParamError> {
        let own = [ground.window_tokens];
        let windows = match &comparison.windows[..] {
            [] => &own[..],
            windows => windows,
        };
        let mut at = 0;
        for &window in windows {
            ground.window_tokens = window;
            let terms = Terms::new(&ground);
            for spec in &comparison.specs {
                let mut policy = policy::build(&spec.policy, &spec.params, &ground, recording)?;
                let run = replay(recording, &mut *policy, &terms);
                if self.outcomes.len() == at {
                    self.outcomes.push(Outcome {
                        window,
                        policy: spec.label(),
                        ..Outcome::default()
                    });
                }
                let outcome = &mut self.outcomes[at];
                outcome.totals.add(&Totals::of(&run, terms.trigger_tokens));
                let room = comparison.misses.saturating_sub(outcome.misses.len());
                outcome.misses.extend(run.misses.into_iter().take(room));
                if comparison.rows {
                    outcome.rows.extend(run.rows);
                }
                at += 1;
            }
        }
        Ok(())
    }
}
