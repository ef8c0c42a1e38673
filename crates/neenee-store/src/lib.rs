//! Durable sessions: an append-only log per session, archived originals, and projections as one
//! atomic step, on SQLite or PostgreSQL.
//! Deliberately no planning and no formats: it keeps what it is given and proves that it did.

pub mod clock;
mod digest;
pub mod engine;
mod error;
pub mod event;
pub mod file;
pub mod history;
pub mod location;
mod pack;
pub mod portable;
pub mod projection;
mod record;
pub mod retention;
mod session;
mod snapshot;
mod state;
mod store;

pub use digest::Digest;
pub use error::{Refusal, StoreError};
pub use event::{Counts, Operation, SessionEvent};
pub use projection::Projection;
pub use session::{NewSession, Origin, Session, SessionInfo};
pub use store::{SessionStore, Usage, Verified};
