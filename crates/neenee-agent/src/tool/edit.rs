//! `edit`: one text in a file replaced by another.
//! Deliberately exact: what stands there once is replaced, anything else is an error that says what was found.

use serde_json::{Value, json};

use super::project::Access;
use super::{
    Boxed, Context, Nature, Output, Permission, Tool, blocking, read, required, schema, write,
};
use crate::provider::ToolSchema;

/// Edits a file.
#[derive(Clone, Copy, Debug)]
pub struct Edit;

impl Tool for Edit {
    fn schema(&self) -> ToolSchema {
        schema(
            "edit",
            "Replaces text in a file. `old` must stand in the file exactly, white space included and without \
             line numbers, and only once, unless `all` is true.",
            &json!({
                "path": { "type": "string", "description": "File, relative to the project folder" },
                "old": { "type": "string", "description": "Text that stands there" },
                "new": { "type": "string", "description": "Text that shall stand there" },
                "all": { "type": "boolean", "description": "Replace every occurrence" },
            }),
            &["path", "old", "new"],
        )
    }

    fn nature(&self) -> Nature {
        Nature {
            mutates: true,
            writes_arguments: true,
            ..Nature::default()
        }
    }

    fn asks(&self, arguments: &Value, context: &Context<'_>) -> Option<Permission> {
        let path = context
            .project
            .resolve(read::path(arguments).ok()?, Access::Write)
            .ok()?;
        let (old, new) = texts(arguments).ok()?;
        let signed = |sign: char, text: &str| -> String {
            text.lines().map(|line| format!("{sign}{line}\n")).collect()
        };
        Some(Permission::Write {
            path: context.project.shown(&path),
            preview: format!("{}{}", signed('-', old), signed('+', new)),
        })
    }

    fn run<'a>(&'a self, arguments: &'a Value, context: &'a Context<'a>) -> Boxed<'a, Output> {
        Box::pin(async move {
            let raw = match read::path(arguments) {
                Ok(raw) => raw,
                Err(error) => return Err(error).into(),
            };
            let (path, (old, new)) = match (
                context.project.resolve(raw, Access::Write),
                texts(arguments),
            ) {
                (Ok(path), Ok((old, new))) => (path, (old.to_owned(), new.to_owned())),
                (Err(error), _) | (_, Err(error)) => return Err(error).into(),
            };
            let all = arguments["all"] == true || arguments["replaceAll"] == true;
            let shown = context.project.shown(&path);
            blocking(move || {
                let before = read::text(&path)?;
                let (after, count) = replace(&before, &old, &new, all)
                    .map_err(|error| format!("{error} in {shown}; the file is unchanged"))?;
                write::put(&path, after.as_bytes())?;
                let places = if count == 1 { "place" } else { "places" };
                Ok(format!("Edited {shown} in {count} {places}"))
            })
            .await
            .into()
        })
    }
}

fn texts(arguments: &Value) -> Result<(&str, &str), String> {
    let either = |ours: &str, theirs: &str| match arguments[theirs].as_str() {
        Some(text) => Ok(text),
        None => required(arguments, ours),
    };
    Ok((either("old", "oldString")?, either("new", "newString")?))
}

/// The text with `old` replaced, and how often.
fn replace(text: &str, old: &str, new: &str, all: bool) -> Result<(String, usize), String> {
    if old.is_empty() {
        return Err(
            "expected the text to replace, found none; use `write` to fill a file".to_owned(),
        );
    }
    if old == new {
        return Err("`old` and `new` are the same: nothing to change".to_owned());
    }
    // A model sees lines and writes line feeds, whatever ends them in the file.
    let (old, new) = if text.contains("\r\n") && !old.contains('\r') {
        (old.replace('\n', "\r\n"), new.replace('\n', "\r\n"))
    } else {
        (old.to_owned(), new.to_owned())
    };
    match text.matches(&*old).count() {
        0 => Err(missing(text, &old)),
        1 => Ok((text.replacen(&*old, &new, 1), 1)),
        count if all => Ok((text.replace(&*old, &new), count)),
        count => {
            let lines: Vec<String> = text
                .match_indices(&*old)
                .take(5)
                .map(|(at, _)| (text[..at].matches('\n').count() + 1).to_string())
                .collect();
            Err(format!(
                "Found {count} matches of `old` (lines {}{}): add lines around it, or set `all`,",
                lines.join(", "),
                if count > 5 { ", …" } else { "" }
            ))
        }
    }
}

/// Says where something alike stands: mostly it is white space that differs.
fn missing(text: &str, old: &str) -> String {
    let bare = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = old.lines().map(bare).find(|line| !line.is_empty());
    let alike = first.and_then(|first| {
        text.lines()
            .enumerate()
            .find(|(_, line)| bare(line) == first)
    });
    match alike {
        Some((index, line)) => format!(
            "Could not find `old`; line {} differs in white space or in what follows: {line:?};",
            index + 1
        ),
        None => "Could not find `old`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_exact_place_or_an_error_that_helps() {
        let text = "a\n  b(1)\nc\na\n";
        assert_eq!(
            replace(text, "c\n", "d\n", false),
            Ok(("a\n  b(1)\nd\na\n".into(), 1))
        );
        assert_eq!(
            replace(text, "a\n", "x\n", true),
            Ok(("x\n  b(1)\nc\nx\n".into(), 2))
        );
        let error = |old| replace(text, old, "y", false).unwrap_err();
        assert!(error("a\n").contains("2 matches of `old` (lines 1, 4)"));
        assert!(error("\tb(1)\n").contains("line 2 differs"));
        assert!(error("zzz").starts_with("Could not find"));
        assert!(error("").contains("found none"));
        assert!(error("y").contains("the same"));
        let windows = replace("a\r\nb\r\n", "a\nb\n", "c\nd\n", false).unwrap();
        assert_eq!(windows.0, "c\r\nd\r\n");
    }
}
