//! Anthropic Messages: a request body, or the bare array of its messages.
//! Deliberately not the answers and their events, which are no window.
//!
//! Source: Anthropic's API reference, "Messages".

pub(super) mod blocks;

use std::borrow::Cow;

use neenee_core::message::Role;

use self::blocks::DIALECT;
use super::openai_chat::SNIFFED;
use crate::content::Dialect;
use crate::document::Draft;
use crate::error::Fault;
use crate::insert::Anchors;
use crate::json::{Kind, Value};
use crate::source::Source;

pub(super) const DESCRIBE: &str =
    "Anthropic Messages request body or message array; all of it is the window";

/// Fields of a request body that no other format with `messages` has.
const BODY_MARKS: &[&str] = &[
    "system",
    "anthropic_version",
    "anthropic_beta",
    "thinking",
    "context_management",
    "stop_sequences",
];

pub(super) fn sniff(source: &Source<'_>) -> bool {
    let Some(root) = source.document_root() else {
        return false;
    };
    let messages = match root.kind() {
        Kind::Array => root,
        _ => match root.get("messages") {
            Some(messages) if messages.is_array() => messages,
            _ => return false,
        },
    };
    let mut marked = BODY_MARKS.iter().any(|mark| root.get(mark).is_some());
    marked |= root
        .get("tools")
        .and_then(|tools| tools.items().next())
        .is_some_and(|tool| tool.get("input_schema").is_some());
    for message in messages.items().take(SNIFFED) {
        let [role, content, calls] = message.fields(["role", "content", "tool_calls"]);
        let speaks = role.is_some_and(|role| {
            ["user", "assistant", "system"]
                .iter()
                .any(|name| role.is(name))
        });
        let Some(content) = content.filter(|_| speaks && calls.is_none()) else {
            return false;
        };
        marked |= content.items().any(blocks::is_marked);
    }
    // Long talk may come before the first call.
    marked
        || messages
            .items()
            .skip(SNIFFED)
            .filter_map(|message| message.get("content"))
            .any(|content| content.items().any(blocks::is_marked))
}

pub(super) fn read<'a>(source: &Source<'a>) -> Result<Draft<'a>, Fault> {
    const HINT: &str = "a request body is an object with `messages`, or the array itself";
    let root = source
        .document_root()
        .ok_or_else(|| Fault::shape(0, "one request body or message array").hint(HINT))?;
    let mut draft = Draft::default();
    let messages = if root.is_array() {
        draft.anchors = Some(Anchors::default());
        root
    } else {
        root.want_object("an object or an array of messages")
            .map_err(|fault| fault.hint(HINT))?;
        read_body(&mut draft, root)?;
        match root.get("messages") {
            Some(messages) => messages.want_array("an array of messages")?,
            None => return Err(Fault::shape(root.start(), "a field `messages`").hint(HINT)),
        }
    };
    let dialect = DIALECT.of_model(draft.named_model());
    for message in messages.items() {
        read_message(&mut draft, message, &dialect)?;
    }
    Ok(draft)
}

fn read_body<'a>(draft: &mut Draft<'a>, body: Value<'_, 'a>) -> Result<(), Fault> {
    let [model, tools, system, thinking, management] =
        body.fields(["model", "tools", "system", "thinking", "context_management"]);
    if let Some(model) = model.and_then(Value::decode) {
        draft.model(model);
    }
    if let Some(tools) = tools {
        draft.opaque(Cow::Borrowed(tools.raw()));
    }
    if let Some(system) = system.filter(|system| !system.is_null()) {
        draft.message(Role::System);
        blocks::read(draft, system, &DIALECT.of_model(None))?;
    }
    let object = |value: Value<'_, '_>| (value.is_object(), value.range());
    let binding = thinking.and_then(|thinking| thinking.get("block_binding"));
    draft.anchors = Some(Anchors {
        body: Some(body.range()),
        thinking: thinking.map(object),
        binding: binding.map(object),
        behaviour: binding
            .and_then(|binding| binding.get("prefix_mismatch_behavior"))
            .map(Value::range),
        management: management.map(object),
        edits: management
            .and_then(|management| management.get("edits"))
            .map(|edits| (edits.is_array(), edits.range())),
    });
    Ok(())
}

fn read_message<'a>(
    draft: &mut Draft<'a>,
    message: Value<'_, 'a>,
    dialect: &Dialect,
) -> Result<(), Fault> {
    message.want_object("a message, which is an object")?;
    let [role, content] = message.fields(["role", "content"]);
    let Some(role) = role else {
        return Err(Fault::shape(
            message.start(),
            "a message with a field `role`",
        ));
    };
    let name = role.want_string("the role of a message, which is a string")?;
    let role = match &*name.decode() {
        "assistant" => Role::Assistant,
        "system" => Role::System,
        "user" => Role::User,
        _ => {
            // A role that nobody knows still weighs.
            draft.message(Role::User);
            draft.opaque(Cow::Borrowed(message.raw()));
            return Ok(());
        }
    };
    draft.message(role);
    match content {
        Some(content) => blocks::read(draft, content, dialect),
        None => Err(Fault::shape(
            message.start(),
            "a message with a field `content`",
        )),
    }
}
