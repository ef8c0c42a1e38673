//! The model window of a session as the fold of its records.
//! Deliberately bodies by reference: a fold reads no text, so that any prefix can be replayed.

use uuid::Uuid;

use crate::error::StoreError;
use crate::record::Record;
use crate::record::message::{StoredMessage, StoredPart, StoredResult};
use crate::record::payload::{FileChange, Payload, StoredChange, WindowChange};

/// One message of the window, and which record brought it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// The record.
    pub(crate) seq: u64,
    /// The message's place in that record.
    pub(crate) index: u64,
    /// The message as it is now.
    pub(crate) message: StoredMessage,
    /// Whether a projection changed it since the record was written.
    pub(crate) changed: bool,
}

/// What the records up to `seq` amount to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    pub(crate) seq: u64,
    pub(crate) name: Option<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) window: Vec<Entry>,
    pub(crate) file: Option<FileChange>,
    pub(crate) projections: u64,
}

impl State {
    /// Takes the next record in.
    pub(crate) fn apply(
        &mut self,
        session: Uuid,
        record: &Record,
        payload: Payload,
    ) -> Result<(), StoreError> {
        let corrupt = |cause: String| StoreError::CorruptRecord {
            session,
            seq: record.seq,
            cause,
        };
        if record.seq != self.seq + 1 {
            return Err(corrupt(format!("it follows event {}", self.seq)));
        }
        match payload {
            Payload::Created(created) => {
                self.name = created.name;
                self.cwd = created.cwd;
                self.model = created.model;
            }
            Payload::Messages(messages) => {
                self.window.extend(entries(record.seq, messages.messages));
            }
            Payload::Projected(projected) => {
                match projected.change {
                    StoredChange::Window(change) => self.project(record.seq, change),
                    StoredChange::File(change) => {
                        self.file = Some(change);
                        Ok(())
                    }
                }
                .map_err(corrupt)?;
                self.projections += 1;
            }
            Payload::Renamed(renamed) => self.name = renamed.name,
            Payload::Noted(_) | Payload::Unknown => {}
        }
        self.seq = record.seq;
        Ok(())
    }

    /// Carries out a projection of the window.
    fn project(&mut self, seq: u64, change: WindowChange) -> Result<(), String> {
        for replaced in change.replaced {
            let entry = replaced
                .path
                .first()
                .and_then(|(message, _)| self.window.get_mut(*message as usize))
                .ok_or("it replaces a result of a message that is not there")?;
            let result = find(&mut entry.message, &replaced.path)
                .ok_or("it replaces a result that is not there")?;
            if result.content != replaced.original {
                return Err("its original is not what the window held".to_owned());
            }
            result.content = replaced.now;
            entry.changed = true;
        }
        let start = change.removed_at as usize;
        let end = start
            .checked_add(change.removed as usize)
            .filter(|end| *end <= self.window.len())
            .ok_or("it removes messages that are not there")?;
        let inserted: Vec<Entry> = entries(seq, change.inserted).collect();
        self.window.splice(start..end, inserted);
        Ok(())
    }
}

fn entries(seq: u64, messages: Vec<StoredMessage>) -> impl Iterator<Item = Entry> {
    messages
        .into_iter()
        .enumerate()
        .map(move |(index, message)| Entry {
            seq,
            index: index as u64,
            message,
            changed: false,
        })
}

/// The result at `path`, whose first step names `message` itself.
fn find<'a>(message: &'a mut StoredMessage, path: &[(u64, u64)]) -> Option<&'a mut StoredResult> {
    let ((_, part), deeper) = path.split_first()?;
    let StoredPart::Result(result) = message.parts.get_mut(*part as usize)? else {
        return None;
    };
    match deeper.first() {
        None => Some(result),
        Some((child, _)) => find(result.children.get_mut(*child as usize)?, deeper),
    }
}
