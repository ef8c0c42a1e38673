//! Arguments of `neenee prune`.
//! Deliberately no behaviour.

use std::path::PathBuf;

use clap::Args;
use neenee_wire::Format;

use crate::settings::nearest;

/// Prune old tool results of sessions and request bodies
///
/// A result that later ones supersede, or that nothing refers to any more, is cleared to a placeholder
/// that says what it was; a large one is first truncated to its head and tail. Recent output stays, and
/// every byte outside the changed results stays as it is.
///
/// Nothing happens below the prune threshold, a fraction of the model's window; the output is then the
/// input. The window is that of --window or --model, else of the model that the session names.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PruneArgs {
    /// Sessions or request bodies; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Write the result to this file instead of stdout; never an input
    #[arg(short, long, value_name = "FILE", conflicts_with = "out_dir")]
    pub(crate) output: Option<PathBuf>,
    /// Write each result into this folder, under its own name
    #[arg(long, value_name = "DIR")]
    pub(crate) out_dir: Option<PathBuf>,
    /// Replace each file by its result, once the store holds the original; `neenee restore` undoes it
    #[arg(long, conflicts_with_all = ["output", "out_dir"])]
    pub(crate) in_place: bool,
    /// Keep the original in the store, in the session of this name; without it, that of the file's path
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Prune whatever the window holds, and however little that gives back
    #[arg(long)]
    pub(crate) now: bool,
    /// Recent tool output to protect, in tokens; 0 protects nothing
    #[arg(long, value_name = "N")]
    pub(crate) protect_tokens: Option<usize>,
    /// The window, in tokens of input
    #[arg(long, value_name = "N", value_parser = window)]
    pub(crate) window: Option<usize>,
    /// The model, for its window and tokenizer
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Read the input as this format instead of recognising it
    #[arg(long, value_name = "NAME", value_parser = format)]
    pub(crate) format: Option<Format>,
    /// Print what happens to each result and why; the result itself goes to -o or --out-dir only
    #[arg(long, conflicts_with = "json")]
    pub(crate) explain: bool,
    /// Print the same as JSON, an object on a line for each file
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing but errors on stderr
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  neenee prune session.jsonl -o pruned.jsonl
  neenee prune --now --explain session.jsonl
  neenee prune --now --json session.jsonl | jq '.results[] | select(.tier == \"cleared\")'
  neenee prune --window 200000 --protect-tokens 12000 - < body.json > smaller.json
  neenee prune ~/sessions/*.jsonl --out-dir pruned
  neenee prune --now --in-place session.jsonl && neenee restore session.jsonl --in-place";

pub(super) fn window(text: &str) -> Result<usize, String> {
    match text.replace('_', "").parse() {
        Ok(tokens) if tokens > 0 => Ok(tokens),
        _ => Err("expected a number of tokens from 1 up, as 200000".to_owned()),
    }
}

pub(super) fn format(name: &str) -> Result<Format, String> {
    Format::parse(name).ok_or_else(|| match nearest(name, Format::all().map(Format::name)) {
        Some(near) => format!("no such format; did you mean `{near}`?"),
        None => "no such format; `neenee formats` lists them".to_owned(),
    })
}
