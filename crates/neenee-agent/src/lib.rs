//! The harness: an agent loop that relieves its context before a round and inside it.
//! Deliberately no user interface: events go to a sink, durability through a `Journal`.
//!
//! ```no_run
//! use neenee_agent::provider::{Endpoint, Provider, Wire};
//! use neenee_agent::tool::Project;
//! use neenee_agent::{Agent, AgentOptions, LiveModel, MemoryJournal};
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let provider = Provider::new(Endpoint::new(Wire::Chat, "http://localhost:11434/v1"))?;
//! let mut model = LiveModel::new("qwen3");
//! model.window_tokens = Some(32_000);
//! let project = Project::new(".".as_ref(), &std::env::temp_dir())?;
//! let options = AgentOptions::new("You are a coding agent.", project);
//! let mut agent = Agent::new(provider, model, Box::new(MemoryJournal::new()), options)?;
//! let outcome = agent.run("what is in here?", &CancellationToken::new()).await?;
//! assert!(agent.window().pressure_tokens() < 32_000);
//! # let _ = outcome; Ok(())
//! # }
//! ```
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
