//! Arguments of `neenee replay`.
//! Deliberately no behaviour.

use std::path::PathBuf;

use clap::Args;
use neenee_wire::Format;

/// Replay recorded sessions under a policy: what it keeps, saves and costs
///
/// Every request of a session is sent again in thought while a policy prunes the window; what each turn
/// really used of earlier results is held against what was left. Nothing is sent anywhere, and nothing
/// is changed. Sizes count from the first request on that would have been over the prune threshold.
///
/// --set takes the policy's own parameters besides the keys of the configuration.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReplayArgs {
    /// Sessions, or folders of them
    #[arg(required = true, value_name = "FILE|DIR")]
    pub(crate) files: Vec<PathBuf>,
    /// The policy
    #[arg(long, value_name = "NAME", default_value = "ours", conflicts_with_all = ["compare", "check"])]
    pub(crate) policy: String,
    /// Compare policies: `all`, or names with commas between them
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        conflicts_with = "check"
    )]
    pub(crate) compare: Vec<String>,
    /// Windows in tokens, with commas between them; without, that of each session's model
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = super::prune::window)]
    pub(crate) window: Vec<usize>,
    /// The model, for its window and tokenizer
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Read the input as this format instead of recognising it
    #[arg(long, value_name = "NAME", value_parser = super::prune::format)]
    pub(crate) format: Option<Format>,
    /// How many misses are listed of each policy
    #[arg(long, value_name = "N")]
    pub(crate) misses: Option<usize>,
    /// Print JSON: an object on a line for each session, then one for each policy and window
    #[arg(long)]
    pub(crate) json: bool,
    /// Write one self-contained page with plots and the misses
    #[arg(long, value_name = "OUT")]
    pub(crate) html: Option<PathBuf>,
    /// Write the plots as SVG files into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) svg: Option<PathBuf>,
    /// Hold the policy of this file to --max-missed, and exit with 1 when it misses more
    #[arg(long, value_name = "POLICY.toml", requires = "max_missed")]
    pub(crate) check: Option<PathBuf>,
    /// The most of all needed chars that may be missed, as 0.5%
    #[arg(long, value_name = "PERCENT", requires = "check", value_parser = percent)]
    pub(crate) max_missed: Option<f64>,
    /// Say nothing but errors on stderr
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  neenee replay session.jsonl
  neenee replay --compare all --window 100000,200000 ~/sessions
  neenee replay --policy keep-last-n --set keep=5 --misses 20 session.jsonl
  neenee replay --compare ours,none --html replay.html --svg plots ~/sessions/*.jsonl
  neenee replay --check policy.toml --max-missed 0.5% ~/sessions

A policy file:
  policy = \"ours\"
  window = 100000
  [set]
  target = 0.45";

fn percent(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text
        .strip_suffix('%')
        .and_then(|text| text.trim().parse().ok());
    match number {
        Some(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("expected a percentage from 0% to 100%, as 0.5%".to_owned()),
    }
}
