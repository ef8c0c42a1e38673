//! Deleting what nothing needs any more.
//! Deliberately in one transaction: a sweep that stops half-way has deleted nothing.

use std::time::Duration;

use deadpool_postgres::Object;

use super::fault::Fault;
use super::read;
use super::rows::{packs as pack_steps, send};
use super::server::{Repeat, Server};
use crate::digest::Digest;
use crate::engine::{Repack, Swept};

/// A sweep of a large database is long, and holds nobody up but those who want the same bodies.
const LIMIT: Duration = Duration::from_secs(3600);

pub(super) async fn sweep(server: &Server, repack: Repack<'_>) -> Result<Swept, Fault> {
    server
        .transact(Repeat::Yes, LIMIT, async |client| {
            let mut swept = Swept::default();
            sessions(client, &mut swept).await?;
            bodies(client, &mut swept).await?;
            packs(client, repack, &mut swept).await?;
            Ok(swept)
        })
        .await
}

/// Removed sessions without forks, again until none is left: a fork may have been the last reason.
async fn sessions(client: &Object, swept: &mut Swept) -> Result<(), Fault> {
    loop {
        let gone = client
            .execute(
                "DELETE FROM neenee.session s WHERE removed
                 AND NOT EXISTS (SELECT 1 FROM neenee.session child WHERE child.parent = s.id)",
                &[],
            )
            .await?;
        if gone == 0 {
            return Ok(());
        }
        swept.sessions += gone;
    }
}

async fn bodies(client: &Object, swept: &mut Swept) -> Result<(), Fault> {
    // Locked first, and only those that no commit is about to use; then looked at once more, since
    // a commit may have ended in between. From here on a commit that wants one waits for us, finds
    // it gone, and writes it anew.
    let rows = client
        .query(
            "SELECT digest FROM neenee.body b
             WHERE NOT EXISTS (SELECT 1 FROM neenee.uses u WHERE u.digest = b.digest)
             FOR UPDATE OF b SKIP LOCKED",
            &[],
        )
        .await?;
    let unused: Vec<&[u8]> = rows
        .iter()
        .map(|row| row.try_get(0))
        .collect::<Result<_, _>>()?;
    if unused.is_empty() {
        return Ok(());
    }
    let deleted = client
        .query(
            "DELETE FROM neenee.body b WHERE digest = ANY ($1)
             AND NOT EXISTS (SELECT 1 FROM neenee.uses u WHERE u.digest = b.digest)
             RETURNING CASE WHEN pack IS NULL THEN length ELSE 0 END",
            &[&unused],
        )
        .await?;
    for row in deleted {
        swept.bodies += 1;
        swept.bytes += row.try_get::<_, i64>(0)? as u64;
    }
    Ok(())
}

async fn packs(client: &Object, repack: Repack<'_>, swept: &mut Swept) -> Result<(), Fault> {
    let mostly_dead = client
        .query(
            "SELECT number, length(data)::int8 FROM neenee.pack p
             WHERE raw_bytes > 2 * (
                SELECT coalesce(sum(length), 0) FROM neenee.body b WHERE b.pack = p.number)
             FOR UPDATE OF p SKIP LOCKED",
            &[],
        )
        .await?;
    for row in mostly_dead {
        let (number, bytes): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        let rows = client
            .query(
                "SELECT digest FROM neenee.body WHERE pack = $1 ORDER BY start",
                &[&number],
            )
            .await?;
        let mut alive = Vec::with_capacity(rows.len());
        for row in rows {
            alive.extend(Digest::from_bytes(row.try_get(0)?));
        }
        if !alive.is_empty() {
            let kept = read::bodies(client, &alive).await?;
            let old = read::packs(client, &[number]).await?;
            let new = repack(&kept, &old)?;
            // So that the new packs may take the bodies over.
            client
                .execute(
                    "UPDATE neenee.body SET pack = NULL, start = NULL, raw = ''::bytea WHERE pack = $1",
                    &[&number],
                )
                .await?;
            send(client, &pack_steps(&new)).await?;
            for pack in &new {
                swept.bytes = swept.bytes.saturating_sub(pack.data.len() as u64);
            }
            swept.repacked += 1;
        }
        client
            .execute("DELETE FROM neenee.pack WHERE number = $1", &[&number])
            .await?;
        swept.bytes += bytes as u64;
    }
    Ok(())
}
