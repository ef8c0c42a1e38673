//! The conversations as JSON, for the page and for programs.
//! Deliberately without anything of a request but names and numbers; originals are asked for one by one.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::Serialize;
use serde_json::{Value, json};

use crate::archive::{ArchiveError, DegradedResult, ResultKey};
use crate::conversation::{Conversation, Story};
use crate::shared::Shared;

#[derive(Serialize)]
struct Shown<'a> {
    id: &'a str,
    parent: Option<&'a str>,
    #[serde(flatten)]
    story: Story,
    /// The degraded results, those of the most tokens first.
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<Arc<DegradedResult>>>,
}

/// All conversations in memory and the totals.
pub(super) fn conversations(shared: &Shared) -> Option<String> {
    let all = shared.memory.all();
    let shown: Vec<Shown<'_>> = all
        .iter()
        .map(|conversation| {
            let mut story = conversation.story().clone();
            let latest = story.samples.pop_back();
            story.samples.clear();
            story.samples.extend(latest);
            story.decisions.clear();
            shown(conversation, story)
        })
        .filter(|shown| shown.story.requests > 0)
        .collect();
    let metrics = &shared.metrics;
    let (conversations, bytes) = shared.memory.size();
    let saved: f64 = shown.iter().filter_map(|shown| shown.story.saved).sum();
    let body = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "started": shared.started,
        "now": shared.now(),
        "totals": {
            "conversations": conversations,
            "bytes": bytes,
            "in_flight": metrics.in_flight.load(Ordering::Relaxed),
            "prunes": metrics.prunes.load(Ordering::Relaxed),
            "faults": metrics.faults(),
            "tokens_in": metrics.tokens_in.load(Ordering::Relaxed),
            "tokens_out": metrics.tokens_out.load(Ordering::Relaxed),
            "saved": saved,
        },
        "conversations": shown,
    });
    Some(body.to_string())
}

/// One conversation, with its requests, decisions and degraded results.
pub(super) fn conversation(shared: &Shared, id: &str) -> Option<String> {
    let conversation = named(shared, id)?;
    let mut results: Vec<Arc<DegradedResult>> =
        conversation.state().degraded.values().cloned().collect();
    results.sort_by_key(|result| (std::cmp::Reverse(result.tokens.0), result.key));
    let mut shown = shown(&conversation, conversation.story().clone());
    shown.results = Some(results);
    serde_json::to_string(&shown).ok()
}

/// What a degraded result said, as text; content that is no text as the JSON that was sent.
pub(super) fn original(
    shared: &Shared,
    id: &str,
    key: &str,
) -> Result<Option<String>, ArchiveError> {
    let Ok(key) = ResultKey::try_from(key.to_owned()) else {
        return Ok(None);
    };
    let Some(bytes) = shared.archive.original(id, key)? else {
        return Ok(None);
    };
    Ok(Some(match serde_json::from_slice(&bytes) {
        Ok(Value::String(text)) => text,
        Ok(Value::Array(parts)) if parts.iter().all(|part| part["text"].is_string()) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| part["text"].as_str())
                .collect();
            texts.join("\n")
        }
        _ => String::from_utf8_lossy(&bytes).into_owned(),
    }))
}

fn named(shared: &Shared, id: &str) -> Option<Arc<Conversation>> {
    let mut all = shared.memory.all().into_iter();
    all.find(|conversation| conversation.id == id)
}

fn shown(conversation: &Conversation, story: Story) -> Shown<'_> {
    Shown {
        id: &conversation.id,
        parent: conversation.parent.as_deref(),
        story,
        results: None,
    }
}
