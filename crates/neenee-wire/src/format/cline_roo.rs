//! Cline's and Roo Code's histories: Anthropic's messages, with calls and results in their text or as blocks.
//! Deliberately not what the extensions show (`ui_messages.json`), nor the system prompt, which is not kept.
//!
//! Source: `api_conversation_history.json` of both, and the message files of Cline's SDK.

mod calls;
mod results;

use std::borrow::Cow;

use neenee_core::message::Role;

use super::anthropic::blocks::{self, DIALECT};
use crate::content::Dialect;
use crate::document::Draft;
use crate::error::Fault;
use crate::json::{Kind, Value};
use crate::source::Source;

pub(super) const DESCRIBE: &str =
    "Cline or Roo Code history (JSON); the window starts at the last summary";

/// Messages that are looked at to tell the format.
const SNIFFED: usize = 8;

pub(super) fn sniff(source: &Source<'_>) -> bool {
    let Some(messages) = source.document_root().and_then(messages) else {
        return false;
    };
    let mut some = false;
    // What no request has is the time of a message.
    messages.items().take(SNIFFED).all(|message| {
        some = true;
        let [role, content, time] = message.fields(["role", "content", "ts"]);
        role.is_some_and(|role| role.is("user") || role.is("assistant"))
            && content.is_some_and(|content| content.is_array() || content.is_string())
            && time.is_some_and(|time| time.kind() == Kind::Number)
    }) && some
}

pub(super) fn read<'a>(source: &Source<'a>) -> Result<Draft<'a>, Fault> {
    const HINT: &str = "it is `api_conversation_history.json`, or Cline's messages file";
    let root = source
        .document_root()
        .ok_or_else(|| Fault::shape(0, "one history").hint(HINT))?;
    let list = messages(root)
        .ok_or_else(|| Fault::shape(root.start(), "an array of messages").hint(HINT))?;
    let messages: Vec<_> = list.items().collect();
    let mut draft = Draft::default();
    let model = |message: &Value<'_, 'a>| message.at(&["modelInfo", "id"])?.decode();
    if let Some(model) = messages.iter().rev().find_map(model) {
        draft.model(model);
    }
    if let Some(prompt) = root.get("system_prompt").and_then(Value::decode) {
        draft.message(Role::System);
        draft.text(prompt);
    }
    let dialect = DIALECT.of_model(draft.named_model());
    let first = window(&messages);
    let mut spoken = None;
    for (at, message) in messages.iter().enumerate() {
        if at < first.start && !(at == 0 && first.task) {
            draft.outside("messages before the last summary", message.raw().len());
        } else if message
            .get("truncationParent")
            .is_some_and(Value::is_string)
        {
            draft.outside("messages that were cut off", message.raw().len());
        } else {
            read_message(&mut draft, *message, &mut spoken, &dialect)?;
        }
    }
    Ok(draft)
}

fn messages<'t, 'a>(root: Value<'t, 'a>) -> Option<Value<'t, 'a>> {
    let list = if root.is_array() {
        Some(root)
    } else {
        root.get("messages")
    };
    list.filter(|list| list.is_array())
}

struct Start {
    start: usize,
    /// The first message is sent before a summary that the assistant speaks.
    task: bool,
}

fn window(messages: &[Value<'_, '_>]) -> Start {
    let summary = messages
        .iter()
        .rposition(|message| message.get("isSummary").and_then(Value::bool) == Some(true));
    let by_assistant = |at: usize| {
        messages[at]
            .get("role")
            .is_some_and(|role| role.is("assistant"))
    };
    Start {
        start: summary.unwrap_or(0),
        task: summary.is_some_and(by_assistant),
    }
}

/// Reads a message. `spoken` is what the answer before it called in its text, until it is answered.
fn read_message<'a>(
    draft: &mut Draft<'a>,
    message: Value<'_, 'a>,
    spoken: &mut Option<calls::Spoken<'a>>,
    dialect: &Dialect,
) -> Result<(), Fault> {
    message.want_object("a message, which is an object")?;
    let [role, content, time] = message.fields(["role", "content", "ts"]);
    let (Some(role), Some(content)) = (role, content) else {
        return Err(Fault::shape(
            message.start(),
            "a message with `role` and `content`",
        ));
    };
    let assistant = role
        .want_string("the role of a message, which is a string")?
        .is("assistant");
    draft.message(if assistant {
        Role::Assistant
    } else {
        Role::User
    });
    if let Some(info) = draft.info() {
        info.timestamp = time.and_then(Value::i64);
    }
    if !assistant {
        return results::read(draft, content, spoken.take(), dialect);
    }
    blocks::read(draft, content, dialect)?;
    *spoken = calls::of(content);
    if let Some(calls::Spoken { name, arguments }) = spoken {
        draft.call(None, name.clone(), Cow::Owned(arguments.clone()));
    }
    Ok(())
}
