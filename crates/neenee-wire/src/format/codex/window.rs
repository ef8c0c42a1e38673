//! Which records of a rollout the client would send: after the last compaction, less what was taken back.
//! Deliberately reads no item; that is the reader's.

use std::borrow::Cow;

use super::text_of;
use crate::json::Value;
use crate::source::Source;

/// What the window is made of, in order.
pub(super) struct Window<'t, 'a> {
    pub(super) entries: Vec<Entry<'t, 'a>>,
    pub(super) model: Option<Cow<'a, str>>,
    /// What else the file holds: what it is, and its bytes.
    pub(super) outside: Vec<(&'static str, usize)>,
    /// Records that are Codex's.
    pub(super) lines: usize,
}

pub(super) enum Entry<'t, 'a> {
    /// An item, and the record that says when it came; one that a compaction kept has none.
    Item {
        item: Value<'t, 'a>,
        line: Option<Value<'t, 'a>>,
    },
    Instructions(Cow<'a, str>),
    Summary(Cow<'a, str>),
    Cwd(Cow<'a, str>),
    Usage(Value<'t, 'a>),
}

/// Openings of user messages that the client writes itself: no turn of the user's begins with them.
const CONTEXT: [&str; 4] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
];

/// Whether the file is of the first versions, whose lines are the items themselves behind one of meta data.
pub(super) fn is_old(source: &Source<'_>) -> bool {
    let mut values = source.values();
    let is_meta = values.next().is_some_and(|first| {
        let [id, timestamp, kind] = first.fields(["id", "timestamp", "type"]);
        id.is_some_and(Value::is_string)
            && timestamp.is_some_and(Value::is_string)
            && kind.is_none()
    });
    is_meta && source.is_lines() && values.take(16).any(|value| is_bare_item(value))
}

fn is_bare_item(value: Value<'_, '_>) -> bool {
    let [kind, role, call_id, summary] = value.fields(["type", "role", "call_id", "summary"]);
    kind.is_some_and(|kind| {
        kind.is("message") && role.is_some()
            || call_id.is_some()
            || kind.is("reasoning") && summary.is_some()
    })
}

pub(super) fn of<'t, 'a>(source: &'t Source<'a>) -> Window<'t, 'a> {
    let mut window = Window {
        entries: Vec::new(),
        model: None,
        outside: Vec::new(),
        lines: 0,
    };
    let old = is_old(source);
    for line in source.values() {
        let [kind, payload] = line.fields(["type", "payload"]);
        let Some(payload) = payload.filter(|payload| payload.is_object()) else {
            if old && is_bare_item(line) {
                window.lines += 1;
                window.entries.push(Entry::Item {
                    item: line,
                    line: None,
                });
            }
            continue;
        };
        let kind = kind.and_then(Value::decode).unwrap_or_default();
        match &*kind {
            "session_meta" => window.meta(payload),
            "turn_context" => window.turn_context(payload),
            "response_item" => window.item(payload, line),
            "compacted" => window.compacted(payload),
            "event_msg" => window.event(payload, line),
            _ => continue,
        }
        window.lines += 1;
    }
    window
}

impl<'t, 'a> Window<'t, 'a> {
    fn meta(&mut self, payload: Value<'t, 'a>) {
        let [base, instructions, cwd] =
            payload.fields(["base_instructions", "instructions", "cwd"]);
        let base = base.and_then(|base| base.get("text"));
        let instructions = base.or(instructions).and_then(Value::decode);
        self.entries.extend(instructions.map(Entry::Instructions));
        self.entries
            .extend(cwd.and_then(Value::decode).map(Entry::Cwd));
    }

    fn turn_context(&mut self, payload: Value<'t, 'a>) {
        let [model, cwd] = payload.fields(["model", "cwd"]);
        self.model = model.and_then(Value::decode).or(self.model.take());
        self.entries
            .extend(cwd.and_then(Value::decode).map(Entry::Cwd));
    }

    fn item(&mut self, item: Value<'t, 'a>, line: Value<'t, 'a>) {
        // A snapshot of the working tree is the host's; it is not sent.
        if !item
            .get("type")
            .is_some_and(|kind| kind.is("ghost_snapshot"))
        {
            let line = Some(line);
            self.entries.push(Entry::Item { item, line });
        }
    }

    /// Everything before is replaced by what the record holds. Older versions kept the user's own messages
    /// and the summary, and recorded the summary alone.
    fn compacted(&mut self, payload: Value<'t, 'a>) {
        let [history, message] = payload.fields(["replacement_history", "message"]);
        let history = history.filter(|history| history.is_array());
        let before = std::mem::take(&mut self.entries);
        for entry in before {
            match entry {
                Entry::Instructions(_) | Entry::Cwd(_) => self.entries.push(entry),
                Entry::Item { item, .. } if history.is_none() && is_users(item) => {
                    self.entries.push(entry);
                }
                Entry::Item { item, .. } => {
                    let bytes = item.raw().len();
                    self.outside.push(("history before the compaction", bytes));
                }
                Entry::Summary(_) | Entry::Usage(_) => {}
            }
        }
        match history {
            Some(history) => {
                let items = history.items().filter(|item| item.is_object());
                let items = items.map(|item| Entry::Item { item, line: None });
                self.entries.extend(items);
            }
            None => {
                let summary = message.and_then(Value::decode);
                self.entries.extend(summary.map(Entry::Summary));
            }
        }
    }

    fn event(&mut self, payload: Value<'t, 'a>, line: Value<'t, 'a>) {
        let kind = payload
            .get("type")
            .and_then(Value::decode)
            .unwrap_or_default();
        match &*kind {
            "token_count" => {
                let usage = payload.at(&["info", "last_token_usage"]);
                self.entries.extend(usage.map(Entry::Usage));
            }
            "thread_rolled_back" => {
                let turns = payload.get("num_turns").and_then(Value::u64).unwrap_or(0);
                self.roll_back(turns);
            }
            _ => self
                .outside
                .push(("host's copies and events", line.raw().len())),
        }
    }

    /// Takes the last `turns` turns of the user back.
    fn roll_back(&mut self, turns: u64) {
        let turns = usize::try_from(turns).unwrap_or(usize::MAX);
        let starts = self.entries.iter().enumerate().rev();
        let mut starts = starts.filter(|(_, entry)| match entry {
            Entry::Item { item, .. } => is_users(*item),
            _ => false,
        });
        let Some(last) = turns.checked_sub(1) else {
            return;
        };
        let first = starts.by_ref().take(last.saturating_add(1)).last();
        let Some((start, _)) = first else { return };
        for entry in self.entries.drain(start..) {
            if let Entry::Item { item, .. } = entry {
                self.outside
                    .push(("turns that were taken back", item.raw().len()));
            }
        }
    }
}

/// Whether an item is what the user wrote.
fn is_users(item: Value<'_, '_>) -> bool {
    let [kind, role] = item.fields(["type", "role"]);
    kind.is_none_or(|kind| kind.is("message"))
        && role.is_some_and(|role| role.is("user"))
        && !CONTEXT
            .iter()
            .any(|opening| text_of(item).trim_start().starts_with(opening))
}
