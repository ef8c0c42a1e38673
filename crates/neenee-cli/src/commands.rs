//! From arguments to a command's run.
//! Deliberately one file per command below; here is only who runs.

mod completions;
mod config;
mod diff;
mod formats;
mod inspect;
mod man;
mod models;
mod proxy;
mod prune;
mod replay;
mod restore;
mod sessions;

use std::env;

use anyhow::Result;

use crate::cli::{Cli, Command, GlobalArgs};
use crate::settings::{Key, Layers, Places, Settings};

/// Runs what the arguments ask for.
pub(crate) fn run(cli: &Cli) -> Result<()> {
    let colour = cli.global.color.on_stdout();
    match &cli.command {
        Command::Prune(args) => prune::run(args, settings(&cli.global)?, colour),
        Command::Inspect(args) => inspect::run(args, settings(&cli.global)?, colour),
        Command::Proxy(args) => proxy::run(args, &cli.global),
        Command::Sessions(args) => sessions::run(args, &settings(&cli.global)?, colour),
        Command::Restore(args) => restore::run(args, &settings(&cli.global)?),
        Command::Diff(args) => diff::run(args, &settings(&cli.global)?, colour),
        Command::Replay(args) => {
            let (ours, theirs) = split(&cli.global.set);
            let settings = load(ours)?;
            replay::run(args, settings, &theirs, colour)
        }
        Command::Formats(args) => formats::run(args, colour),
        Command::Models(args) => models::run(args, colour),
        Command::Config(args) => config::run(args, &settings(&cli.global)?),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    }
}

/// What `--set` says to the configuration, and what to a policy: keys of the configuration are known.
fn split(set: &[String]) -> (Vec<String>, Vec<String>) {
    set.iter().cloned().partition(|assignment| {
        let key = assignment.split('=').next().unwrap_or_default();
        Key::find(key.trim()).is_some()
    })
}

/// The configuration as seen from here.
fn settings(global: &GlobalArgs) -> Result<Settings> {
    load(global.set.clone())
}

fn load(assignments: Vec<String>) -> Result<Settings> {
    let variables = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, _)| name.starts_with("NEENEE_"))
        // A value that is not Unicode is no valid value of any key, and is told as such.
        .map(|(name, value)| (name, value.to_string_lossy().into_owned()))
        .collect();
    Settings::load(&Layers {
        places: Places::here(),
        variables,
        assignments,
    })
}
