//! Reading rows back.
//! Deliberately unverified: what a row says is checked by the store, the same way for all engines.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use uuid::Uuid;

use super::failed;
use crate::digest::Digest;
use crate::engine::{BodyPlace, KeptBody, KeptPack, Record, SessionRow, Totals};
use crate::error::StoreError;

const SESSION: &str = "SELECT id, name, origin, created_ms, used_ms, parent, parent_seq, last_seq, bytes, removed FROM session";

pub(super) fn sessions(connection: &Connection) -> Result<Vec<SessionRow>, StoreError> {
    let query = || {
        connection
            .prepare_cached(&format!("{SESSION} ORDER BY no"))?
            .query_map([], session_row)?
            .collect::<Result<_, _>>()
    };
    query().map_err(failed)
}

pub(super) fn session(
    connection: &Connection,
    session: Uuid,
) -> Result<Option<SessionRow>, StoreError> {
    let query = || {
        connection
            .prepare_cached(&format!("{SESSION} WHERE id = ?1"))?
            .query_row([session.as_bytes()], session_row)
            .optional()
    };
    query().map_err(failed)
}

fn session_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    let parent: Option<[u8; 16]> = row.get(5)?;
    let parent_seq: Option<i64> = row.get(6)?;
    Ok(SessionRow {
        id: Uuid::from_bytes(row.get(0)?),
        name: row.get(1)?,
        origin: row.get(2)?,
        created_ms: row.get(3)?,
        used_ms: row.get(4)?,
        parent: parent
            .zip(parent_seq)
            .map(|(id, seq)| (Uuid::from_bytes(id), seq as u64)),
        last_seq: row.get::<_, i64>(7)? as u64,
        bytes: row.get::<_, i64>(8)? as u64,
        removed: row.get(9)?,
        holder: None,
    })
}

pub(super) fn records(
    connection: &Connection,
    session: Uuid,
    (first, last): (u64, u64),
) -> Result<Vec<Record>, StoreError> {
    let query = || {
        connection
            .prepare_cached(
                "SELECT seq, at_ms, kind, version, payload, checked FROM record
                 WHERE session = (SELECT no FROM session WHERE id = ?1) AND seq BETWEEN ?2 AND ?3
                 ORDER BY seq",
            )?
            .query_map(
                params![
                    session.as_bytes(),
                    first as i64,
                    i64::try_from(last).unwrap_or(i64::MAX)
                ],
                |row| {
                    Ok(Record {
                        seq: row.get::<_, i64>(0)? as u64,
                        at_ms: row.get(1)?,
                        kind: row.get(2)?,
                        version: row.get(3)?,
                        payload: row.get(4)?,
                        check: row.get(5)?,
                    })
                },
            )?
            .collect::<Result<_, _>>()
    };
    query().map_err(failed)
}

pub(super) fn snapshot(
    connection: &Connection,
    session: Uuid,
) -> Result<Option<Vec<u8>>, StoreError> {
    let query = || {
        connection
            .prepare_cached(
                "SELECT data FROM snapshot WHERE session = (SELECT no FROM session WHERE id = ?1)",
            )?
            .query_row([session.as_bytes()], |row| row.get(0))
            .optional()
    };
    query().map_err(failed)
}

pub(super) fn bodies(
    connection: &Connection,
    digests: &[Digest],
) -> Result<Vec<KeptBody>, StoreError> {
    let query = || {
        let mut statement = connection
            .prepare_cached("SELECT raw, pack, start, length FROM body WHERE digest = ?1")?;
        let mut found = Vec::with_capacity(digests.len());
        for digest in digests {
            let place = statement
                .query_row([digest.as_bytes()], |row| {
                    Ok(match row.get::<_, Option<Vec<u8>>>(0)? {
                        Some(raw) => BodyPlace::Raw(raw),
                        None => BodyPlace::Pack {
                            number: row.get(1)?,
                            offset: row.get::<_, i64>(2)? as u64,
                            length: row.get::<_, i64>(3)? as u64,
                        },
                    })
                })
                .optional()?;
            found.extend(place.map(|place| KeptBody {
                digest: *digest,
                place,
            }));
        }
        Ok(found)
    };
    query().map_err(failed)
}

pub(super) fn archived(
    connection: &Connection,
    digests: &[Digest],
) -> Result<Vec<Digest>, StoreError> {
    let query = || {
        let mut statement = connection
            .prepare_cached("SELECT 1 FROM body WHERE digest = ?1 AND pack IS NOT NULL")?;
        let mut found = Vec::new();
        for digest in digests {
            if statement.exists([digest.as_bytes()])? {
                found.push(*digest);
            }
        }
        Ok(found)
    };
    query().map_err(failed)
}

pub(super) fn packs(connection: &Connection, numbers: &[i64]) -> Result<Vec<KeptPack>, StoreError> {
    let query = || {
        let mut statement =
            connection.prepare_cached("SELECT raw_bytes, data FROM pack WHERE number = ?1")?;
        let mut found = Vec::with_capacity(numbers.len());
        for number in numbers {
            let pack = statement
                .query_row([number], |row| {
                    Ok(KeptPack {
                        number: *number,
                        raw_bytes: row.get::<_, i64>(0)? as u64,
                        data: row.get(1)?,
                    })
                })
                .optional()?;
            found.extend(pack);
        }
        Ok(found)
    };
    query().map_err(failed)
}

pub(super) fn totals(connection: &Connection) -> Result<Totals, StoreError> {
    let number = |sql: &str| -> rusqlite::Result<u64> {
        let value: Value = connection
            .prepare_cached(sql)?
            .query_row([], |row| row.get(0))?;
        Ok(match value {
            Value::Integer(number) => number as u64,
            _ => 0,
        })
    };
    let query = || {
        Ok(Totals {
            sessions: number("SELECT count(*) FROM session WHERE removed = 0")?,
            records: number("SELECT count(*) FROM record")?,
            record_bytes: number("SELECT sum(length(payload)) FROM record")?,
            fresh_bytes: number("SELECT sum(length) FROM body WHERE raw IS NOT NULL")?,
            archived_raw_bytes: number("SELECT sum(raw_bytes) FROM pack")?,
            archived_bytes: number("SELECT sum(length(data)) FROM pack")?,
        })
    };
    query().map_err(failed)
}
