//! Which call a result answers, and whether a projection would part them.
//! Deliberately by occurrence: local models reuse ids, and some formats have none.

use std::collections::VecDeque;
use std::ops::Range;

use neenee_core::message::{Message, Part};
use rustc_hash::FxHashMap;

use crate::error::Refusal;

/// Whether every pair of `window` stays or goes as a whole, and `inserted` brings no half of one.
pub(super) fn check(
    window: &[Message],
    removed: &Range<usize>,
    inserted: &[Message],
) -> Result<(), Refusal> {
    if removed.is_empty() && inserted.is_empty() {
        return Ok(());
    }
    let (pairs, _) = pairs(window);
    for pair in &pairs {
        if removed.contains(&pair.call) != removed.contains(&pair.result) {
            return Err(broken(pair.id, pair.call));
        }
    }
    let (_, halves) = self::pairs(inserted);
    match halves.first() {
        Some((id, message)) => Err(broken(*id, removed.start + message)),
        None => Ok(()),
    }
}

struct Pair<'a> {
    id: Option<&'a str>,
    call: usize,
    result: usize,
}

type Half<'a> = (Option<&'a str>, usize);

/// The pairs of a conversation, and the calls and results that have no other half.
fn pairs(messages: &[Message]) -> (Vec<Pair<'_>>, Vec<Half<'_>>) {
    let mut open: FxHashMap<Option<&str>, VecDeque<usize>> = FxHashMap::default();
    let mut pairs = Vec::new();
    let mut halves = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        for part in &message.parts {
            match part {
                Part::Call(call) => open.entry(call.id.as_deref()).or_default().push_back(place),
                Part::Result(result) => {
                    let id = result.call_id.as_deref();
                    // The nearest one with the same id; without ids, in order.
                    let call = open.get_mut(&id).and_then(|calls| match id {
                        Some(_) => calls.pop_back(),
                        None => calls.pop_front(),
                    });
                    match call {
                        Some(call) => pairs.push(Pair {
                            id,
                            call,
                            result: place,
                        }),
                        None => halves.push((id, place)),
                    }
                }
                _ => {}
            }
        }
    }
    halves.extend(
        open.into_iter()
            .flat_map(|(id, calls)| calls.into_iter().map(move |call| (id, call))),
    );
    halves.sort_unstable_by_key(|(id, place)| (*place, *id));
    (pairs, halves)
}

fn broken(id: Option<&str>, message: usize) -> Refusal {
    Refusal::BrokenPair {
        call: match id {
            Some(id) => format!("{id:?}"),
            None => format!("of message {message}"),
        },
    }
}
