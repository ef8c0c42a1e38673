//! Stores to test with.
//! Deliberately one function for all engines, so that no test can be about one of them unawares.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use neenee_store::SessionStore;
use neenee_store::engine::Engine;
use neenee_store::engine::sqlite::Sqlite;
use tempfile::TempDir;

use crate::server::Database;

/// A clock that a test moves, in ms since 1970.
#[derive(Clone, Default)]
pub(crate) struct TestClock(pub(crate) Arc<AtomicI64>);

impl TestClock {
    pub(crate) fn set(&self, ms: i64) {
        self.0.store(ms, Ordering::SeqCst);
    }

    pub(crate) fn clock(&self) -> Arc<impl Fn() -> Timestamp + Send + Sync + use<>> {
        let now = self.0.clone();
        Arc::new(move || {
            Timestamp::from_millisecond(now.load(Ordering::SeqCst)).expect("a test's time is valid")
        })
    }
}

/// A store of one engine, and what keeps it alive.
pub(crate) struct Place {
    // Before its database, which goes when nobody is in it.
    pub(crate) store: SessionStore,
    pub(crate) clock: TestClock,
    kept: Kept,
}

enum Kept {
    Folder(TempDir, Arc<Sqlite>),
    Database(Database),
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = Arc::new(Sqlite::open(folder.path()).expect("a new folder opens"));
        Place::of(engine.clone(), Kept::Folder(folder, engine))
    }

    /// A new database, when a server is named.
    pub(crate) fn postgres() -> Option<Self> {
        let database = Database::new()?;
        let engine = Arc::new(database.open());
        Some(Place::of(engine, Kept::Database(database)))
    }

    fn of(engine: Arc<dyn Engine>, kept: Kept) -> Self {
        let clock = TestClock::default();
        clock.set(1_800_000_000_000);
        Place {
            store: SessionStore::new(engine, clock.clock()),
            clock,
            kept,
        }
    }

    /// SQLite's folder.
    pub(crate) fn folder(&self) -> &Path {
        match &self.kept {
            Kept::Folder(folder, _) => folder.path(),
            Kept::Database(_) => panic!("only SQLite has a folder"),
        }
    }

    /// PostgreSQL's database.
    pub(crate) fn database(&self) -> &Database {
        match &self.kept {
            Kept::Database(database) => database,
            Kept::Folder(..) => panic!("only PostgreSQL has a database"),
        }
    }

    /// Makes SQLite answer beyond so many pages as it does on a full disk.
    pub(crate) fn limit_pages(&self, pages: u32) {
        match &self.kept {
            Kept::Folder(_, sqlite) => sqlite.limit_pages(pages).expect("SQLite takes a limit"),
            Kept::Database(_) => panic!("only SQLite has a limit"),
        }
    }

    /// The same store through connections of its own, as another process has them.
    pub(crate) fn again(&self) -> SessionStore {
        let engine: Arc<dyn Engine> = match &self.kept {
            Kept::Folder(folder, _) => {
                Arc::new(Sqlite::open(folder.path()).expect("the folder opens again"))
            }
            Kept::Database(database) => Arc::new(database.open()),
        };
        SessionStore::new(engine, self.clock.clock())
    }
}

/// Every engine that is there.
fn places() -> impl Iterator<Item = Place> {
    [Some(Place::sqlite()), Place::postgres()]
        .into_iter()
        .flatten()
}

/// Runs `test` on every engine.
pub(crate) fn each(test: impl Fn(&Place)) {
    for place in places() {
        test(&place);
    }
}
