//! Tools: what they declare, what they are given, what they answer.
//! Deliberately no tool itself: each is a file below, and an embedder's own are as good as ours.

mod bash;
mod edit;
mod envoy;
mod glob;
mod grep;
mod list;
pub mod project;
mod read;
mod todo;
mod walk;
mod write;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use neenee_core::message::Message;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use bash::Bash;
pub use edit::Edit;
pub use envoy::{Envoy, Spawn, Spawned};
pub use glob::Glob;
pub use grep::Grep;
pub use list::List;
pub use project::Project;
pub use read::Read;
pub use todo::Todo;
pub use write::Write;

use crate::provider::ToolSchema;

/// A future that a trait object can return.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something that a model can call.
pub trait Tool: Send + Sync {
    /// What the model is told of it. The name is what it is called by.
    fn schema(&self) -> ToolSchema;

    /// How it is treated.
    fn nature(&self) -> Nature;

    /// A row for the table of what calls touch (see `docs/tools.md`), for a tool whose name that table does not
    /// know: TOML, without `names`. `None` leaves it to the table.
    fn touches(&self) -> Option<String> {
        None
    }

    /// What has to be allowed before it runs with these arguments; `None` when nothing has.
    fn asks(&self, arguments: &Value, context: &Context<'_>) -> Option<Permission> {
        let _ = (arguments, context);
        None
    }

    /// Runs it. Failures are answers too: the model reads them. It should return soon after
    /// `context.cancel` is cancelled; the future is dropped if it does not.
    fn run<'a>(&'a self, arguments: &'a Value, context: &'a Context<'a>) -> Boxed<'a, Output>;
}

/// How a tool is treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nature {
    /// It changes something outside the conversation.
    pub mutates: bool,
    /// Calls of it may run beside other calls that say so.
    pub parallel: bool,
    /// Its results are looked at once: cleared at the next pruning, however recent.
    pub disposable: bool,
    /// Its arguments are written into files, so that they must not hold text of a pruned window.
    pub writes_arguments: bool,
}

/// What a tool is given besides its arguments.
pub struct Context<'a> {
    /// The folder that it works in.
    pub project: &'a Project,
    /// Cancelled when the round is.
    pub cancel: &'a CancellationToken,
    /// The longest result in chars; a tool says what it left out and how to get it.
    pub max_chars: usize,
    /// Runs sub-agents; `None` inside of one.
    pub spawn: Option<&'a dyn Spawn>,
}

/// What a tool answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// What the model reads.
    pub text: String,
    /// Whether it failed.
    pub failed: bool,
    /// The exit status of a command.
    pub exit_status: Option<i32>,
    /// The transcript of a sub-agent.
    pub children: Vec<Message>,
}

impl Output {
    /// A success.
    pub fn ok(text: impl Into<String>) -> Self {
        Output {
            text: text.into(),
            ..Output::default()
        }
    }

    /// A failure, with what to do about it if anything can be done.
    pub fn failed(text: impl Into<String>) -> Self {
        Output {
            text: text.into(),
            failed: true,
            ..Output::default()
        }
    }
}

/// The work of a tool as a `Result`; both sides are read by the model.
impl From<Result<String, String>> for Output {
    fn from(result: Result<String, String>) -> Self {
        match result {
            Ok(text) => Output::ok(text),
            Err(text) => Output::failed(format!("Error: {text}")),
        }
    }
}

/// What is asked of the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Permission {
    /// To change a file in the project.
    Write {
        /// The file, relative to the project where it lies in it.
        path: String,
        /// What it becomes, as a person would want to see it.
        preview: String,
    },
    /// To run a command, which can do anything that the person can.
    Command(String),
    /// Anything else.
    Other(String),
}

/// Who is asked.
pub trait Approve: Send + Sync {
    /// Whether it may be done. A refusal says why, for the model.
    fn approve<'a>(&'a self, permission: &'a Permission) -> Boxed<'a, Result<(), String>>;
}

/// Allows everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAll;

impl Approve for AllowAll {
    fn approve<'a>(&'a self, _: &'a Permission) -> Boxed<'a, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }
}

/// Allows nothing that has to be asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct DenyAll;

impl Approve for DenyAll {
    fn approve<'a>(&'a self, _: &'a Permission) -> Boxed<'a, Result<(), String>> {
        Box::pin(async { Err("nobody is there to allow it".to_owned()) })
    }
}

/// The tools of an agent, by name; their order is that of their names, so that requests begin alike.
#[derive(Clone, Default)]
pub struct ToolSet {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

impl ToolSet {
    /// No tools.
    pub fn new() -> Self {
        ToolSet::default()
    }

    /// Ours, all of them.
    pub fn builtin() -> Self {
        ToolSet::new()
            .with(Read)
            .with(Write)
            .with(Edit)
            .with(Grep)
            .with(Glob)
            .with(List)
            .with(Bash::default())
            .with(Todo)
            .with(Envoy)
    }

    /// The same with one more; it replaces one of the same name.
    #[must_use]
    pub fn with(mut self, tool: impl Tool + 'static) -> Self {
        self.tools.insert(tool.schema().name, Arc::new(tool));
        self
    }

    /// The same without those named.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        self.tools.retain(|name, _| !names.contains(&name.as_str()));
        self
    }

    /// The tool of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// All names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// What a model is told.
    pub fn schemas(&self) -> Vec<ToolSchema> {
        self.tools.values().map(|tool| tool.schema()).collect()
    }

    /// Rows for the table of what calls touch, as TOML.
    pub(crate) fn rows(&self) -> String {
        let mut rows = String::new();
        for (name, tool) in &self.tools {
            let disposable = tool.nature().disposable;
            let touches = tool.touches();
            if !disposable && touches.is_none() {
                continue;
            }
            // A name is a TOML string as JSON writes it.
            let name = Value::String(name.clone());
            rows.push_str(&format!("[[tool]]\nnames = [{name}]\n"));
            if disposable {
                rows.push_str("disposable = true\n");
            }
            rows.push_str(&touches.unwrap_or_default());
            rows.push('\n');
        }
        rows
    }
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}

/// A schema of an object; `properties` as JSON.
pub(crate) fn schema(
    name: &str,
    description: &str,
    properties: &Value,
    required: &[&str],
) -> ToolSchema {
    ToolSchema {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: serde_json::json!({
            "type": "object", "properties": properties, "required": required,
            "additionalProperties": false
        }),
    }
}

/// A string argument that must be there.
pub(crate) fn required<'a>(arguments: &'a Value, key: &str) -> Result<&'a str, String> {
    match &arguments[key] {
        Value::String(text) => Ok(text),
        Value::Null => Err(format!("expected the argument `{key}`, found none")),
        other => Err(format!("expected a string as `{key}`, found {other}")),
    }
}

/// A string argument that may be missing or empty.
pub(crate) fn optional<'a>(arguments: &'a Value, key: &str) -> Option<&'a str> {
    arguments[key].as_str().filter(|text| !text.is_empty())
}

/// A count that may be missing; models write numbers as strings now and then.
pub(crate) fn number(arguments: &Value, key: &str) -> Option<usize> {
    let value = &arguments[key];
    let number = value
        .as_u64()
        .or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()))?;
    usize::try_from(number).ok()
}

/// Runs blocking work beside the loop.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(_) => Err("the tool broke off".to_owned()),
    }
}
