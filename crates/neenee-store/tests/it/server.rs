//! Databases of a real server to test with, each made for one test and gone after it.
//! Deliberately silent when no server is named, unless `NEENEE_REQUIRE_POSTGRES=1` says that one must be.

use neenee_store::engine::postgres::{Lease, Postgres};
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

/// A database of its own.
pub(crate) struct Database {
    admin: String,
    name: String,
}

impl Database {
    /// A new one on the server that `NEENEE_TEST_POSTGRES` names, an address of someone who may
    /// make databases.
    pub(crate) fn new() -> Option<Self> {
        let Ok(admin) = std::env::var("NEENEE_TEST_POSTGRES") else {
            assert_ne!(
                std::env::var("NEENEE_REQUIRE_POSTGRES").as_deref(),
                Ok("1"),
                "NEENEE_TEST_POSTGRES names no server"
            );
            return None;
        };
        let name = format!("neenee_test_{}", Uuid::now_v7().simple());
        execute(&admin, &format!("CREATE DATABASE {name}"));
        Some(Database { admin, name })
    }

    /// Its address.
    pub(crate) fn address(&self) -> String {
        with_database(&self.admin, &self.name)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn open(&self) -> Postgres {
        Postgres::open(&self.address()).expect("the database opens")
    }

    pub(crate) fn open_with(&self, lease: Lease) -> Postgres {
        Postgres::open_with(&self.address(), lease).expect("the database opens")
    }

    /// Runs statements inside it.
    pub(crate) fn execute(&self, sql: &str) {
        execute(&self.address(), sql);
    }

    /// Runs statements as the one who may make databases, outside of it.
    pub(crate) fn administrate(&self, sql: &str) {
        execute(&self.admin, sql);
    }

    /// One number.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        connected(&self.address(), async |client| {
            client.query_one(sql, &[]).await.expect(sql).get(0)
        })
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        execute(
            &self.admin,
            &format!("DROP DATABASE {} WITH (FORCE)", self.name),
        );
    }
}

/// The address of another database of the same server.
pub(crate) fn with_database(address: &str, name: &str) -> String {
    let (base, parameters) = address.split_once('?').unwrap_or((address, ""));
    let start = base.find("://").map_or(0, |at| at + 3);
    let end = base[start..].find('/').map_or(base.len(), |at| start + at);
    format!("{}/{name}?{parameters}", &base[..end])
}

/// The address for another user, given as `USER:PASSWORD`.
pub(crate) fn with_user(address: &str, user: &str) -> String {
    let (scheme, rest) = address.split_once("://").expect("an address");
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    format!("{scheme}://{user}@{host}")
}

fn execute(address: &str, sql: &str) {
    connected(address, async |client| {
        client.batch_execute(sql).await.expect(sql);
    });
}

fn connected<T>(address: &str, work: impl AsyncFnOnce(Client) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let connect = async {
        let (client, connection) = tokio_postgres::connect(address, NoTls)
            .await
            .expect("NEENEE_TEST_POSTGRES names a server that answers");
        tokio::spawn(async move { connection.await.expect("a sound connection") });
        work(client).await
    };
    runtime.block_on(connect)
}
