//! Making and migrating the schema `neenee` of a database.
//! Deliberately without locks of its own: who loses a race to make something looks again.

use tokio_postgres::error::SqlState;

use super::fault::Fault;
use super::server::{ANSWER, Repeat, Server};
use crate::error::StoreError;

/// Every version's step, from nothing on. A step that has been released is never edited.
const STEPS: &[&str] = &[include_str!("../../../schema/postgres/001.sql")];

/// How often others may be faster.
const RACES: u32 = 20;

const PROGRAM: &str = "neenee";

/// What is in the database.
enum Found {
    Nothing { schema: bool },
    Foreign,
    Ours(i64),
}

/// Brings the database to the newest version, each step in a transaction of its own.
pub(super) async fn migrate(server: &Server, place: &str) -> Result<(), StoreError> {
    let known = STEPS.len() as i64;
    let mut last = None;
    for _ in 0..RACES {
        let step = match look(server).await {
            Ok(Found::Foreign) => {
                return Err(StoreError::NotOurs {
                    place: place.to_owned(),
                });
            }
            Ok(Found::Ours(found)) if found > known => {
                return Err(StoreError::NewerSchema {
                    place: place.to_owned(),
                    found,
                    known,
                });
            }
            Ok(Found::Ours(version)) if version == known => return Ok(()),
            Ok(Found::Ours(version)) => next(server, version).await,
            Ok(Found::Nothing { schema }) => make(server, schema).await,
            Err(fault) => Err(fault),
        };
        match step {
            Ok(()) => {}
            Err(fault) if raced(&fault) => last = Some(fault),
            Err(fault) => return Err(unusable(place, &fault)),
        }
    }
    Err(unusable(place, &last.unwrap_or(Fault::Slow)))
}

async fn look(server: &Server) -> Result<Found, Fault> {
    server
        .read(async |client| {
            let row = client
                .query_one(
                    "SELECT
                        (SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = 'neenee'),
                        count(*),
                        count(*) FILTER (WHERE c.relname = 'store' AND c.relkind = 'r')
                     FROM pg_catalog.pg_class c
                     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                     WHERE n.nspname = 'neenee'",
                    &[],
                )
                .await?;
            let (schema, things, mark): (i64, i64, i64) = (row.get(0), row.get(1), row.get(2));
            if mark == 0 {
                return Ok(match things {
                    // Also an empty schema that an administrator made for us.
                    0 => Found::Nothing { schema: schema > 0 },
                    _ => Found::Foreign,
                });
            }
            let version = client
                .query_opt(
                    "SELECT version::int8 FROM neenee.store WHERE program::text = $1",
                    &[&PROGRAM],
                )
                .await;
            match version {
                Ok(Some(row)) => Ok(Found::Ours(row.get(0))),
                Ok(None) => Ok(Found::Foreign),
                Err(error) => match error.code() {
                    Some(
                        &SqlState::UNDEFINED_COLUMN
                        | &SqlState::CANNOT_COERCE
                        | &SqlState::INVALID_TEXT_REPRESENTATION,
                    ) => Ok(Found::Foreign),
                    _ => Err(error.into()),
                },
            }
        })
        .await
}

async fn make(server: &Server, schema: bool) -> Result<(), Fault> {
    server
        .transact(Repeat::Yes, ANSWER, async |client| {
            let encoding: String = client.query_one("SHOW server_encoding", &[]).await?.get(0);
            if !encoding.to_ascii_lowercase().replace('-', "").eq("utf8") {
                return Err(Fault::Connect(
                    format!("its encoding is {encoding}; make a database with ENCODING 'UTF8'"),
                    None,
                ));
            }
            // Asking for one that is there takes a right that its user may not have.
            if !schema {
                client.batch_execute("CREATE SCHEMA neenee").await?;
            }
            for step in STEPS {
                client.batch_execute(step).await?;
            }
            client
                .execute(
                    "INSERT INTO neenee.store (program, version) VALUES ($1, $2)",
                    &[&PROGRAM, &(STEPS.len() as i64)],
                )
                .await?;
            Ok(())
        })
        .await
}

async fn next(server: &Server, version: i64) -> Result<(), Fault> {
    server
        .transact(Repeat::Yes, ANSWER, async |client| {
            let row = client
                .query_one(
                    "SELECT version FROM neenee.store WHERE program = $1 FOR UPDATE",
                    &[&PROGRAM],
                )
                .await?;
            // Another process may have been faster.
            if row.get::<_, i64>(0) == version
                && let Some(sql) = STEPS.get(version as usize)
            {
                client.batch_execute(sql).await?;
                client
                    .execute(
                        "UPDATE neenee.store SET version = $2 WHERE program = $1",
                        &[&PROGRAM, &(version + 1)],
                    )
                    .await?;
            }
            Ok(())
        })
        .await
}

/// Whether another process made the same thing at the same time.
fn raced(fault: &Fault) -> bool {
    matches!(
        fault.code(),
        Some(
            &SqlState::DUPLICATE_SCHEMA
                | &SqlState::DUPLICATE_TABLE
                | &SqlState::DUPLICATE_OBJECT
                | &SqlState::UNIQUE_VIOLATION
                | &SqlState::T_R_SERIALIZATION_FAILURE
        )
    )
}

pub(super) fn unusable(place: &str, fault: &Fault) -> StoreError {
    let mut cause = fault.cause();
    if fault.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) {
        cause += "; the user needs CREATE on the database, or an empty schema `neenee` of its own";
    }
    StoreError::Unusable {
        place: place.to_owned(),
        cause,
    }
}
