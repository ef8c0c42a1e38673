//! Chores of the repository: tidiness, generated tables, calibration; one file per chore.
//! Deliberately never shipped and never needed to build or run the product.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for people at a terminal; nothing links it"
)]

mod tidy;

use clap::Parser;

/// Chores of the repository.
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Chore {
    /// Check what no compiler checks: crate arrows, file headers and sizes, links, leftovers.
    Tidy(tidy::Args),
}

fn main() -> anyhow::Result<()> {
    match Chore::parse() {
        Chore::Tidy(args) => tidy::run(&args),
    }
}
