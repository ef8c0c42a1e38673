//! A session of the durable store as a journal.
//! Deliberately thin: what is kept how, and what is refused, is the store's.

use neenee_core::message::{Message, Part};
use neenee_store::{Counts, Operation, Session, SessionStore};
use serde_json::json;

use super::{Journal, JournalError, Projection, ProjectionKind};
use crate::orchestration::ledger::{LedgerEntry, Purpose, UsageSource};

/// Writes to one session of a store. While it lives nobody else writes to that session.
///
/// The store blocks until data is on the disk; on a runtime with several threads the others go on meanwhile.
#[derive(Debug)]
pub struct StoreJournal {
    store: Store,
    session: Session,
}

/// A store is shared by its clones and has nothing to show.
struct Store(SessionStore);

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Store")
    }
}

impl StoreJournal {
    /// A journal of that session, which may be new or resumed.
    pub fn new(store: SessionStore, session: Session) -> Self {
        StoreJournal {
            store: Store(store),
            session,
        }
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    fn blocking<T, E>(
        &mut self,
        work: impl FnOnce(&SessionStore, &mut Session) -> Result<T, E>,
    ) -> Result<(), JournalError>
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        let (store, session) = (&self.store.0, &mut self.session);
        let done = aside(|| work(store, session));
        done.map(drop).map_err(JournalError::new)
    }
}

impl Journal for StoreJournal {
    fn admit(&mut self, message: &Message) -> Result<(), JournalError> {
        let message = message.clone();
        self.blocking(|store, session| store.admit(session, message))
    }

    fn append(&mut self, message: &Message) -> Result<(), JournalError> {
        let message = message.clone();
        self.blocking(|store, session| store.append(session, vec![message]))
    }

    fn commit_context_projection(
        &mut self,
        projection: &Projection<'_>,
    ) -> Result<(), JournalError> {
        let projection = neenee_store::Projection {
            base: self.session.revision(),
            operation: match projection.kind {
                ProjectionKind::Prune | ProjectionKind::Cap => Operation::Prune,
                ProjectionKind::Compaction => Operation::Compact,
            },
            cause: format!("agent: {}", projection.kind.name()),
            window: projection.window.to_vec(),
            originals: projection.originals.to_vec(),
            before: counts(self.session.window(), projection.tokens_before),
            after: counts(projection.window, projection.tokens_after),
        };
        self.blocking(|store, session| store.commit_context_projection(session, projection))
    }

    fn record_usage(&mut self, entry: &LedgerEntry) -> Result<(), JournalError> {
        let note = json!({
            "model": entry.model,
            "purpose": match entry.purpose {
                Purpose::Turn => "turn",
                Purpose::Summary => "summary",
                Purpose::Envoy => "envoy",
            },
            "attempt": entry.attempt,
            "answered": entry.answered,
            "estimated_input": entry.estimated_input,
            "input": entry.usage.input,
            "output": entry.usage.output,
            "cache_read": entry.usage.cache_read,
            "cache_write": entry.usage.cache_write,
            "source": match entry.source {
                UsageSource::Reported => "reported",
                UsageSource::Estimated => "estimated",
            },
        });
        self.blocking(|store, session| store.note(session, "usage", note))
    }

    fn window(&self) -> Result<Vec<Message>, JournalError> {
        Ok(self.session.window().to_vec())
    }
}

/// Blocks where other tasks can go on; on a runtime of one thread there are none to hold up but our own.
fn aside<T>(work: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current() {
        Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => {
            tokio::task::block_in_place(work)
        }
        _ => work(),
    }
}

fn counts(window: &[Message], tokens: usize) -> Counts {
    Counts {
        messages: window.len(),
        chars: chars(window),
        tokens,
    }
}

/// Chars of all results, children included.
fn chars(messages: &[Message]) -> usize {
    let results = messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::Result(result) => Some(result),
            _ => None,
        });
    results
        .map(|result| neenee_core::estimate::count_chars(&result.text) + chars(&result.children))
        .sum()
}
