//! The store as its users call it, on every engine that is there.
//! Deliberately no mocks: SQLite in a temporary folder, PostgreSQL when a server is named.

mod conversation;
mod damage;
mod file;
mod lifecycle;
mod place;
mod portable;
mod projections;
mod retention;
mod setup;
mod sharing;
