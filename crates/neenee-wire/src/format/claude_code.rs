//! Claude Code's session files: one record a line, linked to a tree by `parentUuid`.
//! Deliberately not the request that a resume sends: system prompt and tools are not in the file.
//!
//! Source: the files that the client writes (2.0 to 2.1). What each kind of line is was read off
//! recorded sessions, and off what the client sent when it resumed them.

mod branch;
mod line;

use std::borrow::Cow;

use neenee_core::message::Role;

use self::line::{Kind, Line};
use super::anthropic::blocks::{self, DIALECT};
use crate::content::Dialect;
use crate::document::{Draft, Usage};
use crate::error::Fault;
use crate::json::Value;
use crate::source::Source;
use crate::time;

pub(super) const DESCRIBE: &str =
    "Claude Code session (JSONL); the window is the live branch after the last compaction";

/// What a model's name is in lines that the client wrote in its place.
const SYNTHETIC: &str = "<synthetic>";

/// Attachments that are for the host or the person: nothing of them is sent.
const NOT_SENT: &[&str] = &["command_permissions", "hook_system_message"];

pub(super) fn sniff(source: &Source<'_>) -> bool {
    source.values().any(|value| {
        let [kind, uuid, parent, session, message] =
            value.fields(["type", "uuid", "parentUuid", "sessionId", "message"]);
        kind.is_some_and(|kind| kind.is("user") || kind.is("assistant"))
            && uuid.is_some_and(Value::is_string)
            && parent.is_some()
            && session.is_some_and(Value::is_string)
            && message.is_some_and(Value::is_object)
    })
}

pub(super) fn read<'a>(source: &Source<'a>) -> Result<Draft<'a>, Fault> {
    let lines: Vec<Line<'_, 'a>> = source.values().map(Line::new).collect();
    if !lines.iter().any(|line| line.uuid.is_some()) {
        return Err(Fault::shape(
            0,
            "lines with `type`, `uuid` and `parentUuid`, as Claude Code writes them",
        ));
    }
    let window = branch::window(&lines);
    let mut draft = Draft::default();
    count_outside(&mut draft, &lines, &window);
    if let Some(model) = window.lines.iter().rev().find_map(|&at| model(&lines[at])) {
        draft.model(model);
    }
    let dialect = DIALECT.of_model(draft.named_model());
    let mut speaking = None;
    for &at in &window.lines {
        let line = &lines[at];
        match line.kind {
            Kind::Assistant => {
                // One answer is several lines, one for each of its blocks.
                if line.message_id.is_none() || speaking != line.message_id {
                    draft.message(Role::Assistant);
                }
                speaking = line.message_id;
            }
            _ => {
                draft.message(Role::User);
                speaking = None;
            }
        }
        read_line(&mut draft, line, &dialect)?;
    }
    Ok(draft)
}

fn read_line<'a>(
    draft: &mut Draft<'a>,
    line: &Line<'_, 'a>,
    dialect: &Dialect,
) -> Result<(), Fault> {
    let [cwd, timestamp, message, attachment, copy] =
        line.value
            .fields(["cwd", "timestamp", "message", "attachment", "toolUseResult"]);
    if let Some(info) = draft.info() {
        let time = timestamp.and_then(Value::decode);
        info.timestamp = info.timestamp.or(time.and_then(|time| time::parse(&time)));
        // Each line repeats the usage of the answer as it was by then.
        let usage = message.and_then(|message| message.get("usage"));
        info.usage = usage.map(read_usage).or(info.usage);
    }
    if let Some(cwd) = cwd.and_then(Value::decode) {
        draft.cwd(cwd);
    }
    if let Some(copy) = copy {
        draft.outside("host's copies of results", copy.raw().len());
    }
    if let Some(attachment) = attachment.filter(|_| line.kind == Kind::Attachment) {
        // What was typed while the model was at work.
        match attachment.get("prompt").and_then(Value::decode) {
            Some(prompt) => draft.text(prompt),
            None => draft.opaque(Cow::Borrowed(attachment.raw())),
        }
    }
    match message.and_then(|message| message.get("content")) {
        Some(content) => blocks::read(draft, content, dialect),
        None => Ok(()),
    }
}

fn read_usage(usage: Value<'_, '_>) -> Usage {
    let [input, cache_read, cache_write, output] = usage
        .fields([
            "input_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "output_tokens",
        ])
        .map(|count| count.and_then(Value::u64));
    Usage {
        input,
        cache_read,
        cache_write,
        output,
    }
}

fn model<'a>(line: &Line<'_, 'a>) -> Option<Cow<'a, str>> {
    let model = line.value.at(&["message", "model"])?.decode()?;
    (line.kind == Kind::Assistant && model != SYNTHETIC).then_some(model)
}

fn count_outside(draft: &mut Draft<'_>, lines: &[Line<'_, '_>], window: &branch::Window) {
    let mut selected = vec![false; lines.len()];
    for &at in &window.lines {
        selected[at] = true;
    }
    for (at, line) in lines.iter().enumerate() {
        if selected[at] {
            continue;
        }
        let what = match line.kind {
            Kind::AgentProgress => "sub-agents' progress records",
            Kind::Progress => "progress records",
            Kind::Snapshot => "file history snapshots",
            _ if line.sidechain != window.sidechain => "side chains",
            Kind::User | Kind::Assistant if window.compacted.is_some_and(|last| at < last) => {
                "messages before the last compaction"
            }
            Kind::User | Kind::Assistant => "messages on abandoned branches",
            _ => "records of the host",
        };
        draft.outside(what, line.value.raw().len());
    }
}
