//! What `opencode export` prints: a session's `info` and its messages, each with parts.
//! Deliberately not the request that a resume sends: system prompt and tools are not in the file.
//!
//! Source: recorded exports (opencode 1.18) and what the client sent when it resumed them.

mod parts;
mod window;

use std::borrow::Cow;

use neenee_core::message::Role;

use self::window::Window;
use crate::document::{Draft, Usage};
use crate::error::Fault;
use crate::json::Value;
use crate::source::Source;

pub(super) const DESCRIBE: &str =
    "opencode export (JSON); the window starts at the last compaction, with the tail that it kept";

/// A message of the export.
#[derive(Clone, Copy)]
struct Message<'t, 'a> {
    value: Value<'t, 'a>,
    info: Value<'t, 'a>,
    parts: Value<'t, 'a>,
    assistant: bool,
}

pub(super) fn sniff(source: &Source<'_>) -> bool {
    let messages = source.document_root().and_then(|root| {
        if root.is_array() {
            Some(root)
        } else {
            root.get("messages")
        }
    });
    messages
        .and_then(|messages| messages.items().next())
        .is_some_and(|message| {
            let [info, parts] = message.fields(["info", "parts"]);
            info.and_then(|info| info.get("role")).is_some() && parts.is_some_and(Value::is_array)
        })
}

pub(super) fn read<'a>(source: &Source<'a>) -> Result<Draft<'a>, Fault> {
    const HINT: &str = "`opencode export` prints an object with `info` and `messages`";
    let root = source
        .document_root()
        .ok_or_else(|| Fault::shape(0, "one exported session").hint(HINT))?;
    let list = if root.is_array() {
        root
    } else {
        root.want_object("an object with `info` and `messages`")
            .map_err(|fault| fault.hint(HINT))?
            .get("messages")
            .ok_or_else(|| Fault::shape(root.start(), "a field `messages`").hint(HINT))?
            .want_array("an array of messages")?
    };
    let messages = list
        .items()
        .map(Message::new)
        .collect::<Result<Vec<_>, _>>()?;
    let window = Window::new(root.get("info"), &messages);
    let mut draft = Draft::default();
    if let Some(cwd) = root.at(&["info", "directory"]).and_then(Value::decode) {
        draft.cwd(cwd);
    }
    let named = |message: &Message<'_, 'a>| {
        let [named, model] = message.info.fields(["modelID", "model"]);
        named
            .or_else(|| model?.get("modelID"))
            .and_then(Value::decode)
    };
    if let Some(model) = messages.iter().rev().find_map(named) {
        draft.model(model);
    }
    for (what, message) in window.outside(&messages) {
        draft.outside(what, message.value.raw().len());
    }
    for sent in &window.sent {
        let message = &messages[sent.message];
        read_info(&mut draft, message);
        parts::read(&mut draft, message, sent.parts)?;
    }
    Ok(draft)
}

/// Begins the message, with what is known about it.
fn read_info<'a>(draft: &mut Draft<'a>, message: &Message<'_, 'a>) {
    draft.message(if message.assistant {
        Role::Assistant
    } else {
        Role::User
    });
    let [time, tokens, path] = message.info.fields(["time", "tokens", "path"]);
    if let Some(info) = draft.info() {
        info.timestamp = time
            .and_then(|time| time.get("created"))
            .and_then(Value::i64);
        info.usage = tokens.map(read_usage);
    }
    let cwd = path.and_then(|path| path.get("cwd"));
    if let Some(cwd) = cwd.and_then(Value::decode) {
        draft.cwd(cwd);
    }
}

fn read_usage(tokens: Value<'_, '_>) -> Usage {
    let count = |path: &[&str]| tokens.at(path).and_then(Value::u64);
    Usage {
        input: count(&["input"]),
        cache_read: count(&["cache", "read"]),
        cache_write: count(&["cache", "write"]),
        output: count(&["output"]),
    }
}

impl<'t, 'a> Message<'t, 'a> {
    fn new(value: Value<'t, 'a>) -> Result<Self, Fault> {
        value.want_object("a message, which is an object")?;
        let [info, parts] = value.fields(["info", "parts"]);
        let (Some(info), Some(parts)) = (info, parts) else {
            return Err(Fault::shape(
                value.start(),
                "a message with `info` and `parts`",
            ));
        };
        let role = info
            .want_object("the `info` of a message, which is an object")?
            .get("role")
            .ok_or_else(|| Fault::shape(info.start(), "a message with a field `role`"))?
            .want_string("the role of a message, which is a string")?;
        Ok(Message {
            value,
            info,
            parts: parts.want_array("an array of parts")?,
            assistant: role.is("assistant"),
        })
    }

    fn id(&self) -> Option<Cow<'a, str>> {
        self.info.get("id")?.decode()
    }

    /// Its part of that type.
    fn part(&self, kind: &str) -> Option<Value<'t, 'a>> {
        self.parts
            .items()
            .find(|part| part.get("type").is_some_and(|own| own.is(kind)))
    }
}
