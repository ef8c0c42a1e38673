//! One message of a pi session: its roles, blocks and results.
//! Deliberately not which messages are sent.

use std::borrow::Cow;

use neenee_core::message::{Media, MediaKind, Role};
use neenee_core::model::ImageRule;

use crate::content::{Body, Dialect};
use crate::document::{Draft, ResultItem, Usage};
use crate::error::Fault;
use crate::json::{Kind, Value};
use crate::media::media;

pub(super) const DIALECT: Dialect = Dialect {
    text_types: &["text"],
    media_fields: &["data", "mimeType"],
    media: block_media,
    images: ImageRule::CLAUDE,
};

pub(super) fn read_message<'a>(
    draft: &mut Draft<'a>,
    message: Value<'_, 'a>,
    dialect: &Dialect,
) -> Result<(), Fault> {
    message.want_object("a message, which is an object")?;
    let [role, content, timestamp, usage] =
        message.fields(["role", "content", "timestamp", "usage"]);
    let Some(role) = role else {
        return Err(Fault::shape(
            message.start(),
            "a message with a field `role`",
        ));
    };
    let name = role.want_string("the role of a message, which is a string")?;
    match &*name.decode() {
        "user" | "custom" | "hookMessage" => {
            draft.message(Role::User);
            read_content(draft, content, dialect)?;
        }
        "assistant" => {
            draft.message(Role::Assistant);
            read_content(draft, content, dialect)?;
            if let Some(info) = draft.info() {
                info.usage = usage.map(read_usage);
            }
        }
        "toolResult" => read_result(draft, message, dialect)?,
        // What the user ran by hand is what the user says.
        "bashExecution" => {
            draft.message(Role::User);
            for text in message.fields(["command", "output"]).into_iter().flatten() {
                draft.text(text.decode().unwrap_or_default());
            }
        }
        "branchSummary" | "compactionSummary" => {
            draft.message(Role::User);
            let summary = message.get("summary").and_then(Value::decode);
            draft.text(summary.unwrap_or_default());
        }
        _ => {
            // A role that nobody knows still weighs.
            draft.message(Role::User);
            draft.opaque(Cow::Borrowed(message.raw()));
        }
    }
    if let Some(info) = draft.info() {
        info.timestamp = timestamp.and_then(Value::i64);
    }
    Ok(())
}

pub(super) fn read_content<'a>(
    draft: &mut Draft<'a>,
    content: Option<Value<'_, 'a>>,
    dialect: &Dialect,
) -> Result<(), Fault> {
    let Some(content) = content else {
        return Ok(());
    };
    match content.kind() {
        Kind::String => draft.text(content.decode().unwrap_or_default()),
        Kind::Null => {}
        Kind::Array => {
            for block in content.items() {
                read_block(draft, block, dialect)?;
            }
        }
        _ => {
            return Err(Fault::shape(
                content.start(),
                "the content of a message: a string, an array of blocks or null",
            ));
        }
    }
    Ok(())
}

fn read_block<'a>(
    draft: &mut Draft<'a>,
    block: Value<'_, 'a>,
    dialect: &Dialect,
) -> Result<(), Fault> {
    let [kind, text, thinking, signature, id, name, arguments] = block.fields([
        "type",
        "text",
        "thinking",
        "thinkingSignature",
        "id",
        "name",
        "arguments",
    ]);
    let kind = kind.and_then(Value::decode).unwrap_or_default();
    match (&*kind, text.and_then(Value::decode)) {
        ("text", Some(text)) => draft.text(text),
        ("thinking", _) => {
            let signature = signature.and_then(Value::decode).unwrap_or_default();
            let signed = !signature.is_empty();
            let thinking = thinking.and_then(Value::decode).unwrap_or_default();
            draft.reasoning(
                if thinking.is_empty() {
                    signature
                } else {
                    thinking
                },
                signed,
            );
        }
        ("toolCall", _) => {
            let Some(name) = name else {
                return Err(Fault::shape(block.start(), "a call with a field `name`"));
            };
            let name = name.want_string("the name of a tool, which is a string")?;
            draft.call(
                id.and_then(Value::decode),
                name.decode(),
                Cow::Borrowed(arguments.map_or("", Value::raw)),
            );
        }
        _ => match dialect.media(block) {
            Some(media) => draft.weight(media.tokens),
            None => draft.opaque(Cow::Borrowed(block.raw())),
        },
    }
    Ok(())
}

fn read_result<'a>(
    draft: &mut Draft<'a>,
    message: Value<'_, 'a>,
    dialect: &Dialect,
) -> Result<(), Fault> {
    draft.message(Role::Tool);
    let [call_id, name, is_error, details] =
        message.fields(["toolCallId", "toolName", "isError", "details"]);
    if let Some(details) = details.filter(|details| !details.is_null()) {
        draft.outside("host's details of results", details.raw().len());
    }
    let body = Body::of_field(message, "content", dialect)?;
    draft.result(
        ResultItem {
            call_id: call_id.and_then(Value::decode),
            name: name.and_then(Value::decode),
            text: body.text,
            media: body.media,
            failed: is_error.and_then(Value::bool),
            ..ResultItem::default()
        },
        body.range,
        body.site,
    );
    for block in body.unknown {
        draft.opaque(Cow::Borrowed(block));
    }
    Ok(())
}

fn read_usage(usage: Value<'_, '_>) -> Usage {
    let [input, cache_read, cache_write, output] = usage
        .fields(["input", "cacheRead", "cacheWrite", "output"])
        .map(|count| count.and_then(Value::u64));
    Usage {
        input,
        cache_read,
        cache_write,
        output,
    }
}

fn block_media(block: Value<'_, '_>, images: ImageRule) -> Option<Media> {
    let [kind, data] = block.fields(["type", "data"]);
    let data = data.and_then(Value::string).map(|data| data.raw());
    kind?
        .is("image")
        .then(|| media(MediaKind::Image, data, images))
}
