//! Deleting what nothing needs any more.
//! Deliberately in one transaction: a sweep that stops half-way has deleted nothing.

use rusqlite::{Connection, Transaction, params};
use uuid::Uuid;

use super::write::{self, transact};
use super::{failed, read};
use crate::engine::{Repack, Swept};
use crate::error::StoreError;

/// Sweeps; also says which sessions are gone.
pub(super) fn sweep(
    connection: &mut Connection,
    repack: Repack<'_>,
) -> Result<(Swept, Vec<Uuid>), StoreError> {
    transact(connection, |transaction| {
        let gone = sessions(transaction).map_err(failed)?;
        let mut swept = Swept {
            sessions: gone.len() as u64,
            ..Swept::default()
        };
        bodies(transaction, &mut swept).map_err(failed)?;
        packs(transaction, repack, &mut swept)?;
        Ok((swept, gone))
    })
}

/// Removed sessions without forks, again until none is left: a fork may have been the last reason.
fn sessions(transaction: &Transaction<'_>) -> rusqlite::Result<Vec<Uuid>> {
    let mut gone = Vec::new();
    loop {
        let ids: Vec<[u8; 16]> = transaction
            .prepare_cached(
                "DELETE FROM session WHERE removed = 1
                 AND NOT EXISTS (SELECT 1 FROM session child WHERE child.parent = session.id)
                 RETURNING id",
            )?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        if ids.is_empty() {
            return Ok(gone);
        }
        gone.extend(ids.into_iter().map(Uuid::from_bytes));
    }
}

fn bodies(transaction: &Transaction<'_>, swept: &mut Swept) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "DELETE FROM body
         WHERE NOT EXISTS (SELECT 1 FROM uses WHERE uses.digest = body.digest)
         RETURNING CASE WHEN pack IS NULL THEN length ELSE 0 END",
    )?;
    for bytes in statement.query_map([], |row| row.get::<_, i64>(0))? {
        swept.bodies += 1;
        swept.bytes += bytes? as u64;
    }
    Ok(())
}

fn packs(
    transaction: &Transaction<'_>,
    repack: Repack<'_>,
    swept: &mut Swept,
) -> Result<(), StoreError> {
    let mostly_dead: Vec<(i64, i64)> = transaction
        .prepare_cached(
            "SELECT number, length(data) FROM pack
             WHERE raw_bytes > 2 * (SELECT coalesce(sum(length), 0) FROM body WHERE body.pack = number)",
        )
        .and_then(|mut statement| {
            statement
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })
        .map_err(failed)?;
    for (number, bytes) in mostly_dead {
        let digests: Vec<Vec<u8>> = transaction
            .prepare_cached("SELECT digest FROM body WHERE pack = ?1 ORDER BY start")
            .and_then(|mut statement| statement.query_map([number], |row| row.get(0))?.collect())
            .map_err(failed)?;
        let alive: Vec<_> = digests
            .iter()
            .filter_map(|digest| crate::Digest::from_bytes(digest))
            .collect();
        if !alive.is_empty() {
            let kept = read::bodies(transaction, &alive)?;
            let old = read::packs(transaction, &[number])?;
            for pack in repack(&kept, &old)? {
                swept.bytes = swept.bytes.saturating_sub(pack.data.len() as u64);
                // So that the new pack may take the bodies over.
                for body in &pack.bodies {
                    transaction
                        .execute(
                            "UPDATE body SET pack = NULL, start = NULL, raw = x'' WHERE digest = ?1",
                            params![body.digest.as_bytes()],
                        )
                        .map_err(failed)?;
                }
                write::pack(transaction, &pack).map_err(failed)?;
            }
            swept.repacked += 1;
        }
        transaction
            .execute("DELETE FROM pack WHERE number = ?1", [number])
            .map_err(failed)?;
        swept.bytes += bytes as u64;
    }
    Ok(())
}
