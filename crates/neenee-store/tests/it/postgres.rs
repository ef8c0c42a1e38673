//! What only a server can do to a store: refuse, be away, cut connections, let claims expire.
//! Deliberately on a real server; what both engines do alike is tested on both elsewhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use neenee_store::clock::SystemClock;
use neenee_store::engine::postgres::{Lease, Postgres};
use neenee_store::location::Location;
use neenee_store::{NewSession, Origin, Session, SessionStore, StoreError};

use crate::conversation::{prune, turn, user};
use crate::server::{Database, with_database, with_user};
use crate::setup::Place;

fn begun(store: &SessionStore, name: &str) -> Session {
    store
        .create(NewSession {
            name: Some(name.to_owned()),
            ..NewSession::new(Origin::Agent)
        })
        .expect("created")
}

fn store(engine: Postgres) -> SessionStore {
    SessionStore::new(Arc::new(engine), Arc::new(SystemClock))
}

fn refused(address: &str) -> StoreError {
    SessionStore::open(&Location::parse(address))
        .err()
        .expect("it cannot be used")
}

/// One sentence that has `words` in it and no password.
fn unusable(address: &str, words: &str) {
    let error = refused(address);
    assert!(matches!(error, StoreError::Unusable { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains(words), "{text}");
    for secret in ["geheim", "topsecret"] {
        assert!(!text.contains(secret), "{text}");
        assert!(!format!("{error:?}").contains(secret), "{error:?}");
    }
    assert!(!text.contains('\n'), "{text}");
}

#[test]
fn a_server_that_is_not_there_is_said_so() {
    // Port 1 of this machine: nobody listens there.
    unusable(
        "postgres://u:geheim@127.0.0.1:1/d",
        "postgres://u@127.0.0.1:1/d: no server answers there",
    );
    unusable(
        "postgres://u:geheim@/d?host=/nowhere/at/all",
        "no server answers there",
    );
    unusable("postgres://u:geheim@h:x/d", "the address cannot be read");
    unusable(
        "postgres://u:geheim@h/d?sslmode=topsecret",
        "sslmode is one of",
    );
    unusable(
        "postgres://u:geheim@h/d?sslmode=verify-full&sslrootcert=/nowhere.pem",
        "cannot read sslrootcert /nowhere.pem",
    );
}

#[test]
fn a_wrong_password_and_an_unknown_database_are_said_so() {
    let Some(database) = Database::new() else {
        return;
    };
    let address = database.address();
    unusable(
        &with_database(&address, "not_there_at_all"),
        "database \"not_there_at_all\" does not exist; create it first",
    );
    let role = format!("{}_role", database.name());
    database.administrate(&format!("CREATE ROLE {role} LOGIN PASSWORD 'topsecret'"));
    let refused_wrong = "the server does not let this user in: password authentication failed";
    let without_rights = "the user needs CREATE on the database";
    // A server may let everyone in who connects from here; the one of `.ci/run` does not.
    let asks = std::env::var("NEENEE_REQUIRE_POSTGRES").as_deref() == Ok("1");
    unusable(
        &with_user(&address, &format!("{role}:geheim")),
        if asks { refused_wrong } else { without_rights },
    );
    let right = with_user(&address, &format!("{role}:topsecret"));
    unusable(&right, without_rights);
    // With a schema of its own it needs no more rights.
    database.execute(&format!("CREATE SCHEMA neenee AUTHORIZATION {role}"));
    drop(begun(
        &SessionStore::open(&Location::parse(&right)).expect("it may fill its schema"),
        "mine",
    ));
    database.execute("DROP SCHEMA neenee CASCADE");
    database.administrate(&format!("ALTER ROLE {role} NOLOGIN"));
    unusable(&right, "the server does not let this user in");
    database.administrate(&format!("DROP ROLE {role}"));
}

#[test]
fn a_schema_of_another_program_is_left_alone() {
    for made in [
        "CREATE SCHEMA neenee; CREATE TABLE neenee.session (x int)",
        "CREATE SCHEMA neenee; CREATE TABLE neenee.store (shelf text)",
        "CREATE SCHEMA neenee; CREATE TABLE neenee.store (program text, version text);
         INSERT INTO neenee.store VALUES ('groceries', '1')",
        "CREATE SCHEMA neenee; CREATE VIEW neenee.v AS SELECT 1",
    ] {
        let Some(database) = Database::new() else {
            return;
        };
        database.execute(made);
        let things = "SELECT count(*) FROM pg_class WHERE relnamespace = 'neenee'::regnamespace";
        let before = database.number(things);
        let error = refused(&database.address());
        assert!(
            matches!(error, StoreError::NotOurs { .. }),
            "{made}: {error}"
        );
        assert_eq!(database.number(things), before, "{made}");
    }
}

#[test]
fn a_newer_schema_is_left_alone() {
    let Some(database) = Database::new() else {
        return;
    };
    drop(database.open());
    database.execute("UPDATE neenee.store SET version = 99");
    let error = refused(&database.address());
    assert!(
        matches!(
            error,
            StoreError::NewerSchema {
                found: 99,
                known: 1,
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("use a newer neenee"), "{error}");
}

#[test]
fn other_schemas_of_the_database_do_not_matter() {
    let Some(database) = Database::new() else {
        return;
    };
    database.execute("CREATE TABLE public.store (x int); CREATE TABLE public.session (y int)");
    let session = begun(&store(database.open()), "work");
    assert_eq!(session.name(), Some("work"));
}

#[test]
fn many_programs_may_make_the_same_store_at_once() {
    for _ in 0..3 {
        let Some(database) = Database::new() else {
            return;
        };
        std::thread::scope(|scope| {
            let openers: Vec<_> = (0..6)
                .map(|_| scope.spawn(|| Postgres::open(&database.address())))
                .collect();
            for opener in openers {
                opener.join().expect("no panic").expect("opened");
            }
        });
        assert_eq!(database.number("SELECT count(*) FROM neenee.store"), 1);
    }
}

#[test]
fn a_claim_that_expired_can_be_taken_and_its_writer_is_told() {
    let Some(place) = Place::postgres() else {
        return;
    };
    // As a process that stands still: its claims are not renewed.
    let still = store(place.database().open_with(Lease {
        length: Duration::from_millis(400),
        beat: Duration::from_secs(3600),
    }));
    let mut old = begun(&still, "work");
    still.append(&mut old, turn(1)).expect("appended");
    let error = place.store.resume("work").expect_err("leased");
    assert!(
        matches!(&error, StoreError::InUse { holder, .. }
            if holder.starts_with(&format!("process {} on ", std::process::id()))),
        "{error}"
    );
    std::thread::sleep(Duration::from_millis(500));
    // Expired and taken by nobody: still the writer, and the commit renews.
    still.append(&mut old, turn(2)).expect("nobody took it");
    assert!(place.store.resume("work").is_err());
    std::thread::sleep(Duration::from_millis(500));
    let mut new = place.store.resume("work").expect("expired");
    assert_eq!(new.window(), old.window());
    for _ in 0..2 {
        let error = still.append(&mut old, turn(3)).expect_err("taken over");
        assert!(
            matches!(error, StoreError::Lost(id) if id == old.id()),
            "{error}"
        );
    }
    let projection = prune(&old, 0).expect("much to prune");
    let error = still
        .commit_context_projection(&mut old, projection)
        .expect_err("taken over");
    assert!(matches!(error, StoreError::Lost(_)), "{error}");
    place
        .store
        .append(&mut new, turn(4))
        .expect("the new writer goes on");
    // The old one's end does not end the new one's claim.
    drop(old);
    assert!(still.resume("work").is_err());
    assert_eq!(
        place.again().window(new.id()).expect("read").0,
        new.window()
    );
}

#[test]
fn claims_are_renewed_while_nothing_is_written() {
    let Some(place) = Place::postgres() else {
        return;
    };
    let lease = Lease {
        length: Duration::from_millis(900),
        beat: Duration::from_millis(150),
    };
    let short = store(place.database().open_with(lease));
    let (one, two) = (begun(&short, "one"), begun(&short, "two"));
    let until = Instant::now() + lease.length * 3;
    while Instant::now() < until {
        for name in ["one", "two"] {
            let error = place.store.resume(name).expect_err("renewed");
            assert!(matches!(error, StoreError::InUse { .. }), "{error}");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(one);
    drop(place.store.resume("one").expect("free at once"));
    assert!(place.store.resume("two").is_err());
    drop(two);
}

#[test]
fn connections_that_the_server_ends_are_made_again() {
    let Some(place) = Place::postgres() else {
        return;
    };
    let database = place.database();
    let mut session = begun(&place.store, "work");
    let end_all = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'",
        database.name()
    );
    for number in 0..6 {
        database.administrate(&end_all);
        place
            .store
            .append(&mut session, turn(number))
            .expect("through a new connection");
    }
    // The server lets nobody in for a while.
    let allow = |yes: bool| {
        database.administrate(&format!(
            "ALTER DATABASE {} ALLOW_CONNECTIONS {yes}",
            database.name()
        ));
    };
    allow(false);
    database.administrate(&end_all);
    let before = session.window().to_vec();
    for _ in 0..2 {
        let error = place
            .store
            .append(&mut session, vec![user("are you there?")])
            .expect_err("nobody is let in");
        assert!(
            matches!(error, StoreError::Engine { .. }) && error.is_transient(),
            "{error}"
        );
    }
    assert_eq!(session.window(), before);
    allow(true);
    place
        .store
        .append(&mut session, vec![user("there again")])
        .expect("works again");
    let again = place.again();
    assert_eq!(
        again.window(session.id()).expect("read").0,
        session.window()
    );
    again.verify(session.id()).expect("whole");
}

#[test]
fn cut_connections_lose_nothing_and_write_nothing_twice() {
    let Some(place) = Place::postgres() else {
        return;
    };
    let database = place.database();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::SeqCst) {
                database.administrate(&format!(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                     WHERE datname = '{}' AND backend_type = 'client backend'",
                    database.name()
                ));
                std::thread::sleep(Duration::from_millis(7));
            }
        });
        let mut session = begun(&place.store, "work");
        let mut written = 0;
        for number in 0..60 {
            // A transient error means that it is not in, so that it may be said again.
            for _ in 0..50 {
                match place.store.append(&mut session, turn(number)) {
                    Ok(_) => {
                        written += 1;
                        break;
                    }
                    Err(error) => assert!(error.is_transient(), "{error}"),
                }
            }
        }
        done.store(true, std::sync::atomic::Ordering::SeqCst);
        assert_eq!(written, 60);
        assert_eq!(session.revision(), 61);
        let window = session.window().to_vec();
        let again = place.again();
        assert_eq!(again.window(session.id()).expect("read").0, window);
        assert_eq!(again.verify(session.id()).expect("whole").events, 61);
    });
}

#[test]
fn a_sweep_beside_writers_takes_nothing_that_they_use() {
    let Some(place) = Place::postgres() else {
        return;
    };
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let store = place.again();
                scope.spawn(move || {
                    for round in 0..12 {
                        // The same outputs in all, so that bodies come and go and come again.
                        let mut session = begun(&store, &format!("{writer} {round}"));
                        for number in 0..8 {
                            store
                                .append(&mut session, turn(number + round % 3))
                                .expect("appended");
                        }
                        if let Some(projection) = prune(&session, 500) {
                            store
                                .commit_context_projection(&mut session, projection)
                                .expect("committed");
                        }
                        store.verify(session.id()).expect("whole");
                        let id = session.id();
                        drop(session);
                        store.remove(&[id]).expect("removed");
                    }
                })
            })
            .collect();
        while writers.iter().any(|writer| !writer.is_finished()) {
            place.store.sweep().expect("swept");
        }
    });
    place.store.sweep().expect("swept");
    let usage = place.store.usage().expect("usage");
    assert_eq!(
        (
            usage.sessions,
            usage.records,
            usage.fresh_bytes,
            usage.archived_bytes
        ),
        (0, 0, 0, 0)
    );
}

#[test]
fn encryption_proves_what_the_address_asks_for() {
    let Ok(authority) = std::env::var("NEENEE_TEST_POSTGRES_CA") else {
        assert_ne!(
            std::env::var("NEENEE_REQUIRE_POSTGRES").as_deref(),
            Ok("1"),
            "NEENEE_TEST_POSTGRES_CA names no certificate"
        );
        return;
    };
    let Some(database) = Database::new() else {
        return;
    };
    // The certificate is for localhost, by an authority that the system does not know.
    let named = database.address();
    let numbered = named.replace("localhost", "127.0.0.1");
    assert_ne!(named, numbered, "NEENEE_TEST_POSTGRES names localhost");
    let with =
        |address: &str, parameters: &str| format!("{}?{parameters}", address.trim_end_matches('?'));
    for (address, parameters, encrypted) in [
        (&named, "sslmode=disable".to_owned(), false),
        (&named, String::new(), true),
        (&numbered, "sslmode=require".to_owned(), true),
        (
            &numbered,
            format!("sslmode=verify-ca&sslrootcert={authority}"),
            true,
        ),
        (
            &numbered,
            format!("sslmode=require&sslrootcert={authority}"),
            true,
        ),
        (
            &named,
            format!("sslmode=verify-full&sslrootcert={authority}"),
            true,
        ),
    ] {
        let open = Postgres::open(&with(address, &parameters)).expect(&parameters);
        let found = database.number(&format!(
            "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
             WHERE datname = '{}' AND application_name = 'neenee' AND ssl = {encrypted}",
            database.name()
        ));
        assert!(found > 0, "{parameters}");
        drop(open);
        // So that the next one counts its own connections alone.
        database.administrate(&format!(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{}'",
            database.name()
        ));
    }
    unusable(
        &with(
            &numbered,
            &format!("sslmode=verify-full&sslrootcert={authority}"),
        ),
        "certificate not valid for name",
    );
    for mode in ["verify-full", "verify-ca"] {
        unusable(&with(&named, &format!("sslmode={mode}")), "certificate");
    }
}
