//! What a database has to do for the store, in plain data.
//! Deliberately ignorant of messages and projections: it keeps rows, all of a batch or none.

pub mod postgres;
pub mod sqlite;

use std::sync::Arc;

use uuid::Uuid;

use crate::digest::Digest;
use crate::error::StoreError;
use crate::pack::Pack;
pub use crate::record::Record;

/// A database that keeps sessions. Every method is one transaction.
pub trait Engine: Send + Sync {
    /// The place, for messages: a path, or an address without its password.
    fn place(&self) -> String;

    /// Makes a session; the caller becomes its writer.
    fn create(&self, row: &SessionRow, batch: &Batch) -> Result<Claim, StoreError>;

    /// Becomes the writer of a session. Fails with [`StoreError::InUse`] while another is.
    fn claim(&self, session: Uuid) -> Result<Claim, StoreError>;

    /// Ceases to be the writer. Errors are of no use to anyone: a claim also ends by itself.
    fn release(&self, claim: &mut Claim);

    /// Writes a batch, all or nothing. Fails with [`StoreError::Lost`] when the claim no longer
    /// holds or the batch does not start at the session's next event.
    fn commit(&self, claim: &Claim, batch: &Batch) -> Result<(), StoreError>;

    /// All sessions, those removed but needed by a fork included, oldest first.
    fn sessions(&self) -> Result<Vec<SessionRow>, StoreError>;

    /// One session.
    fn session(&self, session: Uuid) -> Result<Option<SessionRow>, StoreError>;

    /// The session's own records with numbers in `range`, ends included, in order.
    fn records(&self, session: Uuid, range: (u64, u64)) -> Result<Vec<Record>, StoreError>;

    /// The session's snapshot.
    fn snapshot(&self, session: Uuid) -> Result<Option<Vec<u8>>, StoreError>;

    /// Bodies as they are kept, unverified; those that are missing are left out.
    fn bodies(&self, digests: &[Digest]) -> Result<Vec<KeptBody>, StoreError>;

    /// Those of `digests` that are in a pack already.
    fn archived(&self, digests: &[Digest]) -> Result<Vec<Digest>, StoreError>;

    /// Packs by number.
    fn packs(&self, numbers: &[i64]) -> Result<Vec<KeptPack>, StoreError>;

    /// Marks sessions as removed. Their rows go with [`Engine::sweep`]; a session in use is
    /// refused with [`StoreError::InUse`], and none is marked then.
    fn remove(&self, sessions: &[Uuid]) -> Result<(), StoreError>;

    /// Deletes removed sessions that no fork needs, then bodies and packs that nothing uses.
    /// Bodies that live on in packs of which more than half is dead are handed to `repack` to be
    /// written anew.
    fn sweep(&self, repack: Repack<'_>) -> Result<Swept, StoreError>;

    /// What the database holds.
    fn totals(&self) -> Result<Totals, StoreError>;
}

/// Turns unverified packs and the digests that live on in them into new packs.
pub type Repack<'a> = &'a dyn Fn(&[KeptBody], &[KeptPack]) -> Result<Vec<Pack>, StoreError>;

/// The right to write to one session.
#[derive(Debug)]
pub struct Claim {
    /// The session.
    pub session: Uuid,
    /// A number that grows with every claim; a batch with an older one is refused.
    pub epoch: i64,
    /// What the engine holds while the claim lasts, such as a lock file.
    pub guard: Option<std::fs::File>,
}

/// A session's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: Uuid,
    /// Its name; names of sessions that are not removed are unique.
    pub name: Option<String>,
    /// Which kind of program made it.
    pub origin: String,
    /// ms since 1970.
    pub created_ms: i64,
    /// When it was last written to, ms since 1970.
    pub used_ms: i64,
    /// The session that it was forked from, and the last event that both share.
    pub parent: Option<(Uuid, u64)>,
    /// The last event.
    pub last_seq: u64,
    /// Size of its own records and of the bodies that it brought, raw, in bytes.
    pub bytes: u64,
    /// Whether it was removed, and only waits for a sweep or for forks to go.
    pub removed: bool,
    /// Who writes to it now, as far as the engine can tell.
    pub holder: Option<String>,
}

/// Rows that go in together.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The next records, in order and without gaps.
    pub records: Vec<Record>,
    /// Bodies of the live window, kept raw.
    pub fresh: Vec<(Digest, Arc<[u8]>)>,
    /// Bodies that left the window; raw copies of the same digests are dropped.
    pub packs: Vec<Pack>,
    /// Raw size in bytes of what `packs` hold that was not in the session before.
    pub brought: u64,
    /// Every body that the records refer to.
    pub uses: Vec<Digest>,
    /// A new snapshot.
    pub snapshot: Option<Vec<u8>>,
    /// A new name; `Some(None)` takes it away.
    pub name: Option<Option<String>>,
    /// When it is written, ms since 1970.
    pub at_ms: i64,
}

impl Batch {
    /// What the session grows by, in raw bytes.
    pub fn bytes(&self) -> u64 {
        let records: usize = self.records.iter().map(|record| record.payload.len()).sum();
        let fresh: usize = self.fresh.iter().map(|(_, bytes)| bytes.len()).sum();
        (records + fresh) as u64 + self.brought
    }
}

/// A body as it is kept.
#[derive(Clone, Debug)]
pub struct KeptBody {
    /// Its name.
    pub digest: Digest,
    /// Where its bytes are.
    pub place: BodyPlace,
}

/// Where a body's bytes are.
#[derive(Clone, Debug)]
pub enum BodyPlace {
    /// Here, raw.
    Raw(Vec<u8>),
    /// In a pack.
    Pack {
        /// The pack's number.
        number: i64,
        /// Where it begins in the unpacked bytes.
        offset: u64,
        /// How long it is.
        length: u64,
    },
}

/// A pack as it is kept.
#[derive(Clone, Debug)]
pub struct KeptPack {
    /// Its number.
    pub number: i64,
    /// Size of its bodies in bytes.
    pub raw_bytes: u64,
    /// The zstd frame.
    pub data: Vec<u8>,
}

/// What a sweep deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Sessions.
    pub sessions: u64,
    /// Bodies.
    pub bodies: u64,
    /// Packs written anew.
    pub repacked: u64,
    /// Bytes of the database that can be used again.
    pub bytes: u64,
}

/// What a database holds, in bytes unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Sessions that are not removed.
    pub sessions: u64,
    /// Records.
    pub records: u64,
    /// Bytes of the records' payloads.
    pub record_bytes: u64,
    /// Raw bodies of live windows.
    pub fresh_bytes: u64,
    /// Archived bodies before compression.
    pub archived_raw_bytes: u64,
    /// Archived bodies as they are kept.
    pub archived_bytes: u64,
}
