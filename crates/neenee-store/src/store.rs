//! The front door: sessions are begun, written to, projected, forked and removed here.
//! Deliberately synchronous and free of SQL: an engine keeps rows, this decides which.

mod file;
mod load;
mod manage;
mod portable;
mod verify;

pub(crate) use load::brought;
pub use verify::Verified;

use std::sync::Arc;

use neenee_core::message::{Message, Role};
use uuid::Uuid;

use crate::clock::{Clock, SystemClock};
use crate::digest::Digest;
use crate::engine::postgres::Postgres;
use crate::engine::sqlite::Sqlite;
use crate::engine::{Batch, Engine, SessionRow, Totals};
use crate::error::StoreError;
use crate::location::Location;
use crate::pack;
use crate::projection::{self, Moved, Projection};
use crate::record::Record;
use crate::record::body::Collector;
use crate::record::message::{self, StoredMessage};
use crate::record::payload::{self, Payload};
use crate::session::{NewSession, Session};
use crate::snapshot::Snapshot;
use crate::state::State;

/// Durable sessions. Cheap to clone; all clones share the same connections.
///
/// Calls block until the database has answered and, for writes, until the data is on disk.
/// Asynchronous callers move them to a thread that may block.
#[derive(Clone)]
pub struct SessionStore {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// What a store holds.
pub type Usage = Totals;

impl SessionStore {
    /// Opens the store at `location`, and makes it when it is not there.
    ///
    /// # Errors
    /// [`StoreError::Unusable`], [`StoreError::NotOurs`] and [`StoreError::NewerSchema`], each with
    /// the place in its text.
    pub fn open(location: &Location) -> Result<Self, StoreError> {
        let engine: Arc<dyn Engine> = match location {
            Location::Folder(folder) => Arc::new(Sqlite::open(folder)?),
            Location::Postgres(address) => Arc::new(Postgres::open(address)?),
        };
        Ok(Self::new(engine, Arc::new(SystemClock)))
    }

    /// A store on an engine and a clock of the caller's choice.
    pub fn new(engine: Arc<dyn Engine>, clock: Arc<dyn Clock>) -> Self {
        SessionStore { engine, clock }
    }

    /// Begins a session; the caller is its writer.
    ///
    /// # Errors
    /// [`StoreError::NameTaken`] when another session has the name.
    pub fn create(&self, new: NewSession) -> Result<Session, StoreError> {
        let id = self.new_id();
        let created = payload::Created {
            name: new.name.clone(),
            origin: new.origin.as_str().to_owned(),
            cwd: new.cwd,
            model: new.model,
        };
        let payload = Payload::Created(created);
        let mut batch = self.batch();
        let record = self.record(id, 1, &mut batch, &payload)?;
        let mut state = State::default();
        state.apply(id, &record, payload)?;
        batch.records.push(record);
        let row = self.new_row(id, new.name, new.origin.as_str(), None, state.seq);
        let claim = self.engine.create(&row, &batch)?;
        Ok(Session {
            engine: self.engine.clone(),
            claim,
            state,
            window: Vec::new(),
        })
    }

    /// Becomes the writer of the session called `reference`: an id, the beginning of one that no
    /// other session shares, or a name.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while another writer has it.
    pub fn resume(&self, reference: &str) -> Result<Session, StoreError> {
        let id = self.find(reference)?.id;
        let claim = self.engine.claim(id)?;
        // Held as a session from here on, so that an error gives the claim back.
        let mut session = Session {
            engine: self.engine.clone(),
            claim,
            state: State::default(),
            window: Vec::new(),
        };
        let chain = self.chain(id)?;
        session.state = self.load(&chain)?;
        session.window = self.materialise(id, &session.state)?;
        Ok(session)
    }

    /// Writes the user's message. Call it before any model is asked: what the person said is never
    /// lost, whatever happens next.
    pub fn admit(&self, session: &mut Session, text: Message) -> Result<u64, StoreError> {
        let admitted = text.role == Role::User;
        self.add(session, vec![text], admitted)
    }

    /// Writes messages that joined the window, as one step. Returns its event number.
    pub fn append(&self, session: &mut Session, messages: Vec<Message>) -> Result<u64, StoreError> {
        self.add(session, messages, false)
    }

    fn add(
        &self,
        session: &mut Session,
        messages: Vec<Message>,
        admitted: bool,
    ) -> Result<u64, StoreError> {
        if messages
            .iter()
            .any(|message| message::depth(message) > message::MAX_DEPTH)
        {
            return Err(StoreError::TooDeep(message::MAX_DEPTH));
        }
        let mut bodies = Collector::default();
        let payload = payload::Messages {
            admitted,
            messages: messages
                .iter()
                .map(|message| StoredMessage::of(message, &mut bodies))
                .collect(),
        };
        let mut batch = self.batch();
        batch.fresh = bodies.into_bodies();
        let seq = self.commit(session, batch, Payload::Messages(payload))?;
        session.window.extend(messages);
        Ok(seq)
    }

    /// Writes a note of the program that owns the session, such as what a request cost.
    pub fn note(
        &self,
        session: &mut Session,
        topic: &str,
        data: serde_json::Value,
    ) -> Result<u64, StoreError> {
        let noted = payload::Noted {
            topic: topic.to_owned(),
            data,
        };
        let batch = self.batch();
        self.commit(session, batch, Payload::Noted(noted))
    }

    /// Commits a projection in one transaction: the originals join the archived transcript, the
    /// window is replaced, and a [`crate::SessionEvent::ContextProjectionCommitted`] is appended.
    /// Returns that event's number.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the projection does not start from the current window, when an
    /// original is not what it replaces, or when a pair would break. Nothing is changed then.
    pub fn commit_context_projection(
        &self,
        session: &mut Session,
        projection: Projection,
    ) -> Result<u64, StoreError> {
        let id = session.id();
        let refused = |refusal| StoreError::Refused {
            session: id,
            refusal,
        };
        if projection.base != session.revision() {
            return Err(refused(crate::Refusal::Stale {
                base: projection.base,
                current: session.revision(),
            }));
        }
        let mut moved = Moved::default();
        let record =
            projection::record(&session.window, &projection, &mut moved).map_err(refused)?;
        let mut batch = self.batch();
        batch.fresh = moved.fresh.into_bodies();
        batch.packs = self.pack(moved.archived)?;
        let seq = self.commit(session, batch, Payload::Projected(Box::new(record)))?;
        session.window = projection.window;
        Ok(seq)
    }

    /// Packs what is not in a pack yet.
    fn pack(&self, bodies: Collector) -> Result<Vec<pack::Pack>, StoreError> {
        let mut bodies = bodies.into_bodies();
        let digests: Vec<Digest> = bodies.iter().map(|(digest, _)| *digest).collect();
        let known = self.engine.archived(&digests)?;
        let known: rustc_hash::FxHashSet<Digest> = known.into_iter().collect();
        bodies.retain(|(digest, _)| !known.contains(digest));
        pack::pack(&bodies).map_err(|error| StoreError::Engine {
            cause: format!("cannot compress originals: {error}"),
            retry: false,
        })
    }

    /// Appends one record to `session`, in a batch that brings its bodies along.
    fn commit(
        &self,
        session: &mut Session,
        mut batch: Batch,
        payload: Payload,
    ) -> Result<u64, StoreError> {
        let id = session.id();
        let record = self.record(id, session.state.seq + 1, &mut batch, &payload)?;
        if matches!(payload, Payload::Projected(_)) {
            // The snapshot is of the state afterwards, which must not stay if the database fails.
            let mut next = session.state.clone();
            next.apply(id, &record, payload)?;
            batch.snapshot = Snapshot::of(&next).encode().ok();
            batch.records.push(record);
            self.engine.commit(&session.claim, &batch)?;
            session.state = next;
        } else {
            batch.records.push(record.clone());
            self.engine.commit(&session.claim, &batch)?;
            session.state.apply(id, &record, payload)?;
        }
        Ok(session.state.seq)
    }

    /// The record of a payload, whose bodies `batch` notes as used.
    fn record(
        &self,
        id: Uuid,
        seq: u64,
        batch: &mut Batch,
        payload: &Payload,
    ) -> Result<Record, StoreError> {
        batch.uses.extend(payload.digests());
        batch.uses.sort_unstable();
        batch.uses.dedup();
        let bytes = payload.encode().map_err(|error| StoreError::Engine {
            cause: format!("cannot write an event as JSON: {error}"),
            retry: false,
        })?;
        let kind = payload.kind();
        Ok(Record::new(
            id,
            seq,
            batch.at_ms,
            kind,
            payload::VERSION,
            bytes,
        ))
    }

    fn batch(&self) -> Batch {
        Batch {
            at_ms: self.clock.now().as_millisecond(),
            ..Batch::default()
        }
    }

    /// Time-ordered as far as clocks are right, and unique however wrong they are.
    fn new_id(&self) -> Uuid {
        let now = self.clock.now();
        let seconds = u64::try_from(now.as_second()).unwrap_or(0);
        let nanos = u32::try_from(now.subsec_nanosecond()).unwrap_or(0);
        Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, seconds, nanos))
    }

    fn new_row(
        &self,
        id: Uuid,
        name: Option<String>,
        origin: &str,
        parent: Option<(Uuid, u64)>,
        last_seq: u64,
    ) -> SessionRow {
        let now = self.clock.now().as_millisecond();
        SessionRow {
            id,
            name,
            origin: origin.to_owned(),
            created_ms: now,
            used_ms: now,
            parent,
            last_seq,
            bytes: 0,
            removed: false,
            holder: None,
        }
    }
}
