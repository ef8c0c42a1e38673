//! A proxy between an agent and its provider: prunes each request in flight, otherwise invisible.
//! Deliberately no client's and no provider's: what is not a conversation that it knows passes through.
//!
//! [`Proxy::new`] takes settings, an archive for originals and a log; [`Proxy::serve`] serves a
//! listener until it is told to stop.
#![forbid(unsafe_code)]

pub mod archive;
mod body;
mod client;
mod coding;
mod conversation;
mod economics;
mod exchange;
mod fault;
mod headers;
pub mod limits;
mod log;
mod memory;
mod metrics;
mod page;
mod project;
mod refusal;
mod route;
mod server;
mod settings;
mod shared;
mod tap;
mod upgrade;
mod usage;

use std::future::Future;
use std::io;
use std::sync::Arc;

use tokio::net::TcpListener;

pub use archive::{Archive, ArchiveError, FileArchive};
pub use log::{Log, Silent};
pub use route::Kind;
pub use settings::{
    ANTHROPIC, COLD_PRUNE_UTILIZATION, GEMINI, MEMORY_BYTES, OPENAI, ProxySettings, Upstream,
    UpstreamError, Upstreams,
};
pub use usage::Usage;

use client::Upstreamer;
use shared::{Clock, Shared};

/// A proxy. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Proxy {
    shared: Arc<Shared>,
}

/// Why a proxy could not be made. Reads after "failed to".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// TLS has no settings that work.
    #[error("set up TLS: {0}")]
    Tls(#[from] rustls::Error),
}

impl Proxy {
    /// A proxy that is not served yet.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(
        settings: ProxySettings,
        archive: Arc<dyn Archive>,
        log: Arc<dyn Log>,
    ) -> Result<Proxy, StartError> {
        Self::with_clock(settings, archive, log, Clock::system().0)
    }

    /// A proxy that takes the time from `clock`, in ms since the epoch (UTC): whether a cache is cold
    /// depends on it.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn with_clock(
        settings: ProxySettings,
        archive: Arc<dyn Archive>,
        log: Arc<dyn Log>,
        clock: Arc<dyn Fn() -> i64 + Send + Sync>,
    ) -> Result<Proxy, StartError> {
        let client = Upstreamer::new()?;
        Ok(Proxy {
            shared: Arc::new(Shared::new(settings, client, archive, log, Clock(clock))),
        })
    }

    /// Other settings from the next request on. Conversations go on as they are.
    pub fn reload(&self, settings: ProxySettings) {
        self.shared.replace(settings);
    }

    /// Serves a listener until `shutdown`, then waits for streams that still run, at most
    /// [`limits::DRAIN`]. Must be called in a tokio runtime with time and I/O.
    ///
    /// # Errors
    /// None today; what concerns one connection is no reason to stop.
    pub async fn serve(
        &self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> io::Result<()> {
        server::serve(Arc::clone(&self.shared), listener, shutdown).await
    }

    /// The counters in Prometheus' text format.
    pub fn metrics(&self) -> String {
        let (conversations, bytes) = self.shared.memory.size();
        self.shared.metrics.text(conversations, bytes)
    }
}
