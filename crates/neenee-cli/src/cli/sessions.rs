//! Arguments of `neenee sessions`.
//! Deliberately no behaviour.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Look at the sessions in the store, carry them about, and clean up
///
/// The store keeps every original that pruning took out of a window. A session goes by its name, by its
/// id, by the beginning of its id, or by the path of a file that was pruned in place.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct SessionsArgs {
    /// Print JSON, for programs
    #[arg(long)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Option<SessionsCommand>,
}

const EXAMPLES: &str = "\
Examples:
  neenee sessions                                    all of them, the latest last
  neenee sessions show session.jsonl                 its timeline, projections marked
  neenee sessions export session.jsonl -o s.jsonl    all of it, originals included
  neenee sessions gc --keep 30d                      what would go; with --yes it goes
  NEENEE_STORE=postgres://user@host/db neenee sessions

Exit codes: 0 done, 2 bad input, a damaged session, or a store that cannot be used.";

/// What to do with sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// Show a session: what it is, and its timeline with the projections marked
    Show(SessionArgs),
    /// Compare every event and every body of a session with its check sum
    Verify(SessionArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Fork(ForkArgs),
    Rename(RenameArgs),
    Delete(RemoveArgs),
    Gc(GcArgs),
}

/// Arguments of a command about one session.
#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    /// Name, id, beginning of the id, or file
    pub(crate) session: String,
    /// Print JSON, for programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// Write a session with all its originals as JSON lines
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Name, id, beginning of the id, or file
    pub(crate) session: String,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Take in a session that `export` wrote, and print its id
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The export; `-` is stdin
    pub(crate) file: PathBuf,
}

/// Begin a session that shares everything so far with another, and print its id; nothing is copied
#[derive(Debug, Args)]
pub(crate) struct ForkArgs {
    /// Name, id, beginning of the id, or file
    pub(crate) session: String,
    /// Share no more than up to this event of the timeline
    #[arg(long, value_name = "EVENT")]
    pub(crate) at: Option<u64>,
    /// The new session's name
    #[arg(long)]
    pub(crate) name: Option<String>,
}

/// Give a session another name
#[derive(Debug, Args)]
pub(crate) struct RenameArgs {
    /// Name, id, beginning of the id, or file
    pub(crate) session: String,
    /// The new name; without it the session has none
    pub(crate) name: Option<String>,
}

/// Delete sessions and the originals that no other session needs
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Names, ids, beginnings of ids, or files
    #[arg(required = true, value_name = "SESSION")]
    pub(crate) sessions: Vec<String>,
    /// Delete without asking
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Delete what is old or too much: print the plan, and with --yes carry it out
///
/// A session in use stays, and so does every original that a session which stays needs.
#[derive(Debug, Args)]
#[command(after_help = GC_EXAMPLES)]
pub(crate) struct GcArgs {
    /// Keep sessions that were written to within this time: 12h, 30d, 8w
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) keep: Option<jiff::SignedDuration>,
    /// Keep no more than this of raw originals, the longest unused go first: 500MB, 5GB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) max_size: Option<u64>,
    /// Carry the plan out
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print JSON, for programs
    #[arg(long)]
    pub(crate) json: bool,
}

const GC_EXAMPLES: &str = "\
Examples:
  neenee sessions gc --keep 30d
  neenee sessions gc --keep 8w --max-size 5GB --yes
  neenee sessions gc --yes                           only what deleted sessions left behind";

fn duration(text: &str) -> Result<jiff::SignedDuration, String> {
    let (number, unit) = split(text);
    let hours = match unit {
        "h" => 1,
        "d" => 24,
        "w" => 24 * 7,
        _ => 0,
    };
    number
        .parse::<i64>()
        .ok()
        .and_then(|number| number.checked_mul(hours))
        .filter(|hours| (1..=24 * 366 * 1000).contains(hours))
        .map(jiff::SignedDuration::from_hours)
        .ok_or_else(|| "expected a time from one hour up, as 12h, 30d or 8w".to_owned())
}

fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let factor: u64 = match unit.to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        _ => 0,
    };
    number
        .parse::<u64>()
        .ok()
        .filter(|_| factor > 0)
        .and_then(|number| number.checked_mul(factor))
        .ok_or_else(|| "expected a size, as 500MB or 5GB".to_owned())
}

/// Digits, and what follows them.
fn split(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.trim_start())
}

#[cfg(test)]
mod tests {
    use super::{duration, size};

    #[test]
    fn times_and_sizes_are_read() {
        for (text, hours) in [
            ("12h", Some(12)),
            ("30d", Some(720)),
            ("2w", Some(336)),
            ("0d", None),
            ("-1d", None),
            ("d", None),
            ("30", None),
            ("30m", None),
            ("99999999999999999999d", None),
            ("9223372036854775807w", None),
        ] {
            let read = duration(text).ok().map(|duration| duration.as_hours());
            assert_eq!(read, hours, "{text}");
        }
        for (text, bytes) in [
            ("0", Some(0)),
            ("5GB", Some(5_000_000_000)),
            ("500 mb", Some(500_000_000)),
            ("5GiB", None),
            ("GB", None),
            ("18446744073709551615TB", None),
        ] {
            assert_eq!(size(text).ok(), bytes, "{text}");
        }
    }
}
