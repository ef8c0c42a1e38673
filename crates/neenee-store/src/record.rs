//! What stands in the log: one numbered, checked record per event, its payload as JSON.
//! Deliberately apart from the public events: stored forms have versions, the API has types.

pub(crate) mod body;
pub(crate) mod message;
pub(crate) mod payload;

use uuid::Uuid;

use crate::error::StoreError;

/// A record as an engine keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its number in the session, from 1, without gaps.
    pub seq: u64,
    /// When it was written, ms since 1970 by the writer's clock.
    pub at_ms: i64,
    /// What it is, such as `message`.
    pub kind: String,
    /// The version of that kind's payload.
    pub version: u32,
    /// JSON.
    pub payload: Vec<u8>,
    /// The first 16 bytes of BLAKE3 over everything above and the session that wrote it.
    pub check: [u8; 16],
}

impl Record {
    /// A record with its check.
    pub(crate) fn new(
        session: Uuid,
        seq: u64,
        at_ms: i64,
        kind: &str,
        version: u32,
        payload: Vec<u8>,
    ) -> Self {
        let check = check(session, seq, at_ms, kind, version, &payload);
        Record {
            seq,
            at_ms,
            kind: kind.to_owned(),
            version,
            payload,
            check,
        }
    }

    /// Compares the record with its check.
    pub(crate) fn verify(&self, session: Uuid) -> Result<(), StoreError> {
        let seen = check(
            session,
            self.seq,
            self.at_ms,
            &self.kind,
            self.version,
            &self.payload,
        );
        if seen == self.check {
            return Ok(());
        }
        Err(StoreError::CorruptRecord {
            session,
            seq: self.seq,
            cause: "its content does not fit its check sum".to_owned(),
        })
    }
}

fn check(
    session: Uuid,
    seq: u64,
    at_ms: i64,
    kind: &str,
    version: u32,
    payload: &[u8],
) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(session.as_bytes());
    hasher.update(&seq.to_le_bytes());
    hasher.update(&at_ms.to_le_bytes());
    hasher.update(&version.to_le_bytes());
    // A length before the one part that varies inside, so that no two records read the same.
    hasher.update(&(kind.len() as u64).to_le_bytes());
    hasher.update(kind.as_bytes());
    hasher.update(payload);
    let mut short = [0; 16];
    short.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    short
}
