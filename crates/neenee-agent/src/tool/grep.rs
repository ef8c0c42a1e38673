//! `grep`: lines that match a regular expression.
//! Deliberately no reader: it shows lines, and says when there are more than it shows.

use std::path::{Path, PathBuf};

use regex::RegexBuilder;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::project::{Access, Project};
use super::{Boxed, Context, Nature, Output, Tool, blocking, optional, required, schema, walk};
use crate::provider::ToolSchema;

/// Matches shown.
const MATCHES: usize = 250;
/// Longest line shown, in chars.
const LINE_CHARS: usize = 300;
/// Larger files are generated ones.
const MAX_BYTES: u64 = 8 << 20;

/// Searches in files.
#[derive(Clone, Copy, Debug)]
pub struct Grep;

impl Tool for Grep {
    fn schema(&self) -> ToolSchema {
        schema(
            "grep",
            "Searches files for a regular expression (Rust syntax) and shows `file:line: text`. Files that Git \
             ignores are left out.",
            &json!({
                "pattern": { "type": "string", "description": "Regular expression" },
                "path": { "type": "string", "description": "Folder or file; the project folder unasked" },
                "include": { "type": "string", "description": "Only files that match this glob" },
                "ignore_case": { "type": "boolean" },
            }),
            &["pattern"],
        )
    }

    fn nature(&self) -> Nature {
        Nature {
            parallel: true,
            ..Nature::default()
        }
    }

    fn run<'a>(&'a self, arguments: &'a Value, context: &'a Context<'a>) -> Boxed<'a, Output> {
        Box::pin(async move {
            let search = match Search::of(arguments, context) {
                Ok(search) => search,
                Err(error) => return Err(error).into(),
            };
            blocking(move || search.run()).await.into()
        })
    }
}

struct Search {
    regex: regex::Regex,
    include: Option<globset::GlobMatcher>,
    root: PathBuf,
    project: Project,
    cancel: CancellationToken,
    max_chars: usize,
}

impl Search {
    fn of(arguments: &Value, context: &Context<'_>) -> Result<Self, String> {
        let pattern = required(arguments, "pattern")?;
        let path = optional(arguments, "path").unwrap_or(".");
        let root = context.project.resolve(path, Access::Read)?;
        if !root.exists() {
            return Err(format!("no such file or folder: {path}"));
        }
        Ok(Search {
            regex: RegexBuilder::new(pattern)
                .case_insensitive(arguments["ignore_case"] == true)
                .size_limit(4 << 20)
                .build()
                .map_err(|error| format!("expected a regular expression: {error}"))?,
            include: optional(arguments, "include")
                .map(walk::matcher)
                .transpose()?,
            root,
            project: context.project.clone(),
            cancel: context.cancel.clone(),
            max_chars: context.max_chars,
        })
    }

    fn run(&self) -> Result<String, String> {
        let mut out = String::new();
        let (mut shown, mut chars, mut more) = (0_usize, 0_usize, 0_usize);
        walk::files(&self.root, None, &self.cancel, |path, is_folder| {
            if is_folder || !self.included(path) {
                return true;
            }
            let Some(text) = text(path) else { return true };
            let name = self.project.shown(path);
            for (index, line) in text.lines().enumerate() {
                if !self.regex.is_match(line) {
                    continue;
                }
                let cut: String = line.chars().take(LINE_CHARS).collect();
                let row = format!("{name}:{}: {}\n", index + 1, cut.trim_end());
                let length = row.chars().count();
                if shown >= MATCHES || chars + length > self.max_chars {
                    more += 1;
                    continue;
                }
                shown += 1;
                chars += length;
                out.push_str(&row);
            }
            more < 100_000
        })?;
        if shown == 0 && more == 0 {
            return Ok("No matches".to_owned());
        }
        if more > 0 {
            out.push_str(&format!(
                "({more} more matches; narrow the pattern or the path)\n"
            ));
        }
        Ok(out)
    }

    fn included(&self, path: &Path) -> bool {
        let Some(include) = &self.include else {
            return true;
        };
        include.is_match(walk::below(&self.root, path))
            || include.is_match(walk::below(self.project.root(), path))
    }
}

fn text(path: &Path) -> Option<String> {
    let metadata = path.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return None;
    }
    let bytes = std::fs::read(path).ok()?;
    String::from_utf8(bytes).ok()
}
