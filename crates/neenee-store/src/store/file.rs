//! Committing what pruning did to a file, and getting the file back.
//! Deliberately the whole file and not the results alone: only that gives the input back byte for
//! byte when the file itself is gone.

use uuid::Uuid;

use super::SessionStore;
use crate::digest::Digest;
use crate::error::{Refusal, StoreError};
use crate::event::Operation;
use crate::file::{self, FileProjection, Side, StoredBytes, WholeFile};
use crate::record::body::Collector;
use crate::record::payload::{FileChange, Payload, Projected, StoredChange, StoredFile};
use crate::session::Session;

impl SessionStore {
    /// Writes a prune of a file, with every byte from before. Write the pruned file only after this
    /// has returned. Returns the number of the event.
    pub fn commit_file_projection(
        &self,
        session: &mut Session,
        projection: &FileProjection<'_>,
    ) -> Result<u64, StoreError> {
        let failed = |error: String| StoreError::Engine {
            cause: format!("cannot compress originals: {error}"),
            retry: false,
        };
        if projection.before == projection.after {
            return Err(StoreError::Refused {
                session: session.id(),
                refusal: Refusal::Empty,
            });
        }
        let mut archived = Collector::default();
        let pieces = file::pieces(projection.before);
        let before = StoredFile {
            digest: Digest::of(projection.before),
            bytes: projection.before.len() as u64,
            pieces: pieces.iter().map(|(digest, _)| *digest).collect(),
        };
        for (digest, bytes) in pieces {
            archived.known(digest, bytes);
        }
        let patch = file::diff(projection.before, projection.after).map_err(failed)?;
        let change = FileChange {
            path: projection.path.to_owned(),
            format: Some(projection.format.to_owned()),
            before,
            after: Digest::of(projection.after),
            after_bytes: projection.after.len() as u64,
            patch: archived.bytes(&patch),
        };
        let record = Projected {
            operation: Operation::Prune.into(),
            cause: projection.cause.to_owned(),
            before: projection.counts_before.into(),
            after: projection.counts_after.into(),
            results: projection.results.to_vec(),
            change: StoredChange::File(change),
        };
        let mut batch = self.batch();
        batch.packs = self.pack(archived)?;
        batch.brought = batch.packs.iter().map(|pack| pack.raw_bytes).sum();
        self.commit(session, batch, Payload::Projected(Box::new(record)))
    }

    /// The file as it was before its first prune; with `seq`, as the projection with that number
    /// saw it on the given side. `None` when the session never held a file, or not in that event.
    pub fn file(
        &self,
        session: Uuid,
        seq: Option<u64>,
        side: Side,
    ) -> Result<Option<StoredBytes>, StoreError> {
        let chain = self.chain(session)?;
        let (first, last) = seq.map_or((1, chain.last()), |seq| (seq, seq));
        for record in self.records(&chain, first, last)? {
            if let Payload::Projected(projected) = Payload::of(session, &record)?
                && let StoredChange::File(change) = projected.change
            {
                return self.fetch(session, record.seq, change, side).map(Some);
            }
        }
        Ok(None)
    }

    /// The whole original: the file as it was before its first prune, and whatever was appended
    /// before each later one. `None` when the session never held a file.
    ///
    /// # Errors
    /// [`StoreError::Rewritten`] when the owner changed what stood there between two prunes, so that
    /// there is no one original; each state can still be had by itself.
    pub fn whole_file(&self, session: Uuid) -> Result<Option<WholeFile>, StoreError> {
        let chain = self.chain(session)?;
        let mut whole: Option<(u64, WholeFile)> = None;
        for record in self.records(&chain, 1, chain.last())? {
            let Payload::Projected(projected) = Payload::of(session, &record)? else {
                continue;
            };
            let StoredChange::File(change) = projected.change else {
                continue;
            };
            let before = self.fetch(session, record.seq, change.clone(), Side::Before)?;
            let after = self.fetch(session, record.seq, change, Side::After)?.bytes;
            whole = Some(match whole {
                None => (
                    record.seq,
                    WholeFile {
                        path: before.path,
                        bytes: before.bytes,
                        last_after: after,
                    },
                ),
                Some((last, mut so_far)) => {
                    let added = before
                        .bytes
                        // Restored in between, and perhaps added to.
                        .strip_prefix(so_far.bytes.as_slice())
                        .or_else(|| before.bytes.strip_prefix(so_far.last_after.as_slice()))
                        .ok_or(StoreError::Rewritten {
                            session,
                            from: last,
                            to: record.seq,
                        })?;
                    so_far.bytes.extend_from_slice(added);
                    so_far.path = before.path;
                    so_far.last_after = after;
                    (record.seq, so_far)
                }
            });
        }
        Ok(whole.map(|(_, whole)| whole))
    }

    fn fetch(
        &self,
        session: Uuid,
        seq: u64,
        change: FileChange,
        side: Side,
    ) -> Result<StoredBytes, StoreError> {
        let damaged = |digest| StoreError::CorruptBody {
            session,
            digest,
            what: "corrupt",
        };
        let mut digests = change.before.pieces.clone();
        digests.extend(change.patch.digest());
        let bodies = self.bodies(session, digests)?;
        let mut before = Vec::with_capacity(change.before.bytes as usize);
        for digest in &change.before.pieces {
            let piece = bodies.0.get(digest).ok_or_else(|| damaged(*digest))?;
            before.extend_from_slice(piece);
        }
        if Digest::of(&before) != change.before.digest {
            return Err(damaged(change.before.digest));
        }
        let bytes = match side {
            Side::Before => before,
            Side::After => bodies
                .bytes(&change.patch)
                .and_then(|patch| file::patch(&before, &patch, change.after_bytes))
                .filter(|after| Digest::of(after) == change.after)
                .ok_or_else(|| damaged(change.after))?,
        };
        Ok(StoredBytes {
            seq,
            path: change.path,
            format: change.format,
            bytes,
        })
    }

    /// The digest of the pruned file that the session's last prune left, if it holds a file.
    pub fn file_after(&self, session: &Session) -> Option<Digest> {
        session.state.file.as_ref().map(|change| change.after)
    }
}
