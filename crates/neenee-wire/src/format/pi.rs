//! Pi's session files: one entry a line, linked to a tree by `parentId`.
//! Deliberately not the request that a resume sends: system prompt and tools are not in the file.
//!
//! Source: the session format that pi documents (`docs/session.md` of its coding agent) and recorded
//! files of its versions without and with ids.

mod branch;
mod message;

use std::borrow::Cow;

use neenee_core::message::Role;

use self::branch::{Entry, Window};
use self::message::{DIALECT, read_content, read_message};
use crate::content::Dialect;
use crate::document::Draft;
use crate::error::Fault;
use crate::json::Value;
use crate::source::Source;
use crate::time;

pub(super) const DESCRIBE: &str =
    "pi session (JSONL); the window is the branch of the last entry, after its last compaction";

const ROLES: &[&str] = &["user", "assistant", "toolResult", "bashExecution"];

pub(super) fn sniff(source: &Source<'_>) -> bool {
    // Another agent's header may look alike: an entry of the conversation tells.
    source.values().any(|value| {
        let [kind, uuid, timestamp, message] =
            value.fields(["type", "uuid", "timestamp", "message"]);
        let role = message.and_then(|message| message.get("role"));
        kind.is_some_and(|kind| kind.is("message"))
            && uuid.is_none()
            && timestamp.is_some()
            && role.is_some_and(|role| ROLES.iter().any(|name| role.is(name)))
    })
}

pub(super) fn read<'a>(source: &Source<'a>) -> Result<Draft<'a>, Fault> {
    let entries: Vec<Entry<'_, 'a>> = source.values().map(Entry::new).collect();
    if !entries.iter().any(|entry| entry.kind == "message") {
        return Err(Fault::shape(
            0,
            "lines with `type` and `message`, as pi writes them",
        ));
    }
    let window = branch::window(&entries);
    let mut draft = Draft::default();
    count_outside(&mut draft, &entries, &window);
    if let Some(model) = window
        .entries
        .iter()
        .rev()
        .find_map(|&at| model(&entries[at]))
    {
        draft.model(model);
    }
    if let Some(cwd) = entries.iter().rev().find_map(Entry::cwd) {
        draft.cwd(cwd);
    }
    let dialect = DIALECT.of_model(draft.named_model());
    for &at in &window.entries {
        read_entry(&mut draft, &entries[at], &dialect)?;
    }
    Ok(draft)
}

fn read_entry<'a>(
    draft: &mut Draft<'a>,
    entry: &Entry<'_, 'a>,
    dialect: &Dialect,
) -> Result<(), Fault> {
    let [timestamp, message, content, summary] =
        entry
            .value
            .fields(["timestamp", "message", "content", "summary"]);
    match (entry.kind, message) {
        ("message", Some(message)) => read_message(draft, message, dialect)?,
        ("compaction" | "branch_summary", _) => {
            draft.message(Role::User);
            draft.text(summary.and_then(Value::decode).unwrap_or_default());
        }
        ("custom_message", _) => {
            draft.message(Role::User);
            read_content(draft, content, dialect)?;
        }
        _ => return Ok(()),
    }
    if let Some(info) = draft.info() {
        let time = timestamp.and_then(Value::decode);
        info.timestamp = info.timestamp.or(time.and_then(|time| time::parse(&time)));
    }
    Ok(())
}

fn model<'a>(entry: &Entry<'_, 'a>) -> Option<Cow<'a, str>> {
    match entry.kind {
        "model_change" => entry.value.get("modelId")?.decode(),
        "message" => entry.value.at(&["message", "model"])?.decode(),
        _ => None,
    }
}

fn count_outside(draft: &mut Draft<'_>, entries: &[Entry<'_, '_>], window: &Window) {
    let mut selected = vec![false; entries.len()];
    for &at in &window.entries {
        selected[at] = true;
    }
    for (at, entry) in entries.iter().enumerate() {
        if selected[at] {
            continue;
        }
        let what = match entry.kind {
            "message" | "custom_message" if entry.excluded => "commands kept from the model",
            "message" | "custom_message" | "compaction" | "branch_summary" => {
                if window.compacted.is_some_and(|last| at < last) {
                    "messages before the last compaction"
                } else {
                    "messages on abandoned branches"
                }
            }
            _ => "records of the host",
        };
        draft.outside(what, entry.value.raw().len());
    }
}
