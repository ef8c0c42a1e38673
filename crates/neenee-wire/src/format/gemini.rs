//! Gemini: a body of `generateContent` or `streamGenerateContent`, or the bare array of its contents.
//! Deliberately not Gemini CLI's session files, which hold the same parts in records of their own.
//!
//! Source: Google's API reference, "Content" and "FunctionResponse"; Gemini Code Assist wraps the body in
//! `request`.

pub(super) mod parts;

use std::borrow::Cow;

use neenee_core::message::Role;

use self::parts::{Parts, RULE};
use super::openai_chat::SNIFFED;
use crate::document::Draft;
use crate::error::Fault;
use crate::json::{Kind, Value};
use crate::source::Source;
use neenee_core::model::Traits;

pub(super) const DESCRIBE: &str =
    "Gemini generateContent body or array of contents; all of it is the window";

pub(super) fn sniff(source: &Source<'_>) -> bool {
    let Some(root) = source.document_root() else {
        return false;
    };
    let contents = match root.kind() {
        Kind::Array => Some(root),
        _ => contents_of(root).map(|(_, contents)| contents),
    };
    contents.is_some_and(|contents| {
        let mut items = contents.items().take(SNIFFED).peekable();
        // An empty array is contents only where it is called so.
        (root.is_object() || items.peek().is_some())
            && items.all(|content| content.get("parts").is_some_and(Value::is_array))
    })
}

/// The body, unwrapped, and its contents.
fn contents_of<'t, 'a>(root: Value<'t, 'a>) -> Option<(Value<'t, 'a>, Value<'t, 'a>)> {
    let [contents, request] = root.fields(["contents", "request"]);
    let body = match contents {
        Some(_) => root,
        None => request?,
    };
    let contents = body
        .get("contents")
        .filter(|contents| contents.is_array())?;
    Some((body, contents))
}

pub(super) fn read<'a>(source: &Source<'a>) -> Result<Draft<'a>, Fault> {
    let root = source.document_root().ok_or_else(|| {
        Fault::shape(0, "one request body or array of contents")
            .hint("the input has several lines of JSON, which is a session file's shape")
    })?;
    let mut draft = Draft::default();
    let contents = if root.is_array() {
        root
    } else {
        read_body(&mut draft, root)?
    };
    let rule = draft
        .named_model()
        .map_or(RULE, |name| Traits::of(name).image);
    let mut parts = Parts::new(rule);
    for content in contents.items() {
        content.want_object("a content, which is an object with `parts`")?;
        let [role, own] = content.fields(["role", "parts"]);
        let role = role.and_then(Value::decode);
        draft.message(match role.as_deref() {
            Some("model") => Role::Assistant,
            Some("function" | "tool") => Role::Tool,
            Some("system") => Role::System,
            _ => Role::User,
        });
        let own = own
            .ok_or_else(|| Fault::shape(content.start(), "a content with a field `parts`"))?
            .want_array("the parts of a content, which are an array")?;
        for part in own.items() {
            parts.read(&mut draft, part)?;
        }
    }
    Ok(draft)
}

/// Reads what stands beside the contents, and returns them.
fn read_body<'t, 'a>(draft: &mut Draft<'a>, root: Value<'t, 'a>) -> Result<Value<'t, 'a>, Fault> {
    const HINT: &str = "a request body is an object with `contents`, or the array itself";
    root.want_object("an object or an array of contents")
        .map_err(|fault| fault.hint(HINT))?;
    let Some((body, contents)) = contents_of(root) else {
        return Err(Fault::shape(root.start(), "an array `contents`").hint(HINT));
    };
    if let Some(model) = root.get("model").and_then(Value::decode) {
        draft.model(model);
    }
    let [tools, camel, snake] = body.fields(["tools", "systemInstruction", "system_instruction"]);
    if let Some(tools) = tools.filter(|tools| !tools.is_null()) {
        draft.opaque(Cow::Borrowed(tools.raw()));
    }
    if let Some(system) = camel.or(snake) {
        draft.message(Role::System);
        match system.decode() {
            Some(text) => draft.text(text),
            None => {
                let parts = system.get("parts").into_iter().flat_map(Value::items);
                for text in parts.filter_map(|part| part.get("text")?.decode()) {
                    draft.text(text);
                }
            }
        }
    }
    Ok(contents)
}
