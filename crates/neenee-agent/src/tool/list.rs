//! `list`: what is in a folder.
//! Deliberately two levels at most: a whole tree is `glob`'s.

use serde_json::{Value, json};

use super::project::Access;
use super::{Boxed, Context, Nature, Output, Tool, blocking, number, optional, schema, walk};
use crate::provider::ToolSchema;

/// Entries shown.
const ENTRIES: usize = 500;

/// Lists a folder.
#[derive(Clone, Copy, Debug)]
pub struct List;

impl Tool for List {
    fn schema(&self) -> ToolSchema {
        schema(
            "list",
            "Lists a folder; folders end in `/`. What Git ignores is left out.",
            &json!({
                "path": { "type": "string", "description": "Folder; the project folder unasked" },
                "depth": { "type": "integer", "minimum": 1, "maximum": 2 },
            }),
            &[],
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
            let raw = optional(arguments, "path").unwrap_or(".");
            let root = match context.project.resolve(raw, Access::Read) {
                Ok(root) if root.is_dir() => root,
                Ok(_) => return Err(format!("{raw} is no folder")).into(),
                Err(error) => return Err(error).into(),
            };
            let depth = number(arguments, "depth").unwrap_or(1).clamp(1, 2);
            let cancel = context.cancel.clone();
            blocking(move || {
                let mut out = String::new();
                let (mut shown, mut more) = (0_usize, 0_usize);
                walk::files(&root, Some(depth), &cancel, |path, is_folder| {
                    if shown >= ENTRIES {
                        more += 1;
                        return true;
                    }
                    shown += 1;
                    out.push_str(&walk::below(&root, path).display().to_string());
                    out.push_str(if is_folder { "/\n" } else { "\n" });
                    true
                })?;
                if shown == 0 {
                    return Ok("(the folder is empty)".to_owned());
                }
                if more > 0 {
                    out.push_str(&format!("({more} more entries)\n"));
                }
                Ok(out)
            })
            .await
            .into()
        })
    }
}
