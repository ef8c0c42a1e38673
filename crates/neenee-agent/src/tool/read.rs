//! `read`: the lines of a text file, numbered.
//! Deliberately no reader of pictures or documents: what is not text is said to be none.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::project::Access;
use super::{Boxed, Context, Nature, Output, Tool, blocking, number, required, schema};
use crate::provider::ToolSchema;

/// Lines unasked; the table of what calls touch counts on it.
const LINES: usize = 2_000;
/// Longest line, in chars; the rest of it is left out.
const LINE_CHARS: usize = 2_000;
/// Larger files are looked at by `grep` and `bash`.
const MAX_BYTES: u64 = 64 << 20;

/// Reads a text file.
#[derive(Clone, Copy, Debug)]
pub struct Read;

impl Tool for Read {
    fn schema(&self) -> ToolSchema {
        schema(
            "read",
            "Reads a text file. Lines are numbered from 1. Without `offset` and `limit` up to 2000 lines \
             from the start; a long file is read in pages.",
            &json!({
                "path": { "type": "string", "description": "File, relative to the project folder" },
                "offset": { "type": "integer", "minimum": 1, "description": "First line" },
                "limit": { "type": "integer", "minimum": 1, "description": "Number of lines" },
            }),
            &["path"],
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
            let path = path(arguments).and_then(|raw| context.project.resolve(raw, Access::Read));
            let path = match path {
                Ok(path) => path,
                Err(error) => return Err(error).into(),
            };
            let first = number(arguments, "offset").unwrap_or(1).max(1);
            let limit = number(arguments, "limit").unwrap_or(LINES).max(1);
            let max_chars = context.max_chars;
            blocking(move || read(&path, first, limit, max_chars))
                .await
                .into()
        })
    }
}

/// Models that were trained with other tools say `file_path` or `filePath`.
pub(super) fn path(arguments: &Value) -> Result<&str, String> {
    for key in ["file_path", "filePath"] {
        if let Some(path) = arguments[key].as_str() {
            return Ok(path);
        }
    }
    required(arguments, "path")
}

/// The text of a file, or why there is none.
pub(super) fn text(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let metadata = path
        .metadata()
        .map_err(|error| format!("cannot read {shown}: {error}"))?;
    if metadata.is_dir() {
        return Err(format!("{shown} is a directory, not a file; use `list`"));
    }
    if !metadata.is_file() {
        return Err(format!("{shown} is no regular file"));
    }
    if metadata.len() > MAX_BYTES {
        return Err(format!(
            "{shown} has {} bytes; look at parts of it with `grep` or `bash`",
            metadata.len()
        ));
    }
    let bytes = std::fs::read(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    String::from_utf8(bytes).map_err(|_| format!("{shown} is no text file"))
}

fn read(path: &Path, first: usize, limit: usize, max_chars: usize) -> Result<String, String> {
    let text = text(path)?;
    if text.is_empty() {
        return Ok("(the file is empty)".to_owned());
    }
    let total = text.lines().count();
    if first > total {
        return Err(format!(
            "Offset {first} is behind the end: the file has {total} lines"
        ));
    }
    let mut out = String::new();
    let mut chars = 0;
    let mut last = first - 1;
    for (index, line) in text.lines().enumerate().skip(first - 1).take(limit) {
        let start = out.len();
        // Writing into a string cannot fail.
        let _ = write!(out, "{:>6}\t", index + 1);
        match line.char_indices().nth(LINE_CHARS) {
            None => out.push_str(line),
            Some((cut, _)) => {
                let _ = write!(
                    out,
                    "{} [line cut, {} bytes in all]",
                    &line[..cut],
                    line.len()
                );
            }
        }
        out.push('\n');
        chars += out[start..].chars().count();
        if chars > max_chars && last >= first {
            out.truncate(start);
            break;
        }
        last = index + 1;
    }
    if first > 1 || last < total {
        let _ = write!(out, "(showing lines {first}-{last} of {total}");
        if last < total {
            let _ = write!(out, "; go on with offset={}", last + 1);
        }
        out.push(')');
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_numbered_and_say_where_they_end() {
        let bed = tempfile::tempdir().unwrap();
        let path = bed.path().join("a");
        let text: String = (1..=10).map(|n| format!("line {n}\n")).collect();
        std::fs::write(&path, text).unwrap();
        let page = |first, limit, max| read(&path, first, limit, max);
        let whole = page(1, 2_000, 9_000).unwrap();
        assert!(whole.starts_with("     1\tline 1\n"));
        assert!(whole.ends_with("    10\tline 10\n"));
        let middle = page(3, 2, 9_000).unwrap();
        assert_eq!(
            middle,
            "     3\tline 3\n     4\tline 4\n(showing lines 3-4 of 10; go on with offset=5)"
        );
        // The cap cuts between lines, and never leaves out the first.
        let capped = page(1, 2_000, 30).unwrap();
        assert!(capped.contains("showing lines 1-2 of 10"), "{capped}");
        assert!(page(1, 2_000, 1).unwrap().contains("lines 1-1 of 10"));
        assert!(page(11, 1, 100).unwrap_err().contains("10 lines"));
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(page(1, 1, 9).unwrap_err().contains("no text file"));
    }
}
