//! `glob`: files whose path matches a pattern.
//! Deliberately only their names: `list` shows folders, `read` shows content.

use serde_json::{Value, json};

use super::project::Access;
use super::{Boxed, Context, Nature, Output, Tool, blocking, optional, required, schema, walk};
use crate::provider::ToolSchema;

/// Files shown.
const FILES: usize = 500;

/// Finds files.
#[derive(Clone, Copy, Debug)]
pub struct Glob;

impl Tool for Glob {
    fn schema(&self) -> ToolSchema {
        schema(
            "glob",
            "Finds files by a pattern such as `src/**/*.rs`. Files that Git ignores are left out.",
            &json!({
                "pattern": { "type": "string", "description": "Glob with *, ?, ** and {a,b}" },
                "path": { "type": "string", "description": "Folder; the project folder unasked" },
            }),
            &["pattern"],
        )
    }

    fn nature(&self) -> Nature {
        Nature {
            parallel: true,
            disposable: true,
            ..Nature::default()
        }
    }

    fn run<'a>(&'a self, arguments: &'a Value, context: &'a Context<'a>) -> Boxed<'a, Output> {
        Box::pin(async move {
            let prepared = required(arguments, "pattern").and_then(|pattern| {
                let path = optional(arguments, "path").unwrap_or(".");
                let root = context.project.resolve(path, Access::Read)?;
                Ok((walk::matcher(pattern)?, root))
            });
            let (matcher, root) = match prepared {
                Ok(prepared) => prepared,
                Err(error) => return Err(error).into(),
            };
            let project = context.project.clone();
            let cancel = context.cancel.clone();
            let max_chars = context.max_chars;
            blocking(move || {
                let mut out = String::new();
                let (mut shown, mut more) = (0_usize, 0_usize);
                walk::files(&root, None, &cancel, |path, is_folder| {
                    if is_folder || !matcher.is_match(walk::below(&root, path)) {
                        return true;
                    }
                    let name = project.shown(path);
                    if shown >= FILES || out.len() + name.len() > max_chars {
                        more += 1;
                    } else {
                        shown += 1;
                        out.push_str(&name);
                        out.push('\n');
                    }
                    true
                })?;
                if shown == 0 {
                    return Ok("No files match".to_owned());
                }
                if more > 0 {
                    out.push_str(&format!("({more} more files)\n"));
                }
                Ok(out)
            })
            .await
            .into()
        })
    }
}
