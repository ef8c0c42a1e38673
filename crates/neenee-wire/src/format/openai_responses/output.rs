//! What came back from a call: text, parts, or the chunks of a shell, and how each is replaced.
//! Deliberately not screenshots of a computer, which must stay screenshots.

use std::borrow::Cow;

use crate::content::{Body, Dialect};
use crate::document::{Draft, ResultItem};
use crate::error::Fault;
use crate::json::{Kind, Value};
use crate::slot::Site;

pub(super) fn is_output(kind: &str) -> bool {
    matches!(
        kind,
        "function_call_output"
            | "custom_tool_call_output"
            | "local_shell_call_output"
            | "shell_call_output"
            | "apply_patch_call_output"
            | "computer_call_output"
    )
}

pub(super) fn read<'a>(
    draft: &mut Draft<'a>,
    item: Value<'_, 'a>,
    kind: &str,
    dialect: &Dialect,
) -> Result<(), Fault> {
    let [call_id, id, output, status] = item.fields(["call_id", "id", "output", "status"]);
    // A local shell's output is named by the id of its call alone.
    let call_id = call_id.or(id).and_then(Value::decode);
    match output {
        Some(output) if kind == "shell_call_output" && is_chunks(output) => {
            read_chunks(draft, call_id, output);
            return Ok(());
        }
        Some(output) if kind == "computer_call_output" => {
            match dialect.media(output) {
                Some(media) => draft.weight(media.tokens),
                None => draft.opaque(Cow::Borrowed(item.raw())),
            }
            return Ok(());
        }
        // Some early versions of Codex wrote `{"content": …, "success": …}`.
        Some(output) if output.is_object() => {
            let success = output.get("success").and_then(Value::bool);
            let body = Body::of_field(output, "content", dialect)?;
            return put(draft, call_id, success.map(|success| !success), body);
        }
        _ => {}
    }
    let failed = match (kind, status) {
        ("apply_patch_call_output", Some(status)) => Some(status.is("failed")),
        _ => None,
    };
    let body = Body::of_field(item, "output", dialect)?;
    put(draft, call_id, failed, body)
}

fn put<'a>(
    draft: &mut Draft<'a>,
    call_id: Option<Cow<'a, str>>,
    failed: Option<bool>,
    body: Body<'a>,
) -> Result<(), Fault> {
    draft.result(
        ResultItem {
            call_id,
            text: body.text,
            media: body.media,
            failed,
            ..ResultItem::default()
        },
        body.range,
        body.site,
    );
    for part in body.unknown {
        draft.opaque(Cow::Borrowed(part));
    }
    Ok(())
}

fn is_chunks(output: Value<'_, '_>) -> bool {
    output.is_array()
        && output.items().next().is_some()
        && output.items().all(|chunk| {
            let streams = chunk.fields(["stdout", "stderr"]);
            streams.into_iter().flatten().any(Value::is_string)
        })
}

/// `[{"stdout", "stderr", "outcome": {"type": "exit", "exit_code"}}]`: one chunk per command. New text goes
/// where the first text is, and the other streams are emptied; the outcomes stay.
fn read_chunks<'a>(draft: &mut Draft<'a>, call_id: Option<Cow<'a, str>>, output: Value<'_, 'a>) {
    let streams: Vec<_> = output
        .items()
        .flat_map(|chunk| chunk.fields(["stdout", "stderr"]))
        .flatten()
        .filter(|stream| stream.kind() == Kind::String)
        .filter_map(Value::string)
        .collect();
    let told = |stream: &&crate::json::Text<'a>| !stream.raw().is_empty();
    let Some(first) = streams.iter().find(told).or_else(|| streams.first()) else {
        return;
    };
    let mut text = first.decode();
    for more in streams.iter().filter(told) {
        if more.range() != first.range() {
            text.to_mut().push('\n');
            text.to_mut().push_str(&more.decode());
        }
    }
    let mut site = Site::string(*first);
    let others = streams
        .iter()
        .filter(|stream| stream.range() != first.range());
    site.also = others
        .filter(told)
        .map(|stream| (stream.range(), String::new()))
        .collect();
    let codes = output
        .items()
        .filter_map(|chunk| chunk.at(&["outcome", "exit_code"])?.i64());
    // The first command that failed tells of the whole.
    let mut status = None;
    for code in codes {
        status = status.filter(|code| *code != 0).or(Some(code));
    }
    draft.result(
        ResultItem {
            call_id,
            text,
            exit_status: status.and_then(|status| i32::try_from(status).ok()),
            ..ResultItem::default()
        },
        output.range(),
        site,
    );
}
