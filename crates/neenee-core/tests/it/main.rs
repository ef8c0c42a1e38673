//! The core's integration tests, one binary.
//! Deliberately no formats and no files but the cases beside it.

mod cases;
mod properties;
mod touch;
mod whole;
