//! The parts of a message. A tool's part is call and result in one.
//! Deliberately not which messages are sent.

use std::borrow::Cow;

use neenee_core::message::{Media, MediaKind, Role};
use neenee_core::model::Traits;
use neenee_core::pressure::PRUNED_TOOL_PLACEHOLDER;

use super::Message;
use crate::document::{Draft, ResultItem};
use crate::error::Fault;
use crate::json::{Kind, Value};
use crate::media::media;
use crate::slot::Site;

/// What a compaction's request is sent as.
const COMPACTION: &str = "What did we do so far?";

/// A result that waits for the end of its step: all calls of a step come before their results.
struct Waiting<'a> {
    result: ResultItem<'a>,
    range: std::ops::Range<usize>,
    site: Site,
}

/// Reads the first `limit` parts of a message that has begun.
pub(super) fn read<'a>(
    draft: &mut Draft<'a>,
    message: &Message<'_, 'a>,
    limit: usize,
) -> Result<(), Fault> {
    let mut waiting: Vec<Waiting<'a>> = Vec::new();
    for part in message.parts.items().take(limit) {
        let [kind, text, ignored] = part.fields(["type", "text", "ignored"]);
        let kind = kind.and_then(Value::decode).unwrap_or_default();
        match &*kind {
            "step-start" => {
                if !waiting.is_empty() {
                    answer(draft, &mut waiting);
                    draft.message(Role::Assistant);
                }
            }
            "step-finish" | "snapshot" | "patch" | "retry" | "agent" => {}
            "text" => {
                if ignored.and_then(Value::bool) != Some(true) {
                    draft.text(text.and_then(Value::decode).unwrap_or_default());
                }
            }
            "reasoning" => {
                let bound = part.get("metadata");
                let signed = bound.is_some_and(|bound| bound.entries().next().is_some());
                draft.reasoning(text.and_then(Value::decode).unwrap_or_default(), signed);
            }
            "compaction" => draft.text(Cow::Borrowed(COMPACTION)),
            "file" => read_file(draft, part),
            "tool" => waiting.extend(read_tool(draft, part)?),
            _ => draft.opaque(Cow::Borrowed(part.raw())),
        }
    }
    answer(draft, &mut waiting);
    Ok(())
}

fn answer<'a>(draft: &mut Draft<'a>, waiting: &mut Vec<Waiting<'a>>) {
    for Waiting {
        result,
        range,
        site,
    } in waiting.drain(..)
    {
        draft.message(Role::Tool);
        draft.result(result, range, site);
    }
}

fn read_file<'a>(draft: &mut Draft<'a>, part: Value<'_, 'a>) {
    // The text of a file and the list of a folder are further parts, of text.
    let told = part
        .get("mime")
        .is_some_and(|mime| mime.is("text/plain") || mime.is("application/x-directory"));
    if !told {
        draft.weight(attachment(draft, part).tokens);
    }
}

fn read_tool<'a>(draft: &mut Draft<'a>, part: Value<'_, 'a>) -> Result<Option<Waiting<'a>>, Fault> {
    let [tool, call_id, state] = part.fields(["tool", "callID", "state"]);
    let (Some(tool), Some(state)) = (tool, state) else {
        return Err(Fault::shape(
            part.start(),
            "a part of a tool with `tool` and `state`",
        ));
    };
    let tool = tool.want_string("the name of a tool, which is a string")?;
    let [status, input, output, error, metadata, attachments, time] = state
        .want_object("the state of a tool, which is an object")?
        .fields([
            "status",
            "input",
            "output",
            "error",
            "metadata",
            "attachments",
            "time",
        ]);
    let call_id = call_id.and_then(Value::decode);
    draft.call(
        call_id.clone(),
        tool.decode(),
        Cow::Borrowed(input.map_or("", Value::raw)),
    );
    if let Some(metadata) = metadata {
        draft.outside("host's copies of results", metadata.raw().len());
    }
    let failed = status.is_some_and(|status| status.is("error"));
    let Some(content) = (if failed { error } else { output }) else {
        // Still at work when the session was exported.
        return Ok(None);
    };
    let text = content.want_string("the output of a tool, which is a string")?;
    let exit = metadata
        .and_then(|metadata| metadata.get("exit"))
        .and_then(Value::i64);
    let mut waiting = Waiting {
        result: ResultItem {
            call_id,
            name: Some(tool.decode()),
            text: text.decode(),
            failed: Some(failed),
            exit_status: exit.and_then(|exit| i32::try_from(exit).ok()),
            ..ResultItem::default()
        },
        range: content.range(),
        site: Site::string(text),
    };
    if let Some(attachments) = attachments.filter(|_| !failed) {
        waiting.result.media = attachments
            .items()
            .map(|file| attachment(draft, file))
            .collect();
        if attachments.kind() == Kind::Array {
            waiting
                .site
                .also
                .push((attachments.range(), "[]".to_owned()));
        }
    }
    let compacted = time.and_then(|time| time.get("compacted"));
    if let Some(at) = compacted.filter(|at| at.u64().is_some_and(|at| at > 0) && !failed) {
        // The client sends a placeholder in its place; what is written here it would not send
        // while the mark is set.
        draft.outside("results that the client cleared itself", text.raw().len());
        waiting.result.text = Cow::Borrowed(PRUNED_TOOL_PLACEHOLDER);
        waiting.result.media.clear();
        waiting.site.also.push((at.range(), "0".to_owned()));
    }
    Ok(Some(waiting))
}

fn attachment(draft: &Draft<'_>, file: Value<'_, '_>) -> Media {
    let [mime, url] = file.fields(["mime", "url"]);
    let mime = mime.and_then(Value::decode).unwrap_or_default();
    let kind = match mime.split('/').next() {
        Some("image") => MediaKind::Image,
        Some("audio") => MediaKind::Audio,
        _ if mime == "application/pdf" => MediaKind::Document,
        _ => MediaKind::Other,
    };
    let url = url.and_then(Value::string).map(|url| url.raw());
    let images = Traits::of(draft.named_model().unwrap_or_default()).image;
    media(kind, url, images)
}
