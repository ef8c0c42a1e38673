//! A survey for programs.
//! Deliberately its own form: the survey's types may change without the JSON doing so.

use serde_json::{Map, Value, json};

use super::survey::{Share, Survey};
use super::text::Heading;

/// The survey as one JSON object.
pub(crate) fn render(heading: &Heading<'_>, survey: &Survey) -> Value {
    let shares = |rows: &mut dyn Iterator<Item = (&str, &Share)>| -> Value {
        let map: Map<String, Value> = rows
            .map(|(name, share)| (name.to_owned(), counts(share)))
            .collect();
        Value::Object(map)
    };
    let results: Vec<Value> = survey
        .results
        .iter()
        .map(|row| {
            json!({
                "index": row.decision.ordinal,
                "call_id": row.call_id,
                "tool": row.tool,
                "label": row.label,
                "state": row.state.name(),
                "reason": row.decision.reason.name(),
                "superseded_by": row.decision.superseded_by,
                "error": row.is_error,
                "chars": row.decision.chars.before,
                "tokens": row.decision.tokens.before,
            })
        })
        .collect();
    let outside: Vec<Value> = heading
        .outside
        .iter()
        .map(|(what, count, bytes)| json!({"what": what, "count": count, "bytes": bytes}))
        .collect();
    json!({
        "file": heading.file,
        "format": heading.format,
        "model": heading.model,
        "window": {
            "tokens": survey.tokens,
            "window": survey.budget.window_tokens,
            "from": heading.window_from,
            "prune_threshold": survey.budget.prune_threshold_tokens,
            "compact_threshold": survey.budget.compact_threshold_tokens,
            "prunable_tokens": survey.prunable_tokens,
        },
        "messages": survey.messages,
        "calls": survey.calls,
        "kinds": shares(&mut survey.kinds.iter().map(|(kind, share)| (kind.name(), share))),
        "states": shares(&mut survey.states.iter().map(|(state, share)| (state.name(), share))),
        "tools": shares(&mut survey.tools.iter().map(|(name, share)| (name.as_str(), share))),
        "files": shares(&mut survey.files.iter().map(|(path, share)| (path.as_str(), share))),
        "turns": survey.turns,
        "results": results,
        "outside": outside,
    })
}

fn counts(share: &Share) -> Value {
    json!({"count": share.count, "chars": share.chars, "tokens": share.tokens})
}
