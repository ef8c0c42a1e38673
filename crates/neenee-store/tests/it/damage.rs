//! Damage: flipped bytes in the file, rows that are gone, a log that was cut, a full disk.
//! Deliberately on the real file: whatever comes back is either what was written or an error.

use std::fs;
use std::path::Path;

use neenee_core::message::Message;
use neenee_store::engine::sqlite::Sqlite;
use neenee_store::{NewSession, Origin, Session, SessionStore, StoreError};
use rusqlite::Connection;

use crate::conversation::{prune, turn, user};
use crate::setup::Place;

/// A pruned session; its id, its window, its transcript.
fn written(place: &Place) -> (uuid::Uuid, Vec<Message>, Vec<Message>) {
    let mut session = new(&place.store);
    place
        .store
        .admit(&mut session, user("do it"))
        .expect("admitted");
    for number in 0..18 {
        place
            .store
            .append(&mut session, turn(number))
            .expect("appended");
    }
    let transcript = session.window().to_vec();
    let projection = prune(&session, 4_000).expect("much to prune");
    place
        .store
        .commit_context_projection(&mut session, projection)
        .expect("committed");
    (session.id(), session.window().to_vec(), transcript)
}

fn new(store: &SessionStore) -> Session {
    store
        .create(NewSession::new(Origin::Agent))
        .expect("created")
}

fn raw(place: &Place) -> Connection {
    Connection::open(place.folder().join("sessions.db")).expect("it is SQLite")
}

#[test]
fn a_damaged_body_is_named_and_never_returned() {
    let place = Place::sqlite();
    let (id, _, _) = written(&place);
    let connection = raw(&place);
    let changed = connection
        .execute(
            "UPDATE body SET raw = CAST(raw || 'x' AS BLOB) WHERE raw IS NOT NULL",
            [],
        )
        .expect("updated");
    assert!(changed > 3);
    let error = place.again().window(id).expect_err("damaged");
    assert!(
        matches!(error, StoreError::CorruptBody { session, what: "corrupt", .. } if session == id),
        "{error}"
    );
    connection
        .execute("DELETE FROM body WHERE raw IS NOT NULL", [])
        .expect("deleted");
    let error = place.again().window(id).expect_err("gone");
    assert!(
        matches!(
            error,
            StoreError::CorruptBody {
                what: "missing",
                ..
            }
        ),
        "{error}"
    );
    assert!(place.again().verify(id).is_err());
}

#[test]
fn a_damaged_pack_spoils_its_originals_and_nothing_else() {
    let place = Place::sqlite();
    let (id, window, _) = written(&place);
    let connection = raw(&place);
    let mut data: Vec<u8> = connection
        .query_row("SELECT data FROM pack", [], |row| row.get(0))
        .expect("one pack");
    let middle = data.len() / 2;
    data[middle] ^= 0x40;
    connection
        .execute("UPDATE pack SET data = ?1", [&data])
        .expect("updated");
    assert_eq!(
        place.again().window(id).expect("the window is whole").0,
        window
    );
    let error = place
        .again()
        .transcript(id)
        .expect_err("the originals are not");
    assert!(matches!(error, StoreError::CorruptBody { .. }), "{error}");
}

#[test]
fn a_damaged_or_missing_record_is_named() {
    let place = Place::sqlite();
    let (id, _, _) = written(&place);
    let connection = raw(&place);
    connection
        .execute(
            "UPDATE record SET payload = CAST(replace(payload, 'do it', 'do me') AS BLOB) WHERE seq = 2",
            [],
        )
        .expect("updated");
    let error = place.again().window_at(id, 5).expect_err("damaged");
    assert!(
        matches!(error, StoreError::CorruptRecord { seq: 2, .. }),
        "{error}"
    );
    connection
        .execute("DELETE FROM record WHERE seq = 4", [])
        .expect("deleted");
    connection
        .execute("DELETE FROM record WHERE seq = 2", [])
        .expect("deleted");
    let error = place.again().window_at(id, 5).expect_err("missing");
    assert!(
        matches!(error, StoreError::CorruptRecord { seq: 2, .. }),
        "{error}"
    );
}

#[test]
fn a_snapshot_is_never_needed_and_never_believed() {
    let place = Place::sqlite();
    let (id, window, _) = written(&place);
    let connection = raw(&place);
    for spoil in [
        "UPDATE snapshot SET data = substr(data, 1, length(data) - 1)",
        "UPDATE snapshot SET data = x'00'",
        "UPDATE snapshot SET data = zeroblob(0)",
        "DELETE FROM snapshot",
    ] {
        assert_eq!(connection.execute(spoil, []), Ok(1), "{spoil}");
        assert_eq!(
            place.again().window(id).expect("folded").0,
            window,
            "{spoil}"
        );
    }
}

#[test]
fn events_of_newer_programs_are_kept_and_skipped_or_refused() {
    let place = Place::sqlite();
    let mut session = new(&place.store);
    place
        .store
        .admit(&mut session, user("do it"))
        .expect("admitted");
    let (id, window) = (session.id(), session.window().to_vec());
    drop(session);
    // A kind that we do not know: carried through export and import, as a newer program's session
    // would come here.
    let mut export = Vec::new();
    place.store.export(id, &mut export).expect("exported");
    let text = String::from_utf8(export).expect("JSON is text");
    let (head, end) = text.trim_end().rsplit_once('\n').expect("lines");
    assert!(end.contains("end"));
    let odd = r#"{"seq":3,"at_ms":5,"kind":"dreamt","version":9,"payload":{"of":["sheep", 1.0]}}"#;
    let newer = format!("{head}\n{odd}\n{{\"end\":4}}\n");
    let copy = place.store.import(&mut newer.as_bytes()).expect("imported");
    let mut session = place.again().resume(&copy.id.to_string()).expect("resumed");
    assert_eq!(session.window(), window);
    place.store.append(&mut session, turn(1)).expect("goes on");
    let mut again = Vec::new();
    place.store.export(copy.id, &mut again).expect("exported");
    let again = String::from_utf8(again).expect("JSON is text");
    assert!(again.contains(r#"{"of":["sheep", 1.0]}"#), "byte for byte");

    // A newer version of a kind that we know: the window would be a guess.
    let newer = newer.replace("dreamt", "message");
    let error = place
        .store
        .import(&mut newer.as_bytes())
        .expect_err("newer");
    assert!(error.to_string().contains("newer neenee"), "{error}");
}

#[test]
fn flipped_bytes_anywhere_give_an_error_or_the_truth() {
    let place = Place::sqlite();
    let (id, window, transcript) = written(&place);
    drop(raw(&place).query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
    let file = place.folder().join("sessions.db");
    let good = fs::read(&file).expect("readable");
    let (mut errors, mut truths) = (0, 0);
    // A prime step, so that every kind of page and every place in one is hit.
    for at in (0..good.len()).step_by(1_237) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        fs::write(folder.path().join("sessions.db"), bad).expect("written");
        let read = || -> Result<_, StoreError> {
            let store = open(folder.path())?;
            Ok((store.window(id)?.0, store.transcript(id)?))
        };
        match read() {
            Ok(found) => {
                assert!(
                    found == (window.clone(), transcript.clone()),
                    "byte {at} changed it"
                );
                truths += 1;
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                errors += 1;
            }
        }
    }
    assert!(
        errors > 20 && truths > 20,
        "{errors} errors, {truths} truths"
    );
}

fn open(folder: &Path) -> Result<SessionStore, StoreError> {
    let engine = std::sync::Arc::new(Sqlite::open(folder)?);
    Ok(SessionStore::new(
        engine,
        std::sync::Arc::new(neenee_store::clock::SystemClock),
    ))
}

#[test]
fn a_write_ahead_log_cut_anywhere_gives_a_state_that_was() {
    let place = Place::sqlite();
    let mut session = new(&place.store);
    let id = session.id();
    let mut states = vec![session.window().to_vec()];
    for number in 0..8 {
        place
            .store
            .append(&mut session, turn(number))
            .expect("appended");
        states.push(session.window().to_vec());
        if let Some(projection) = prune(&session, 1_500) {
            place
                .store
                .commit_context_projection(&mut session, projection)
                .expect("committed");
            states.push(session.window().to_vec());
        }
    }
    let file = place.folder().join("sessions.db");
    let (main, wal) = (
        fs::read(&file).expect("readable"),
        fs::read(file.with_extension("db-wal")).expect("not checkpointed yet"),
    );
    let mut reached = Vec::new();
    for cut in (0..wal.len()).step_by(1_511).chain([wal.len()]) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("sessions.db");
        fs::write(&file, &main).expect("written");
        fs::write(file.with_extension("db-wal"), &wal[..cut]).expect("written");
        let store = open(folder.path()).expect("a cut log is no error");
        match store.window(id) {
            Ok((window, seq)) => {
                assert_eq!(window, states[seq as usize - 1], "cut at {cut}");
                store.verify(id).expect("whole");
                reached.push(seq);
            }
            // Before the session was written at all.
            Err(error) => assert!(matches!(error, StoreError::NoSuchSession(_)), "{error}"),
        }
    }
    reached.dedup();
    assert!(reached.is_sorted());
    assert_eq!(reached.last().copied(), Some(states.len() as u64));
    assert!(reached.len() > 5, "{reached:?}");
}

#[test]
fn a_full_database_refuses_and_goes_on_when_there_is_room() {
    let place = Place::sqlite();
    let mut session = new(&place.store);
    place.store.append(&mut session, turn(1)).expect("appended");
    let before = session.window().to_vec();
    // The limit of a real engine: SQLite answers as it does on a full disk.
    place.limit_pages(0);
    let big = crate::conversation::result("call_big", &crate::conversation::output(1, 30_000));
    let error = place
        .store
        .append(&mut session, vec![big.clone()])
        .expect_err("full");
    assert!(
        error.is_transient() && error.to_string().contains("disk is full"),
        "{error}"
    );
    assert_eq!(session.window(), before);
    assert_eq!(
        place.again().window(session.id()).expect("readable").0,
        before
    );
    place.limit_pages(1 << 30);
    place
        .store
        .append(&mut session, vec![big])
        .expect("there is room again");
    place.store.verify(session.id()).expect("whole");
}

#[test]
fn the_write_ahead_log_does_not_grow_without_end() {
    let place = Place::sqlite();
    let mut session = new(&place.store);
    let log = place.folder().join("sessions.db-wal");
    let mut longest = 0;
    for number in 0..1_500 {
        let text = crate::conversation::output(number, 900);
        let id = format!("call_{number}");
        place
            .store
            .append(&mut session, vec![crate::conversation::result(&id, &text)])
            .expect("appended");
        longest = longest.max(fs::metadata(&log).expect("there").len());
    }
    // 60 MB went through it.
    assert!((4 << 20..70 << 20).contains(&longest), "{longest} bytes");
    let mut small = u64::MAX;
    for number in 0..200 {
        place
            .store
            .append(&mut session, turn(number))
            .expect("appended");
        small = small.min(fs::metadata(&log).expect("there").len());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(small <= 4 << 20, "{small} bytes once there was time");
    place.store.verify(session.id()).expect("sound");
}
