//! Places that cannot be used, and that the error says why.
//! Deliberately also what must not be there afterwards.

use std::fs;

use neenee_store::location::Location;
use neenee_store::{SessionStore, StoreError};
use rusqlite::Connection;

fn open(folder: &std::path::Path) -> Result<SessionStore, StoreError> {
    SessionStore::open(&Location::Folder(folder.to_owned()))
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("sessions.db");
    let other = Connection::open(&file).expect("opened");
    other
        .execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        .expect("made");
    drop(other);
    let before = fs::read(&file).expect("readable");
    let error = open(folder.path()).err().expect("not ours");
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");
    assert_eq!(fs::read(&file).expect("readable"), before);

    fs::write(&file, "a diary, and no database at all\n".repeat(40)).expect("written");
    let error = open(folder.path()).err().expect("not ours");
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");
}

#[test]
fn a_newer_schema_is_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(open(folder.path()).expect("made"));
    let file = folder.path().join("sessions.db");
    let newer = Connection::open(&file).expect("opened");
    newer.pragma_update(None, "user_version", 99).expect("set");
    drop(newer);
    let error = open(folder.path()).err().expect("newer");
    assert!(
        matches!(error, StoreError::NewerSchema { found: 99, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("use a newer neenee"), "{error}");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("a file");
    fs::write(&file, "x").expect("written");
    let error = open(&file.join("sessions"))
        .err()
        .expect("a file is no folder");
    assert!(matches!(error, StoreError::Unusable { .. }), "{error}");
    assert!(error.to_string().contains("a file"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1);
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let inside = folder.path().join("new/sessions");
    let store = open(&inside).expect("made");
    let session = store
        .create(neenee_store::NewSession::new(neenee_store::Origin::Agent))
        .expect("created");
    let mut seen = 0;
    for (path, mode) in [
        (inside.clone(), 0o700),
        (inside.join("sessions.db"), 0o600),
        (inside.join("sessions.db-wal"), 0o600),
        (inside.join("locks"), 0o700),
        (inside.join(format!("locks/{}.lock", session.id())), 0o600),
    ] {
        let found = fs::metadata(&path).expect("there").permissions().mode() & 0o777;
        assert_eq!(found, mode, "{}", path.display());
        seen += 1;
    }
    assert_eq!(seen, 5);
}

#[test]
fn two_programs_may_make_the_same_store_at_once() {
    for _ in 0..5 {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::thread::scope(|scope| {
            let openers: Vec<_> = (0..6)
                .map(|_| scope.spawn(|| open(folder.path())))
                .collect();
            for opener in openers {
                opener.join().expect("no panic").expect("opened");
            }
        });
    }
}
