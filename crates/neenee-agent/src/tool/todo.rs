//! `todo`: the model's own list of steps.
//! Deliberately kept in the conversation alone: its results are never pruned, so that a resumed session has it.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Boxed, Context, Nature, Output, Tool, schema};
use crate::provider::ToolSchema;

/// Takes note of steps.
#[derive(Clone, Copy, Debug)]
pub struct Todo;

impl Tool for Todo {
    fn schema(&self) -> ToolSchema {
        schema(
            "todo",
            "Writes down the steps of a longer task, all of them each time. At most one is in progress.",
            &json!({
                "todos": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "content": { "type": "string" },
                            "status": { "type": "string", "enum": ["pending", "in_progress", "done"] },
                        },
                        "required": ["content", "status"],
                    },
                },
            }),
            &["todos"],
        )
    }

    fn nature(&self) -> Nature {
        Nature::default()
    }

    fn run<'a>(&'a self, arguments: &'a Value, _: &'a Context<'a>) -> Boxed<'a, Output> {
        Box::pin(async move { list(arguments).into() })
    }
}

fn list(arguments: &Value) -> Result<String, String> {
    let todos = arguments["todos"]
        .as_array()
        .ok_or("expected an array as `todos`")?;
    let mut out = String::new();
    for (index, todo) in todos.iter().enumerate() {
        let content = todo["content"]
            .as_str()
            .ok_or_else(|| format!("expected a string as `content` of step {}", index + 1))?;
        let mark = match todo["status"].as_str() {
            Some("done" | "completed") => 'x',
            Some("in_progress") => '>',
            _ => ' ',
        };
        // Writing into a string cannot fail.
        let _ = writeln!(out, "[{mark}] {content}");
    }
    if out.is_empty() {
        out.push_str("(no steps)");
    }
    Ok(out)
}
