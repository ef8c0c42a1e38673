//! One configuration file: TOML into settings, with the line of every value and of every mistake.
//! Deliberately strict: a key that is not known is a mistake, since a typo must not pass for a choice.

use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::Result;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::key::{Key, ROWS, nearest};
use super::{Origin, Settings};
use crate::error::Failure;

/// The key under which rows of the tool table stand, as `[[tool]]`.
const TOOL: &str = "tool";

/// Rows of the tool table from one file.
#[derive(Clone, Debug)]
pub(crate) struct ToolRows {
    /// The file.
    pub(crate) path: PathBuf,
    /// The line of the first row, counted from 1.
    pub(crate) line: usize,
    /// How many rows.
    pub(crate) count: usize,
    /// The file with everything blank but the rows, so that the lines of errors are those of the file.
    pub(crate) text: String,
}

/// Applies a file over what `settings` hold so far.
pub(super) fn apply(settings: &mut Settings, path: &Path, text: &str) -> Result<()> {
    let file = File { path, text };
    let root = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        file.refuse(at, error.message().trim(), None)
    })?;
    for (name, value) in root.get_ref() {
        match value.get_ref() {
            DeValue::Array(_) if name.get_ref() == TOOL => {
                let rows = file.tool_rows(name.span(), value, root.get_ref());
                settings.tools.push(rows);
            }
            DeValue::Table(table) if is_table(name.get_ref()) => {
                for (inner, value) in table {
                    let dotted = format!("{}.{}", name.get_ref(), inner.get_ref());
                    file.set(settings, &dotted, inner.span(), value)?;
                }
            }
            _ => file.set(settings, name.get_ref(), name.span(), value)?,
        }
    }
    Ok(())
}

struct File<'a> {
    path: &'a Path,
    text: &'a str,
}

impl File<'_> {
    fn set(
        &self,
        settings: &mut Settings,
        name: &str,
        at: Range<usize>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<()> {
        let Some(row) = Key::find(name) else {
            return Err(if name == TOOL || is_table(name) {
                let form = if name == TOOL { "[[tool]]" } else { "a table" };
                self.refuse(at.start, &format!("expected `{name}` to be {form}"), None)
            } else {
                self.refuse(
                    at.start,
                    &format!("unknown key `{name}`"),
                    Some(suggest(name)),
                )
            });
        };
        let value = row
            .kind
            .read(value.get_ref())
            .map_err(|what| self.refuse(at.start, &format!("`{name}`: {what}"), None))?;
        settings.set(
            row.key,
            value,
            Origin::File {
                path: self.path.to_owned(),
                line: self.line(at.start),
            },
        );
        Ok(())
    }

    /// Blanks everything but the rows. A section reaches from its header to the next one, and the only
    /// other headers that a valid file has are those of tables of settings.
    fn tool_rows(
        &self,
        key: Range<usize>,
        value: &Spanned<DeValue<'_>>,
        root: &DeTable<'_>,
    ) -> ToolRows {
        let rows = value.get_ref().as_array().map(|rows| &rows[..]);
        let rows = rows.unwrap_or_default();
        let inline = !self.text[value.span()].starts_with("[[");
        let mut keep: Vec<Range<usize>> = Vec::new();
        if inline {
            keep.push(key.start..value.span().end);
        } else {
            let mut borders: Vec<(usize, bool)> =
                rows.iter().map(|row| (row.span().start, true)).collect();
            for (name, value) in root {
                if name.get_ref() != TOOL && value.get_ref().is_table() {
                    borders.push((value.span().start, false));
                }
            }
            borders.push((self.text.len(), false));
            borders.sort_unstable();
            keep.extend(
                borders
                    .windows(2)
                    .filter(|pair| pair[0].1)
                    .map(|pair| pair[0].0..pair[1].0),
            );
        }
        let text = self.text.char_indices().map(|(at, character)| {
            if character == '\n' || keep.iter().any(|range| range.contains(&at)) {
                character
            } else {
                ' '
            }
        });
        ToolRows {
            path: self.path.to_owned(),
            line: self.line(key.start),
            count: rows.len(),
            text: text.collect(),
        }
    }

    fn line(&self, at: usize) -> usize {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        before.iter().filter(|&&byte| byte == b'\n').count() + 1
    }

    fn refuse(&self, at: usize, what: &str, fix: Option<String>) -> anyhow::Error {
        let message = format!(
            "failed to read {}, line {}: {what}",
            self.path.display(),
            self.line(at)
        );
        match fix {
            Some(fix) => Failure::new(message).fix(fix).into(),
            None => Failure::new(message).into(),
        }
    }
}

/// What to do about a name that is not known.
pub(super) fn suggest(name: &str) -> String {
    let known = ROWS.iter().map(|row| row.name);
    let last = |name: &'static str| name.rsplit('.').next().unwrap_or(name);
    let bare = name.rsplit('.').next().unwrap_or(name);
    // A key that was put into the wrong table is meant all the same.
    let moved = known.clone().find(|candidate| last(candidate) == bare);
    match moved.or_else(|| nearest(name, known.chain([TOOL]))) {
        Some(found) => format!("did you mean `{found}`?"),
        None => "`neenee config` lists the keys".to_owned(),
    }
}

fn is_table(name: &str) -> bool {
    ROWS.iter()
        .any(|row| matches!(row.name.split_once('.'), Some((table, _)) if table == name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Layers;

    #[track_caller]
    fn read(text: &str) -> Result<Settings, String> {
        let mut settings = Settings::load(&Layers::default()).unwrap();
        apply(&mut settings, Path::new("neenee.toml"), text)
            .map(|()| settings)
            .map_err(|error| crate::error::tell(&error))
    }

    #[test]
    fn mistakes_name_the_line_and_the_nearest_key() {
        for (text, expected) in [
            (
                "\ncompaction_pruned = true",
                "line 2: unknown key `compaction_pruned`\n  fix: did you mean `compaction_prune`?",
            ),
            (
                "[compaction]\n\nprune_utilisation = 0.5",
                "line 3: unknown key `compaction.prune_utilisation`\n  fix: did you mean `compaction.prune_utilization`?",
            ),
            (
                "prune_utilization = 0.5",
                "line 1: unknown key `prune_utilization`\n  fix: did you mean `compaction.prune_utilization`?",
            ),
            (
                "zzz = 1",
                "line 1: unknown key `zzz`\n  fix: `neenee config` lists the keys",
            ),
            ("[zzz]\na = 1", "line 1: unknown key `zzz`"),
            (
                "compaction_prune = 1",
                "line 1: `compaction_prune`: expected true or false, found a whole number",
            ),
            (
                "window = 0",
                "line 1: `window`: expected a whole number from 1 up, found 0",
            ),
            (
                "compaction.prune_utilization = 1.5",
                "line 1: `compaction.prune_utilization`: expected a number between 0 and 1, found 1.5",
            ),
            (
                "compaction = 1",
                "line 1: expected `compaction` to be a table",
            ),
            ("tool = 1", "line 1: expected `tool` to be [[tool]]"),
            ("model = 'a'\nmodel = 'b'", "line 2: duplicate key"),
            ("model = ", "line 1: "),
            (
                "rewrite_rule = 'never'",
                "line 1: `rewrite_rule`: expected one of auto, free, drop, delegate, append_only, found `never`",
            ),
            (
                "protect_tools = ['a', 1]",
                "line 1: `protect_tools`: expected a list of globs, such as [\"todo*\"], found a whole number in it",
            ),
        ] {
            let told = read(text).unwrap_err();
            assert!(
                told.contains(&format!("neenee.toml, {expected}")),
                "{text}\n{told}"
            );
        }
    }

    #[test]
    fn rows_of_tools_keep_their_lines() {
        let text = "model = 'é'\n[[tool]]\nnames = ['a']\n\n[compaction]\nprune_utilization = 0.5\n[[tool]]\nnames = ['''\n[compaction]''']\n[tool.range]\nlimit = ['n']\n";
        let settings = read(text).unwrap();
        let rows = &settings.tools[0];
        assert_eq!((rows.line, rows.count), (2, 2));
        let lines: Vec<&str> = rows.text.lines().map(str::trim_end).collect();
        assert_eq!(
            lines,
            [
                "",
                "[[tool]]",
                "names = ['a']",
                "",
                "",
                "",
                "[[tool]]",
                "names = ['''",
                "[compaction]''']",
                "[tool.range]",
                "limit = ['n']"
            ]
        );
        let inline = read("model = 'a'\ntool = [{ names = ['x'] }] # c\nwindow = 1\n").unwrap();
        assert_eq!(
            inline.tools[0].text.split_whitespace().collect::<String>(),
            "tool=[{names=['x']}]"
        );
    }
}
