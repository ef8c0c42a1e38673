//! `neenee restore`: originals out of the store.
//! Deliberately exact: either the very bytes, or an error that says what is in the way.

use std::path::Path;

use anyhow::{Context as _, Result};
use neenee_core::message::Tier;
use neenee_core::pressure::view::View;
use neenee_store::file::Side;
use neenee_store::{Origin, SessionEvent, SessionInfo, SessionStore};
use neenee_wire::Format;

use crate::cli::RestoreArgs;
use crate::error::Failure;
use crate::output;
use crate::render::messages;
use crate::settings::Settings;
use crate::store;

pub(super) fn run(args: &RestoreArgs, settings: &Settings) -> Result<()> {
    let store = store::open(settings)?;
    let session = store::find(&store, &args.session)?;
    if args.in_place {
        return in_place(&store, &session, args.at);
    }
    let bytes = match (&args.call, &session.origin) {
        (Some(call), Origin::File) => call_of_file(&store, &session, call)?,
        (Some(call), _) => call_of_session(&store, &session, call)?,
        (None, Origin::File) => file(&store, &session, args.at)?,
        (None, _) => match args.at {
            Some(event) => messages::lines(&store.window_at(session.id, event)?)?,
            None => messages::lines(&store.transcript(session.id)?)?,
        },
    };
    match &args.output {
        Some(path) => output::write_whole(path, &bytes),
        None => output::stdout(&bytes),
    }
}

/// The result of a call in a session of our own.
fn call_of_session(store: &SessionStore, session: &SessionInfo, call: &str) -> Result<Vec<u8>> {
    let mut results = store.originals(session.id, call)?;
    if results.len() > 1 {
        output::note(&format!(
            "note: {} results have the id {call}; this is the last",
            results.len()
        ));
    }
    // The store answers with at least one.
    let text = results.pop().map(|result| result.text).unwrap_or_default();
    Ok(text.into_bytes())
}

/// The result of a call in a file, from the first state of the file that has it whole.
fn call_of_file(store: &SessionStore, session: &SessionInfo, call: &str) -> Result<Vec<u8>> {
    for event in store.events(session.id)? {
        if !matches!(event.event, SessionEvent::ContextProjectionCommitted(_)) {
            continue;
        }
        let Some(state) = store.file(session.id, Some(event.seq), Side::Before)? else {
            continue;
        };
        let format = state.format.as_deref().and_then(Format::parse);
        let document = neenee_wire::read(&state.bytes, format)
            .with_context(|| format!("failed to read {} as of event {}", state.path, event.seq))?;
        let found = document.views().find_map(|view| match view {
            View::Result(result)
                if result.call_id == Some(call)
                    && result
                        .degraded
                        .is_none_or(|record| record.tier == Tier::Kept) =>
            {
                Some(result.text.to_owned())
            }
            _ => None,
        });
        if let Some(text) = found {
            return Ok(text.into_bytes());
        }
    }
    Err(neenee_store::StoreError::NoSuchCall {
        session: session.id,
        call: call.to_owned(),
    }
    .into())
}

/// The whole original of a file, or its state as of an event.
fn file(store: &SessionStore, session: &SessionInfo, at: Option<u64>) -> Result<Vec<u8>> {
    match at {
        None => store
            .whole_file(session.id)?
            .map(|whole| whole.bytes)
            .ok_or_else(|| no_file(session)),
        Some(event) => state_at(store, session, event),
    }
}

/// As the file was after the event: as the last projection up to it left it, or before the first.
fn state_at(store: &SessionStore, session: &SessionInfo, event: u64) -> Result<Vec<u8>> {
    let events = store.events(session.id)?;
    let last = events.last().map_or(0, |event| event.seq);
    if event > last {
        return Err(neenee_store::StoreError::NoSuchEvent {
            session: session.id,
            last,
            asked: event,
        }
        .into());
    }
    let projection = events.iter().rev().find(|known| {
        known.seq <= event && matches!(known.event, SessionEvent::ContextProjectionCommitted(_))
    });
    let state = match projection {
        Some(projection) => store.file(session.id, Some(projection.seq), Side::After)?,
        None => store.file(session.id, None, Side::Before)?,
    };
    state
        .map(|state| state.bytes)
        .ok_or_else(|| no_file(session))
}

/// Puts the file back where it was.
fn in_place(store: &SessionStore, session: &SessionInfo, at: Option<u64>) -> Result<()> {
    let whole = store
        .whole_file(session.id)?
        .ok_or_else(|| no_file(session))?;
    let path = Path::new(&whole.path);
    if whole.path == "stdin" {
        return Err(
            Failure::new("failed to restore in place: the session came from stdin")
                .fix("name a file with -o FILE")
                .into(),
        );
    }
    if let Some(event) = at {
        return output::write_whole(path, &state_at(store, session, event)?);
    }
    let mut bytes = whole.bytes;
    match std::fs::read(path) {
        Ok(now) => match now.strip_prefix(whole.last_after.as_slice()) {
            Some(added) => bytes.extend_from_slice(added),
            None if now == bytes => return Ok(()),
            None => {
                return Err(Failure::new(format!(
                    "failed to restore {}: it was rewritten since it was pruned",
                    path.display()
                ))
                .fix("write the original elsewhere with -o FILE and compare")
                .into());
            }
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => {
            return Err(error).with_context(|| format!("failed to read {}", path.display()));
        }
    }
    output::write_whole(path, &bytes)
}

fn no_file(session: &SessionInfo) -> anyhow::Error {
    Failure::new(format!(
        "failed to restore {}: the session holds no file",
        session.label()
    ))
    .fix("leave --in-place away to get its messages")
    .into()
}
