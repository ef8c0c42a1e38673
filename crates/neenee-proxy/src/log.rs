//! What a proxy says about requests, to whoever started it.
//! Deliberately no printing, and no headers, queries or bodies in any line: those hold secrets.

use std::fmt::Debug;

/// Takes lines. Called from any thread, for one line at a time, without an end of line.
pub trait Log: Send + Sync + Debug {
    /// One line.
    fn line(&self, line: &str);
}

/// Says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Log for Silent {
    fn line(&self, _: &str) {}
}
