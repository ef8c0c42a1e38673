//! Chat Completions: a request body with `messages`, or the bare array of them.
//! Deliberately not one provider's: what speaks this format elsewhere adds fields, which are carried.
//!
//! Source: OpenAI's API reference, "Create chat completion"; `reasoning_content` is DeepSeek's and
//! others', `reasoning` OpenRouter's. Logs of litellm hold the call's other arguments in `kwargs`
//! and the answer in `response`, beside the `messages` that were sent.

use std::borrow::Cow;

use neenee_core::message::{Media, MediaKind, Role};
use neenee_core::model::ImageRule;

use crate::content::{Body, Dialect};
use crate::document::{Draft, ResultItem};
use crate::error::Fault;
use crate::json::{Kind, Value};
use crate::media::media;
use crate::source::Source;

pub(super) const DESCRIBE: &str =
    "OpenAI Chat Completions request body or message array; all of it is the window";

/// Parts of a message, as of a tool's content.
pub(super) const DIALECT: Dialect = Dialect {
    text_types: &["text"],
    media_fields: &["image_url", "input_audio", "file"],
    media: part_media,
    images: ImageRule::GPT_PATCHES,
};

/// Messages that are looked at to tell the format.
pub(super) const SNIFFED: usize = 64;

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
    let mut items = messages.items().take(SNIFFED).peekable();
    // An empty array is messages only where it is called so.
    (root.is_object() || items.peek().is_some())
        && items.all(|message| {
            let [role, content, calls, call] =
                message.fields(["role", "content", "tool_calls", "function_call"]);
            role.is_some_and(Value::is_string) && (content.or(calls).or(call)).is_some()
        })
}

pub(super) fn read<'a>(source: &Source<'a>) -> Result<Draft<'a>, Fault> {
    let root = source.document_root().ok_or_else(|| {
        Fault::shape(0, "one request body or message array")
            .hint("the input has several lines of JSON, which is a session file's shape")
    })?;
    let mut draft = Draft::default();
    let messages = if root.is_array() {
        root
    } else {
        read_body(&mut draft, root)?
    };
    let dialect = DIALECT.of_model(draft.named_model());
    for message in messages.items() {
        read_message(&mut draft, message, &dialect)?;
    }
    Ok(draft)
}

/// Reads what stands beside the messages, and returns them.
fn read_body<'t, 'a>(draft: &mut Draft<'a>, body: Value<'t, 'a>) -> Result<Value<'t, 'a>, Fault> {
    const HINT: &str = "a request body is an object with `messages`, or the array itself";
    body.want_object("an object or an array of messages")
        .map_err(|fault| fault.hint(HINT))?;
    let logged = body.get("kwargs");
    for holder in [Some(body), logged].into_iter().flatten() {
        let [model, tools, functions, response_format] =
            holder.fields(["model", "tools", "functions", "response_format"]);
        if let Some(model) = model.and_then(Value::decode) {
            draft.model(model);
        }
        for schema in [tools, functions, response_format].into_iter().flatten() {
            if !schema.is_null() {
                draft.opaque(Cow::Borrowed(schema.raw()));
            }
        }
    }
    if let Some(response) = body.get("response").filter(|response| response.is_object()) {
        draft.outside("logged responses", response.raw().len());
        if let Some(model) = response.get("model").and_then(Value::decode) {
            draft.model(model);
        }
    }
    match body.get("messages") {
        Some(messages) => messages.want_array("an array of messages"),
        None => Err(Fault::shape(body.start(), "a field `messages`").hint(HINT)),
    }
}

pub(super) fn read_message<'a>(
    draft: &mut Draft<'a>,
    message: Value<'_, 'a>,
    dialect: &Dialect,
) -> Result<(), Fault> {
    message.want_object("a message, which is an object")?;
    let [role, content, reasoning, reasoning_content, calls, call] = message.fields([
        "role",
        "content",
        "reasoning",
        "reasoning_content",
        "tool_calls",
        "function_call",
    ]);
    let Some(role) = role else {
        return Err(Fault::shape(
            message.start(),
            "a message with a field `role`",
        ));
    };
    let name = role.want_string("the role of a message, which is a string")?;
    let role = match &*name.decode() {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" | "function" => return read_result(draft, message, dialect),
        _ => {
            // A role that nobody knows still weighs.
            draft.message(Role::User);
            draft.opaque(Cow::Borrowed(message.raw()));
            return Ok(());
        }
    };
    draft.message(role);
    for text in [reasoning_content, reasoning].into_iter().flatten() {
        if let Some(text) = text.decode().filter(|text| !text.is_empty()) {
            draft.reasoning(text, false);
            break;
        }
    }
    if let Some(content) = content {
        read_content(draft, content, dialect)?;
    }
    if let Some(calls) = calls.filter(|calls| !calls.is_null()) {
        for call in calls.want_array("an array of tool calls")?.items() {
            let [id, function, custom] = call.fields(["id", "function", "custom"]);
            match function.or(custom) {
                Some(called) => read_call(draft, id.and_then(Value::decode), called)?,
                None => draft.opaque(Cow::Borrowed(call.raw())),
            }
        }
    }
    if let Some(call) = call.filter(|call| call.is_object()) {
        read_call(draft, None, call)?;
    }
    Ok(())
}

fn read_call<'a>(
    draft: &mut Draft<'a>,
    id: Option<Cow<'a, str>>,
    called: Value<'_, 'a>,
) -> Result<(), Fault> {
    let [name, arguments, input] = called.fields(["name", "arguments", "input"]);
    let Some(name) = name else {
        return Err(Fault::shape(called.start(), "a call with a field `name`"));
    };
    let name = name.want_string("the name of a tool, which is a string")?;
    // Some servers send arguments as an object instead of its text.
    let arguments = arguments.or(input).map_or(Cow::Borrowed(""), |arguments| {
        arguments.decode().unwrap_or(Cow::Borrowed(arguments.raw()))
    });
    draft.call(id, name.decode(), arguments);
    Ok(())
}

fn read_content<'a>(
    draft: &mut Draft<'a>,
    content: Value<'_, 'a>,
    dialect: &Dialect,
) -> Result<(), Fault> {
    match content.kind() {
        Kind::String => draft.text(content.decode().unwrap_or_default()),
        Kind::Null => {}
        Kind::Array => {
            for part in content.items() {
                let [kind, text, refusal] = part.fields(["type", "text", "refusal"]);
                let text = match kind {
                    Some(kind) if kind.is("text") => text,
                    Some(kind) if kind.is("refusal") => refusal,
                    None if part.is_string() => Some(part),
                    _ => None,
                };
                if let Some(text) = text.and_then(Value::decode) {
                    draft.text(text);
                } else if let Some(media) = dialect.media(part) {
                    draft.weight(media.tokens);
                } else {
                    draft.opaque(Cow::Borrowed(part.raw()));
                }
            }
        }
        _ => {
            return Err(Fault::shape(
                content.start(),
                "the content of a message: a string, an array of parts or null",
            ));
        }
    }
    Ok(())
}

fn read_result<'a>(
    draft: &mut Draft<'a>,
    message: Value<'_, 'a>,
    dialect: &Dialect,
) -> Result<(), Fault> {
    draft.message(Role::Tool);
    let [call_id, name] = message.fields(["tool_call_id", "name"]);
    let body = Body::of_field(message, "content", dialect)?;
    draft.result(
        ResultItem {
            call_id: call_id.and_then(Value::decode),
            name: name.and_then(Value::decode),
            text: body.text,
            media: body.media,
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

fn part_media(part: Value<'_, '_>, images: ImageRule) -> Option<Media> {
    let kind = part.get("type")?.decode()?;
    let (kind, data) = match &*kind {
        "image_url" => (MediaKind::Image, part.at(&["image_url", "url"])),
        "input_audio" => (MediaKind::Audio, part.at(&["input_audio", "data"])),
        "file" => (MediaKind::Document, part.at(&["file", "file_data"])),
        _ => return None,
    };
    let data = data.and_then(Value::string).map(|data| data.raw());
    Some(media(kind, data, images))
}
