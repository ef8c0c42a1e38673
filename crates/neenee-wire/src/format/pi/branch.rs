//! Which entries are the window: the branch of the last entry, from its last compaction on.
//! Deliberately not what the entries say.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::json::Value;

/// A line: what it is, and its place in the tree.
pub(super) struct Entry<'t, 'a> {
    pub(super) value: Value<'t, 'a>,
    /// The type as it is written; empty where there is none.
    pub(super) kind: &'a str,
    id: Option<&'a str>,
    parent: Option<&'a str>,
    /// A command of the user's whose output the model is not to see.
    pub(super) excluded: bool,
}

/// The entries that are sent, in the order in which they are.
pub(super) struct Window {
    pub(super) entries: Vec<usize>,
    /// The compaction that the window starts with.
    pub(super) compacted: Option<usize>,
}

impl<'t, 'a> Entry<'t, 'a> {
    pub(super) fn new(value: Value<'t, 'a>) -> Entry<'t, 'a> {
        let [kind, id, parent, message] = value.fields(["type", "id", "parentId", "message"]);
        let text = |field: Option<Value<'_, 'a>>| field?.string().map(|text| text.raw());
        let excluded = message.and_then(|message| message.get("excludeFromContext"));
        Entry {
            value,
            kind: text(kind).unwrap_or_default(),
            id: text(id),
            parent: text(parent),
            excluded: excluded.and_then(Value::bool).unwrap_or(false),
        }
    }

    /// The working directory, which the header names.
    pub(super) fn cwd(&self) -> Option<Cow<'a, str>> {
        (self.kind == "session")
            .then(|| self.value.get("cwd")?.decode())
            .flatten()
    }
}

pub(super) fn window(entries: &[Entry<'_, '_>]) -> Window {
    let path = path(entries);
    let compaction = path
        .iter()
        .rposition(|&at| entries[at].kind == "compaction");
    let sent = |&at: &usize| {
        !entries[at].excluded
            && matches!(
                entries[at].kind,
                "message" | "custom_message" | "branch_summary" | "model_change"
            )
    };
    let Some(place) = compaction else {
        return Window {
            entries: path.into_iter().filter(|at| sent(at)).collect(),
            compacted: None,
        };
    };
    let compacted = path[place];
    let kept = first_kept(entries, &path[..place], compacted);
    Window {
        entries: std::iter::once(compacted)
            .chain(path[kept..place].iter().copied().filter(|at| sent(at)))
            .chain(path[place + 1..].iter().copied().filter(|at| sent(at)))
            .collect(),
        compacted: Some(compacted),
    }
}

/// Where in `before` that begins which the compaction kept word by word; its end when nothing is.
/// Files without ids name the entry by its number in the file, the header being 0.
fn first_kept(entries: &[Entry<'_, '_>], before: &[usize], compacted: usize) -> usize {
    let [id, index] = entries[compacted]
        .value
        .fields(["firstKeptEntryId", "firstKeptEntryIndex"]);
    let id = id.and_then(Value::string).map(|id| id.raw());
    let index = index.and_then(Value::u64).filter(|_| id.is_none());
    before
        .iter()
        .position(|&at| match (id, index) {
            (Some(id), _) => entries[at].id == Some(id),
            (None, Some(index)) => at as u64 >= index,
            (None, None) => false,
        })
        .unwrap_or(before.len())
}

/// The entries from the root to the last one. Files of the first version have no ids: all of them.
fn path(entries: &[Entry<'_, '_>]) -> Vec<usize> {
    let linked = |entry: &Entry<'_, '_>| entry.kind != "session" && entry.id.is_some();
    let Some(leaf) = entries.iter().rposition(linked) else {
        return (0..entries.len()).collect();
    };
    let by_id: HashMap<&str, usize> = entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| linked(entry))
        .filter_map(|(at, entry)| Some((entry.id?, at)))
        .collect();
    // A damaged file may link in a circle: no entry is passed twice.
    let mut passed = vec![false; entries.len()];
    let mut path = Vec::new();
    let mut next = Some(leaf);
    while let Some(at) = next.filter(|&at| !std::mem::replace(&mut passed[at], true)) {
        path.push(at);
        next = entries[at].parent.and_then(|id| by_id.get(id).copied());
    }
    path.reverse();
    path
}
