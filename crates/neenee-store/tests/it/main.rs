//! The store as its users call it, on every engine that is there.
//! Deliberately no mocks: SQLite in a temporary folder, PostgreSQL when a server is named.

mod conversation;
mod damage;
mod file;
mod lifecycle;
mod place;
mod portable;
mod postgres;
mod projections;
mod retention;
mod server;
mod setup;
mod sharing;
