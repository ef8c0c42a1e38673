//! The rows of a batch as statements that all go to the server at once.
//! Deliberately arrays instead of one statement per row: 500 results are a handful of statements.

use deadpool_postgres::Object;
use futures_util::future::join_all;
use rustc_hash::FxHashSet;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::fault::Fault;
use super::read::names;
use crate::engine::{Batch, Record};
use crate::pack::Pack;

/// The most that one statement carries: the server holds it several times over.
const CHUNK: usize = 16 << 20;

/// Statements in flight at once. `join_all` polls so few in their order, which is the order in
/// which they are sent.
const FLIGHT: usize = 16;

type Value<'a> = Box<dyn ToSql + Sync + 'a>;

/// A statement with its values.
pub(super) struct Step<'a> {
    pub(super) sql: &'static str,
    pub(super) values: Vec<Value<'a>>,
}

/// Sends all and waits for all. Returns how many rows the first one touched; if that is none,
/// whatever happened to the others is of no interest.
pub(super) async fn send(client: &Object, steps: &[Step<'_>]) -> Result<u64, Fault> {
    let mut first = None;
    for flight in steps.chunks(FLIGHT) {
        let mut prepared = Vec::with_capacity(flight.len());
        for step in flight {
            prepared.push(client.prepare_cached(step.sql).await?);
        }
        let sent = prepared.iter().zip(flight).map(async |(statement, step)| {
            let values: Vec<&(dyn ToSql + Sync)> = step.values.iter().map(AsRef::as_ref).collect();
            client.execute(statement, &values).await
        });
        for touched in join_all(sent).await {
            let touched = touched?;
            if *first.get_or_insert(touched) == 0 {
                return Ok(0);
            }
        }
    }
    Ok(first.unwrap_or(0))
}

/// The steps of a batch, apart from the session's own row.
pub(super) fn steps(session: Uuid, batch: &Batch) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    records(session, &batch.records, &mut steps);
    let mut fresh: Vec<_> = batch.fresh.iter().collect();
    // In one order for all, so that two who bring the same bodies do not wait for each other.
    fresh.sort_unstable_by_key(|(digest, _)| *digest);
    for chunk in chunks(&fresh, |(_, bytes)| bytes.len()) {
        let digests: Vec<&[u8]> = chunk.iter().map(|(name, _)| &name.as_bytes()[..]).collect();
        let bytes: Vec<&[u8]> = chunk.iter().map(|(_, bytes)| &**bytes).collect();
        steps.push(Step {
            sql: "INSERT INTO neenee.body (digest, length, raw)
                  SELECT digest, length(raw), raw FROM unnest($1::bytea[], $2::bytea[]) AS b (digest, raw)
                  ON CONFLICT (digest) DO NOTHING",
            values: vec![Box::new(digests), Box::new(bytes)],
        });
    }
    steps.extend(packs(&batch.packs));
    if !batch.uses.is_empty() {
        steps.push(Step {
            sql: "INSERT INTO neenee.uses (session, digest) SELECT $1, unnest($2::bytea[])
                  ON CONFLICT (session, digest) DO NOTHING",
            values: vec![Box::new(session), Box::new(names(&batch.uses))],
        });
    }
    if let Some(data) = &batch.snapshot {
        steps.push(Step {
            sql: "INSERT INTO neenee.snapshot (session, data) VALUES ($1, $2)
                  ON CONFLICT (session) DO UPDATE SET data = excluded.data",
            values: vec![Box::new(session), Box::new(data)],
        });
    }
    steps
}

fn records<'a>(session: Uuid, records: &'a [Record], steps: &mut Vec<Step<'a>>) {
    for chunk in chunks(records, |record| record.payload.len()) {
        let numbers: Vec<i64> = chunk.iter().map(|record| record.seq as i64).collect();
        let times: Vec<i64> = chunk.iter().map(|record| record.at_ms).collect();
        let kinds: Vec<&str> = chunk.iter().map(|record| record.kind.as_str()).collect();
        let versions: Vec<i64> = chunk.iter().map(|record| record.version.into()).collect();
        let payloads: Vec<&[u8]> = chunk.iter().map(|record| &record.payload[..]).collect();
        let checks: Vec<&[u8]> = chunk.iter().map(|record| &record.check[..]).collect();
        steps.push(Step {
            sql: "INSERT INTO neenee.record (session, seq, at_ms, kind, version, payload, checked)
                  SELECT $1, r.* FROM unnest(
                    $2::int8[], $3::int8[], $4::text[], $5::int8[], $6::bytea[], $7::bytea[]
                  ) AS r (seq, at_ms, kind, version, payload, checked)",
            values: vec![
                Box::new(session),
                Box::new(numbers),
                Box::new(times),
                Box::new(kinds),
                Box::new(versions),
                Box::new(payloads),
                Box::new(checks),
            ],
        });
    }
}

/// Packs, and their bodies in them. A body that another pack has stays there.
pub(super) fn packs(packs: &[Pack]) -> Vec<Step<'_>> {
    let numbered: Vec<(i64, &Pack)> = packs.iter().map(|pack| (number(), pack)).collect();
    let mut steps = Vec::new();
    for chunk in chunks(&numbered, |(_, pack)| pack.data.len()) {
        let numbers: Vec<i64> = chunk.iter().map(|(number, _)| *number).collect();
        let sizes: Vec<i64> = chunk
            .iter()
            .map(|(_, pack)| pack.raw_bytes as i64)
            .collect();
        let data: Vec<&[u8]> = chunk.iter().map(|(_, pack)| &pack.data[..]).collect();
        steps.push(Step {
            sql: "INSERT INTO neenee.pack (number, raw_bytes, data)
                  SELECT * FROM unnest($1::int8[], $2::int8[], $3::bytea[])",
            values: vec![Box::new(numbers), Box::new(sizes), Box::new(data)],
        });
    }
    // The first pack that has it, as one statement may touch a row only once.
    let mut seen = FxHashSet::default();
    let mut bodies: Vec<_> = numbered
        .iter()
        .flat_map(|(number, pack)| pack.bodies.iter().map(move |body| (*number, body)))
        .filter(|(_, body)| seen.insert(body.digest))
        .collect();
    bodies.sort_unstable_by_key(|(_, body)| body.digest);
    if !bodies.is_empty() {
        let digests: Vec<&[u8]> = bodies
            .iter()
            .map(|(_, b)| &b.digest.as_bytes()[..])
            .collect();
        let lengths: Vec<i64> = bodies.iter().map(|(_, body)| body.length as i64).collect();
        let numbers: Vec<i64> = bodies.iter().map(|(number, _)| *number).collect();
        let starts: Vec<i64> = bodies.iter().map(|(_, body)| body.offset as i64).collect();
        steps.push(Step {
            sql: "INSERT INTO neenee.body (digest, length, pack, start)
                  SELECT * FROM unnest($1::bytea[], $2::int8[], $3::int8[], $4::int8[])
                  ON CONFLICT (digest) DO UPDATE
                  SET raw = NULL, pack = excluded.pack, start = excluded.start
                  WHERE body.pack IS NULL",
            values: vec![
                Box::new(digests),
                Box::new(lengths),
                Box::new(numbers),
                Box::new(starts),
            ],
        });
    }
    steps
}

/// 62 random bits: no two are the same, and no counter is shared.
fn number() -> i64 {
    (Uuid::now_v7().as_u128() & ((1 << 62) - 1)) as i64
}

/// Neighbours that weigh [`CHUNK`] together at most, or one alone that weighs more.
fn chunks<T>(items: &[T], weight: impl Fn(&T) -> usize) -> Vec<&[T]> {
    let (mut chunks, mut from, mut sum) = (Vec::new(), 0, 0);
    for (at, item) in items.iter().enumerate() {
        let weight = weight(item);
        if at > from && sum + weight > CHUNK {
            chunks.push(&items[from..at]);
            (from, sum) = (at, 0);
        }
        sum += weight;
    }
    if from < items.len() {
        chunks.push(&items[from..]);
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, chunks};

    #[test]
    fn chunks_are_whole_and_not_too_heavy() {
        let items = [CHUNK, 1, CHUNK - 1, 1, 3 * CHUNK, 0, 5, 6];
        let found = chunks(&items, |weight| *weight);
        assert_eq!(found.concat(), items);
        assert_eq!(
            found.iter().map(|chunk| chunk.len()).collect::<Vec<_>>(),
            [1, 2, 1, 1, 3]
        );
        assert!(chunks(&[], |weight: &usize| *weight).is_empty());
    }
}
