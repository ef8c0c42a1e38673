//! The list of sessions.
//! Deliberately one line each, the latest last, where a terminal shows it.

use anyhow::Result;
use neenee_store::{SessionInfo, SessionStore};
use serde_json::{Value, json};

use crate::output;
use crate::render::number::{counted, grouped};
use crate::render::table::{Tone, left, right, table};

pub(super) fn run(store: &SessionStore, as_json: bool, colour: bool) -> Result<()> {
    let mut sessions = store.sessions()?;
    sessions.sort_by_key(|session| (session.used, session.id));
    if as_json {
        return output::json(&sessions.iter().map(json_row).collect::<Vec<_>>());
    }
    if sessions.is_empty() {
        output::note(&format!(
            "no sessions in {} yet; `neenee prune --in-place FILE` keeps the first",
            store.place()
        ));
        return Ok(());
    }
    let columns = [
        left("id"),
        left("name"),
        left("from"),
        left("last written"),
        right("events"),
        right("bytes"),
        left("state"),
    ];
    let rows: Vec<_> = sessions.iter().map(row).collect();
    let mut text = table(&columns, &rows, colour);
    let usage = store.usage()?;
    text.push_str(&format!(
        "\n{} in {}: {} of archived originals kept in {}, {} in live windows, {} of events\n",
        counted(sessions.len(), "session"),
        store.place(),
        counted(usage.archived_raw_bytes as usize, "byte"),
        grouped(usage.archived_bytes as usize),
        counted(usage.fresh_bytes as usize, "byte"),
        counted(usage.record_bytes as usize, "byte"),
    ));
    output::stdout(text.as_bytes())
}

fn row(session: &SessionInfo) -> (Tone, Vec<String>) {
    let state = match (&session.holder, session.parent) {
        (Some(holder), _) => format!("in use by {holder}"),
        (None, Some((parent, seq))) => format!("forked from {parent} at {seq}"),
        (None, None) => String::new(),
    };
    let cells = vec![
        session.id.to_string(),
        session.name.clone().unwrap_or_default(),
        session.origin.to_string(),
        time(session.used),
        grouped(session.last_seq as usize),
        grouped(session.bytes as usize),
        state,
    ];
    (Tone::Plain, cells)
}

/// What a program gets to know about a session.
pub(super) fn json_row(session: &SessionInfo) -> Value {
    json!({
        "id": session.id,
        "name": session.name,
        "origin": session.origin.as_str(),
        "created": session.created.to_string(),
        "used": session.used.to_string(),
        "parent": session.parent.map(|(id, event)| json!({ "id": id, "event": event })),
        "last_event": session.last_seq,
        "bytes": session.bytes,
        "in_use_by": session.holder,
    })
}

/// To the second, in UTC: `2026-12-07 11:04:25Z`.
pub(super) fn time(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}
