//! Who writes to a session: a lock of the operating system on a file per session.
//! Deliberately no clock and no process numbers to trust: a killed writer's lock is gone at once.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use uuid::Uuid;

use crate::error::StoreError;

/// Someone who only looks whether a session is in use holds its lock for a moment.
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_millis(5);

fn path(folder: &Path, session: Uuid) -> PathBuf {
    folder.join("locks").join(format!("{session}.lock"))
}

/// The lock of a session, held until the file is closed.
pub(super) fn lock(folder: &Path, session: Uuid) -> Result<File, StoreError> {
    let path = path(folder, session);
    let failed = |cause| StoreError::File {
        action: "lock",
        path: path.clone(),
        cause,
    };
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&path).map_err(failed)?;
    for attempt in 0.. {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if attempt < TRIES => std::thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::InUse {
                    session,
                    holder: note(&mut file),
                });
            }
            Err(TryLockError::Error(cause)) => return Err(failed(cause)),
        }
    }
    // For people; nothing depends on it.
    let _ = file.set_len(0);
    let _ = file.rewind();
    let _ = write!(file, "process {}", std::process::id());
    Ok(file)
}

/// Who holds the lock of a session, if anyone does.
pub(super) fn holder(folder: &Path, session: Uuid) -> Option<String> {
    let mut file = File::open(path(folder, session)).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(note(&mut file)),
        _ => None,
    }
}

/// Deletes the lock file of a session that is gone.
pub(super) fn forget(folder: &Path, session: Uuid) {
    let _ = std::fs::remove_file(path(folder, session));
}

fn note(file: &mut File) -> String {
    let mut text = String::new();
    let _ = file.rewind();
    let _ = file.take(80).read_to_string(&mut text);
    if text.starts_with("process ") {
        text
    } else {
        "unknown".to_owned()
    }
}
