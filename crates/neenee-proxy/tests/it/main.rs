//! The tests of the proxy, in one binary.
//! Deliberately over real connections: what is tested is what a client and an upstream see.

mod archive;
mod browser;
mod clients;
mod harness;
mod hostile;
mod looking;
mod passing;
mod pruning;
mod rules;
mod sdks;
mod talk;
