//! What the user's messages bring: results in their envelope or as blocks, and everything else.
//! Deliberately strict about the envelope: text that only looks like a result stays text.

use std::borrow::Cow;

use crate::content::Dialect;
use crate::document::{Draft, ResultItem};
use crate::error::Fault;
use crate::format::anthropic::blocks;
use crate::json::{Kind, Text, Value};
use crate::slot::Site;

use super::calls::Spoken;

/// What the extensions add to a message by themselves, and what therefore is never a result.
const DETAILS: &str = "<environment_details>";
const FAILED: &str = "The tool execution failed with the following error:\n";

/// Reads the content of a user's message that answers `spoken`.
pub(super) fn read<'a>(
    draft: &mut Draft<'a>,
    content: Value<'_, 'a>,
    mut spoken: Option<Spoken<'a>>,
    dialect: &Dialect,
) -> Result<(), Fault> {
    if content.kind() != Kind::Array {
        return blocks::read(draft, content, dialect);
    }
    let mut items = content.items().peekable();
    while let Some(block) = items.next() {
        let [kind, text] = block.fields(["type", "text"]);
        let is = |name: &str| kind.is_some_and(|kind| kind.is(name));
        if is("tool_result") && structured(draft, block) {
            continue;
        }
        let text = text.and_then(Value::string).filter(|_| is("text"));
        let envelope = text.and_then(|text| envelope(&text.decode()));
        let (Some(text), Some(envelope)) = (text, envelope) else {
            blocks::read_block(draft, block, dialect)?;
            continue;
        };
        let called = spoken.take_if(|spoken| spoken.name == envelope.name);
        let name = called.map_or(Cow::Owned(envelope.name), |spoken| spoken.name);
        let decoded = text.decode();
        draft.text(Cow::Owned(decoded[..envelope.end].to_owned()));
        if envelope.end < decoded.len() {
            put(draft, name, text, envelope.end);
            continue;
        }
        // The content is the next block, unless the tool brought none.
        let next = items.next_if(|next| {
            let [kind, text] = next.fields(["type", "text"]);
            let text = text.and_then(Value::decode);
            kind.is_some_and(|kind| kind.is("text"))
                && text.is_some_and(|text| !text.starts_with(DETAILS))
        });
        if let Some(next) = next.and_then(|next| next.get("text")?.string()) {
            put(draft, name, next, 0);
        }
    }
    Ok(())
}

/// A line that names the tool; where it ends.
struct Envelope {
    name: String,
    end: usize,
}

/// `[tool] Result:` or `[tool for '…'] Result:`, at the start of a block.
fn envelope(text: &str) -> Option<Envelope> {
    const END: &str = "] Result:";
    let rest = text.strip_prefix('[')?;
    let length = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_')?;
    let name = &rest[..length];
    let after = &rest[length..];
    if name.is_empty() || !(after.starts_with(']') || after.starts_with(' ')) {
        return None;
    }
    let end = text.find(END)? + END.len();
    let space = text[end..].len() - text[end..].trim_start_matches(['\n', '\r']).len();
    Some(Envelope {
        name: name.to_owned(),
        end: end + space,
    })
}

fn put<'a>(draft: &mut Draft<'a>, name: Cow<'a, str>, text: Text<'a>, start: usize) {
    let decoded = text.decode();
    // The notice of a failure belongs to the envelope: it stays, and so does the failure.
    let failed = decoded[start..].starts_with(FAILED);
    let start = start + if failed { FAILED.len() } else { 0 };
    let range = text.raw_range(start..decoded.len());
    let content = match decoded {
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..]),
        Cow::Owned(text) => Cow::Owned(text[start..].to_owned()),
    };
    draft.result(
        ResultItem {
            name: Some(name),
            failed: failed.then_some(true),
            text: content,
            ..ResultItem::default()
        },
        range.clone(),
        Site::within(range, 1),
    );
}

/// The results of Cline's own tools: `[{"query", "result", "success"}]`. New text goes where the first
/// one is, the others are emptied. Whether it was one of these.
fn structured<'a>(draft: &mut Draft<'a>, block: Value<'_, 'a>) -> bool {
    let [call_id, name, content] = block.fields(["tool_use_id", "name", "content"]);
    let Some(content) = content.filter(|content| content.is_array()) else {
        return false;
    };
    let parts: Vec<_> = content
        .items()
        .map(|item| {
            let [kind, result, success] = item.fields(["type", "result", "success"]);
            let result = result.and_then(Value::string).filter(|_| kind.is_none());
            (result, success.and_then(Value::bool))
        })
        .collect();
    let texts: Vec<Text<'a>> = parts.iter().filter_map(|(text, _)| *text).collect();
    let Some((first, others)) = texts.split_first().filter(|_| texts.len() == parts.len()) else {
        return false;
    };
    let mut text = first.decode();
    let mut site = Site::string(*first);
    for other in others.iter().filter(|other| !other.raw().is_empty()) {
        text.to_mut().push('\n');
        text.to_mut().push_str(&other.decode());
        site.also.push((other.range(), String::new()));
    }
    draft.result(
        ResultItem {
            call_id: call_id.and_then(Value::decode),
            name: name.and_then(Value::decode),
            text,
            failed: parts
                .iter()
                .all(|(_, success)| *success == Some(false))
                .then_some(true),
            ..ResultItem::default()
        },
        content.range(),
        site,
    );
    true
}
