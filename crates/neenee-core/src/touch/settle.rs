//! From a call and its result to what was really touched.
//! Deliberately no comparison with other calls: that is `pressure`'s.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::call::{CallTouch, Form};
use super::range::LineRange;
use super::result::{self, Report};
use super::rows::Kind;
use super::table::ToolTable;
use super::{Access, Target};

/// What a call's result says about it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outcome<'a> {
    /// The text of the result; empty when it has none.
    pub text: &'a str,
    /// The format's own flag for a failed call, where it has one.
    pub failed: Option<bool>,
    /// The exit status of a command, where the format carries one beside the text.
    pub exit_status: Option<i32>,
}

/// What a call touched in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// Whether the call failed: by the format's own flag, else by the exit status of a command, else by the table's
    /// error patterns. A status of 1 from a command that answers with it (`grep`, `diff`, `test`) is no failure.
    pub failed: bool,
    /// Whether the mutations in `targets` count although the call failed: those of a command line, which
    /// may have happened before the failure.
    pub mutations_hold: bool,
    /// The files touched, reads with the lines really returned where the result tells. One file may stand here
    /// several times, with pieces that do not touch each other. Of a failed command line only the mutations are left; of
    /// any other failed call all files, as asked, which then neither supersede nor are superseded.
    pub targets: Vec<Target>,
    /// A hash of what the result says, header lines that differ each time aside; two calls of one tool with the same
    /// arguments and the same hash said the same. `None` when the call touched files, failed, or continues a former one.
    pub same_as: Option<u64>,
}

impl CallTouch {
    /// What the call touched, now that its result is there. `table` is the one that the call was read by.
    #[must_use]
    pub fn settle(&self, table: &ToolTable, outcome: &Outcome<'_>) -> Settled {
        let unwrapped = result::unwrap(table, outcome.text);
        let report = Report::new(table, self.row, &unwrapped);
        let mut settled = match self.form {
            Form::Shell { .. } => self.settle_shell(&report, outcome),
            _ => self.settle_other(&report, outcome),
        };
        if settled.targets.is_empty()
            && self.targets.is_empty()
            && !settled.failed
            && !self.continues
        {
            settled.same_as = Some(hash_of(report.stable_parts()));
        }
        settled
    }

    fn settle_shell(&self, report: &Report<'_>, outcome: &Outcome<'_>) -> Settled {
        let Form::Shell {
            one_is_an_answer,
            sole,
            numbered,
        } = self.form
        else {
            return self.settle_other(report, outcome);
        };
        let status = outcome.exit_status.or_else(|| report.exit_status());
        let failed = match (status, outcome.failed) {
            (Some(1), _) if one_is_an_answer => false,
            (Some(0), flag) => flag.unwrap_or(false),
            (Some(_), _) => true,
            (None, Some(flag)) => flag,
            (None, None) => report.says_refused() || report.says_failed_by_row(),
        };
        if failed {
            let refused = status.is_none() && report.says_refused();
            let mutations = self
                .targets
                .iter()
                .filter(|target| target.access == Access::Mutate);
            return Settled {
                failed: true,
                mutations_hold: !refused,
                targets: if refused {
                    Vec::new()
                } else {
                    mutations.cloned().collect()
                },
                same_as: None,
            };
        }
        let reads = self
            .targets
            .iter()
            .filter(|target| target.access != Access::Mutate)
            .count();
        let mut targets = Vec::with_capacity(self.targets.len());
        // Only reads are measured; without one the text is not even looked at.
        let cut = reads > 0 && report.is_cut();
        for target in &self.targets {
            match target.access {
                Access::Mutate => targets.push(target.clone()),
                Access::Read(asked) => {
                    let pieces = if sole && numbered && reads == 1 {
                        report.pieces()
                    } else {
                        None
                    };
                    let returned = match pieces {
                        Some(pieces) if cut || asked.is_empty() => pieces,
                        _ if cut => vec![LineRange::NOTHING],
                        _ if sole && reads == 1 => vec![ended(asked, report.body_lines())],
                        _ => vec![asked],
                    };
                    push_pieces(&mut targets, target, returned);
                }
            }
        }
        Settled {
            failed: false,
            mutations_hold: true,
            targets,
            same_as: None,
        }
    }

    fn settle_other(&self, report: &Report<'_>, outcome: &Outcome<'_>) -> Settled {
        let failed = match outcome.failed {
            Some(flag) => flag,
            None => match self.kind {
                // A patch tool may report as a command does.
                Kind::Patch => report
                    .exit_status()
                    .map_or_else(|| report.says_failed(), |status| status != 0),
                _ => report.says_failed(),
            },
        };
        let mut settled = Settled {
            failed,
            mutations_hold: !failed,
            targets: self.targets.clone(),
            same_as: None,
        };
        if failed || self.kind != Kind::Read {
            return settled;
        }
        if report.lists_a_directory() {
            settled.targets.clear();
            return settled;
        }
        let [target] = self.targets.as_slice() else {
            return settled;
        };
        let Access::Read(asked) = target.access else {
            return settled;
        };
        let returned = match self.form {
            Form::ByShape => match report.pieces() {
                Some(_) => report.returned(asked),
                None => Vec::new(),
            },
            _ => report.returned(asked),
        };
        settled.targets.clear();
        push_pieces(&mut settled.targets, target, returned);
        settled
    }
}

/// What was asked, open to the end of the file when fewer lines came than were asked for.
fn ended(asked: LineRange, lines: u64) -> LineRange {
    match asked.end {
        Some(end) if !asked.is_empty() && asked.start.saturating_add(lines) < end => {
            LineRange::new(asked.start, None)
        }
        _ => asked,
    }
}

fn push_pieces(targets: &mut Vec<Target>, target: &Target, pieces: Vec<LineRange>) {
    targets.extend(pieces.into_iter().map(|range| Target {
        path: target.path.clone(),
        access: Access::Read(range),
    }));
}

fn hash_of<'a>(parts: impl Iterator<Item = &'a str>) -> u64 {
    let mut hasher = FxHasher::default();
    for part in parts {
        hasher.write(part.as_bytes());
        hasher.write_u8(0xff);
    }
    hasher.finish()
}
