//! The harness: an agent loop that relieves its context before a round and inside it.
//! Deliberately no user interface: events go to a sink, durability through a `Journal`.
#![forbid(unsafe_code)]

pub mod journal;
pub mod orchestration;
pub mod provider;
mod render;
pub mod secret;
pub mod tool;

pub use journal::{Journal, JournalError, MemoryJournal, Projection, ProjectionKind, StoreJournal};
pub use orchestration::{
    Agent, AgentError, AgentOptions, AgentResponse, ContextProjectionGate,
    ContextProjectionSettings, LiveModel, MidTurnPruneProjectionGate, RoundEnd, RoundOutcome,
    prune_and_commit,
};
pub use secret::Secret;
