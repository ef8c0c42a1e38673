//! `neenee completions`: a script that completes commands and flags in a shell.
//! Deliberately printed, not installed: where it goes is the user's to say.

use anyhow::Result;
use clap::CommandFactory as _;

use crate::cli::{Cli, CompletionsArgs};
use crate::output;

pub(super) fn run(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "neenee", &mut script);
    output::stdout(&script)
}
