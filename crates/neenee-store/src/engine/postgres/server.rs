//! Connections to the server, and pieces of work done on one of them, again where that helps.
//! Deliberately the one place that begins and ends transactions.

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use tokio::time::{sleep, timeout};

use super::address::Address;
use super::fault::{Fault, lost};
use super::tls;

/// Connections of one process at most; more only queue inside the server.
const CONNECTIONS: usize = 8;

/// How long to wait for one of them, or for a new one.
const CONNECT: Duration = Duration::from_secs(10);

/// How long a piece of work may take.
pub(super) const ANSWER: Duration = Duration::from_secs(60);

/// How often work is tried that met another's, and the pause that grows with each.
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_millis(10);

/// A server.
pub(super) struct Server {
    pub(super) pool: Pool,
    /// For leases, so that they are renewed however busy the others are.
    pub(super) leases: Pool,
}

/// Whether work that may have been committed may be done once more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    Yes,
    No,
}

impl Server {
    pub(super) fn new(address: &Address) -> Result<Self, String> {
        Ok(Server {
            pool: pool(address, CONNECTIONS)?,
            leases: pool(address, 1)?,
        })
    }

    /// Runs `work`, each of whose statements is complete in itself.
    pub(super) async fn read<T>(
        &self,
        work: impl AsyncFn(&Object) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        for attempt in 1.. {
            match self.read_once(&work).await {
                Err(fault) if fault.at_once() && attempt < TRIES => pause(attempt).await,
                ended => return ended,
            }
        }
        Err(Fault::Slow)
    }

    async fn read_once<T>(
        &self,
        work: &impl AsyncFn(&Object) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let client = self.pool.get().await?;
        match timeout(ANSWER, work(&client)).await {
            Ok(ended) => ended.inspect_err(|fault| give_up(client, fault)),
            Err(_) => {
                give_up(client, &Fault::Slow);
                Err(Fault::Slow)
            }
        }
    }

    /// Runs `work` in a transaction.
    pub(super) async fn transact<T>(
        &self,
        repeat: Repeat,
        limit: Duration,
        work: impl AsyncFn(&Object) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        for attempt in 1.. {
            match self.transact_once(limit, &work).await {
                Err(fault)
                    if attempt < TRIES
                        && (fault.at_once()
                            || (repeat == Repeat::Yes && matches!(fault, Fault::Unknown))) =>
                {
                    pause(attempt).await;
                }
                ended => return ended,
            }
        }
        Err(Fault::Slow)
    }

    async fn transact_once<T>(
        &self,
        limit: Duration,
        work: &impl AsyncFn(&Object) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let client = self.pool.get().await?;
        let ended = timeout(limit, async {
            // Awaited by itself: what follows must not run outside a transaction.
            client.batch_execute("BEGIN").await?;
            work(&client).await
        })
        .await
        .unwrap_or(Err(Fault::Slow));
        let value = match ended {
            Ok(value) => value,
            Err(fault) => {
                let rolled_back = timeout(CONNECT, client.batch_execute("ROLLBACK")).await;
                if !matches!(rolled_back, Ok(Ok(()))) {
                    drop(Object::take(client));
                }
                return Err(fault);
            }
        };
        match timeout(limit, client.batch_execute("COMMIT")).await {
            Ok(Ok(())) => Ok(value),
            // The server says that it did not.
            Ok(Err(error)) if error.code().is_some() && !lost(&error) && !unknown(&error) => {
                Err(Fault::Server(error))
            }
            _ => {
                drop(Object::take(client));
                Err(Fault::Unknown)
            }
        }
    }
}

/// `40003`, by which engines of several machines say that they do not know.
fn unknown(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&tokio_postgres::error::SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN)
}

/// Keeps a connection that is of no use any more from going back to the others.
fn give_up(client: Object, fault: &Fault) {
    let useless = match fault {
        Fault::Slow => true,
        Fault::Server(error) => lost(error),
        _ => false,
    };
    if useless {
        drop(Object::take(client));
    }
}

/// Longer with each attempt, and not the same for two processes that met.
async fn pause(attempt: u32) {
    let part = std::process::id() % 8 + 4;
    sleep(PAUSE * attempt * part / 8).await;
}

fn pool(address: &Address, size: usize) -> Result<Pool, String> {
    let manager = Manager::from_config(
        address.config.clone(),
        tls::connector(&address.trust)?,
        ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        },
    );
    Pool::builder(manager)
        .max_size(size)
        .wait_timeout(Some(ANSWER))
        .create_timeout(Some(CONNECT))
        .recycle_timeout(Some(CONNECT))
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|error| error.to_string())
}
