//! OpenHands' events: actions of an agent and the observations that they caused.
//! Deliberately not the requests that the agent built of them, which are Chat's.
//!
//! Source: events that OpenHands 0 writes, as a list (a trajectory, a stored conversation) and as
//! the `history` of its evaluations, and its rule for events that a condensation forgets.

mod event;
mod window;

use self::event::{Event, read_event};
use self::window::Window;
use crate::document::Draft;
use crate::error::Fault;
use crate::json::Value;
use crate::source::Source;

pub(super) const DESCRIBE: &str =
    "OpenHands events (JSON, or JSONL of evaluations); the window is what no condensation forgot";

pub(super) fn sniff(source: &Source<'_>) -> bool {
    source
        .values()
        .filter_map(list)
        .filter_map(|list| events(list).next())
        .any(is_event)
}

pub(super) fn read<'a>(source: &Source<'a>) -> Result<Draft<'a>, Fault> {
    // Each line of an evaluation is a conversation of its own: the last one that holds any is read.
    let conversations: Vec<_> = source
        .values()
        .filter_map(|value| Some((value, list(value)?)))
        .filter(|(_, list)| events(*list).next().is_some())
        .collect();
    let Some(((owner, list), others)) = conversations.split_last() else {
        return Err(Fault::shape(0, "events, as OpenHands writes them")
            .hint("an array of events, or an object with `history` or `trajectory`"));
    };
    let mut draft = Draft::default();
    for (other, _) in others {
        draft.outside("other conversations", other.raw().len());
    }
    let model = owner.at(&["metadata", "llm_config", "model"]);
    draft.model(model.and_then(Value::decode).unwrap_or_default());
    let events = events(*list)
        .map(Event::new)
        .collect::<Result<Vec<_>, _>>()?;
    let window = Window::new(&events);
    for (at, event) in events.iter().enumerate() {
        if !window.kept[at] {
            draft.outside("events that a condensation forgot", event.value.raw().len());
        }
    }
    let mut pairs = event::Pairs::default();
    for item in window.order {
        match item {
            window::Item::Event(at) => read_event(&mut draft, &mut pairs, &events[at])?,
            window::Item::Summary(summary) => {
                draft.message(neenee_core::message::Role::User);
                draft.text(summary);
            }
        }
    }
    Ok(draft)
}

/// The list of events in a value; the value itself, or one of its fields.
fn list<'t, 'a>(value: Value<'t, 'a>) -> Option<Value<'t, 'a>> {
    if value.is_array() {
        return Some(value);
    }
    let lists = value.fields(["history", "trajectory", "events"]);
    lists.into_iter().flatten().find(|list| list.is_array())
}

/// Older evaluations keep pairs of an action and its observation.
fn events<'t, 'a>(list: Value<'t, 'a>) -> impl Iterator<Item = Value<'t, 'a>> {
    list.items().flat_map(|item| {
        let single = (!item.is_array()).then_some(item);
        single.into_iter().chain(item.items())
    })
}

fn is_event(value: Value<'_, '_>) -> bool {
    let [source, action, observation] = value.fields(["source", "action", "observation"]);
    let named = action.or(observation);
    source.is_some_and(Value::is_string) && named.is_some_and(Value::is_string)
}
