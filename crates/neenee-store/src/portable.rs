//! The form in which a session travels: JSON lines, a header, its records, its bodies.
//! Deliberately independent of engines and packs, and verified line by line on the way in.
//!
//! | line | fields |
//! | --- | --- |
//! | header | `neenee_session` (this form's version, 1), `id`, `name`, `origin`, `created_ms` |
//! | record | `seq`, `at_ms`, `kind`, `version`, `payload` |
//! | body | `digest`, and `text` or `base64` |
//! | end | `end`: how many lines came before |

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::digest::Digest;

/// The version written and read.
pub(crate) const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) neenee_session: u32,
    pub(crate) id: Uuid,
    pub(crate) name: Option<String>,
    pub(crate) origin: String,
    pub(crate) created_ms: i64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RecordLine {
    pub(crate) seq: u64,
    pub(crate) at_ms: i64,
    pub(crate) kind: String,
    pub(crate) version: u32,
    pub(crate) payload: Box<RawValue>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BodyLine {
    pub(crate) digest: Digest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base64: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct End {
    pub(crate) end: usize,
}

/// Which line it is, by the field that only that one has.
#[derive(Debug, Deserialize)]
pub(crate) struct Peek {
    pub(crate) seq: Option<u64>,
    pub(crate) digest: Option<Digest>,
    pub(crate) end: Option<usize>,
}
