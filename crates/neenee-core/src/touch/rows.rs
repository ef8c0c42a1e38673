//! The shape of a table of tools as it is written: TOML into rows, with errors that name the line and the nearest key.
//! Deliberately no look-up and no meaning: `table` finds a row, `call` and `settle` act on it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::patterns::{Openings, Prefixes};
use super::table::ToolTableError;

/// One text: what holds for every tool, and a row for each tool or group of tools.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Tables {
    pub(super) common: Common,
    pub(super) tool: Vec<Row>,
}

/// How results speak, whatever the tool.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Common {
    /// Argument names that hold a file's path in a tool that no row describes.
    pub(super) paths: Vec<String>,
    /// Argument names that say most about a call, the best first.
    pub(super) label: Vec<String>,
    /// Words in the name of an unknown tool that say that it reads.
    pub(super) read_words: Vec<String>,
    /// Openings of results of failed calls.
    pub(super) errors: Vec<String>,
    /// Openings of results of calls that were never carried out.
    pub(super) refused: Vec<String>,
    /// First lines that tell an exit status, `{code}`.
    pub(super) exit_first: Vec<String>,
    /// Last lines that tell an exit status, `{code}`.
    pub(super) exit_last: Vec<String>,
    /// Lines after which the output itself begins.
    pub(super) bodies: Vec<String>,
    /// Openings of results that list a directory.
    pub(super) listings: Vec<String>,
    /// Tags that an agent wraps a whole result in.
    pub(super) wrappers: Vec<String>,
    /// Notes on which lines are shown.
    pub(super) notes: Vec<String>,
    /// Marks of text left out.
    pub(super) cuts: Vec<String>,
    /// Openings of header or footer lines that differ each time.
    pub(super) volatile: Vec<String>,
}

/// What a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Read,
    Mutate,
    Search,
    Shell,
    Patch,
    Fetch,
    #[default]
    Other,
}

/// A tool, or several that are alike.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Row {
    pub(super) names: Vec<String>,
    /// The row is for calls that have one of these arguments.
    pub(super) needs: Vec<String>,
    pub(super) kind: Option<Kind>,
    /// When one of these arguments is true, the call changes nothing.
    pub(super) unless: Option<Vec<String>>,
    /// Arguments that hold paths: `path`, `files[].path`.
    pub(super) paths: Option<Vec<String>>,
    /// Arguments that say most about a call, the best first.
    pub(super) label: Option<Vec<String>>,
    /// Arguments that hold a command line, or its words.
    pub(super) command: Option<Vec<String>>,
    /// Arguments that hold the directory a command runs in.
    pub(super) workdir: Option<Vec<String>>,
    /// Arguments that hold the text of a patch.
    pub(super) patch: Option<Vec<String>>,
    /// The argument that names a sub-command, and what each one does.
    pub(super) verb: Option<String>,
    pub(super) verbs: Option<BTreeMap<String, Kind>>,
    pub(super) range: Option<Range>,
    /// Openings of results of failed calls.
    pub(super) errors: Option<Openings>,
    /// Openings of header or footer lines that differ each time.
    pub(super) volatile: Option<Prefixes>,
    pub(super) disposable: Option<bool>,
    pub(super) continues: Option<bool>,
    pub(super) recalls: Option<bool>,
}

/// How a tool's arguments name the lines to read.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Range {
    /// The first line, counted from 1.
    pub(super) start: Vec<String>,
    /// The last line, counted from 1, itself included.
    pub(super) end: Vec<String>,
    /// The first line, counted from `base`.
    pub(super) offset: Vec<String>,
    pub(super) base: u64,
    /// How many lines.
    pub(super) limit: Vec<String>,
    /// First and last line in one value: `[10, 20]`, `"10-20"`, or a list of such.
    pub(super) pair: Vec<String>,
    /// How many lines from the top.
    pub(super) head: Vec<String>,
    /// How many lines from the end.
    pub(super) tail: Vec<String>,
    /// When true, the whole file whatever else is said.
    pub(super) whole: Vec<String>,
    /// How many lines come when no number is asked for.
    pub(super) lines: Option<u64>,
    /// Whether the path itself may end in `:10-20`.
    pub(super) suffix: bool,
}

impl Common {
    pub(super) fn append(&mut self, other: &Self) {
        let lists = [
            (&mut self.paths, &other.paths),
            (&mut self.label, &other.label),
            (&mut self.read_words, &other.read_words),
            (&mut self.errors, &other.errors),
            (&mut self.refused, &other.refused),
            (&mut self.exit_first, &other.exit_first),
            (&mut self.exit_last, &other.exit_last),
            (&mut self.bodies, &other.bodies),
            (&mut self.listings, &other.listings),
            (&mut self.wrappers, &other.wrappers),
            (&mut self.notes, &other.notes),
            (&mut self.cuts, &other.cuts),
            (&mut self.volatile, &other.volatile),
        ];
        for (mine, theirs) in lists {
            mine.extend(theirs.iter().filter(|text| !text.is_empty()).cloned());
        }
    }
}

impl Row {
    /// This row, with what it leaves unsaid taken from `below`.
    pub(super) fn completed_by(&self, below: Option<Self>) -> Self {
        let below = below.unwrap_or_default();
        let mine = self.clone();
        Self {
            names: mine
                .names
                .iter()
                .map(|name| name.to_ascii_lowercase())
                .collect(),
            needs: mine.needs,
            kind: mine.kind.or(below.kind),
            unless: mine.unless.or(below.unless),
            paths: mine.paths.or(below.paths),
            label: mine.label.or(below.label),
            command: mine.command.or(below.command),
            workdir: mine.workdir.or(below.workdir),
            patch: mine.patch.or(below.patch),
            verb: mine.verb.or(below.verb),
            verbs: mine.verbs.or(below.verbs),
            range: mine.range.or(below.range),
            errors: mine.errors.or(below.errors),
            volatile: mine.volatile.or(below.volatile),
            disposable: mine.disposable.or(below.disposable),
            continues: mine.continues.or(below.continues),
            recalls: mine.recalls.or(below.recalls),
        }
    }
}

/// Reads one text.
pub(super) fn parse(text: &str) -> Result<Tables, ToolTableError> {
    let tables: Tables = toml::from_str(text).map_err(|error| explain(text, &error))?;
    if let Some(row) = tables.tool.iter().position(|row| row.names.is_empty()) {
        return Err(ToolTableError {
            line: nth_row_line(text, row),
            message: "a tool without a name; give `names` at least one, such as `names = [\"read_file\"]`".to_owned(),
        });
    }
    Ok(tables)
}

fn explain(text: &str, error: &toml::de::Error) -> ToolTableError {
    let line = error.span().map(|span| {
        let before = &text.as_bytes()[..span.start.min(text.len())];
        before.iter().filter(|b| **b == b'\n').count() + 1
    });
    let message = error.message().trim().to_owned();
    let message = match nearest(&message) {
        Some(nearest) => format!("{message}; did you mean `{nearest}`?"),
        None => message,
    };
    ToolTableError { line, message }
}

/// Where the row of that number starts.
fn nth_row_line(text: &str, row: usize) -> Option<usize> {
    let rows = text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.trim_start().starts_with("[[tool]]"));
    rows.map(|(number, _)| number + 1).nth(row)
}

/// The valid name nearest to the unknown one, both taken from the message, which lists them in backticks.
fn nearest(message: &str) -> Option<String> {
    if !message.starts_with("unknown ") {
        return None;
    }
    let mut names = message.split('`').skip(1).step_by(2);
    let unknown = names.next()?;
    let near = names.map(|name| (edit_distance(unknown, name), name));
    let (distance, name) = near.min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + unknown.chars().count() / 2).then(|| name.to_owned())
}

/// How many letters must be added, removed or changed to make one word of the other.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
