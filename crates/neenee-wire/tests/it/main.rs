//! The integration tests of the codecs. Not unit tests: those of scanner and strings stand beside them.

mod chat;
mod check;
mod shared;
