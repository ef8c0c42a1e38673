//! Codex's rollout files: one record a line, of which the `response_item`s are the conversation.
//! Deliberately not the request that a resume sends: tools and fresh instructions are not in the file.
//!
//! Source: the files that the client writes (0.2 to 0.171). What counts was read off recorded sessions, and
//! off what the client sent when it resumed them.

mod window;

use std::borrow::Cow;

use neenee_core::message::Role;

use self::window::Entry;
use super::openai_responses::items::{DIALECT, Items};
use crate::document::{Draft, Usage};
use crate::error::Fault;
use crate::json::Value;
use crate::source::Source;
use crate::time;

pub(super) const DESCRIBE: &str = "Codex CLI session (rollout JSONL); the window is what follows the last compaction, and what that kept";

pub(super) fn sniff(source: &Source<'_>) -> bool {
    source.values().any(|value| {
        let [kind, payload] = value.fields(["type", "payload"]);
        kind.is_some_and(|kind| kind.is("session_meta") || kind.is("response_item"))
            && payload.is_some_and(Value::is_object)
    }) || window::is_old(source)
}

pub(super) fn read<'a>(source: &Source<'a>) -> Result<Draft<'a>, Fault> {
    let window = window::of(source);
    if window.lines == 0 {
        return Err(Fault::shape(
            0,
            "lines with `type` and `payload`, as Codex writes them",
        ));
    }
    let mut draft = Draft::default();
    for (what, bytes) in window.outside {
        draft.outside(what, bytes);
    }
    if let Some(model) = window.model {
        draft.model(model);
    }
    let dialect = DIALECT.of_model(draft.named_model());
    let mut items = Items::new(&dialect);
    for entry in window.entries {
        match entry {
            Entry::Item { item, line } => {
                let before = draft.message_count();
                items.read(&mut draft, item)?;
                let time = line.and_then(|line| line.get("timestamp")?.decode());
                if let Some(time) = time.and_then(|time| time::parse(&time))
                    && draft.message_count() > before
                    && let Some(info) = draft.info()
                {
                    info.timestamp = Some(time);
                }
            }
            Entry::Instructions(text) => {
                items.begin(&mut draft, Role::System);
                draft.text(text);
            }
            Entry::Summary(text) => {
                items.begin(&mut draft, Role::User);
                draft.text(text);
            }
            Entry::Cwd(path) => draft.cwd(path),
            Entry::Usage(usage) => {
                if let Some(info) = draft.info_of(Role::Assistant) {
                    info.usage = Some(read_usage(usage));
                }
            }
        }
    }
    Ok(draft)
}

fn read_usage(usage: Value<'_, '_>) -> Usage {
    let [input, cached, output] = usage
        .fields(["input_tokens", "cached_input_tokens", "output_tokens"])
        .map(|count| count.and_then(Value::u64));
    Usage {
        input: input.map(|input| input.saturating_sub(cached.unwrap_or(0))),
        cache_read: cached,
        cache_write: None,
        output,
    }
}

/// The text of a message's parts, joined.
fn text_of<'a>(message: Value<'_, 'a>) -> Cow<'a, str> {
    let content = message.get("content");
    let mut texts = content
        .into_iter()
        .flat_map(Value::items)
        .filter_map(|part| part.get("text")?.decode());
    texts.next().unwrap_or_default()
}
