//! `neenee man`: the manual pages, made from the same text as `--help`.
//! Deliberately printed, not installed.

use anyhow::{Context as _, Result};
use clap::CommandFactory as _;

use crate::cli::{Cli, ManArgs};
use crate::error::Failure;
use crate::output;

pub(super) fn run(args: &ManArgs) -> Result<()> {
    let mut neenee = Cli::command();
    neenee.build();
    let page = match &args.command {
        None => neenee,
        Some(name) => neenee
            .find_subcommand(name)
            .cloned()
            .map(|command| command.display_name(format!("neenee-{name}")))
            .ok_or_else(|| {
                Failure::new(format!("failed to find the command `{name}`"))
                    .fix("`neenee --help` lists them")
            })?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut text)
        .context("failed to write the page")?;
    output::stdout(&text)
}
