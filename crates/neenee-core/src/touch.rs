//! What a tool call touches: files, line ranges, mutations; derived from its name, arguments and result.
//! Deliberately not who supersedes whom; that is `pressure`'s.
//!
//! Two steps, since a call is seen before its result: [`ToolTable::call`] says what was asked for, and
//! [`CallTouch::settle`] what came of it. What is known of each tool is data, in `touch/tools.toml`.

mod arguments;
mod call;
mod key;
mod label;
mod numbered;
mod patch;
mod path;
mod patterns;
mod range;
mod result;
mod rows;
mod secrets;
mod settle;
mod shell;
mod table;

pub use call::CallTouch;
pub use key::argument_key;
pub use label::label;
pub use path::FilePath;
pub use range::LineRange;
pub use secrets::mask_secrets;
pub use settle::{Outcome, Settled};
pub use table::{ToolTable, ToolTableError};

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
