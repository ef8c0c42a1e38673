//! Calls that stand in an answer's text: their arguments as JSON, and the one text of a content.
//! Deliberately no agent's envelope: what counts as a call or a result is for each format to say.

use crate::json::{Kind, Text, Value, encode};

/// An object with those fields, all of them strings.
pub(super) fn arguments<'s>(fields: impl IntoIterator<Item = (&'s str, &'s str)>) -> String {
    let mut out = Vec::new();
    for (key, value) in fields {
        out.extend_from_slice(if out.is_empty() { b"{\"" } else { b",\"" });
        encode(&mut out, key, 1, false);
        out.extend_from_slice(b"\":\"");
        encode(&mut out, value, 1, false);
        out.push(b'"');
    }
    if out.is_empty() {
        out.push(b'{');
    }
    out.push(b'}');
    // invariant: only whole strings and ASCII were put together.
    String::from_utf8(out).unwrap_or_default()
}

/// The text of a content that is a string, or an array whose only block is one of text.
pub(super) fn only_text<'a>(content: Value<'_, 'a>) -> Option<Text<'a>> {
    match content.kind() {
        Kind::String => content.string(),
        Kind::Array => {
            let mut blocks = content.items();
            let (Some(block), None) = (blocks.next(), blocks.next()) else {
                return None;
            };
            block.get("text")?.string()
        }
        _ => None,
    }
}
