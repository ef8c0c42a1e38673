//! The payloads of the record kinds that this program writes, version 1 of each.
//! Deliberately only additive within a version: new fields have defaults, new meanings get a number.
//!
//! | kind | version | since |
//! | --- | --- | --- |
//! | `created` | 1 | 0.1.0 |
//! | `message` | 1 | 0.1.0 |
//! | `projection` | 1 | 0.1.0 |
//! | `renamed` | 1 | 0.1.0 |
//! | `noted` | 1 | 0.1.0 |

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use uuid::Uuid;

use super::Record;
use super::body::Body;
use super::message::{StoredContent, StoredMessage};
use crate::digest::Digest;
use crate::error::StoreError;

pub(crate) const CREATED: &str = "created";
pub(crate) const MESSAGE: &str = "message";
pub(crate) const PROJECTION: &str = "projection";
pub(crate) const RENAMED: &str = "renamed";
pub(crate) const NOTED: &str = "noted";

/// The version that this program writes of every kind, and the newest that it reads.
pub(crate) const VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Created {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) origin: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Messages {
    /// Written before the model was asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) admitted: bool,
    pub(crate) messages: Vec<StoredMessage>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Renamed {
    pub(crate) name: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Noted {
    pub(crate) topic: String,
    pub(crate) data: serde_json::Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Projected {
    #[serde(default)]
    pub(crate) operation: StoredOperation,
    #[serde(default)]
    pub(crate) cause: String,
    pub(crate) before: StoredCounts,
    pub(crate) after: StoredCounts,
    /// Call ids of the results that changed, oldest first; a result without an id is absent.
    pub(crate) results: Vec<String>,
    pub(crate) change: StoredChange,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredOperation {
    Prune,
    Compact,
    /// An operation that a newer program has, or an old record that does not say.
    #[default]
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredCounts {
    pub(crate) messages: u64,
    pub(crate) chars: u64,
    pub(crate) tokens: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredChange {
    Window(WindowChange),
    File(FileChange),
}

/// First contents are replaced, then messages are removed and others put in their place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WindowChange {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) replaced: Vec<Replaced>,
    /// Place of the first removed message in the window before.
    #[serde(default)]
    pub(crate) removed_at: u64,
    #[serde(default)]
    pub(crate) removed: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) inserted: Vec<StoredMessage>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Replaced {
    /// Message and part, then the same inside the children, down to the result.
    pub(crate) path: Vec<(u64, u64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call_id: Option<String>,
    pub(crate) original: StoredContent,
    pub(crate) now: StoredContent,
}

/// A file that another program owns went from `before` to `after`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FileChange {
    pub(crate) path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) format: Option<String>,
    pub(crate) before: StoredFile,
    /// Digest and size of the pruned file.
    pub(crate) after: Digest,
    pub(crate) after_bytes: u64,
    /// A zstd frame that has `before` as its dictionary and gives the pruned file.
    pub(crate) patch: Body,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredFile {
    pub(crate) digest: Digest,
    pub(crate) bytes: u64,
    pub(crate) pieces: Vec<Digest>,
}

/// A record's payload, as far as this program knows its kind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Payload {
    Created(Created),
    Messages(Messages),
    Projected(Box<Projected>),
    Renamed(Renamed),
    Noted(Noted),
    /// Kept, and skipped.
    Unknown,
}

impl Payload {
    /// Reads a verified record.
    pub(crate) fn of(session: Uuid, record: &Record) -> Result<Self, StoreError> {
        let known = [CREATED, MESSAGE, PROJECTION, RENAMED, NOTED];
        if !known.contains(&record.kind.as_str()) {
            return Ok(Payload::Unknown);
        }
        if record.version > VERSION {
            return Err(StoreError::NewerRecord {
                session,
                seq: record.seq,
                kind: record.kind.clone(),
                version: record.version,
            });
        }
        match record.kind.as_str() {
            CREATED => decode(session, record).map(Payload::Created),
            MESSAGE => decode(session, record).map(Payload::Messages),
            PROJECTION => decode(session, record).map(Payload::Projected),
            RENAMED => decode(session, record).map(Payload::Renamed),
            _ => decode(session, record).map(Payload::Noted),
        }
    }

    /// The kind that its record has; empty for one that is not ours to write.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Payload::Created(_) => CREATED,
            Payload::Messages(_) => MESSAGE,
            Payload::Projected(_) => PROJECTION,
            Payload::Renamed(_) => RENAMED,
            Payload::Noted(_) => NOTED,
            Payload::Unknown => "",
        }
    }

    /// As JSON.
    pub(crate) fn encode(&self) -> serde_json::Result<Vec<u8>> {
        match self {
            Payload::Created(created) => serde_json::to_vec(created),
            Payload::Messages(messages) => serde_json::to_vec(messages),
            Payload::Projected(projected) => serde_json::to_vec(projected),
            Payload::Renamed(renamed) => serde_json::to_vec(renamed),
            Payload::Noted(noted) => serde_json::to_vec(noted),
            Payload::Unknown => Ok(Vec::new()),
        }
    }

    /// Every body that the payload refers to.
    pub(crate) fn digests(&self) -> Vec<Digest> {
        let mut found = Vec::new();
        match self {
            Payload::Messages(messages) => {
                for message in &messages.messages {
                    message.digests(&mut found);
                }
            }
            Payload::Projected(projected) => match &projected.change {
                StoredChange::Window(change) => {
                    for replaced in &change.replaced {
                        replaced.original.digests(&mut found);
                        replaced.now.digests(&mut found);
                    }
                    for message in &change.inserted {
                        message.digests(&mut found);
                    }
                }
                StoredChange::File(change) => {
                    found.extend(&change.before.pieces);
                    found.extend(change.patch.digest());
                }
            },
            _ => {}
        }
        found
    }
}

fn decode<T: DeserializeOwned>(session: Uuid, record: &Record) -> Result<T, StoreError> {
    serde_json::from_slice(&record.payload).map_err(|error| StoreError::CorruptRecord {
        session,
        seq: record.seq,
        cause: error.to_string(),
    })
}
