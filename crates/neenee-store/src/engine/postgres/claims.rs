//! Who writes to a session: a lease in its row, by the server's clock, renewed while its holder lives.
//! Deliberately safe without it: an epoch in the row decides at every commit, a lease only who may
//! raise it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use deadpool_postgres::Pool;
use rustc_hash::FxHashMap;
use uuid::Uuid;

use super::fault::Fault;
use super::server::{ANSWER, Repeat, Server};
use crate::engine::Claim;
use crate::error::StoreError;

/// How long a claim outlives a process that was killed.
pub const LEASE: Duration = Duration::from_secs(15);

/// How long giving a claim back may take; it ends by itself anyway.
const RELEASE: Duration = Duration::from_secs(3);

/// How long claims last, and how often they are renewed.
#[derive(Clone, Copy, Debug)]
pub struct Lease {
    /// From the last renewal on.
    pub length: Duration,
    /// Between two renewals of a session that nothing is written to; each commit renews too.
    pub beat: Duration,
}

impl Default for Lease {
    fn default() -> Self {
        Lease {
            length: LEASE,
            beat: LEASE / 3,
        }
    }
}

/// The claims of one open store.
pub(super) struct Leases {
    /// In the rows of the sessions that are ours.
    pub(super) owner: Uuid,
    /// For people; nothing depends on it.
    pub(super) holder: String,
    lease: Lease,
    held: Mutex<FxHashMap<Uuid, Held>>,
}

#[derive(Clone, Copy)]
struct Held {
    epoch: i64,
    renewed: Instant,
}

impl Leases {
    pub(super) fn new(lease: Lease) -> Self {
        let host = whoami::hostname().unwrap_or_else(|_| "an unknown host".to_owned());
        Leases {
            owner: Uuid::now_v7(),
            holder: format!("process {} on {host}", std::process::id()),
            lease,
            held: Mutex::default(),
        }
    }

    /// In ms, as statements take it.
    pub(super) fn length_ms(&self) -> f64 {
        self.lease.length.as_secs_f64() * 1e3
    }

    fn held(&self) -> MutexGuard<'_, FxHashMap<Uuid, Held>> {
        // Every change of the map is one call: a panic leaves none half done.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the row was just written with a new lease.
    pub(super) fn renewed(&self, session: Uuid, epoch: i64, asked: Instant) {
        let held = Held {
            epoch,
            renewed: asked,
        };
        self.held().insert(session, held);
    }

    pub(super) fn forget(&self, session: Uuid, epoch: i64) {
        let mut held = self.held();
        if held.get(&session).is_some_and(|held| held.epoch == epoch) {
            held.remove(&session);
        }
    }

    /// Renews for ever what is held.
    pub(super) async fn beat(&self, pool: &Pool) {
        loop {
            tokio::time::sleep(self.lease.beat).await;
            let asked = Instant::now();
            let due: Vec<(Uuid, i64)> = self
                .held()
                .iter()
                .filter(|(_, held)| asked - held.renewed >= self.lease.beat / 2)
                .map(|(session, held)| (*session, held.epoch))
                .collect();
            if due.is_empty() {
                continue;
            }
            match tokio::time::timeout(self.lease.length, self.renew(pool, &due)).await {
                Ok(Ok(())) => {
                    let mut held = self.held();
                    for (session, epoch) in due {
                        if let Some(held) = held.get_mut(&session)
                            && held.epoch == epoch
                        {
                            held.renewed = held.renewed.max(asked);
                        }
                    }
                }
                Ok(Err(fault)) => {
                    tracing::warn!(cause = fault.cause(), "cannot renew claims on sessions");
                }
                Err(_) => tracing::warn!("the server did not renew claims on sessions in time"),
            }
        }
    }

    async fn renew(&self, pool: &Pool, due: &[(Uuid, i64)]) -> Result<(), Fault> {
        let (sessions, epochs): (Vec<Uuid>, Vec<i64>) = due.iter().copied().unzip();
        let client = pool.get().await?;
        let statement = client
            .prepare_cached(
                // A row that a commit has locked is being renewed by it.
                "UPDATE neenee.session
                 SET lease_until = clock_timestamp() + $4::float8 * interval '1 millisecond'
                 WHERE id IN (
                    SELECT s.id FROM neenee.session s
                    JOIN unnest($1::uuid[], $2::int8[]) AS h (id, epoch)
                        ON s.id = h.id AND s.epoch = h.epoch
                    WHERE s.owner = $3
                    FOR UPDATE OF s SKIP LOCKED)",
            )
            .await?;
        client
            .execute(
                &statement,
                &[&sessions, &epochs, &self.owner, &self.length_ms()],
            )
            .await?;
        Ok(())
    }
}

/// Takes the lease of a session that nobody has.
pub(super) async fn claim(
    server: &Server,
    leases: &Leases,
    session: Uuid,
) -> Result<Claim, StoreError> {
    let asked = Instant::now();
    let epoch = server
        .transact(Repeat::No, ANSWER, async |client| {
            let statement = client
                .prepare_cached(
                    "UPDATE neenee.session
                     SET epoch = epoch + 1, owner = $2, holder = $3,
                         lease_until = clock_timestamp() + $4::float8 * interval '1 millisecond'
                     WHERE id = $1 AND NOT removed
                     AND (lease_until IS NULL OR lease_until <= clock_timestamp())
                     RETURNING epoch",
                )
                .await?;
            let row = client
                .query_opt(
                    &statement,
                    &[&session, &leases.owner, &leases.holder, &leases.length_ms()],
                )
                .await?;
            if let Some(row) = row {
                return Ok(row.get::<_, i64>(0));
            }
            let statement = client
                .prepare_cached("SELECT holder FROM neenee.session WHERE id = $1 AND NOT removed")
                .await?;
            Err(Fault::Store(
                match client.query_opt(&statement, &[&session]).await? {
                    Some(row) => in_use(session, row.get(0)),
                    None => StoreError::NoSuchSession(session.to_string()),
                },
            ))
        })
        .await?;
    leases.renewed(session, epoch, asked);
    Ok(Claim {
        session,
        epoch,
        guard: None,
    })
}

/// Gives a claim back.
pub(super) async fn release(server: &Server, leases: &Leases, claim: &Claim) {
    leases.forget(claim.session, claim.epoch);
    let given = tokio::time::timeout(RELEASE, async {
        let client = server.pool.get().await?;
        let statement = client
            .prepare_cached(
                "UPDATE neenee.session SET owner = NULL, holder = NULL, lease_until = NULL
                 WHERE id = $1 AND epoch = $2 AND owner = $3",
            )
            .await?;
        client
            .execute(&statement, &[&claim.session, &claim.epoch, &leases.owner])
            .await?;
        Ok::<(), Fault>(())
    })
    .await;
    if !matches!(given, Ok(Ok(()))) {
        tracing::warn!(session = %claim.session, "cannot give a claim back; it ends by itself");
    }
}

pub(super) fn in_use(session: Uuid, holder: Option<String>) -> StoreError {
    StoreError::InUse {
        session,
        holder: holder.unwrap_or_else(|| "unknown".to_owned()),
    }
}
