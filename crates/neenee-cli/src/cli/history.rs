//! Arguments of `neenee restore` and `neenee diff`.
//! Deliberately no behaviour.

use std::path::PathBuf;

use clap::Args;

/// Give back what pruning took out: a whole session, one result, or any state in between
///
/// Without options it is the whole original: of a file that was pruned, the file byte for byte, with
/// what was added since; of a session of our own, every message as it joined, as JSON lines.
#[derive(Debug, Args)]
#[command(after_help = RESTORE_EXAMPLES)]
pub(crate) struct RestoreArgs {
    /// Name, id, beginning of the id, or the file that was pruned in place
    pub(crate) session: String,
    /// Only the result of this call
    #[arg(long, value_name = "ID", conflicts_with_all = ["at", "in_place"])]
    pub(crate) call: Option<String>,
    /// The state as of this event of the timeline, `neenee sessions show` has the numbers
    #[arg(long, value_name = "EVENT")]
    pub(crate) at: Option<u64>,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE", conflicts_with = "in_place")]
    pub(crate) output: Option<PathBuf>,
    /// Put the file back where it was, with what was added to it since
    #[arg(long)]
    pub(crate) in_place: bool,
}

const RESTORE_EXAMPLES: &str = "\
Examples:
  neenee restore session.jsonl --in-place            undo `neenee prune --in-place`
  neenee restore session.jsonl -o original.jsonl
  neenee restore session.jsonl --call toolu_01A      one result, whole
  neenee restore work --at 12                        as the window was after event 12";

/// Show what a projection took out of what the model sees
#[derive(Debug, Args)]
#[command(after_help = DIFF_EXAMPLES)]
pub(crate) struct DiffArgs {
    /// Name, id, beginning of the id, or the file that was pruned in place
    pub(crate) session: String,
    /// The event of the projection; without it, the last projection
    #[arg(long, value_name = "EVENT")]
    pub(crate) at: Option<u64>,
    /// Only which results changed, a line for each
    #[arg(long)]
    pub(crate) brief: bool,
}

const DIFF_EXAMPLES: &str = "\
Examples:
  neenee diff session.jsonl
  neenee diff work --at 12 --brief";
