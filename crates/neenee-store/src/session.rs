//! A session: what it is called, and the handle of its one writer.
//! Deliberately no database in sight: the store writes, this remembers what was written.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use neenee_core::message::Message;
use uuid::Uuid;

use crate::engine::{Claim, Engine, SessionRow};
use crate::state::State;

/// What a new session starts with.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// A name that no other session has.
    pub name: Option<String>,
    /// Which kind of program owns it.
    pub origin: Origin,
    /// The project's folder.
    pub cwd: Option<String>,
    /// The model that it starts with.
    pub model: Option<String>,
}

impl NewSession {
    /// Without a name, a folder or a model.
    pub fn new(origin: Origin) -> Self {
        NewSession {
            name: None,
            origin,
            cwd: None,
            model: None,
        }
    }
}

/// Which kind of program owns a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file of another program, pruned by the command.
    File,
    /// Our own agent.
    Agent,
    /// A conversation that passed the proxy.
    Proxy,
    /// Something that a newer program has.
    Other(String),
}

impl Origin {
    /// The word for it.
    pub fn as_str(&self) -> &str {
        match self {
            Origin::File => "file",
            Origin::Agent => "agent",
            Origin::Proxy => "proxy",
            Origin::Other(word) => word,
        }
    }

    fn of(word: &str) -> Self {
        match word {
            "file" => Origin::File,
            "agent" => Origin::Agent,
            "proxy" => Origin::Proxy,
            other => Origin::Other(other.to_owned()),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its id; a version 7 UUID.
    pub id: Uuid,
    /// Its name.
    pub name: Option<String>,
    /// Which kind of program owns it.
    pub origin: Origin,
    /// When it began.
    pub created: Timestamp,
    /// When it was last written to.
    pub used: Timestamp,
    /// The session that it was forked from, and the last event that both share.
    pub parent: Option<(Uuid, u64)>,
    /// The last event.
    pub last_seq: u64,
    /// Raw size of what it brought, in bytes.
    pub bytes: u64,
    /// Who writes to it now.
    pub holder: Option<String>,
}

impl SessionInfo {
    pub(crate) fn of(row: SessionRow) -> Self {
        let time = |ms| Timestamp::from_millisecond(ms).unwrap_or_default();
        SessionInfo {
            id: row.id,
            name: row.name,
            origin: Origin::of(&row.origin),
            created: time(row.created_ms),
            used: time(row.used_ms),
            parent: row.parent,
            last_seq: row.last_seq,
            bytes: row.bytes,
            holder: row.holder,
        }
    }

    /// The name, or the id of a session without one.
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.id.to_string())
    }
}

/// The one writer of a session. Dropping it lets the next one in.
pub struct Session {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) claim: Claim,
    pub(crate) state: State,
    pub(crate) window: Vec<Message>,
}

impl Session {
    /// Its id.
    pub fn id(&self) -> Uuid {
        self.claim.session
    }

    /// Its name.
    pub fn name(&self) -> Option<&str> {
        self.state.name.as_deref()
    }

    /// The project's folder that it began in.
    pub fn cwd(&self) -> Option<&str> {
        self.state.cwd.as_deref()
    }

    /// The model that it began with.
    pub fn model(&self) -> Option<&str> {
        self.state.model.as_deref()
    }

    /// The last event. A projection names it as its base.
    pub fn revision(&self) -> u64 {
        self.state.seq
    }

    /// How many projections were committed.
    pub fn projections(&self) -> u64 {
        self.state.projections
    }

    /// The model window: what the next request sends.
    pub fn window(&self) -> &[Message] {
        &self.window
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.engine.release(&mut self.claim);
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.id())
            .field("revision", &self.revision())
            .field("messages", &self.window.len())
            .finish_non_exhaustive()
    }
}
