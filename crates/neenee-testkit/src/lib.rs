//! What tests, benchmarks and recordings share: session generators and a scripted upstream.
//! Deliberately never shipped: no crate but tests, benches and `xtask` may depend on it.

pub mod session;
#[cfg(feature = "upstream")]
pub mod upstream;
