//! Looking at everything that a session has, so that damage is found before it is needed.
//! Deliberately no repair: what is damaged is named, and the rest stays readable.

use uuid::Uuid;

use super::SessionStore;
use crate::error::StoreError;
use crate::record::payload::Payload;
use crate::state::State;

/// Bodies that are looked at at a time.
const BODIES_AT_ONCE: usize = 256;

/// What was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Events that fit their check sums, follow each other and fold.
    pub events: usize,
    /// Bodies that are what their digests say.
    pub bodies: usize,
    /// Whether there is a snapshot, and it agrees with the log.
    pub snapshot: bool,
}

impl SessionStore {
    /// Reads every event and every body of a session and compares each with its check, and the
    /// snapshot with the log.
    ///
    /// # Errors
    /// The first damage found.
    pub fn verify(&self, session: Uuid) -> Result<Verified, StoreError> {
        let chain = self.chain(session)?;
        let mut state = State::default();
        let mut digests = Vec::new();
        let records = self.records(&chain, 1, chain.last())?;
        for record in &records {
            let payload = Payload::of(session, record)?;
            digests.extend(payload.digests());
            state.apply(session, record, payload)?;
        }
        digests.sort_unstable();
        digests.dedup();
        for some in digests.chunks(BODIES_AT_ONCE) {
            self.bodies(session, some.to_vec())?;
        }
        let snapshot = self.resume_snapshot(&chain)?;
        if snapshot.as_ref().is_some_and(|snapshot| *snapshot != state) {
            return Err(StoreError::CorruptRecord {
                session,
                seq: state.seq,
                cause: "the snapshot does not agree with the log".to_owned(),
            });
        }
        Ok(Verified {
            events: records.len(),
            bodies: digests.len(),
            snapshot: snapshot.is_some(),
        })
    }
}
