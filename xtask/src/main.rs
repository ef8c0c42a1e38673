//! Chores of the repository: tidiness, generated tables, calibration; one file per chore.
//! Deliberately never shipped and never needed to build or run the product.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for people at a terminal; nothing links it"
)]

mod calibrate;
mod models;
mod record;
mod resume;
mod soak;
mod tidy;

use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Chores of the repository.
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Chore {
    /// Fit the weights of the token estimator to true counts, or check them against their bars.
    Calibrate(calibrate::Args),
    /// Generate the table of models from the wheels of litellm and genai-prices.
    Models(models::Args),
    /// Record real clients against a scripted upstream, for examples.
    Record(record::Args),
    /// Let a client go on with a session file and show what it sends.
    Resume(resume::Args),
    /// Kill a process that commits to a session store, again and again, and prove that nothing was lost.
    Soak(soak::Args),
    /// Check what no compiler checks: crate arrows, file headers and sizes, links, leftovers.
    Tidy(tidy::Args),
}

fn main() -> ExitCode {
    let outcome = match Chore::parse() {
        Chore::Calibrate(args) => calibrate::run(&args),
        Chore::Models(args) => models::run(&args),
        Chore::Record(args) => record::run(&args),
        Chore::Resume(args) => resume::run(&args),
        Chore::Soak(args) => soak::run(&args),
        Chore::Tidy(args) => tidy::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of the root manifest.
fn workspace_root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

/// Real sessions and true token counts to measure against, never committed; may be absent.
fn shared_data() -> PathBuf {
    std::env::var_os("NEENEE_SHARED_DATA")
        .map_or_else(|| workspace_root().join("../shared/data"), PathBuf::from)
}
