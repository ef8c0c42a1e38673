//! Making, opening and migrating the database file.
//! Deliberately strict: a file that is not ours, or is newer than we are, is left as it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::FILE;
use crate::error::StoreError;

/// "neen" in ASCII: how SQLite files say whose they are (<https://sqlite.org/fileformat2.html>, 1.3.12).
const APPLICATION_ID: i64 = 0x6e65_656e;

/// How long a writer waits for another process's transaction.
const BUSY: Duration = Duration::from_secs(10);

/// Every version's step, from nothing on. A step that has been released is never edited.
const STEPS: &[&str] = &[include_str!("../../../schema/sqlite/001.sql")];

/// The file in `folder`, both made when they are not there.
pub(super) fn prepare(folder: &Path) -> Result<PathBuf, StoreError> {
    let unusable = |cause: std::io::Error| StoreError::Unusable {
        place: folder.display().to_string(),
        cause: cause.to_string(),
    };
    make_folder(folder).map_err(unusable)?;
    make_folder(&folder.join("locks")).map_err(unusable)?;
    let file = folder.join(FILE);
    make_file(&file).map_err(unusable)?;
    Ok(file)
}

#[cfg(unix)]
fn make_folder(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

#[cfg(not(unix))]
fn make_folder(folder: &Path) -> std::io::Result<()> {
    // The user's data folder is private to the user on Windows.
    fs::create_dir_all(folder)
}

/// SQLite gives its log and its shared memory the permissions of the file.
fn make_file(file: &Path) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(drop)
}

/// A connection with full durability.
pub(super) fn connect(file: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(file, flags)?;
        connection.busy_timeout(BUSY)?;
        connection.set_prepared_statement_cache_capacity(64);
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        // Pages are checked by our own digests; this catches damage in the trees between them.
        connection.pragma_update(None, "cell_size_check", true)?;
        Ok(connection)
    };
    open().map_err(|error| unusable(file, &error))
}

/// Brings the file to the newest version, each step in a transaction of its own.
pub(super) fn migrate(connection: &Connection, file: &Path) -> Result<(), StoreError> {
    let place = file.display().to_string();
    let known = STEPS.len() as i64;
    let begun = Instant::now();
    loop {
        let moved = identity(connection).and_then(|(ours, version, tables)| {
            let usable = ours || tables == 0;
            if usable && version < known {
                step(connection, version)?;
            }
            Ok((usable, version))
        });
        match moved {
            Ok((false, _)) => return Err(StoreError::NotOurs { place }),
            Ok((true, version)) if version > known => {
                return Err(StoreError::NewerSchema {
                    place,
                    found: version,
                    known,
                });
            }
            Ok((true, version)) if version == known => return Ok(()),
            Ok(_) => {}
            // Two that turn the log on at once would wait for each other: SQLite refuses one of
            // them without waiting.
            Err(error) if busy(&error) && begun.elapsed() < BUSY => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(unusable(file, &error)),
        }
    }
}

fn busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
}

/// Whether the file bears our mark, its version, and how many tables it has.
fn identity(connection: &Connection) -> rusqlite::Result<(bool, i64, i64)> {
    // Of one moment: another process may be making the tables.
    let moment = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    let mark: i64 = moment.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    let version: i64 = moment.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let tables = moment.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    moment.commit()?;
    let ours = mark == APPLICATION_ID;
    Ok((ours, if ours { version } else { 0 }, tables))
}

fn step(connection: &Connection, version: i64) -> rusqlite::Result<()> {
    if version == 0 {
        // Not possible inside a transaction, and harmless before ours is committed.
        connection.pragma_update(None, "journal_mode", "WAL")?;
    }
    let transaction =
        rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let now: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if now == version {
        if let Some(sql) = STEPS.get(version as usize) {
            transaction.execute_batch(sql)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", version + 1)?;
    }
    transaction.commit()
}

fn unusable(file: &Path, error: &rusqlite::Error) -> StoreError {
    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) {
        return StoreError::NotOurs {
            place: file.display().to_string(),
        };
    }
    let cause = match known_cause(error) {
        Some(cause) => cause.to_owned(),
        None => error.to_string(),
    };
    StoreError::Unusable {
        place: file.display().to_string(),
        cause,
    }
}

fn known_cause(error: &rusqlite::Error) -> Option<&'static str> {
    use rusqlite::ErrorCode;
    match error.sqlite_error_code()? {
        ErrorCode::ReadOnly => Some("the file or its folder is read-only"),
        ErrorCode::DiskFull => Some("the disk is full"),
        ErrorCode::DatabaseBusy => Some("another process keeps it locked"),
        ErrorCode::CannotOpen => Some("the file cannot be opened"),
        _ => None,
    }
}
