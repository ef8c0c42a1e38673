//! Moving the write-ahead log into the database file, beside the writers.
//! Deliberately off their path: a checkpoint syncs twice, and no turn of an agent should wait for it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::mpsc::{self, SyncSender};

use super::open;

/// Size of the log in bytes over which it is moved: SQLite's own thousand pages. Once it has been moved
/// and is written from its start again, SQLite cuts the file to this size.
pub(super) const DUE_BYTES: u64 = 4 << 20;

/// Size over which the writer waits: the disk does not keep up, and readers would slow down.
const OVERDUE_BYTES: u64 = 64 << 20;

/// Asks a thread of its own for checkpoints; the thread begins with the first one that is due.
#[derive(Debug)]
pub(super) struct Checkpoints {
    file: PathBuf,
    log: PathBuf,
    ask: OnceLock<SyncSender<()>>,
}

impl Checkpoints {
    pub(super) fn of(file: &Path) -> Self {
        Checkpoints {
            file: file.to_owned(),
            log: file.with_extension("db-wal"),
            ask: OnceLock::new(),
        }
    }

    /// To be called after a commit. True when the caller has to checkpoint by itself.
    pub(super) fn after_commit(&self) -> bool {
        let size = std::fs::metadata(&self.log).map_or(0, |log| log.len());
        if size > DUE_BYTES {
            let ask = self.ask.get_or_init(|| begin(self.file.clone()));
            // One that waits already is enough.
            let _ = ask.try_send(());
        }
        size > OVERDUE_BYTES
    }
}

/// The thread ends when the store has gone.
fn begin(file: PathBuf) -> SyncSender<()> {
    let (ask, asked) = mpsc::sync_channel(1);
    let work = move || {
        let Ok(connection) = open::connect(&file) else {
            return;
        };
        for () in asked {
            // A passive one takes what it can without anyone waiting; the next takes the rest.
            let moved = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
            if let Err(error) = moved {
                tracing::debug!(%error, "the write-ahead log was not moved");
            }
        }
    };
    // Without a thread the log grows until a writer moves it.
    let _ = std::thread::Builder::new()
        .name("neenee-checkpoint".to_owned())
        .spawn(work);
    ask
}
