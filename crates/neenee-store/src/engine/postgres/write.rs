//! Writing: a session's rows, a batch, a mark of removal; each in one transaction.
//! Deliberately every check inside the transaction that relies on it.

use std::time::Instant;

use rustc_hash::FxHashMap;
use uuid::Uuid;

use super::claims::{Leases, in_use};
use super::fault::Fault;
use super::read;
use super::rows::{Step, send, steps};
use super::server::{ANSWER, Repeat, Server};
use crate::engine::{Batch, Claim, SessionRow};
use crate::error::StoreError;

/// How often a commit is done again whose connection went, once it is known that it did not happen.
const UNKNOWNS: u32 = 3;

/// A new session with its first records.
pub(super) async fn create(
    server: &Server,
    leases: &Leases,
    row: &SessionRow,
    batch: &Batch,
) -> Result<Claim, StoreError> {
    let asked = Instant::now();
    let made = server
        .transact(Repeat::Yes, ANSWER, async |client| {
            let last = batch.records.last().map_or(0, |record| record.seq);
            let mut all = vec![Step {
                sql: "INSERT INTO neenee.session (
                        id, name, origin, created_ms, used_ms, parent, parent_seq, last_seq, bytes,
                        owner, holder, lease_until)
                      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
                        clock_timestamp() + $12::float8 * interval '1 millisecond')",
                values: vec![
                    Box::new(row.id),
                    Box::new(&row.name),
                    Box::new(&row.origin),
                    Box::new(row.created_ms),
                    Box::new(batch.at_ms),
                    Box::new(row.parent.map(|(parent, _)| parent)),
                    Box::new(row.parent.map(|(_, seq)| seq as i64)),
                    Box::new(row.last_seq.max(last) as i64),
                    Box::new(batch.bytes() as i64),
                    Box::new(leases.owner),
                    Box::new(&leases.holder),
                    Box::new(leases.length_ms()),
                ],
            }];
            all.extend(steps(row.id, batch));
            send(client, &all)
                .await
                .map(drop)
                .map_err(|fault| match row.parent {
                    Some((parent, _)) if fault.violates("session_parent_fkey") => {
                        StoreError::NoSuchSession(parent.to_string()).into()
                    }
                    _ => fault,
                })
        })
        .await;
    match made {
        Ok(()) => {}
        // Nobody else makes this id: it is there because the connection went after it was made.
        Err(fault) if fault.violates("session_pkey") || fault.violates("session_name") => {
            if !ours(server, leases, row.id).await? {
                return Err(name_taken(fault, row.name.as_deref()));
            }
        }
        Err(fault) => return Err(fault.into()),
    }
    leases.renewed(row.id, 1, asked);
    Ok(Claim {
        session: row.id,
        epoch: 1,
        guard: None,
    })
}

async fn ours(server: &Server, leases: &Leases, session: Uuid) -> Result<bool, Fault> {
    server
        .read(async |client| {
            let statement = client
                .prepare_cached("SELECT 1 FROM neenee.session WHERE id = $1 AND owner = $2")
                .await?;
            let row = client
                .query_opt(&statement, &[&session, &leases.owner])
                .await?;
            Ok(row.is_some())
        })
        .await
}

/// A batch of the session's writer.
pub(super) async fn commit(
    server: &Server,
    leases: &Leases,
    claim: &Claim,
    batch: &Batch,
) -> Result<(), StoreError> {
    for _ in 0..UNKNOWNS {
        let asked = Instant::now();
        match commit_once(server, leases, claim, batch).await {
            Ok(()) => {}
            Err(Fault::Unknown) if settle(server, leases, claim, batch).await? => {}
            Err(Fault::Unknown) => continue,
            Err(Fault::Store(StoreError::Lost(session))) => {
                leases.forget(session, claim.epoch);
                let row = server
                    .read(async |client| read::session(client, session).await)
                    .await?;
                return Err(match row {
                    Some(row) if !row.removed => StoreError::Lost(session),
                    _ => StoreError::NoSuchSession(session.to_string()),
                });
            }
            Err(fault) => {
                let name = batch.name.as_ref().and_then(Option::as_deref);
                return Err(name_taken(fault, name));
            }
        }
        leases.renewed(claim.session, claim.epoch, asked);
        return Ok(());
    }
    Err(Fault::Unknown.into())
}

async fn commit_once(
    server: &Server,
    leases: &Leases,
    claim: &Claim,
    batch: &Batch,
) -> Result<(), Fault> {
    server
        .transact(Repeat::No, ANSWER, async |client| {
            let follows = batch.records.first().map(|record| record.seq as i64 - 1);
            let last = batch.records.last().map_or(0, |record| record.seq as i64);
            let mut all = vec![Step {
                // Locks the row from here on, as SELECT … FOR UPDATE would, in the same trip.
                sql: "UPDATE neenee.session
                      SET last_seq = greatest(last_seq, $4), used_ms = $5, bytes = bytes + $6,
                          lease_until = clock_timestamp() + $7::float8 * interval '1 millisecond',
                          name = CASE WHEN $8 THEN $9 ELSE name END
                      WHERE id = $1 AND epoch = $2 AND owner = $3 AND NOT removed
                      AND ($10::int8 IS NULL OR last_seq = $10)",
                values: vec![
                    Box::new(claim.session),
                    Box::new(claim.epoch),
                    Box::new(leases.owner),
                    Box::new(last),
                    Box::new(batch.at_ms),
                    Box::new(batch.bytes() as i64),
                    Box::new(leases.length_ms()),
                    Box::new(batch.name.is_some()),
                    Box::new(batch.name.as_ref().and_then(Option::as_deref)),
                    Box::new(follows),
                ],
            }];
            all.extend(steps(claim.session, batch));
            match send(client, &all).await? {
                0 => Err(StoreError::Lost(claim.session).into()),
                _ => Ok(()),
            }
        })
        .await
}

/// Whether a commit happened whose answer was lost.
async fn settle(
    server: &Server,
    leases: &Leases,
    claim: &Claim,
    batch: &Batch,
) -> Result<bool, Fault> {
    let Some(record) = batch.records.last() else {
        return Ok(false);
    };
    server
        .transact(Repeat::Yes, ANSWER, async |client| {
            // Waits for that commit if the server is still at it.
            let statement = client
                .prepare_cached(
                    "SELECT 1 FROM neenee.session WHERE id = $1 AND epoch = $2 AND owner = $3 FOR UPDATE",
                )
                .await?;
            client
                .query_opt(&statement, &[&claim.session, &claim.epoch, &leases.owner])
                .await?;
            let statement = client
                .prepare_cached(
                    "SELECT 1 FROM neenee.record WHERE session = $1 AND seq = $2 AND checked = $3",
                )
                .await?;
            let found = client
                .query_opt(
                    &statement,
                    &[&claim.session, &(record.seq as i64), &&record.check[..]],
                )
                .await?;
            Ok(found.is_some())
        })
        .await
}

/// Marks sessions as removed.
pub(super) async fn remove(server: &Server, sessions: &[Uuid]) -> Result<(), Fault> {
    server
        .transact(Repeat::Yes, ANSWER, async |client| {
            let rows = client
                .query(
                    // In one order for all, so that two who remove the same do not wait for each other.
                    "SELECT id, lease_until > clock_timestamp(), holder FROM neenee.session
                     WHERE id = ANY ($1) ORDER BY id FOR UPDATE",
                    &[&sessions],
                )
                .await?;
            let mut used: FxHashMap<Uuid, Option<String>> = FxHashMap::default();
            for row in rows {
                if row.try_get::<_, Option<bool>>(1)? == Some(true) {
                    used.insert(row.try_get(0)?, row.try_get(2)?);
                }
            }
            for session in sessions {
                if let Some(holder) = used.remove(session) {
                    return Err(in_use(*session, holder).into());
                }
            }
            client
                .execute(
                    "UPDATE neenee.session SET removed = TRUE, epoch = epoch + 1 WHERE id = ANY ($1)",
                    &[&sessions],
                )
                .await?;
            Ok(())
        })
        .await
}

fn name_taken(fault: Fault, name: Option<&str>) -> StoreError {
    match name {
        Some(name) if fault.violates("session_name") => StoreError::NameTaken(name.to_owned()),
        _ => fault.into(),
    }
}
