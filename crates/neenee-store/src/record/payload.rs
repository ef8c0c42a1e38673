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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::snapshot::Snapshot;
    use crate::state::State;

    /// One payload of each kind, as they are written.
    const WRITTEN: [(&str, &str); 7] = [
        (
            CREATED,
            r#"{"name":"n","origin":"agent","cwd":"/r","model":"m"}"#,
        ),
        (
            MESSAGE,
            r#"{"admitted":true,"messages":[{"role":"user","parts":[{"text":"t"},{"opaque":"{}"}]}]}"#,
        ),
        (
            MESSAGE,
            r#"{"messages":[{"role":"tool","parts":[{"result":{"call_id":"c","content":{"text":{"apart":{"digest":"0000000000000000000000000000000000000000000000000000000000000000","bytes":9}},"degraded":{"tier":"truncated","lines":3,"chars":9}},"children":[{"role":"assistant","parts":[{"call":{"name":"read","arguments":"{}"}}]}]}}]}]}"#,
        ),
        (
            PROJECTION,
            r#"{"operation":"prune","cause":"x","before":{"messages":1,"chars":2,"tokens":3},"after":{"messages":1,"chars":1,"tokens":1},"results":["c"],"change":{"window":{"replaced":[{"path":[[1,0]],"call_id":"c","original":{"text":{"text":"a"}},"now":{"text":{"text":"b"}}}],"removed_at":0,"removed":0}}}"#,
        ),
        (
            PROJECTION,
            r#"{"operation":"later","before":{"messages":1,"chars":2,"tokens":3},"after":{"messages":1,"chars":1,"tokens":1},"results":[],"change":{"window":{"removed_at":1,"removed":18446744073709551615}}}"#,
        ),
        (RENAMED, r#"{"name":null}"#),
        (NOTED, r#"{"topic":"usage","data":{"n":[1,2.50]}}"#),
    ];

    fn read(kind: &str, payload: &[u8]) -> Result<Payload, StoreError> {
        let record = Record::new(Uuid::nil(), 1, 0, kind, VERSION, payload.to_vec());
        Payload::of(Uuid::nil(), &record)
    }

    #[test]
    fn what_is_written_is_read_and_written_the_same() {
        for (kind, json) in WRITTEN {
            let payload = read(kind, json.as_bytes()).expect("it is one of ours");
            assert_eq!(payload.kind(), kind);
            let again = read(kind, &payload.encode().expect("encodes")).expect("reads back");
            assert_eq!(again, payload);
        }
    }

    proptest! {
        /// Whatever stands in a record, reading it and folding it is a result and no panic.
        #[test]
        fn any_payload_is_read_or_refused(
            which in 0..WRITTEN.len(),
            edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            cut in any::<prop::sample::Index>(),
            whole in any::<bool>(),
        ) {
            let (kind, json) = WRITTEN[which];
            let mut bytes = json.as_bytes().to_vec();
            for (at, byte) in edits {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if !whole {
                bytes.truncate(cut.index(bytes.len()));
            }
            let record = Record::new(Uuid::nil(), 1, 0, kind, VERSION, bytes);
            if let Ok(payload) = Payload::of(Uuid::nil(), &record) {
                let _ = payload.digests();
                let mut state = State::default();
                let _ = state.apply(Uuid::nil(), &record, payload);
            }
        }

        /// A snapshot with a check sum that fits is still not trusted to have any shape.
        #[test]
        fn any_snapshot_is_read_or_ignored(json in ".{0,200}", bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let mut checked = blake3::hash(json.as_bytes()).as_bytes()[..16].to_vec();
            checked.extend(json.as_bytes());
            prop_assert!(Snapshot::decode(&checked).is_none());
            prop_assert!(Snapshot::decode(&bytes).is_none());
        }
    }
}
