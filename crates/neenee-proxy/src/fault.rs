//! What can go wrong with looking into a request; it is sent as it came then.
//! Deliberately without details of the request in any text: those are the user's.

use neenee_wire::{ReadErrorKind, SpliceError};

use crate::archive::ArchiveError;

/// Why a request was forwarded as it came although it might have been pruned.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// Not JSON, not UTF-8, not of the shape that its path promises.
    #[error("read the request: {0:?}")]
    Unreadable(ReadErrorKind),
    /// Packed in a way that is not known, or not really.
    #[error("unpack the request")]
    Coding,
    /// Unpacked it would be longer than is looked at.
    #[error("unpack the request within the limit")]
    Bomb,
    /// The edits found no place.
    #[error("{0}")]
    Splice(#[from] SpliceError),
    /// Originals could not be made durable.
    #[error("{0}")]
    Archive(#[from] ArchiveError),
    /// The code failed.
    #[error("plan without a panic")]
    Panic,
    /// It takes longer than a thread that serves connections may be held. No fault: it is done aside.
    #[error("be quick")]
    Slow,
}

impl Fault {
    /// Every cause, for metrics.
    pub(crate) const CAUSES: [&'static str; 6] =
        ["unreadable", "coding", "bomb", "splice", "archive", "panic"];

    /// Its index among [`Fault::CAUSES`].
    pub(crate) fn cause(&self) -> usize {
        match self {
            Fault::Unreadable(_) => 0,
            Fault::Coding => 1,
            Fault::Bomb => 2,
            Fault::Splice(_) => 3,
            Fault::Archive(_) => 4,
            Fault::Panic | Fault::Slow => 5,
        }
    }
}
