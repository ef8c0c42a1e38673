//! OpenAI Responses: a request body with `input`, or the bare array of its items.
//! Deliberately not what a server keeps: with `previous_response_id` or `conversation` the window is
//! longer than the body, and only what is in the body is read.
//!
//! Source: OpenAI's API reference, "Create a model response".

pub(super) mod items;
mod output;

use std::borrow::Cow;

use neenee_core::message::Role;

use self::items::{DIALECT, Items};
use super::openai_chat::SNIFFED;
use crate::document::Draft;
use crate::error::Fault;
use crate::json::{Kind, Value};
use crate::source::Source;

pub(super) const DESCRIBE: &str =
    "OpenAI Responses request body or item array; all of it is the window";

pub(super) fn sniff(source: &Source<'_>) -> bool {
    let Some(root) = source.document_root() else {
        return false;
    };
    match root.kind() {
        Kind::Array => {
            let items = || root.items().take(SNIFFED);
            items().all(items::is_item) && items().any(items::is_marked)
        }
        _ => {
            let [input, messages] = root.fields(["input", "messages"]);
            messages.is_none()
                && input.is_some_and(|input| match input.kind() {
                    Kind::String => true,
                    Kind::Array => input.items().take(SNIFFED).all(items::is_item),
                    _ => false,
                })
        }
    }
}

pub(super) fn read<'a>(source: &Source<'a>) -> Result<Draft<'a>, Fault> {
    let root = source.document_root().ok_or_else(|| {
        Fault::shape(0, "one request body or item array")
            .hint("the input has several lines of JSON, which is a session file's shape")
    })?;
    let mut draft = Draft::default();
    let input = if root.is_array() {
        root
    } else {
        read_body(&mut draft, root)?
    };
    if let Some(text) = input.decode() {
        draft.message(Role::User);
        draft.text(text);
        return Ok(draft);
    }
    let dialect = DIALECT.of_model(draft.named_model());
    let mut items = Items::new(&dialect);
    for item in input.want_array("a string or an array of items")?.items() {
        items.read(&mut draft, item)?;
    }
    Ok(draft)
}

/// Reads what stands beside the input, and returns that.
fn read_body<'t, 'a>(draft: &mut Draft<'a>, body: Value<'t, 'a>) -> Result<Value<'t, 'a>, Fault> {
    const HINT: &str = "a request body is an object with `input`, or the array of items itself";
    body.want_object("an object or an array of items")
        .map_err(|fault| fault.hint(HINT))?;
    let [model, instructions, tools, text] =
        body.fields(["model", "instructions", "tools", "text"]);
    if let Some(model) = model.and_then(Value::decode) {
        draft.model(model);
    }
    let schemas = [tools, text.and_then(|text| text.get("format"))];
    for schema in schemas.into_iter().flatten().filter(|it| !it.is_null()) {
        draft.opaque(Cow::Borrowed(schema.raw()));
    }
    if let Some(instructions) = instructions.and_then(Value::decode) {
        draft.message(Role::System);
        draft.text(instructions);
    }
    body.get("input")
        .ok_or_else(|| Fault::shape(body.start(), "a field `input`").hint(HINT))
}
