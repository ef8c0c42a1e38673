//! SQLite, embedded: one file in the user's data folder, a lock file per session being written.
//! Deliberately no pool: one connection writes, one reads, and SQLite serialises the rest.

mod checkpoint;
mod claims;
mod open;
mod read;
mod sweep;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use uuid::Uuid;

use super::{Batch, Claim, Engine, KeptBody, KeptPack, Record, Repack, SessionRow, Swept, Totals};
use crate::digest::Digest;
use crate::error::StoreError;

/// The file inside the folder.
pub(crate) const FILE: &str = "sessions.db";

/// An open SQLite store.
pub struct Sqlite {
    folder: PathBuf,
    writer: Mutex<Connection>,
    reader: Mutex<Connection>,
    checkpoints: checkpoint::Checkpoints,
}

impl Sqlite {
    /// Opens the store in `folder`, and makes both when they are not there: the folder and its
    /// files readable by their owner alone.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let file = open::prepare(folder)?;
        let writer = open::connect(&file)?;
        open::migrate(&writer, &file)?;
        let reader = open::connect(&file)?;
        // Ours come from a thread; see `checkpoint`.
        writer
            .pragma_update(None, "wal_autocheckpoint", 0)
            .and_then(|()| {
                writer.pragma_update(None, "journal_size_limit", checkpoint::DUE_BYTES as i64)
            })
            .map_err(failed)?;
        Ok(Sqlite {
            folder: folder.to_owned(),
            writer: Mutex::new(writer),
            reader: Mutex::new(reader),
            checkpoints: checkpoint::Checkpoints::of(&file),
        })
    }

    /// Lets the database grow to `pages` pages of 4 KiB at most, or to what it has now if that is
    /// more. Beyond, writes fail as they do on a full disk.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn limit_pages(&self, pages: u32) -> Result<(), StoreError> {
        self.writer()
            .pragma_update(None, "max_page_count", pages.max(1))
            .map_err(failed)
    }

    // A panic while the lock was held rolled its transaction back: the connection is sound.
    fn writer(&self) -> MutexGuard<'_, Connection> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reader(&self) -> MutexGuard<'_, Connection> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine for Sqlite {
    fn place(&self) -> String {
        self.folder.join(FILE).display().to_string()
    }

    fn create(&self, row: &SessionRow, batch: &Batch) -> Result<Claim, StoreError> {
        let guard = claims::lock(&self.folder, row.id)?;
        write::create(&mut self.writer(), row, batch)?;
        Ok(Claim {
            session: row.id,
            epoch: 1,
            guard: Some(guard),
        })
    }

    fn claim(&self, session: Uuid) -> Result<Claim, StoreError> {
        let guard = claims::lock(&self.folder, session)?;
        let epoch = write::next_epoch(&mut self.writer(), session)?;
        Ok(Claim {
            session,
            epoch,
            guard: Some(guard),
        })
    }

    fn release(&self, claim: &mut Claim) {
        // Closing the file gives the lock back.
        claim.guard = None;
    }

    fn commit(&self, claim: &Claim, batch: &Batch) -> Result<(), StoreError> {
        let mut writer = self.writer();
        write::commit(&mut writer, claim, batch)?;
        if self.checkpoints.after_commit() {
            let moved = writer.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()));
            if let Err(error) = moved {
                // The batch is committed; a log that is too long is no reason to say otherwise.
                tracing::debug!(%error, "the write-ahead log was not moved");
            }
        }
        Ok(())
    }

    fn sessions(&self) -> Result<Vec<SessionRow>, StoreError> {
        let mut rows = read::sessions(&self.reader())?;
        for row in &mut rows {
            row.holder = claims::holder(&self.folder, row.id);
        }
        Ok(rows)
    }

    fn session(&self, session: Uuid) -> Result<Option<SessionRow>, StoreError> {
        read::session(&self.reader(), session)
    }

    fn records(&self, session: Uuid, range: (u64, u64)) -> Result<Vec<Record>, StoreError> {
        read::records(&self.reader(), session, range)
    }

    fn snapshot(&self, session: Uuid) -> Result<Option<Vec<u8>>, StoreError> {
        read::snapshot(&self.reader(), session)
    }

    fn bodies(&self, digests: &[Digest]) -> Result<Vec<KeptBody>, StoreError> {
        read::bodies(&self.reader(), digests)
    }

    fn archived(&self, digests: &[Digest]) -> Result<Vec<Digest>, StoreError> {
        read::archived(&self.reader(), digests)
    }

    fn packs(&self, numbers: &[i64]) -> Result<Vec<KeptPack>, StoreError> {
        read::packs(&self.reader(), numbers)
    }

    fn remove(&self, sessions: &[Uuid]) -> Result<(), StoreError> {
        // Held until they are marked, so that nobody resumes one in between.
        let _held: Vec<_> = sessions
            .iter()
            .map(|session| claims::lock(&self.folder, *session))
            .collect::<Result<_, _>>()?;
        write::remove(&mut self.writer(), sessions)
    }

    fn sweep(&self, repack: Repack<'_>) -> Result<Swept, StoreError> {
        let mut writer = self.writer();
        let (swept, gone) = sweep::sweep(&mut writer, repack)?;
        for session in gone {
            claims::forget(&self.folder, session);
        }
        Ok(swept)
    }

    fn totals(&self) -> Result<Totals, StoreError> {
        read::totals(&self.reader())
    }
}

/// An error of SQLite in the store's words.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what `map_err` hands over"
)]
fn failed(error: rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode;
    let retry = matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::DiskFull)
    );
    let cause = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "the disk is full".to_owned(),
        Some(ErrorCode::ReadOnly) => "the database is read-only".to_owned(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            format!("the database file is damaged ({error})")
        }
        _ => error.to_string(),
    };
    StoreError::Engine { cause, retry }
}
