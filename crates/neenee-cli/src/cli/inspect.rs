//! Arguments of `neenee inspect`.
//! Deliberately no behaviour.

use std::path::PathBuf;

use clap::Args;
use neenee_wire::Format;

/// Show what fills the window of sessions and request bodies
///
/// By kind, by tool and by file; what is stale, said twice, in play or too small to matter; the biggest
/// results; and how near the whole is to the thresholds of its model. Nothing is changed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InspectArgs {
    /// Sessions or request bodies; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The window, in tokens of input
    #[arg(long, value_name = "N", value_parser = super::prune::window)]
    pub(crate) window: Option<usize>,
    /// The model, for its window and tokenizer
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Read the input as this format instead of recognising it
    #[arg(long, value_name = "NAME", value_parser = super::prune::format)]
    pub(crate) format: Option<Format>,
    /// How many rows each list has at most
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Print JSON, an object on a line for each file
    #[arg(long)]
    pub(crate) json: bool,
    /// Write one self-contained page with a treemap and the tokens over turns
    #[arg(long, value_name = "OUT")]
    pub(crate) html: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  neenee inspect session.jsonl
  neenee inspect --json session.jsonl | jq .tools
  neenee inspect --html window.html ~/sessions/*.jsonl";
