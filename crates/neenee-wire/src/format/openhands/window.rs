//! Which events the agent still sees, and where the summary of the others stands.
//! Deliberately not what the events say.

use std::borrow::Cow;
use std::collections::HashSet;

use super::event::Event;
use crate::json::Value;

pub(super) enum Item<'a> {
    Event(usize),
    Summary(Cow<'a, str>),
}

pub(super) struct Window<'a> {
    pub(super) order: Vec<Item<'a>>,
    /// For each event, whether no condensation forgot it.
    pub(super) kept: Vec<bool>,
}

impl<'a> Window<'a> {
    /// What any condensation forgot is gone; the last summary stands at its offset among the rest.
    pub(super) fn new(events: &[Event<'_, 'a>]) -> Window<'a> {
        let mut ids = HashSet::new();
        let mut ranges = Vec::new();
        let mut summary = None;
        for event in events.iter().filter(|event| event.is("condensation")) {
            let Some(args) = event.args else { continue };
            let [forgotten, start, end, text, offset] = args.fields([
                "forgotten_event_ids",
                "forgotten_events_start_id",
                "forgotten_events_end_id",
                "summary",
                "summary_offset",
            ]);
            ids.extend(
                forgotten
                    .into_iter()
                    .flat_map(Value::items)
                    .filter_map(Value::i64),
            );
            if let (Some(start), Some(end)) = (start.and_then(Value::i64), end.and_then(Value::i64))
            {
                ranges.push(start..=end);
            }
            if let (Some(text), Some(offset)) =
                (text.and_then(Value::decode), offset.and_then(Value::u64))
            {
                summary = Some((text, offset));
            }
        }
        let forgotten =
            |id: i64| ids.contains(&id) || ranges.iter().any(|range| range.contains(&id));
        let kept: Vec<bool> = events
            .iter()
            .map(|event| !event.id.is_some_and(&forgotten))
            .collect();
        let mut order: Vec<Item<'a>> = (0..events.len())
            .filter(|&at| kept[at] && !events[at].is("condensation"))
            .map(Item::Event)
            .collect();
        if let Some((text, offset)) = summary {
            let at = usize::try_from(offset).map_or(order.len(), |at| at.min(order.len()));
            order.insert(at, Item::Summary(text));
        }
        Window { order, kept }
    }
}
