//! From errors to what a person reads: the message, what to do about it, the exit code.
//! Deliberately the only place that knows exit codes: 0 done, 1 a check failed, 2 bad input or usage.

use std::fmt;
use std::io;
use std::process::ExitCode;

use neenee_wire::{ReadError, ReadErrorKind};

use crate::output;
use crate::render::text::plain;

/// Bad input, bad usage, or a machine that does not play along.
const FAILED: u8 = 2;

/// What was asked for was done, and the answer is no.
const CHECK_FAILED: u8 = 1;

/// An error of the command's own, with what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    fix: Option<String>,
}

impl Failure {
    /// What went wrong, in a full sentence without a full stop: `failed to read x: expected …`.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Failure {
            message: message.into(),
            fix: None,
        }
    }

    /// What to do about it.
    pub(crate) fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Every error was told when it happened; nothing is left to say but the exit code.
#[derive(Debug)]
pub(crate) struct AlreadyTold;

impl fmt::Display for AlreadyTold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("some files failed")
    }
}

impl std::error::Error for AlreadyTold {}

/// A command that was started ended with this code, and so does ours.
#[derive(Debug)]
pub(crate) struct EndedWith(pub(crate) u8);

impl fmt::Display for EndedWith {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it ended with code {}", self.0)
    }
}

impl std::error::Error for EndedWith {}

/// Everything went well, and what was checked is not as it should be.
#[derive(Debug)]
pub(crate) struct CheckFailed(pub(crate) String);

impl fmt::Display for CheckFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CheckFailed {}

/// Tells the error on stderr, and says how to end.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        // Whoever read our output has seen enough, and needs no message about it.
        return ExitCode::SUCCESS;
    }
    if let Some(EndedWith(code)) = error.downcast_ref() {
        return ExitCode::from(*code);
    }
    if let Some(failed) = error.downcast_ref::<CheckFailed>() {
        output::note(&plain(&format!("check failed: {failed}")));
        return ExitCode::from(CHECK_FAILED);
    }
    if error.downcast_ref::<AlreadyTold>().is_none() {
        output::note(&tell(error));
    }
    ExitCode::from(FAILED)
}

/// The error as lines for a person.
pub(crate) fn tell(error: &anyhow::Error) -> String {
    let mut causes: Vec<String> = Vec::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        // Some libraries repeat their source in their own message.
        if !causes.last().is_some_and(|last| last.contains(&cause)) {
            causes.push(cause);
        }
    }
    let message = plain(&causes.join(": "));
    match fix(error) {
        Some(fix) => format!("error: {message}\n  fix: {}", plain(&fix)),
        None => format!("error: {message}"),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = |cause: &(dyn std::error::Error + 'static)| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    error.chain().any(io)
}

fn fix(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        if let Some(failure) = cause.downcast_ref::<Failure>() {
            failure.fix.clone()
        } else if let Some(error) = cause.downcast_ref::<ReadError>() {
            read_fix(error.kind()).map(str::to_owned)
        } else if let Some(error) = cause.downcast_ref::<io::Error>() {
            io_fix(error.kind()).map(str::to_owned)
        } else {
            None
        }
    })
}

fn read_fix(kind: ReadErrorKind) -> Option<&'static str> {
    match kind {
        ReadErrorKind::Empty => Some("name the file that the agent wrote its session to"),
        ReadErrorKind::NotRecognised | ReadErrorKind::Shape => {
            Some("name another format with --format; `neenee formats` lists them")
        }
        _ => None,
    }
}

fn io_fix(kind: io::ErrorKind) -> Option<&'static str> {
    match kind {
        io::ErrorKind::NotFound => Some("check the path"),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Some("check the permissions, or choose another place with -o FILE")
        }
        io::ErrorKind::StorageFull => Some("free some space, or choose another place with -o FILE"),
        _ => None,
    }
}
