//! Stores to test with.
//! Deliberately one function for all engines, so that no test can be about one of them unawares.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use neenee_store::SessionStore;
use neenee_store::engine::sqlite::Sqlite;
use tempfile::TempDir;

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

/// A store of each engine, and what keeps it alive.
pub(crate) struct Place {
    pub(crate) store: SessionStore,
    pub(crate) clock: TestClock,
    pub(crate) folder: TempDir,
    sqlite: Arc<Sqlite>,
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let clock = TestClock::default();
        clock.set(1_800_000_000_000);
        let engine = Arc::new(Sqlite::open(folder.path()).expect("a new folder opens"));
        Place {
            store: SessionStore::new(engine.clone(), clock.clock()),
            clock,
            folder,
            sqlite: engine,
        }
    }

    /// Makes SQLite answer beyond so many pages as it does on a full disk.
    pub(crate) fn limit_pages(&self, pages: u32) {
        self.sqlite
            .limit_pages(pages)
            .expect("SQLite takes a limit");
    }

    /// The same store through connections of its own, as another process has them.
    pub(crate) fn again(&self) -> SessionStore {
        let engine = Sqlite::open(self.folder.path()).expect("the folder opens again");
        SessionStore::new(Arc::new(engine), self.clock.clock())
    }
}

/// Every engine that is there.
fn places() -> Vec<Place> {
    vec![Place::sqlite()]
}

/// Runs `test` on every engine.
pub(crate) fn each(test: impl Fn(&Place)) {
    for place in places() {
        test(&place);
    }
}
