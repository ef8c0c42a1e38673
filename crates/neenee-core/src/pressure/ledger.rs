//! Pass 2, files: what was read and changed of each file, and which reads later events supersede.
//! Deliberately knows nothing of budgets: a stale read is stale whatever the window holds.

use std::collections::BTreeMap;

use super::paths::{FileId, Pos};
use crate::touch::LineRange;

/// Running number of a tool result within one conversation.
pub(crate) type Ordinal = u32;

/// One thing that happened to a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    /// The result that told of it.
    pub(crate) result: Ordinal,
    /// Which of the result's targets it is.
    pub(crate) slot: u32,
    /// The path it is entered under; events of an alias only supersede.
    pub(crate) file: FileId,
    /// When its call was made; decides whether two spellings of a path were still unambiguous.
    pub(crate) called_at: Pos,
    pub(crate) kind: EventKind,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum EventKind {
    /// Lines that a result holds. `whole` is false once the result was degraded: it may still be
    /// superseded, and covers nothing any more.
    Read { range: LineRange, whole: bool },
    /// The file is no longer what was read before.
    Mutate,
}

/// Why a read is stale, with the later result that made it so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Staleness {
    /// The file was changed.
    Mutated(Ordinal),
    /// One later read covers its lines.
    Reread(Ordinal),
    /// Several later reads together leave no line out; the newest of them is named.
    Covered(Ordinal),
}

/// Calls `found` for each read of `events` (one file, oldest first; aliases of the file already
/// merged in) that a later event supersedes.
///
/// One sweep from the newest to the oldest. It keeps the nearest later mutation, the later reads
/// that no other later read covers, and the union of all later reads, so that each event costs a
/// look-up, however often a file was read.
pub(crate) fn sweep(events: &[Event], union: bool, mut found: impl FnMut(&Event, Staleness)) {
    let mut mutated: Option<Ordinal> = None;
    let mut single = Staircase::default();
    let mut all = Union::default();
    // Events of one result do not supersede each other, so they join the sets only once the sweep
    // has left that result.
    let mut group = events.len();
    while group > 0 {
        let result = events[group - 1].result;
        let start = events[..group]
            .iter()
            .rposition(|event| event.result != result)
            .map_or(0, |last| last + 1);
        let same = &events[start..group];
        for event in same {
            let EventKind::Read { range, .. } = event.kind else {
                continue;
            };
            let stale = mutated
                .map(Staleness::Mutated)
                .or_else(|| single.covering(range).map(Staleness::Reread))
                .or_else(|| {
                    let newest = union.then(|| all.covering(range)).flatten();
                    newest.map(Staleness::Covered)
                });
            if let Some(stale) = stale {
                found(event, stale);
            }
        }
        for event in same {
            match event.kind {
                EventKind::Mutate => mutated = Some(result),
                EventKind::Read { range, whole: true } => {
                    single.add(range, result);
                    if union {
                        all.add(range, result);
                    }
                }
                EventKind::Read { whole: false, .. } => {}
            }
        }
        group = start;
    }
}

/// `None` as an end is the end of the file, wherever that is.
fn end_of(range: LineRange) -> u64 {
    range.end.unwrap_or(u64::MAX)
}

/// Ranges none of which covers another: starts and ends both rise.
#[derive(Default)]
struct Staircase(BTreeMap<u64, (u64, Ordinal)>);

impl Staircase {
    fn covering(&self, range: LineRange) -> Option<Ordinal> {
        let (_, &(end, result)) = self.0.range(..=range.start).next_back()?;
        (end >= end_of(range)).then_some(result)
    }

    fn add(&mut self, range: LineRange, result: Ordinal) {
        // The newer one was added first and stays when the two are equal.
        if self.covering(range).is_some() {
            return;
        }
        let end = end_of(range);
        let covered: Vec<u64> = self
            .0
            .range(range.start..)
            .take_while(|(_, (other, _))| *other <= end)
            .map(|(&start, _)| start)
            .collect();
        for start in covered {
            self.0.remove(&start);
        }
        self.0.insert(range.start, (end, result));
    }
}

/// Disjoint ranges, each the union of what was added and touched each other.
#[derive(Default)]
struct Union(BTreeMap<u64, (u64, Ordinal)>);

impl Union {
    fn covering(&self, range: LineRange) -> Option<Ordinal> {
        let (_, &(end, newest)) = self.0.range(..=range.start).next_back()?;
        (end >= end_of(range)).then_some(newest)
    }

    fn add(&mut self, range: LineRange, result: Ordinal) {
        let (mut start, mut end, mut newest) = (range.start, end_of(range), result);
        while let Some((&other, &(other_end, other_newest))) = self.0.range(..=end).next_back() {
            if other_end < start {
                break;
            }
            self.0.remove(&other);
            start = start.min(other);
            end = end.max(other_end);
            newest = newest.max(other_newest);
        }
        self.0.insert(start, (end, newest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(result: Ordinal, start: u64, end: Option<u64>) -> Event {
        Event {
            result,
            slot: 0,
            file: 0,
            called_at: result,
            kind: EventKind::Read {
                range: LineRange { start, end },
                whole: true,
            },
        }
    }

    fn mutate(result: Ordinal) -> Event {
        Event {
            result,
            slot: 0,
            file: 0,
            called_at: result,
            kind: EventKind::Mutate,
        }
    }

    #[track_caller]
    fn check(events: &[Event], union: bool, expect: &[(Ordinal, Staleness)]) {
        let mut got = Vec::new();
        sweep(events, union, |event, stale| {
            got.push((event.result, stale));
        });
        got.reverse();
        assert_eq!(got, expect);
    }

    #[test]
    fn ranges_supersede_only_what_they_cover() {
        use Staleness::{Covered, Mutated, Reread};
        let overlap = [read(0, 1, Some(100)), read(1, 50, Some(150))];
        check(&overlap, true, &[]);
        check(
            &[read(0, 50, Some(60)), read(1, 1, Some(100))],
            true,
            &[(0, Reread(1))],
        );
        let third = [
            read(0, 20, Some(80)),
            read(1, 1, Some(50)),
            read(2, 50, Some(100)),
        ];
        check(&third, true, &[(0, Covered(2))]);
        check(&third, false, &[]);
        check(
            &[read(0, 2500, Some(2600)), read(1, 1, Some(2001))],
            true,
            &[],
        );
        check(&[read(0, 5, None), read(1, 1, Some(100))], true, &[]);
        check(
            &[read(0, 5, Some(9)), read(1, 1, None)],
            true,
            &[(0, Reread(1))],
        );
        check(
            &[read(0, 1, None), mutate(1), read(2, 1, None)],
            true,
            &[(0, Mutated(1))],
        );
        check(
            &[read(0, 1, None), read(1, 1, None), read(2, 1, None)],
            true,
            &[(0, Reread(2)), (1, Reread(2))],
        );
    }

    #[test]
    fn a_degraded_read_covers_nothing_and_one_result_never_supersedes_itself() {
        let mut later = read(1, 1, None);
        later.kind = EventKind::Read {
            range: LineRange::WHOLE,
            whole: false,
        };
        check(&[read(0, 1, Some(5)), later], true, &[]);
        check(
            &[read(0, 1, Some(5)), read(0, 1, Some(9)), mutate(0)],
            true,
            &[],
        );
    }

    #[test]
    fn many_reads_of_one_file_stay_linear() {
        // Half a million reads, in the shapes that make a naive list quadratic.
        let pages = (0..100_000).map(|i| read(i, u64::from(i) * 10, Some(u64::from(i) * 10 + 10)));
        let nested = (100_000..200_000).map(|i| read(i, 1, Some(2_000_000 - u64::from(i))));
        let open = (200_000..500_000).map(|i| read(i, u64::from(i), None));
        let events: Vec<Event> = pages.chain(nested).chain(open).collect();
        let mut stale = 0;
        sweep(&events, true, |_, _| stale += 1);
        assert!(stale > 100_000, "{stale}");
    }
}
