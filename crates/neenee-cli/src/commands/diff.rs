//! `neenee diff`: what the model saw before and after a projection.
//! Deliberately of decoded text, since that is what the model sees.

use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use neenee_core::message::{Message, Part};
use neenee_core::pressure::view::{View, views};
use neenee_store::file::{Side, StoredBytes};
use neenee_store::{SessionEvent, SessionInfo, SessionStore};
use neenee_wire::Format;
use similar::TextDiff;

use crate::cli::DiffArgs;
use crate::error::Failure;
use crate::output;
use crate::render::number::counted;
use crate::render::text::line;
use crate::settings::Settings;
use crate::store;

/// Lines that stay, shown around those that change.
const CONTEXT_LINES: usize = 2;

pub(super) fn run(args: &DiffArgs, settings: &Settings, colour: bool) -> Result<()> {
    let store = store::open(settings)?;
    let session = store::find(&store, &args.session)?;
    let event = projection(&store, &session, args.at)?;
    let (before, after) = sides(&store, &session, event)?;
    let mut out = String::new();
    for (name, old, new) in changes(before, after) {
        if args.brief {
            let chars =
                |text: &Option<String>| text.as_ref().map_or(0, |text| text.chars().count());
            let _ = writeln!(
                out,
                "{}: {} → {}",
                line(&name),
                counted(chars(&old), "char"),
                counted(chars(&new), "char")
            );
        } else {
            unified(
                &mut out,
                &name,
                &old.unwrap_or_default(),
                &new.unwrap_or_default(),
                colour,
            );
        }
    }
    output::stdout(out.as_bytes())
}

/// The event asked for, which must be a projection; else the last one.
fn projection(store: &SessionStore, session: &SessionInfo, at: Option<u64>) -> Result<u64> {
    let events = store.events(session.id)?;
    let found = events.iter().rev().find(|event| {
        at.is_none_or(|at| at == event.seq)
            && matches!(event.event, SessionEvent::ContextProjectionCommitted(_))
    });
    match (found, at) {
        (Some(event), _) => Ok(event.seq),
        (None, Some(at)) => Err(Failure::new(format!(
            "failed to compare: event {at} of {} is no projection",
            session.label()
        ))
        .fix("`neenee sessions show` marks those that are")
        .into()),
        (None, None) => Err(Failure::new(format!(
            "failed to compare: {} has no projection",
            session.label()
        ))
        .into()),
    }
}

/// Something that the model sees: what it is called, and its text.
type Item = (String, String);

fn sides(
    store: &SessionStore,
    session: &SessionInfo,
    event: u64,
) -> Result<(Vec<Item>, Vec<Item>)> {
    let file = |side| store.file(session.id, Some(event), side);
    match (file(Side::Before)?, file(Side::After)?) {
        (Some(before), Some(after)) => Ok((file_items(&before)?, file_items(&after)?)),
        _ => Ok((
            message_items(&store.window_at(session.id, event - 1)?),
            message_items(&store.window_at(session.id, event)?),
        )),
    }
}

fn file_items(state: &StoredBytes) -> Result<Vec<Item>> {
    let format = state.format.as_deref().and_then(Format::parse);
    let document = neenee_wire::read(&state.bytes, format)
        .with_context(|| format!("failed to read {} as of event {}", state.path, state.seq))?;
    Ok(items(document.views()))
}

/// The texts of a window, results under the name of their call, children included.
fn message_items(messages: &[Message]) -> Vec<Item> {
    let mut all = Vec::new();
    for message in messages {
        all.extend(items(views(std::slice::from_ref(message))));
        for part in &message.parts {
            if let Part::Result(result) = part {
                all.extend(message_items(&result.children));
            }
        }
    }
    all
}

fn items<'a>(views: impl Iterator<Item = View<'a>>) -> Vec<Item> {
    let mut items = Vec::new();
    let mut role = String::new();
    for view in views {
        match view {
            View::Message(next) => role = format!("{next:?}").to_lowercase(),
            View::Text(text) => items.push((role.clone(), text.to_owned())),
            View::Reasoning { text, .. } => {
                items.push((format!("{role}, reasoning"), text.to_owned()));
            }
            View::Call(call) => items.push((
                format!("call {} {}", call.id.unwrap_or("-"), call.name),
                call.arguments.to_owned(),
            )),
            View::Result(result) => {
                let id = result.call_id.unwrap_or("-");
                let mut text = result.text.to_owned();
                for media in result.media {
                    let _ = write!(text, "\n({}, {} bytes)", media.kind, media.bytes);
                }
                items.push((format!("result {id}"), text));
            }
            _ => {}
        }
    }
    items
}

/// What differs: pairs by place when nothing joined or left, else what stands between the same ends.
fn changes(before: Vec<Item>, after: Vec<Item>) -> Vec<(String, Option<String>, Option<String>)> {
    let same =
        before.len() == after.len() && before.iter().zip(&after).all(|(old, new)| old.0 == new.0);
    if same {
        return before
            .into_iter()
            .zip(after)
            .filter(|(old, new)| old.1 != new.1)
            .map(|(old, new)| (old.0, Some(old.1), Some(new.1)))
            .collect();
    }
    let head = before
        .iter()
        .zip(&after)
        .take_while(|(old, new)| old == new)
        .count();
    let tail = before[head..]
        .iter()
        .rev()
        .zip(after[head..].iter().rev())
        .take_while(|(old, new)| old == new)
        .count();
    let (gone, come) = (before.len() - tail, after.len() - tail);
    let gone = before.into_iter().take(gone).skip(head);
    let come = after.into_iter().take(come).skip(head);
    gone.map(|(name, text)| (name, Some(text), None))
        .chain(come.map(|(name, text)| (name, None, Some(text))))
        .collect()
}

fn unified(out: &mut String, name: &str, old: &str, new: &str, colour: bool) {
    let diff = TextDiff::from_lines(old, new);
    let text = diff
        .unified_diff()
        .context_radius(CONTEXT_LINES)
        .header(&line(name), &line(name))
        .to_string();
    for row in text.lines() {
        let row = line(row);
        let _ = match (colour, row.as_bytes().first()) {
            (true, Some(b'+')) => writeln!(out, "\x1b[32m{row}\x1b[0m"),
            (true, Some(b'-')) => writeln!(out, "\x1b[31m{row}\x1b[0m"),
            (true, Some(b'@')) => writeln!(out, "\x1b[36m{row}\x1b[0m"),
            _ => writeln!(out, "{row}"),
        };
    }
}
