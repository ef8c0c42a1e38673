//! Finding, listing, renaming, forking and removing sessions, and sweeping what is left behind.
//! Deliberately no policy: what to remove is decided in `retention`, as a plan one can look at.

use uuid::Uuid;

use super::load::verified;
use super::{SessionStore, Usage};
use crate::engine::{Claim, Swept};
use crate::error::StoreError;
use crate::pack;
use crate::record::payload::{Payload, Renamed};
use crate::session::{Session, SessionInfo};

/// The shortest beginning of an id that is taken for one.
const MIN_PREFIX: usize = 4;

impl SessionStore {
    /// All sessions, the oldest first.
    pub fn sessions(&self) -> Result<Vec<SessionInfo>, StoreError> {
        let rows = self.engine.sessions()?;
        Ok(rows
            .into_iter()
            .filter(|row| !row.removed)
            .map(SessionInfo::of)
            .collect())
    }

    /// The session called `reference`: a name, an id, or the beginning of one (at least 4
    /// characters) that no other session shares. A name wins over a beginning.
    pub fn find(&self, reference: &str) -> Result<SessionInfo, StoreError> {
        // Programs hand ids around, and a fleet has too many sessions to list for one.
        if let Ok(id) = reference.parse::<Uuid>()
            && let Some(row) = self.engine.session(id)?.filter(|row| !row.removed)
            && id.to_string().eq_ignore_ascii_case(reference)
        {
            return Ok(SessionInfo::of(row));
        }
        let sessions = self.sessions()?;
        if let Some(named) = sessions
            .iter()
            .find(|session| session.name.as_deref() == Some(reference))
        {
            return Ok(named.clone());
        }
        let prefix = reference.to_ascii_lowercase();
        let mut fitting: Vec<SessionInfo> = sessions
            .into_iter()
            .filter(|session| {
                prefix.len() >= MIN_PREFIX && session.id.to_string().starts_with(&prefix)
            })
            .collect();
        match (fitting.pop(), fitting.len()) {
            (Some(session), 0) => Ok(session),
            (None, _) => Err(StoreError::NoSuchSession(reference.to_owned())),
            (Some(_), others) => Err(StoreError::Ambiguous {
                prefix: reference.to_owned(),
                count: others + 1,
            }),
        }
    }

    /// Gives a session another name, or none.
    pub fn rename(&self, session: &mut Session, name: Option<String>) -> Result<(), StoreError> {
        let mut batch = self.batch();
        batch.name = Some(name.clone());
        self.commit(session, batch, Payload::Renamed(Renamed { name }))?;
        Ok(())
    }

    /// A session of its own that shares everything up to event `at` (the last one when not given)
    /// with `session`. Nothing is copied.
    pub fn fork(
        &self,
        session: Uuid,
        at: Option<u64>,
        name: Option<String>,
    ) -> Result<SessionInfo, StoreError> {
        let chain = self.chain(session)?;
        let last = chain.last();
        let at = at.unwrap_or(last);
        if at > last || at == 0 {
            return Err(StoreError::NoSuchEvent {
                session,
                last,
                asked: at,
            });
        }
        let origin = self
            .engine
            .session(session)?
            .ok_or_else(|| StoreError::NoSuchSession(session.to_string()))?
            .origin;
        let id = self.new_id();
        let mut batch = self.batch();
        let payload = Payload::Renamed(Renamed { name: name.clone() });
        let record = self.record(id, at + 1, &mut batch, &payload)?;
        batch.records.push(record);
        // A fork of an event that the parent itself has from its own parent hangs on that one.
        let row = self.new_row(id, name, &origin, Some(chain.owner(at)), at + 1);
        let mut claim: Claim = self.engine.create(&row, &batch)?;
        self.engine.release(&mut claim);
        Ok(SessionInfo::of(row))
    }

    /// Removes sessions. What their forks need stays until those go; the space comes back with
    /// [`SessionStore::sweep`].
    ///
    /// # Errors
    /// [`StoreError::InUse`] when one of them is being written; none is removed then.
    pub fn remove(&self, sessions: &[Uuid]) -> Result<(), StoreError> {
        self.engine.remove(sessions)
    }

    /// Deletes what no session needs.
    pub fn sweep(&self) -> Result<Swept, StoreError> {
        self.engine.sweep(&|kept, packs| {
            let order: Vec<_> = kept.iter().map(|body| body.digest).collect();
            // No session asked; the nil id says so.
            let mut bodies = verified(Uuid::nil(), kept.to_vec(), packs)?;
            let alive: Vec<_> = order
                .into_iter()
                .filter_map(|digest| bodies.0.remove_entry(&digest))
                .collect();
            pack::pack(&alive).map_err(|error| StoreError::Engine {
                cause: format!("cannot compress originals: {error}"),
                retry: false,
            })
        })
    }

    /// What the store holds, in bytes.
    pub fn usage(&self) -> Result<Usage, StoreError> {
        self.engine.totals()
    }

    /// Where the store is, for people; without secrets.
    pub fn place(&self) -> String {
        self.engine.place()
    }
}
