//! Writing: a session's rows, a batch, a mark of removal; each in one transaction.
//! Deliberately every check inside the transaction that relies on it.

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use uuid::Uuid;

use super::failed;
use crate::engine::{Batch, Claim, SessionRow};
use crate::error::StoreError;
use crate::pack::Pack;

/// A new session with its first records.
pub(super) fn create(
    connection: &mut Connection,
    row: &SessionRow,
    batch: &Batch,
) -> Result<(), StoreError> {
    transact(connection, |transaction| {
        let insert = transaction.execute(
            "INSERT INTO session (id, name, origin, created_ms, used_ms, parent, parent_seq, last_seq)
             VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7)",
            params![
                row.id.as_bytes(),
                row.name,
                row.origin,
                row.created_ms,
                row.parent.map(|(parent, _)| parent.into_bytes()),
                row.parent.map(|(_, seq)| seq as i64),
                row.last_seq as i64,
            ],
        );
        insert.map_err(|error| name_taken(error, row.name.as_deref()))?;
        let no = transaction.last_insert_rowid();
        fill(transaction, no, batch)
    })
}

/// The writer's next epoch.
pub(super) fn next_epoch(connection: &mut Connection, session: Uuid) -> Result<i64, StoreError> {
    transact(connection, |transaction| {
        transaction
            .query_row(
                "UPDATE session SET epoch = epoch + 1 WHERE id = ?1 AND removed = 0 RETURNING epoch",
                [session.as_bytes()],
                |row| row.get(0),
            )
            .optional()
            .map_err(failed)?
            .ok_or_else(|| StoreError::NoSuchSession(session.to_string()))
    })
}

/// A batch of the session's writer.
pub(super) fn commit(
    connection: &mut Connection,
    claim: &Claim,
    batch: &Batch,
) -> Result<(), StoreError> {
    transact(connection, |transaction| {
        let (no, epoch, last): (i64, i64, i64) = transaction
            .query_row(
                "SELECT no, epoch, last_seq FROM session WHERE id = ?1 AND removed = 0",
                [claim.session.as_bytes()],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()
            .map_err(failed)?
            .ok_or_else(|| StoreError::NoSuchSession(claim.session.to_string()))?;
        let follows = batch
            .records
            .first()
            .is_none_or(|record| record.seq == last as u64 + 1);
        if epoch != claim.epoch || !follows {
            return Err(StoreError::Lost(claim.session));
        }
        if let Some(name) = &batch.name {
            transaction
                .execute(
                    "UPDATE session SET name = ?2 WHERE no = ?1",
                    params![no, name],
                )
                .map_err(|error| name_taken(error, name.as_deref()))?;
        }
        fill(transaction, no, batch)
    })
}

/// Marks sessions as removed.
pub(super) fn remove(connection: &mut Connection, sessions: &[Uuid]) -> Result<(), StoreError> {
    transact(connection, |transaction| {
        for session in sessions {
            transaction
                .execute(
                    "UPDATE session SET removed = 1, epoch = epoch + 1 WHERE id = ?1",
                    [session.as_bytes()],
                )
                .map_err(failed)?;
        }
        Ok(())
    })
}

/// Runs `work` in a transaction that holds the write lock from its start.
pub(super) fn transact<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(failed)?;
    let result = work(&transaction)?;
    transaction.commit().map_err(failed)?;
    Ok(result)
}

fn fill(transaction: &Transaction<'_>, no: i64, batch: &Batch) -> Result<(), StoreError> {
    rows(transaction, no, batch).map_err(failed)
}

fn rows(transaction: &Transaction<'_>, no: i64, batch: &Batch) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO record (session, seq, at_ms, kind, version, payload, checked)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for record in &batch.records {
        insert.execute(params![
            no,
            record.seq as i64,
            record.at_ms,
            record.kind,
            record.version,
            record.payload,
            record.check,
        ])?;
    }
    let mut insert = transaction
        .prepare_cached("INSERT OR IGNORE INTO body (digest, length, raw) VALUES (?1, ?2, ?3)")?;
    for (digest, bytes) in &batch.fresh {
        insert.execute(params![digest.as_bytes(), bytes.len() as i64, &**bytes])?;
    }
    for pack in &batch.packs {
        self::pack(transaction, pack)?;
    }
    let mut insert = transaction
        .prepare_cached("INSERT OR IGNORE INTO uses (session, digest) VALUES (?1, ?2)")?;
    for digest in &batch.uses {
        insert.execute(params![no, digest.as_bytes()])?;
    }
    if let Some(data) = &batch.snapshot {
        transaction.execute(
            "INSERT INTO snapshot (session, data) VALUES (?1, ?2)
             ON CONFLICT (session) DO UPDATE SET data = excluded.data",
            params![no, data],
        )?;
    }
    transaction.execute(
        "UPDATE session SET last_seq = max(last_seq, ?2), used_ms = ?3, bytes = bytes + ?4 WHERE no = ?1",
        params![
            no,
            batch.records.last().map_or(0, |record| record.seq as i64),
            batch.at_ms,
            batch.bytes() as i64,
        ],
    )?;
    Ok(())
}

/// A pack, and its bodies in it. A body that another pack has stays there.
pub(super) fn pack(transaction: &Transaction<'_>, pack: &Pack) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO pack (raw_bytes, data) VALUES (?1, ?2)",
        params![pack.raw_bytes as i64, pack.data],
    )?;
    let number = transaction.last_insert_rowid();
    let mut insert = transaction.prepare_cached(
        "INSERT INTO body (digest, length, pack, start) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (digest) DO UPDATE
         SET raw = NULL, pack = excluded.pack, start = excluded.start WHERE pack IS NULL",
    )?;
    for body in &pack.bodies {
        insert.execute(params![
            body.digest.as_bytes(),
            body.length as i64,
            number,
            body.offset as i64,
        ])?;
    }
    Ok(())
}

fn name_taken(error: rusqlite::Error, name: Option<&str>) -> StoreError {
    match (error.sqlite_error_code(), name) {
        (Some(rusqlite::ErrorCode::ConstraintViolation), Some(name)) => {
            StoreError::NameTaken(name.to_owned())
        }
        _ => failed(error),
    }
}
