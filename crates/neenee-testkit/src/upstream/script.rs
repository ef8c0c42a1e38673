//! What the scripted model says: rounds of turns, each with text, reasoning and neutral operations.
//! Deliberately knows no wire format and no client's tool names; see `tools` and the format files.

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
        }
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

/// One answer of the scripted model.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    /// Thoughts, in formats that show them.
    pub reasoning: Option<String>,
    /// Text for the user, before the calls.
    pub text: Option<String>,
    /// Operations asked for, all in parallel; none ends the round.
    pub calls: Vec<Op>,
}

impl Turn {
    /// A turn that only speaks.
    pub fn say(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::default()
        }
    }

    /// A turn that calls, in silence.
    pub fn call(calls: impl IntoIterator<Item = Op>) -> Self {
        Self {
            calls: calls.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Adds calls to what is said.
    #[must_use]
    pub fn and_call(mut self, calls: impl IntoIterator<Item = Op>) -> Self {
        self.calls.extend(calls);
        self
    }

    /// Adds thoughts.
    #[must_use]
    pub fn thinking(mut self, reasoning: impl Into<String>) -> Self {
        self.reasoning = Some(reasoning.into());
        self
    }

    pub(super) fn done() -> Self {
        Self::say("Done.")
    }
}

/// What the model wants done, in no client's words. Paths are relative to [`Script::root`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Read a text file: all of it, or `lines` = (first line from 1, number of lines).
    Read {
        /// The file.
        path: String,
        /// First line, from 1, and count.
        lines: Option<(u32, u32)>,
    },
    /// Look at an image file.
    Image(String),
    /// Run a shell command.
    Shell(String),
    /// Replace one text by another in a file.
    Edit {
        /// The file.
        path: String,
        /// Text that stands there, whole lines.
        old: String,
        /// Text that shall stand there, whole lines.
        new: String,
    },
    /// Write a file whole.
    Write {
        /// The file.
        path: String,
        /// Its new content.
        content: String,
    },
    /// Search a pattern in a folder or file.
    Search {
        /// A regular expression that `grep -E` understands.
        pattern: String,
        /// Where.
        path: String,
    },
    /// List files that match a glob.
    Glob(String),
    /// Note steps in the client's own list of plans.
    Plan(Vec<String>),
    /// Hand a task to a sub-agent.
    Agent {
        /// Three words for the person.
        title: String,
        /// What the sub-agent is told; a round of the script should recognise it.
        prompt: String,
    },
    /// Call a named tool with arguments as they are; for what only one client has.
    Tool {
        /// The client's name of it.
        name: String,
        /// JSON object, as text.
        arguments: String,
    },
}

impl Op {
    /// Reads a whole file.
    pub fn read(path: impl Into<String>) -> Self {
        Self::Read {
            path: path.into(),
            lines: None,
        }
    }

    /// Reads `count` lines from line `first` (from 1).
    pub fn page(path: impl Into<String>, first: u32, count: u32) -> Self {
        Self::Read {
            path: path.into(),
            lines: Some((first, count)),
        }
    }

    /// Runs a command.
    pub fn shell(command: impl Into<String>) -> Self {
        Self::Shell(command.into())
    }

    /// Replaces `old` by `new`.
    pub fn edit(path: impl Into<String>, old: impl Into<String>, new: impl Into<String>) -> Self {
        Self::Edit {
            path: path.into(),
            old: old.into(),
            new: new.into(),
        }
    }

    /// Searches `pattern` under `path`.
    pub fn search(pattern: impl Into<String>, path: impl Into<String>) -> Self {
        Self::Search {
            pattern: pattern.into(),
            path: path.into(),
        }
    }
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
