//! Runs the tools of one turn: side by side where they allow it, in order where they do not.
//! Deliberately turns every failure into an answer: the model reads it, the round goes on.

use std::time::{Duration, Instant};

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use neenee_core::message::{Message, Part, Role, ToolCall, ToolResult};
use neenee_core::pressure::contains_marker;
use neenee_core::touch::ToolTable;
use serde_json::Value;

use super::response::{AgentResponse, Sink};
use crate::tool::{Approve, Context, Output, ToolSet};

/// How long a tool may take to stop by itself once it is cancelled.
const FAREWELL: Duration = Duration::from_secs(3);

/// What running calls needs.
pub(super) struct Runner<'a> {
    pub(super) tools: &'a ToolSet,
    pub(super) approve: &'a dyn Approve,
    pub(super) context: Context<'a>,
    pub(super) table: &'a ToolTable,
    pub(super) sink: &'a Sink,
}

/// One call with its answer.
pub(super) struct Answered {
    pub(super) call: ToolCall,
    pub(super) output: Output,
    /// It may have changed something.
    pub(super) mutated: bool,
}

impl Runner<'_> {
    /// Runs `calls` and hands on each answer as soon as it is there. Once `each` fails nothing new is begun.
    pub(super) async fn run<E>(
        &self,
        calls: Vec<ToolCall>,
        mut each: impl FnMut(Answered) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut calls = calls.into_iter().peekable();
        while let Some(first) = calls.next() {
            let mut group = FuturesUnordered::new();
            if self.is_parallel(&first) {
                group.push(self.answer(first));
                while let Some(next) = calls.next_if(|next| self.is_parallel(next)) {
                    group.push(self.answer(next));
                }
            } else {
                group.push(self.answer(first));
            }
            while let Some(answered) = group.next().await {
                each(answered)?;
            }
        }
        Ok(())
    }

    fn is_parallel(&self, call: &ToolCall) -> bool {
        let tool = self.tools.get(&call.name);
        tool.is_some_and(|tool| tool.nature().parallel)
    }

    async fn answer(&self, call: ToolCall) -> Answered {
        let begun = Instant::now();
        let id = call.id.clone().unwrap_or_default();
        let label = self.table.call(&call.name, &call.arguments, None).label;
        (self.sink)(AgentResponse::CallStarted {
            id: id.clone(),
            name: call.name.clone(),
            label: label.clone(),
        });
        let (output, mutated) = self.execute(&call).await;
        let output = self.capped(output).await;
        (self.sink)(AgentResponse::CallFinished {
            id,
            name: call.name.clone(),
            label,
            failed: output.failed,
            lines: output.text.lines().count(),
            chars: output.text.chars().count(),
            took: begun.elapsed(),
        });
        Answered {
            call,
            output,
            mutated,
        }
    }

    /// The answer, and whether the tool was let run and may have changed something.
    async fn execute(&self, call: &ToolCall) -> (Output, bool) {
        let refused = |text: String| (Output::failed(format!("Error: {text}")), false);
        if self.context.cancel.is_cancelled() {
            return refused("cancelled before it began".to_owned());
        }
        let Some(tool) = self.tools.get(&call.name) else {
            let names: Vec<&str> = self.tools.names().collect();
            return refused(format!(
                "No such tool: {}. There are {}.",
                call.name,
                names.join(", ")
            ));
        };
        let arguments = match arguments(&call.arguments) {
            Ok(arguments) => arguments,
            Err(error) => return refused(error),
        };
        let nature = tool.nature();
        if nature.writes_arguments && holds_marker(&arguments) {
            return refused(
                "the arguments hold the placeholder of a tool result that was taken out of the window. It is no \
                 part of any file: read the file again and write what really stands there. Nothing was changed."
                    .to_owned(),
            );
        }
        if let Some(permission) = tool.asks(&arguments, &self.context) {
            let allowed = tokio::select! {
                biased;
                () = self.context.cancel.cancelled() => return refused("cancelled before it began".to_owned()),
                allowed = self.approve.approve(&permission) => allowed,
            };
            if let Err(reason) = allowed {
                return refused(format!("not allowed: {reason}"));
            }
        }
        let mut running = tool.run(&arguments, &self.context);
        let output = tokio::select! {
            output = &mut running => output,
            () = self.context.cancel.cancelled() => {
                match tokio::time::timeout(FAREWELL, running).await {
                    Ok(output) => output,
                    Err(_) => Output::failed("Error: cancelled; it may have done a part of its work"),
                }
            }
        };
        (output, nature.mutates)
    }

    /// An output that fits, for tools that do not keep to the cap themselves; the whole of it goes to a file.
    async fn capped(&self, mut output: Output) -> Output {
        let max = self.context.max_chars;
        // Notes at the end of an output that was cut already are not worth a second cut.
        let Some((limit, _)) = output.text.char_indices().nth(max + 1_000) else {
            return output;
        };
        let text = std::mem::take(&mut output.text);
        let folder = self.context.project.spill().to_owned();
        let (total, head) = (text.len(), limit.min(max / 2));
        let (head, tail) = (
            text[..text.floor_char_boundary(head)].to_owned(),
            text[text.ceil_char_boundary(total - max / 2)..].to_owned(),
        );
        let kept = crate::tool::blocking(move || {
            let failed = |error: std::io::Error| error.to_string();
            let mut file = tempfile::Builder::new()
                .prefix("result-")
                .suffix(".txt")
                .tempfile_in(folder)
                .map_err(failed)?;
            std::io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)?;
            let (_, path) = file.keep().map_err(|error| failed(error.error))?;
            Ok(format!("the whole of it is in {}", path.display()))
        })
        .await
        .unwrap_or_else(|_| "the rest is lost".to_owned());
        output.text = format!("{head}\n[output truncated: {total} bytes in all, {kept}]\n{tail}");
        output
    }
}

/// The message that answers a call.
pub(super) fn message(call: &ToolCall, output: Output) -> Message {
    Message {
        role: Role::Tool,
        parts: vec![Part::Result(ToolResult {
            call_id: call.id.clone(),
            name: Some(call.name.clone()),
            text: output.text,
            media: Vec::new(),
            // The status of a command says more than a flag: 1 of `grep` is an answer.
            failed: output.exit_status.is_none().then_some(output.failed),
            exit_status: output.exit_status,
            degraded: None,
            children: output.children,
        })],
    }
}

fn arguments(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(Value::Object(object)),
        Ok(other) => Err(format!("expected an object as arguments, found {other}")),
        Err(error) => Err(format!("the arguments are not JSON: {error}")),
    }
}

/// Whether any text in there holds one of our markers.
fn holds_marker(value: &Value) -> bool {
    match value {
        Value::String(text) => contains_marker(text),
        Value::Array(list) => list.iter().any(holds_marker),
        Value::Object(object) => object.values().any(holds_marker),
        _ => false,
    }
}
