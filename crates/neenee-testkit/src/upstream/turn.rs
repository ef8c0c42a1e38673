//! One answer of the scripted model: text, reasoning and operations in no client's words.
//! Deliberately knows no tool of any client; `tools` does.

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

/// What the model wants done, in no client's words. Paths are relative to [`Script::root`](super::Script::root).
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
