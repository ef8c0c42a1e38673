//! A projection: what a caller wants the window to become, compared with what it is.
//! Deliberately suspicious: the log takes only what it can prove from the window it holds.

mod pairs;

use neenee_core::message::{Message, Part, ToolResult};
use neenee_core::pressure::Original;
use rustc_hash::FxHashMap;

use crate::error::Refusal;
use crate::event::{Counts, Operation};
use crate::record::body::Collector;
use crate::record::message::{StoredContent, StoredMessage};
use crate::record::payload::{Projected, Replaced, StoredChange, WindowChange};

/// A smaller window, and what it leaves out.
#[derive(Clone, Debug)]
pub struct Projection {
    /// The event after which the window was looked at, [`crate::Session::revision`].
    pub base: u64,
    /// Which layer made it. A prune may only replace the content of results.
    pub operation: Operation,
    /// What caused it, for the timeline.
    pub cause: String,
    /// The new window, whole.
    pub window: Vec<Message>,
    /// What the new window's results held before, as [`neenee_core::pressure::PruneOutcome`]
    /// hands it out. Messages that a compaction removes need none: the log has them.
    pub originals: Vec<Original>,
    /// The window before.
    pub before: Counts,
    /// The window after.
    pub after: Counts,
}

/// The bodies of a projection: what left the window, and what it holds instead.
#[derive(Debug, Default)]
pub(crate) struct Moved {
    pub(crate) archived: Collector,
    pub(crate) fresh: Collector,
}

/// The record of `projection` on `window`, which the session holds now; bodies go to `moved`.
pub(crate) fn record(
    window: &[Message],
    projection: &Projection,
    moved: &mut Moved,
) -> Result<Projected, Refusal> {
    let new = &projection.window;
    let kept_head = window
        .iter()
        .zip(new)
        .take_while(|(old, new)| same_shell(old, new))
        .count();
    let kept_tail = window[kept_head..]
        .iter()
        .rev()
        .zip(new[kept_head..].iter().rev())
        .take_while(|(old, new)| same_shell(old, new))
        .count();
    let removed = kept_head..window.len() - kept_tail;
    let inserted = &new[kept_head..new.len() - kept_tail];
    if projection.operation == Operation::Prune && !(removed.is_empty() && inserted.is_empty()) {
        return Err(Refusal::NotOnlyResults { message: kept_head });
    }
    pairs::check(window, &removed, inserted)?;

    let mut replacing = Replacing::new(&projection.originals, moved);
    let mut ordinal = 0;
    for (place, old) in window.iter().enumerate() {
        let new = if place < kept_head {
            Some(&new[place])
        } else if place >= removed.end {
            Some(&new[place + new.len() - window.len()])
        } else {
            None
        };
        replacing.message(old, new, place, &mut ordinal, &mut Path::default())?;
    }
    let replaced = replacing.finish()?;
    if replaced.is_empty() && removed.is_empty() && inserted.is_empty() {
        return Err(Refusal::Empty);
    }
    Ok(Projected {
        operation: projection.operation.into(),
        cause: projection.cause.clone(),
        before: projection.before.into(),
        after: projection.after.into(),
        results: replaced
            .iter()
            .filter_map(|replaced| replaced.call_id.clone())
            .collect(),
        change: StoredChange::Window(WindowChange {
            replaced,
            removed_at: removed.start as u64,
            removed: removed.len() as u64,
            inserted: inserted
                .iter()
                .map(|message| StoredMessage::of(message, &mut moved.fresh))
                .collect(),
        }),
    })
}

/// Whether two messages are the same apart from what projections may replace.
fn same_shell(old: &Message, new: &Message) -> bool {
    let same_part = |(old, new): (&Part, &Part)| match (old, new) {
        (Part::Result(old), Part::Result(new)) => {
            old.call_id == new.call_id
                && old.name == new.name
                && old.failed == new.failed
                && old.exit_status == new.exit_status
                && old.children.len() == new.children.len()
                && old
                    .children
                    .iter()
                    .zip(&new.children)
                    .all(|(old, new)| same_shell(old, new))
        }
        _ => old == new,
    };
    old.role == new.role
        && old.parts.len() == new.parts.len()
        && old.parts.iter().zip(&new.parts).all(same_part)
}

/// Where a result is, in the two ways that are spoken of it.
#[derive(Clone, Debug, Default)]
struct Path {
    /// Running numbers, as core's originals have them.
    ordinals: Vec<usize>,
    /// Message and part, as records have them.
    places: Vec<(u64, u64)>,
}

/// Collects the contents that differ, each against its original.
struct Replacing<'a> {
    originals: FxHashMap<&'a [usize], &'a Original>,
    moved: &'a mut Moved,
    replaced: Vec<Replaced>,
}

impl<'a> Replacing<'a> {
    fn new(originals: &'a [Original], moved: &'a mut Moved) -> Self {
        Replacing {
            originals: originals
                .iter()
                .map(|original| (original.path.as_slice(), original))
                .collect(),
            moved,
            replaced: Vec::new(),
        }
    }

    /// Walks the results of one message in the order of core's running numbers. Without `new` the
    /// message is removed, and only counted.
    fn message(
        &mut self,
        old: &Message,
        new: Option<&Message>,
        place: usize,
        ordinal: &mut usize,
        path: &mut Path,
    ) -> Result<(), Refusal> {
        for (index, part) in old.parts.iter().enumerate() {
            let Part::Result(result) = part else { continue };
            let own = *ordinal;
            *ordinal += 1;
            let Some(Part::Result(now)) = new.and_then(|new| new.parts.get(index)) else {
                continue;
            };
            path.ordinals.push(own);
            path.places.push((place as u64, index as u64));
            self.result(result, now, path)?;
            let mut below = 0;
            for (place, (old, new)) in result.children.iter().zip(&now.children).enumerate() {
                self.message(old, Some(new), place, &mut below, path)?;
            }
            path.ordinals.pop();
            path.places.pop();
        }
        Ok(())
    }

    fn result(&mut self, old: &ToolResult, new: &ToolResult, path: &Path) -> Result<(), Refusal> {
        if old.text == new.text && old.media == new.media && old.degraded == new.degraded {
            return Ok(());
        }
        let fits = self
            .originals
            .remove(path.ordinals.as_slice())
            .is_some_and(|original| {
                original.call_id == old.call_id
                    && original.text == old.text
                    && original.media == old.media
                    && original.degraded == old.degraded
            });
        if !fits {
            return Err(Refusal::OriginalMismatch {
                place: name(old.call_id.as_deref(), &path.ordinals),
            });
        }
        self.replaced.push(Replaced {
            path: path.places.clone(),
            call_id: old.call_id.clone(),
            original: StoredContent::of_result(old, &mut self.moved.archived),
            now: StoredContent::of_result(new, &mut self.moved.fresh),
        });
        Ok(())
    }

    fn finish(self) -> Result<Vec<Replaced>, Refusal> {
        // The smallest, so that the same mistake reads the same every time.
        match self.originals.iter().min_by_key(|(path, _)| **path) {
            None => Ok(self.replaced),
            Some((path, original)) => Err(Refusal::OriginalOfNothing {
                place: name(original.call_id.as_deref(), path),
            }),
        }
    }
}

fn name(call_id: Option<&str>, ordinals: &[usize]) -> String {
    match call_id {
        Some(id) => format!("call {id:?}"),
        None => format!("result {ordinals:?}"),
    }
}
