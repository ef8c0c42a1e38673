//! `cargo xtask calibrate`: fits the weights of the token estimator to true token counts.
//! Deliberately without tokenizers: the counts come with the data.

// The very automaton that the estimator runs, which is no part of what the core offers to others.
#[path = "../../crates/neenee-core/src/estimate/automaton.rs"]
mod automaton;
mod data;
mod fit;
mod render;
mod report;
mod scripts;

use anyhow::{Context as _, bail};
use std::path::PathBuf;

/// Where the counts are, and what to do with the fit.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Texts with true token counts: JSON Lines, gzipped [default: token-counts.jsonl.gz of the shared data]
    data: Option<PathBuf>,
    /// Write nothing; fail when an error on held-out sources is above its bar
    #[arg(long)]
    check: bool,
}

/// Prints what the fit errs, then writes the weights or checks the bars.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let path = args
        .data
        .clone()
        .unwrap_or_else(|| crate::shared_data().join("token-counts.jsonl.gz"));
    let data = data::load(&path)?;
    let fits = fit::all(&data);
    let over = report::print(&data, &fits);
    if args.check {
        if !over.is_empty() {
            bail!("the estimator misses its bars: {}", over.join("; "));
        }
        return Ok(());
    }
    let target = crate::workspace_root().join("crates/neenee-core/src/estimate/weights.rs");
    std::fs::write(&target, render::weights(&data, &fits))
        .with_context(|| format!("failed to write {}", target.display()))?;
    println!("wrote {}", target.display());
    Ok(())
}
