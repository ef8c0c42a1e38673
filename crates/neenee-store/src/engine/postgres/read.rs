//! Reading rows back.
//! Deliberately unverified: what a row says is checked by the store, the same way for all engines.

use deadpool_postgres::Object;
use rustc_hash::FxHashMap;
use tokio_postgres::Row;
use uuid::Uuid;

use super::fault::Fault;
use crate::digest::Digest;
use crate::engine::{BodyPlace, KeptBody, KeptPack, Record, SessionRow, Totals};

macro_rules! session {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, origin, created_ms, used_ms, parent, parent_seq, last_seq, bytes, removed,
                CASE WHEN lease_until > clock_timestamp() THEN holder END
             FROM neenee.session ",
            $rest
        )
    };
}

pub(super) async fn sessions(client: &Object) -> Result<Vec<SessionRow>, Fault> {
    let statement = client.prepare_cached(session!("ORDER BY made, id")).await?;
    let rows = client.query(&statement, &[]).await?;
    Ok(rows.iter().map(session_row).collect::<Result<_, _>>()?)
}

pub(super) async fn session(client: &Object, id: Uuid) -> Result<Option<SessionRow>, Fault> {
    let statement = client.prepare_cached(session!("WHERE id = $1")).await?;
    let row = client.query_opt(&statement, &[&id]).await?;
    Ok(row.as_ref().map(session_row).transpose()?)
}

fn session_row(row: &Row) -> Result<SessionRow, tokio_postgres::Error> {
    let parent: Option<Uuid> = row.try_get(5)?;
    let parent_seq: Option<i64> = row.try_get(6)?;
    Ok(SessionRow {
        id: row.try_get(0)?,
        name: row.try_get(1)?,
        origin: row.try_get(2)?,
        created_ms: row.try_get(3)?,
        used_ms: row.try_get(4)?,
        parent: parent.zip(parent_seq.map(|seq| seq as u64)),
        last_seq: row.try_get::<_, i64>(7)? as u64,
        bytes: row.try_get::<_, i64>(8)? as u64,
        removed: row.try_get(9)?,
        holder: row.try_get(10)?,
    })
}

pub(super) async fn records(
    client: &Object,
    session: Uuid,
    (first, last): (u64, u64),
) -> Result<Vec<Record>, Fault> {
    let statement = client
        .prepare_cached(
            "SELECT seq, at_ms, kind, version, payload, checked FROM neenee.record
             WHERE session = $1 AND seq BETWEEN $2 AND $3 ORDER BY seq",
        )
        .await?;
    let ends = [first, last].map(|seq| i64::try_from(seq).unwrap_or(i64::MAX));
    let rows = client
        .query(&statement, &[&session, &ends[0], &ends[1]])
        .await?;
    let records: Result<_, tokio_postgres::Error> = rows.iter().map(record).collect();
    Ok(records?)
}

fn record(row: &Row) -> Result<Record, tokio_postgres::Error> {
    let check: &[u8] = row.try_get(5)?;
    Ok(Record {
        seq: row.try_get::<_, i64>(0)? as u64,
        at_ms: row.try_get(1)?,
        kind: row.try_get(2)?,
        // Both are compared with the check sum: a value that does not fit will not either.
        version: u32::try_from(row.try_get::<_, i64>(3)?).unwrap_or(u32::MAX),
        payload: row.try_get(4)?,
        check: check.try_into().unwrap_or_default(),
    })
}

pub(super) async fn snapshot(client: &Object, session: Uuid) -> Result<Option<Vec<u8>>, Fault> {
    let statement = client
        .prepare_cached("SELECT data FROM neenee.snapshot WHERE session = $1")
        .await?;
    let row = client.query_opt(&statement, &[&session]).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

pub(super) async fn bodies(client: &Object, digests: &[Digest]) -> Result<Vec<KeptBody>, Fault> {
    if digests.is_empty() {
        return Ok(Vec::new());
    }
    let statement = client
        .prepare_cached(
            "SELECT digest, raw, pack, start, length FROM neenee.body WHERE digest = ANY ($1)",
        )
        .await?;
    let mut found = FxHashMap::default();
    for row in client.query(&statement, &[&names(digests)]).await? {
        let place = match row.try_get::<_, Option<Vec<u8>>>(1)? {
            Some(raw) => BodyPlace::Raw(raw),
            None => BodyPlace::Pack {
                number: row.try_get(2)?,
                offset: row.try_get::<_, i64>(3)? as u64,
                length: row.try_get::<_, i64>(4)? as u64,
            },
        };
        if let Some(digest) = Digest::from_bytes(row.try_get(0)?) {
            found.insert(digest, place);
        }
    }
    // In the order of the question.
    Ok(digests
        .iter()
        .filter_map(|digest| {
            let place = found.remove(digest)?;
            Some(KeptBody {
                digest: *digest,
                place,
            })
        })
        .collect())
}

pub(super) async fn archived(client: &Object, digests: &[Digest]) -> Result<Vec<Digest>, Fault> {
    if digests.is_empty() {
        return Ok(Vec::new());
    }
    let statement = client
        .prepare_cached(
            "SELECT digest FROM neenee.body WHERE digest = ANY ($1) AND pack IS NOT NULL",
        )
        .await?;
    let mut found = Vec::new();
    for row in client.query(&statement, &[&names(digests)]).await? {
        found.extend(Digest::from_bytes(row.try_get(0)?));
    }
    Ok(found)
}

pub(super) async fn packs(client: &Object, numbers: &[i64]) -> Result<Vec<KeptPack>, Fault> {
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let statement = client
        .prepare_cached("SELECT number, raw_bytes, data FROM neenee.pack WHERE number = ANY ($1)")
        .await?;
    let mut found = Vec::with_capacity(numbers.len());
    for row in client.query(&statement, &[&numbers]).await? {
        found.push(KeptPack {
            number: row.try_get(0)?,
            raw_bytes: row.try_get::<_, i64>(1)? as u64,
            data: row.try_get(2)?,
        });
    }
    Ok(found)
}

pub(super) async fn totals(client: &Object) -> Result<Totals, Fault> {
    let statement = client
        .prepare_cached(
            "SELECT
                (SELECT count(*) FROM neenee.session WHERE NOT removed),
                (SELECT count(*) FROM neenee.record),
                (SELECT coalesce(sum(length(payload)), 0)::int8 FROM neenee.record),
                (SELECT coalesce(sum(length), 0)::int8 FROM neenee.body WHERE raw IS NOT NULL),
                (SELECT coalesce(sum(raw_bytes), 0)::int8 FROM neenee.pack),
                (SELECT coalesce(sum(length(data)), 0)::int8 FROM neenee.pack)",
        )
        .await?;
    let row = client.query_one(&statement, &[]).await?;
    let number = |at: usize| row.try_get::<_, i64>(at).map(|number| number as u64);
    Ok(Totals {
        sessions: number(0)?,
        records: number(1)?,
        record_bytes: number(2)?,
        fresh_bytes: number(3)?,
        archived_raw_bytes: number(4)?,
        archived_bytes: number(5)?,
    })
}

/// As an array of the server.
pub(super) fn names(digests: &[Digest]) -> Vec<&[u8]> {
    digests
        .iter()
        .map(|digest| digest.as_bytes().as_slice())
        .collect()
}
