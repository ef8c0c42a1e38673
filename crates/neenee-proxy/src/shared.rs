//! What all requests of a proxy share.
//! Deliberately small locks: none is held while anything waits for a network.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::Semaphore;

use crate::archive::Archive;
use crate::client::Upstreamer;
use crate::limits;
use crate::log::Log;
use crate::memory::Memory;
use crate::metrics::Metrics;
use crate::settings::ProxySettings;

/// The proxy's inside.
#[derive(Debug)]
pub(crate) struct Shared {
    settings: RwLock<Arc<Current>>,
    pub(crate) client: Upstreamer,
    pub(crate) archive: Arc<dyn Archive>,
    pub(crate) log: Arc<dyn Log>,
    pub(crate) memory: Memory,
    pub(crate) metrics: Metrics,
    /// Room for bodies, in KiB.
    pub(crate) room: Arc<Semaphore>,
    clock: Clock,
    requests: AtomicU64,
    pub(crate) started: i64,
}

/// The settings with their number, which changes with them.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) settings: ProxySettings,
    pub(crate) generation: u64,
}

/// The time in ms since the epoch (UTC).
#[derive(Clone)]
pub(crate) struct Clock(pub(crate) Arc<dyn Fn() -> i64 + Send + Sync>);

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clock")
    }
}

impl Clock {
    pub(crate) fn system() -> Clock {
        Clock(Arc::new(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH);
            since.map_or(0, |since| since.as_millis() as i64)
        }))
    }
}

impl Shared {
    pub(crate) fn new(
        settings: ProxySettings,
        client: Upstreamer,
        archive: Arc<dyn Archive>,
        log: Arc<dyn Log>,
        clock: Clock,
    ) -> Shared {
        Shared {
            settings: RwLock::new(Arc::new(Current {
                settings,
                generation: 0,
            })),
            client,
            archive,
            log,
            memory: Memory::default(),
            metrics: Metrics::default(),
            room: Arc::new(Semaphore::new(limits::HELD_BODIES >> 10)),
            started: (clock.0)(),
            clock,
            requests: AtomicU64::new(0),
        }
    }

    pub(crate) fn current(&self) -> Arc<Current> {
        let current = self.settings.read();
        Arc::clone(&current.unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn replace(&self, settings: ProxySettings) {
        let mut current = self
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let generation = current.generation + 1;
        *current = Arc::new(Current {
            settings,
            generation,
        });
    }

    pub(crate) fn now(&self) -> i64 {
        (self.clock.0)()
    }

    /// The number of the next request.
    pub(crate) fn number(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed) + 1
    }
}
