//! PostgreSQL: many processes on one database, each session with one writer among all of them.
//! Deliberately plain SQL over the wire: no advisory locks, no notifications, no shared counters, so
//! that engines which speak the protocol and scale out can do it too.

mod address;
mod claims;
mod fault;
mod open;
mod read;
mod rows;
mod runtime;
mod server;
mod sweep;
mod tls;
mod write;

use std::sync::Arc;

use uuid::Uuid;

pub use claims::{LEASE, Lease};

use self::claims::Leases;
use self::fault::Fault;
use self::runtime::Runtime;
use self::server::Server;
use super::{Batch, Claim, Engine, KeptBody, KeptPack, Record, Repack, SessionRow, Swept, Totals};
use crate::digest::Digest;
use crate::error::StoreError;
use crate::location::without_secrets;

/// An open PostgreSQL store. Its calls block; a thread of its own moves the bytes and renews the
/// claims meanwhile.
pub struct Postgres {
    place: String,
    server: Server,
    leases: Arc<Leases>,
    runtime: Runtime,
}

impl Postgres {
    /// Opens the store at `address` (`postgres://USER:PASSWORD@HOST:PORT/DATABASE`), and makes its
    /// schema, called `neenee`, when it is not there.
    ///
    /// `sslmode` is `prefer` unless the address says `disable`, `require`, `verify-ca` or
    /// `verify-full`; `sslrootcert` names a PEM file of authorities, those of the system otherwise.
    ///
    /// # Errors
    /// [`StoreError::Unusable`], [`StoreError::NotOurs`] and [`StoreError::NewerSchema`].
    pub fn open(address: &str) -> Result<Self, StoreError> {
        Self::open_with(address, Lease::default())
    }

    /// The same, with claims that last as long as the caller likes.
    pub fn open_with(address: &str, lease: Lease) -> Result<Self, StoreError> {
        let place = without_secrets(address);
        let unusable = |cause| StoreError::Unusable {
            place: place.clone(),
            cause,
        };
        let read = address::read(address).map_err(unusable)?;
        let runtime = Runtime::start().map_err(|error| unusable(error.to_string()))?;
        let server = Server::new(&read).map_err(unusable)?;
        runtime.wait(open::migrate(&server, &place))?;
        let leases = Arc::new(Leases::new(lease));
        let (beating, pool) = (leases.clone(), server.leases.clone());
        runtime.spawn(async move { beating.beat(&pool).await });
        Ok(Postgres {
            place,
            server,
            leases,
            runtime,
        })
    }

    fn read<T>(
        &self,
        work: impl AsyncFn(&deadpool_postgres::Object) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        Ok(self.runtime.wait(self.server.read(work))?)
    }
}

impl Engine for Postgres {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn create(&self, row: &SessionRow, batch: &Batch) -> Result<Claim, StoreError> {
        self.runtime
            .wait(write::create(&self.server, &self.leases, row, batch))
    }

    fn claim(&self, session: Uuid) -> Result<Claim, StoreError> {
        self.runtime
            .wait(claims::claim(&self.server, &self.leases, session))
    }

    fn release(&self, claim: &mut Claim) {
        self.runtime
            .wait(claims::release(&self.server, &self.leases, claim));
    }

    fn commit(&self, claim: &Claim, batch: &Batch) -> Result<(), StoreError> {
        self.runtime
            .wait(write::commit(&self.server, &self.leases, claim, batch))
    }

    fn sessions(&self) -> Result<Vec<SessionRow>, StoreError> {
        self.read(async |client| read::sessions(client).await)
    }

    fn session(&self, session: Uuid) -> Result<Option<SessionRow>, StoreError> {
        self.read(async |client| read::session(client, session).await)
    }

    fn records(&self, session: Uuid, range: (u64, u64)) -> Result<Vec<Record>, StoreError> {
        self.read(async |client| read::records(client, session, range).await)
    }

    fn snapshot(&self, session: Uuid) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(async |client| read::snapshot(client, session).await)
    }

    fn bodies(&self, digests: &[Digest]) -> Result<Vec<KeptBody>, StoreError> {
        self.read(async |client| read::bodies(client, digests).await)
    }

    fn archived(&self, digests: &[Digest]) -> Result<Vec<Digest>, StoreError> {
        self.read(async |client| read::archived(client, digests).await)
    }

    fn packs(&self, numbers: &[i64]) -> Result<Vec<KeptPack>, StoreError> {
        self.read(async |client| read::packs(client, numbers).await)
    }

    fn remove(&self, sessions: &[Uuid]) -> Result<(), StoreError> {
        Ok(self.runtime.wait(write::remove(&self.server, sessions))?)
    }

    fn sweep(&self, repack: Repack<'_>) -> Result<Swept, StoreError> {
        Ok(self.runtime.wait(sweep::sweep(&self.server, repack))?)
    }

    fn totals(&self) -> Result<Totals, StoreError> {
        self.read(async |client| read::totals(client).await)
    }
}
