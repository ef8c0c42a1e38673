//! The harness over a real local HTTP server.
//! Deliberately no unit tests: those stand beside the code.

mod accounting;
mod calls;
mod durable;
mod entry_points;
mod long_session;
mod overflow;
mod retries;
mod streams;
mod support;
