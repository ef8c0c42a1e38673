//! One session: what it is, and its timeline.
//! Deliberately without bodies; `restore` and `diff` have those.

use std::fmt::Write as _;

use anyhow::Result;
use neenee_store::event::{NumberedEvent, ProjectionCommitted};
use neenee_store::{SessionEvent, SessionStore};
use serde_json::{Value, json};

use super::list::{json_row, time};
use crate::cli::SessionArgs;
use crate::output;
use crate::render::number::{counted, grouped};
use crate::render::table::{Tone, left, right, table};
use crate::render::text::plain;
use crate::store;

pub(super) fn run(store: &SessionStore, args: &SessionArgs, colour: bool) -> Result<()> {
    let session = store::find(store, &args.session)?;
    let events = store.events(session.id)?;
    if args.json {
        let mut value = json_row(&session);
        value["events"] = events.iter().map(json_event).collect();
        return output::json(&value);
    }
    let mut text = String::new();
    let _ = writeln!(text, "session  {}", session.id);
    if let Some(name) = &session.name {
        let _ = writeln!(text, "name     {}", plain(name));
    }
    let _ = writeln!(text, "from     {}", session.origin);
    let _ = writeln!(text, "began    {}", time(session.created));
    if let Some((parent, event)) = session.parent {
        let _ = writeln!(text, "forked   from {parent} at event {event}");
    }
    if let Some(holder) = &session.holder {
        let _ = writeln!(text, "in use   by {holder}");
    }
    text.push('\n');
    let columns = [right("event"), left("at"), left("what")];
    let rows: Vec<_> = events.iter().map(row).collect();
    text.push_str(&table(&columns, &rows, colour));
    output::stdout(text.as_bytes())
}

fn row(event: &NumberedEvent) -> (Tone, Vec<String>) {
    let (tone, what) = match &event.event {
        SessionEvent::Created { .. } => (Tone::Faint, "began".to_owned()),
        SessionEvent::UserAdmitted => (Tone::Plain, "the user spoke".to_owned()),
        SessionEvent::MessagesAppended { count } => (Tone::Plain, counted(*count, "message")),
        SessionEvent::ContextProjectionCommitted(projection) => {
            (Tone::Strong, projection_text(projection))
        }
        SessionEvent::Renamed { name: Some(name) } => (Tone::Faint, format!("named {name}")),
        SessionEvent::Renamed { name: None } => (Tone::Faint, "lost its name".to_owned()),
        SessionEvent::Noted { topic, .. } => (Tone::Faint, format!("note: {topic}")),
        SessionEvent::Unknown { kind } => (
            Tone::Faint,
            format!("{kind}, which this program does not know"),
        ),
        _ => (Tone::Faint, "something new".to_owned()),
    };
    let cells = vec![event.seq.to_string(), time(event.at), what];
    (tone, cells)
}

fn projection_text(projection: &ProjectionCommitted) -> String {
    let mut text = format!(
        "{}: {} → {} tokens, {} replaced",
        projection.operation,
        grouped(projection.before.tokens),
        grouped(projection.after.tokens),
        counted(projection.replaced, "result"),
    );
    if projection.removed > 0 {
        let _ = write!(
            text,
            ", {} taken out",
            counted(projection.removed, "message")
        );
    }
    let _ = write!(text, " ({})", projection.cause);
    text
}

fn json_event(event: &NumberedEvent) -> Value {
    let mut value = json!({ "event": event.seq, "at": event.at.to_string() });
    let (kind, rest) = match &event.event {
        SessionEvent::Created { name } => ("created", json!({ "name": name })),
        SessionEvent::UserAdmitted => ("user_admitted", json!({})),
        SessionEvent::MessagesAppended { count } => {
            ("messages_appended", json!({ "messages": count }))
        }
        SessionEvent::ContextProjectionCommitted(projection) => (
            "context_projection_committed",
            json!({
                "operation": projection.operation.to_string(),
                "cause": projection.cause,
                "before": counts(projection.before),
                "after": counts(projection.after),
                "results": projection.results,
                "replaced": projection.replaced,
                "removed": projection.removed,
                "file": projection.file,
            }),
        ),
        SessionEvent::Renamed { name } => ("renamed", json!({ "name": name })),
        SessionEvent::Noted { topic, data } => ("noted", json!({ "topic": topic, "data": data })),
        SessionEvent::Unknown { kind } => ("unknown", json!({ "kind": kind })),
        _ => ("unknown", json!({})),
    };
    value["what"] = kind.into();
    if let (Some(value), Value::Object(rest)) = (value.as_object_mut(), rest) {
        value.extend(rest);
    }
    value
}

fn counts(counts: neenee_store::Counts) -> Value {
    json!({ "messages": counts.messages, "chars": counts.chars, "tokens": counts.tokens })
}
