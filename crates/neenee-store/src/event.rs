//! What happened in a session, as its readers see it.
//! Deliberately without message bodies: those are asked for when they are shown.

use jiff::Timestamp;

use crate::record::Record;
use crate::record::payload::{Payload, StoredChange, StoredCounts, StoredOperation};

/// One step of a session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionEvent {
    /// The session began.
    Created {
        /// Its name.
        name: Option<String>,
    },
    /// The user's message was written, before any model was asked.
    UserAdmitted,
    /// Messages joined the window.
    MessagesAppended {
        /// How many.
        count: usize,
    },
    /// The window went to a smaller one, and the originals to the archived transcript.
    ContextProjectionCommitted(ProjectionCommitted),
    /// The session got another name, or lost it.
    Renamed {
        /// The name from now on.
        name: Option<String>,
    },
    /// A note of the program that owns the session, such as what a request cost.
    Noted {
        /// What it is about.
        topic: String,
        /// The note.
        data: serde_json::Value,
    },
    /// A kind that this program does not know; kept as it is.
    Unknown {
        /// The kind.
        kind: String,
    },
}

/// What a projection did.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectionCommitted {
    /// Which layer.
    pub operation: Operation,
    /// What caused it, in the words of the program that did it.
    pub cause: String,
    /// The window before.
    pub before: Counts,
    /// The window after.
    pub after: Counts,
    /// Call ids of the results that changed, oldest first.
    pub results: Vec<String>,
    /// How many results changed, those without an id included.
    pub replaced: usize,
    /// How many messages a compaction took out.
    pub removed: usize,
    /// The file, when the projection was one of a file that another program owns.
    pub file: Option<String>,
}

/// Which layer made a projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Old results were truncated or cleared.
    Prune,
    /// Older rounds became a summary.
    Compact,
    /// An old record does not say, or a newer program has a layer more.
    Unknown,
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Operation::Prune => "prune",
            Operation::Compact => "compact",
            Operation::Unknown => "unknown",
        })
    }
}

/// The size of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages.
    pub messages: usize,
    /// Chars (Unicode scalars) of tool results, children included.
    pub chars: usize,
    /// Estimated tokens of the whole window.
    pub tokens: usize,
}

/// An event with its number and time.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberedEvent {
    /// Its number in the session, from 1; a fork goes on from where it left its parent.
    pub seq: u64,
    /// When, by the clock of the machine that wrote it. Clocks jump: the number orders.
    pub at: Timestamp,
    /// What.
    pub event: SessionEvent,
}

impl NumberedEvent {
    pub(crate) fn of(record: &Record, payload: &Payload) -> Self {
        NumberedEvent {
            seq: record.seq,
            at: Timestamp::from_millisecond(record.at_ms).unwrap_or_default(),
            event: event(record, payload),
        }
    }
}

fn event(record: &Record, payload: &Payload) -> SessionEvent {
    match payload {
        Payload::Created(created) => SessionEvent::Created {
            name: created.name.clone(),
        },
        Payload::Messages(messages) if messages.admitted => SessionEvent::UserAdmitted,
        Payload::Messages(messages) => SessionEvent::MessagesAppended {
            count: messages.messages.len(),
        },
        Payload::Projected(projected) => {
            let (replaced, removed, file) = match &projected.change {
                StoredChange::Window(change) => {
                    (change.replaced.len(), change.removed as usize, None)
                }
                StoredChange::File(change) => {
                    (projected.results.len(), 0, Some(change.path.clone()))
                }
            };
            SessionEvent::ContextProjectionCommitted(ProjectionCommitted {
                operation: projected.operation.into(),
                cause: projected.cause.clone(),
                before: projected.before.into(),
                after: projected.after.into(),
                results: projected.results.clone(),
                replaced,
                removed,
                file,
            })
        }
        Payload::Renamed(renamed) => SessionEvent::Renamed {
            name: renamed.name.clone(),
        },
        Payload::Noted(noted) => SessionEvent::Noted {
            topic: noted.topic.clone(),
            data: noted.data.clone(),
        },
        Payload::Unknown => SessionEvent::Unknown {
            kind: record.kind.clone(),
        },
    }
}

impl From<StoredOperation> for Operation {
    fn from(stored: StoredOperation) -> Self {
        match stored {
            StoredOperation::Prune => Operation::Prune,
            StoredOperation::Compact => Operation::Compact,
            StoredOperation::Unknown => Operation::Unknown,
        }
    }
}

impl From<Operation> for StoredOperation {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Prune => StoredOperation::Prune,
            Operation::Compact => StoredOperation::Compact,
            Operation::Unknown => StoredOperation::Unknown,
        }
    }
}

impl From<StoredCounts> for Counts {
    fn from(stored: StoredCounts) -> Self {
        Counts {
            messages: stored.messages as usize,
            chars: stored.chars as usize,
            tokens: stored.tokens as usize,
        }
    }
}

impl From<Counts> for StoredCounts {
    fn from(counts: Counts) -> Self {
        StoredCounts {
            messages: counts.messages as u64,
            chars: counts.chars as u64,
            tokens: counts.tokens as u64,
        }
    }
}
