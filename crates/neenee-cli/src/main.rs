//! The `neenee` binary: arguments become settings, a library call, a rendering.
//! Deliberately not a place for policy or formats; those are `neenee-core` and `neenee-wire`.

mod cli;
mod commands;
mod error;
mod input;
mod inspect;
mod output;
mod progress;
mod render;
mod settings;
mod store;
mod window;
mod workers;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    match commands::run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error::report(&error),
    }
}
