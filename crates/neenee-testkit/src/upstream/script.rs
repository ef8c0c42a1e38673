//! The script: rounds of turns, and which of them answers a conversation.
//! Deliberately knows no wire format and no client's tool names; see `tools` and the format files.

use super::turn::Turn;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// What a scripted model answers, by the newest user text that one of its rounds recognises.
///
/// The turn is found from the request alone: it is the number of answers that stand after that user
/// text. So a retry gets the same answer, parallel conversations do not disturb each other, and a
/// session resumed from a file goes on where it was.
#[derive(Debug, Clone)]
pub struct Script {
    rounds: Vec<Round>,
    /// Folder that relative paths are joined to for tools that want absolute ones.
    pub root: String,
    /// Answer with an error of the format when a body breaks the rules that the real API checks.
    pub strict: bool,
    /// Bytes of a request body that the answer counts as one token; clients stop, or compact, when the
    /// count comes near to the window of the model.
    pub bytes_per_token: usize,
    /// Close the connection without an end after this many bytes of a streamed answer.
    pub cut_at: Option<usize>,
    /// Refuse bodies of more tokens, as counted by `bytes_per_token`, the way the format refuses them.
    pub window_tokens: Option<usize>,
    pub(super) in_order: bool,
    pub(super) faults: Vec<(usize, Fault)>,
}

/// An answer that is none.
#[derive(Debug, Clone, Default)]
pub struct Fault {
    /// The HTTP status.
    pub status: u16,
    /// Headers beside it.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Script {
    /// A script whose files live under `root`, strict, with no rounds yet.
    pub fn new(root: impl Into<String>) -> Self {
        Self {
            rounds: Vec::new(),
            root: root.into(),
            strict: true,
            bytes_per_token: 4,
            cut_at: None,
            window_tokens: None,
            in_order: false,
            faults: Vec::new(),
        }
    }

    /// Plays the turns of the first round one after the other, one for each request with tools, whatever it says:
    /// for clients that fold the very round that they are in.
    #[must_use]
    pub fn in_order(mut self) -> Self {
        self.in_order = true;
        self
    }

    /// Answers request number `at` (from 0, all requests counted) with a fault.
    #[must_use]
    pub fn fault(mut self, at: usize, fault: Fault) -> Self {
        self.faults.push((at, fault));
        self
    }

    /// Adds what is answered after a user text that contains `marker`; an empty marker is in any text. Of several
    /// that fit, the first added counts.
    /// After the last turn the answer is the text `Done.`
    #[must_use]
    pub fn round(mut self, marker: impl Into<String>, turns: Vec<Turn>) -> Self {
        self.rounds.push(Round {
            marker: marker.into(),
            turns,
        });
        self
    }

    /// Cuts every streamed answer after `bytes`.
    #[must_use]
    pub fn cut_at(mut self, bytes: usize) -> Self {
        self.cut_at = Some(bytes);
        self
    }

    /// The turn of that number of the first round.
    pub(super) fn nth(&self, number: usize) -> (Turn, u64) {
        let round = self.rounds.first();
        let turn = round.and_then(|round| round.turns.get(number)).cloned();
        (turn.unwrap_or_else(Turn::done), seed("", number))
    }

    /// The answer to a conversation, and a seed for its ids that is the same on every run.
    pub(super) fn answer(&self, said: &[Said]) -> (Turn, u64) {
        let mut answers = 0;
        let mut before = None;
        for one in said.iter().rev() {
            match one {
                // Blocks and items of one answer count once.
                Said::Model => answers += usize::from(before != Some(Said::Model)),
                Said::User(text) => {
                    let mut rounds = self.rounds.iter();
                    if let Some(round) = rounds.find(|round| text.contains(&round.marker)) {
                        let turn = round.turns.get(answers).cloned();
                        return (
                            turn.unwrap_or_else(Turn::done),
                            seed(&round.marker, answers),
                        );
                    }
                }
                Said::Result => {}
            }
            before = Some(one.clone());
        }
        (Turn::done(), seed("", said.len()))
    }
}

#[derive(Debug, Clone)]
struct Round {
    marker: String,
    turns: Vec<Turn>,
}

/// The shape of a conversation, as far as the choice of an answer needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    /// Text of the user, or of the client in the user's name.
    User(String),
    /// Anything of the model.
    Model,
    /// The result of a call.
    Result,
}

/// Ids must differ within a session and be the same in each run of it.
fn seed(marker: &str, turn: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    (marker, turn).hash(&mut hasher);
    hasher.finish()
}

/// An id as providers make them: `prefix` and 22 letters and digits.
pub(super) fn id(prefix: &str, seed: u64, number: usize) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut hasher = DefaultHasher::new();
    (seed, number, prefix).hash(&mut hasher);
    let mut rest = u128::from(hasher.finish()) << 64;
    hasher.write_u8(1);
    rest |= u128::from(hasher.finish());
    let mut text = prefix.to_owned();
    for _ in 0..22 {
        // Below 36, so it is an index and fits.
        text.push(char::from(DIGITS[(rest % 36) as usize]));
        rest /= 36;
    }
    text
}
