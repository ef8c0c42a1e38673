//! What can go wrong, as kinds to branch on.
//! Deliberately no exit codes and no printing; the binary maps kinds to both.

use std::path::PathBuf;

use uuid::Uuid;

use crate::digest::Digest;

/// Why the store did not do what was asked. Nothing has been changed when one is returned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The place cannot be used at all: a folder that cannot be made, a server that does not
    /// answer, a wrong password.
    #[error("cannot use the session store at {place}: {cause}")]
    Unusable {
        /// The path, or the address without its password.
        place: String,
        /// What the system said.
        cause: String,
    },
    /// The database belongs to another program.
    #[error("{place} is a database of another program; name another place for the sessions")]
    NotOurs {
        /// The path, or the address without its password.
        place: String,
    },
    /// The database was written by a newer program.
    #[error(
        "{place} has schema version {found} and this program knows up to {known}; use a newer neenee"
    )]
    NewerSchema {
        /// The path, or the address without its password.
        place: String,
        /// The version found.
        found: i64,
        /// The newest version known.
        known: i64,
    },
    /// One record was written by a newer program.
    #[error(
        "event {seq} of session {session} has version {version} of kind {kind:?}, which this program does not know; use a newer neenee"
    )]
    NewerRecord {
        /// The session.
        session: Uuid,
        /// The event.
        seq: u64,
        /// Its kind.
        kind: String,
        /// Its version.
        version: u32,
    },
    /// No session goes by this id, prefix or name.
    #[error("no session is called {0:?}; `neenee sessions` lists them")]
    NoSuchSession(String),
    /// A prefix of an id fits several sessions.
    #[error("{prefix:?} fits {count} sessions; give more of the id")]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// How many it fits.
        count: usize,
    },
    /// Another session has the name.
    #[error("a session is already called {0:?}")]
    NameTaken(String),
    /// Another writer holds the session.
    #[error("session {session} is being written by another process ({holder})")]
    InUse {
        /// The session.
        session: Uuid,
        /// Who holds it, as far as it is known.
        holder: String,
    },
    /// This handle lost the session to another writer.
    #[error("session {0} was taken over by another writer; resume it again")]
    Lost(Uuid),
    /// A projection was refused.
    #[error("refused the projection of session {session}: {refusal}")]
    Refused {
        /// The session.
        session: Uuid,
        /// Why.
        refusal: Refusal,
    },
    /// A stored body is gone or no longer what it was.
    #[error("session {session}: body {digest} is {what}; the stored original cannot be trusted")]
    CorruptBody {
        /// The session that asked.
        session: Uuid,
        /// The body.
        digest: Digest,
        /// `missing` or `corrupt`.
        what: &'static str,
    },
    /// A stored record no longer is what it was.
    #[error("event {seq} of session {session} is corrupt: {cause}")]
    CorruptRecord {
        /// The session.
        session: Uuid,
        /// The event.
        seq: u64,
        /// What does not fit.
        cause: String,
    },
    /// A message holds envoys inside envoys beyond what is kept.
    #[error("a message holds envoys more than {0} deep")]
    TooDeep(usize),
    /// No result with this id was ever taken out of the session's window.
    #[error("session {session} has no original for call {call:?}")]
    NoSuchCall {
        /// The session.
        session: Uuid,
        /// The id asked for.
        call: String,
    },
    /// A file was rewritten between two prunes.
    #[error(
        "the file of session {session} was rewritten between events {from} and {to}, so there is no one original; choose a state by its event"
    )]
    Rewritten {
        /// The session.
        session: Uuid,
        /// The prune before.
        from: u64,
        /// The prune after.
        to: u64,
    },
    /// The session has no event with this number.
    #[error("session {session} has events up to {last}, not {asked}")]
    NoSuchEvent {
        /// The session.
        session: Uuid,
        /// The last event.
        last: u64,
        /// The event asked for.
        asked: u64,
    },
    /// An export cannot be read.
    #[error("line {line} of the export: {cause}")]
    BadExport {
        /// The line, from 1.
        line: usize,
        /// What does not fit.
        cause: String,
    },
    /// The database failed.
    #[error("the session store failed: {cause}")]
    Engine {
        /// What it said.
        cause: String,
        /// Whether the same call may succeed later: busy, connection lost, disk full.
        retry: bool,
    },
    /// A file of the store failed.
    #[error("failed to {action} {}: {cause}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// A stream that the caller handed in failed.
    #[error("failed to {action} the export: {cause}")]
    Stream {
        /// `read` or `write`.
        action: &'static str,
        /// What the system said.
        cause: std::io::Error,
    },
}

/// Why a projection was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It was computed from a window that is no longer the current one.
    #[error("it was made from the window at event {base}, and the session is at event {current}")]
    Stale {
        /// The event that the projection starts from.
        base: u64,
        /// The last event.
        current: u64,
    },
    /// An original is missing or differs from what the projection replaces.
    #[error("the original of {place} does not match what the window holds")]
    OriginalMismatch {
        /// Which result.
        place: String,
    },
    /// An original was handed in for a result that the projection does not change.
    #[error("an original was given for {place}, which the projection does not change")]
    OriginalOfNothing {
        /// Which result.
        place: String,
    },
    /// It would separate a call from its result.
    #[error("it breaks the pair of call {call}")]
    BrokenPair {
        /// The call's id, or its place where it has none.
        call: String,
    },
    /// Something other than result content differs inside a kept message.
    #[error("message {message} differs in more than the content of its tool results")]
    NotOnlyResults {
        /// The message's place in the window, from 0.
        message: usize,
    },
    /// It changes nothing.
    #[error("it changes nothing")]
    Empty,
}

impl StoreError {
    /// Whether the same call may succeed later without anyone doing anything.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            StoreError::Engine { retry: true, .. } | StoreError::InUse { .. }
        )
    }
}
