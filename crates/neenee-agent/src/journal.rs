//! Durability as the harness needs it: what happened is told here before it counts.
//! Deliberately plain data and not async: a store, a file or memory can stand behind it.

mod store;

use std::fmt;

use neenee_core::message::{Message, Part};
use neenee_core::pressure::Original;

pub use store::StoreJournal;

use crate::orchestration::ledger::LedgerEntry;

/// Where a session is kept. Each call returns only once what it was told is durable; the harness sends
/// nothing that depends on it before.
pub trait Journal: Send {
    /// A message of the person's, which begins a round.
    ///
    /// # Errors
    /// When it could not be kept.
    fn admit(&mut self, message: &Message) -> Result<(), JournalError>;

    /// A message of the model's, or the results of tools.
    ///
    /// # Errors
    /// When it could not be kept.
    fn append(&mut self, message: &Message) -> Result<(), JournalError>;

    /// The window became a smaller one: keeps what left it, then replaces it, as one step.
    ///
    /// # Errors
    /// When it could not be kept; the window then stays as it was.
    fn commit_context_projection(
        &mut self,
        projection: &Projection<'_>,
    ) -> Result<(), JournalError>;

    /// What a request cost. Losing one is no reason to stop.
    ///
    /// # Errors
    /// When it could not be kept.
    fn record_usage(&mut self, entry: &LedgerEntry) -> Result<(), JournalError>;

    /// The window as it is durable now.
    ///
    /// # Errors
    /// When it cannot be read.
    fn window(&self) -> Result<Vec<Message>, JournalError>;
}

/// One step from a window to a smaller one.
#[derive(Clone, Copy, Debug)]
pub struct Projection<'a> {
    /// Why.
    pub kind: ProjectionKind,
    /// Contents of results that were replaced, oldest first; their place is that in the window before.
    pub originals: &'a [Original],
    /// Whole messages that left, oldest first.
    pub archived: &'a [Message],
    /// The window from now on.
    pub window: &'a [Message],
    /// The estimate of the request before, in tokens.
    pub tokens_before: usize,
    /// And after.
    pub tokens_after: usize,
}

/// What made a window smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProjectionKind {
    /// Old results were truncated or cleared.
    Prune,
    /// Older rounds became a checkpoint.
    Compaction,
    /// Results that the model has not seen were cut, since they alone would not fit.
    Cap,
}

impl ProjectionKind {
    /// A stable name, in kebab case.
    pub fn name(self) -> &'static str {
        match self {
            ProjectionKind::Prune => "prune",
            ProjectionKind::Compaction => "compaction",
            ProjectionKind::Cap => "cap",
        }
    }
}

/// Why something could not be kept or read.
#[derive(Debug)]
pub struct JournalError(Box<dyn std::error::Error + Send + Sync>);

impl JournalError {
    /// Whatever the store says.
    pub fn new(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        JournalError(error.into())
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "keep the session: {}", self.0)
    }
}

impl std::error::Error for JournalError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

/// A journal in memory: for envoys, for tests, for programs that keep nothing.
#[derive(Clone, Debug, Default)]
pub struct MemoryJournal {
    window: Vec<Message>,
    transcript: Vec<Message>,
    originals: Vec<Original>,
    archived: Vec<Message>,
    projections: Vec<ProjectionKind>,
    usage: Vec<LedgerEntry>,
}

impl MemoryJournal {
    /// An empty session.
    pub fn new() -> Self {
        MemoryJournal::default()
    }

    /// Every message as it was admitted or appended, whole, whatever became of it in the window.
    pub fn transcript(&self) -> &[Message] {
        &self.transcript
    }

    /// What left the window as contents of results, in the order in which it left.
    pub fn originals(&self) -> &[Original] {
        &self.originals
    }

    /// What left the window as whole messages, in the order in which it left.
    pub fn archived(&self) -> &[Message] {
        &self.archived
    }

    /// The projections so far.
    pub fn projections(&self) -> &[ProjectionKind] {
        &self.projections
    }

    /// What requests cost.
    pub fn usage(&self) -> &[LedgerEntry] {
        &self.usage
    }
}

impl Journal for MemoryJournal {
    fn admit(&mut self, message: &Message) -> Result<(), JournalError> {
        self.append(message)
    }

    fn append(&mut self, message: &Message) -> Result<(), JournalError> {
        self.window.push(message.clone());
        self.transcript.push(message.clone());
        Ok(())
    }

    fn commit_context_projection(
        &mut self,
        projection: &Projection<'_>,
    ) -> Result<(), JournalError> {
        self.originals.extend_from_slice(projection.originals);
        self.archived.extend_from_slice(projection.archived);
        self.projections.push(projection.kind);
        self.window = projection.window.to_vec();
        Ok(())
    }

    fn record_usage(&mut self, entry: &LedgerEntry) -> Result<(), JournalError> {
        self.usage.push(entry.clone());
        Ok(())
    }

    fn window(&self) -> Result<Vec<Message>, JournalError> {
        Ok(self.window.clone())
    }
}

/// Several owners of one journal: one of them runs, the others look.
impl<J: Journal> Journal for std::sync::Arc<std::sync::Mutex<J>> {
    fn admit(&mut self, message: &Message) -> Result<(), JournalError> {
        locked(self).admit(message)
    }

    fn append(&mut self, message: &Message) -> Result<(), JournalError> {
        locked(self).append(message)
    }

    fn commit_context_projection(
        &mut self,
        projection: &Projection<'_>,
    ) -> Result<(), JournalError> {
        locked(self).commit_context_projection(projection)
    }

    fn record_usage(&mut self, entry: &LedgerEntry) -> Result<(), JournalError> {
        locked(self).record_usage(entry)
    }

    fn window(&self) -> Result<Vec<Message>, JournalError> {
        locked(self).window()
    }
}

/// A journal whose owner panicked is as durable as before.
fn locked<J>(journal: &std::sync::Mutex<J>) -> std::sync::MutexGuard<'_, J> {
    journal
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Ids of the calls in `messages` that no result answers, with the tools' names: what was running when
/// a session ended.
pub(crate) fn unanswered(messages: &[Message]) -> Vec<(Option<String>, String)> {
    let Some(last) = messages.iter().rposition(|message| {
        message
            .parts
            .iter()
            .any(|part| matches!(part, Part::Call(_)))
    }) else {
        return Vec::new();
    };
    let mut answered: Vec<Option<&str>> = messages[last + 1..]
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::Result(result) => Some(result.call_id.as_deref()),
            _ => None,
        })
        .collect();
    let calls = messages[last].parts.iter().filter_map(|part| match part {
        Part::Call(call) => Some(call),
        _ => None,
    });
    calls
        .filter(|call| {
            // Local models give several calls one id, so each result answers one of them.
            let id = call.id.as_deref();
            match answered.iter().position(|answered| *answered == id) {
                Some(found) => {
                    answered.swap_remove(found);
                    false
                }
                None => true,
            }
        })
        .map(|call| (call.id.clone(), call.name.clone()))
        .collect()
}
