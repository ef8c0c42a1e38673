//! Content blocks of Anthropic's messages, as bodies and Claude Code's sessions hold them.
//! Deliberately without the message around them.
//!
//! Source: Anthropic's API reference, "Messages", and its pages on tools, vision, PDFs and thinking.

use std::borrow::Cow;

use neenee_core::message::{Media, MediaKind};
use neenee_core::model::ImageRule;

use crate::content::{Body, Dialect};
use crate::document::{Draft, ResultItem};
use crate::error::Fault;
use crate::json::{Kind, Value};
use crate::media::{media, text_document};

/// Blocks inside of a result. What a search or a tool lookup returns is no media: it is carried.
pub(crate) const DIALECT: Dialect = Dialect {
    text_types: &["text"],
    media_fields: &["source"],
    media: block_media,
    images: ImageRule::CLAUDE,
};

/// Whether a block is one that only Anthropic's format has.
pub(crate) fn is_marked(block: Value<'_, '_>) -> bool {
    let [kind, source] = block.fields(["type", "source"]);
    kind.and_then(Value::decode).is_some_and(|kind| {
        matches!(
            &*kind,
            "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "server_tool_use"
        ) || matches!(&*kind, "image" | "document") && source.is_some_and(Value::is_object)
    })
}

/// Reads the content of a message: a string or an array of blocks.
pub(crate) fn read<'a>(
    draft: &mut Draft<'a>,
    content: Value<'_, 'a>,
    dialect: &Dialect,
) -> Result<(), Fault> {
    match content.kind() {
        Kind::String => draft.text(content.decode().unwrap_or_default()),
        Kind::Array => {
            for block in content.items() {
                read_block(draft, block, dialect)?;
            }
        }
        _ => {
            return Err(Fault::shape(
                content.start(),
                "the content of a message: a string or an array of blocks",
            ));
        }
    }
    Ok(())
}

/// Reads one block.
pub(crate) fn read_block<'a>(
    draft: &mut Draft<'a>,
    block: Value<'_, 'a>,
    dialect: &Dialect,
) -> Result<(), Fault> {
    let kind = block
        .get("type")
        .and_then(Value::decode)
        .unwrap_or_default();
    match &*kind {
        "text" => {
            if let Some(text) = block.get("text").and_then(Value::decode) {
                draft.text(text);
                return Ok(());
            }
        }
        "thinking" => {
            let [thinking, signature] = block
                .fields(["thinking", "signature"])
                .map(|field| field.and_then(Value::decode).unwrap_or_default());
            let signed = !signature.is_empty();
            draft.reasoning(
                if thinking.is_empty() {
                    signature
                } else {
                    thinking
                },
                signed,
            );
            return Ok(());
        }
        "redacted_thinking" => {
            let data = block
                .get("data")
                .and_then(Value::decode)
                .unwrap_or_default();
            draft.reasoning(data, true);
            return Ok(());
        }
        "tool_use" => return read_call(draft, block),
        "tool_result" => return read_result(draft, block, dialect),
        _ => {
            if let Some(media) = dialect.media(block) {
                draft.weight(media.tokens);
                return Ok(());
            }
        }
    }
    draft.opaque(Cow::Borrowed(block.raw()));
    Ok(())
}

fn read_call<'a>(draft: &mut Draft<'a>, block: Value<'_, 'a>) -> Result<(), Fault> {
    let [id, name, input] = block.fields(["id", "name", "input"]);
    let Some(name) = name else {
        return Err(Fault::shape(block.start(), "a call with a field `name`"));
    };
    let name = name.want_string("the name of a tool, which is a string")?;
    draft.call(
        id.and_then(Value::decode),
        name.decode(),
        Cow::Borrowed(input.map_or("", Value::raw)),
    );
    Ok(())
}

fn read_result<'a>(
    draft: &mut Draft<'a>,
    block: Value<'_, 'a>,
    dialect: &Dialect,
) -> Result<(), Fault> {
    let [call_id, is_error] = block.fields(["tool_use_id", "is_error"]);
    let body = Body::of_field(block, "content", dialect)?;
    draft.result(
        ResultItem {
            call_id: call_id.and_then(Value::decode),
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

fn block_media(block: Value<'_, '_>, images: ImageRule) -> Option<Media> {
    let [kind, source] = block.fields(["type", "source"]);
    let kind = match &*kind?.decode()? {
        "image" => MediaKind::Image,
        "document" => MediaKind::Document,
        _ => return None,
    };
    let [source_kind, data, url] = source?.fields(["type", "data", "url"]);
    if source_kind.is_some_and(|kind| kind.is("text")) {
        return Some(text_document(&data?.decode()?));
    }
    let data = data.or(url).and_then(Value::string).map(|data| data.raw());
    Some(media(kind, data, images))
}
