//! The vocabulary and the policy of context pruning, pure.
//! Deliberately no I/O, no clock, no environment, no randomness, no threads, no wire formats.
#![forbid(unsafe_code)]

pub mod estimate;
pub mod message;
pub mod model;
pub mod pressure;
pub mod touch;
