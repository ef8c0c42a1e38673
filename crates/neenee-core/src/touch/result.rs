//! What the text of a result tells about the call: failure, exit status, the lines shown.
//! Deliberately only its first and last lines where that is enough: results are the bulk of a conversation.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::numbered::Numbered;
use super::range::LineRange;
use super::rows::Row;
use super::table::{RowId, ToolTable};

/// How much of a result's ends may hold notes on the lines shown, in bytes.
const NOTE_WINDOW: usize = 1024;

/// The text inside an agent's wrapper or a JSON record of it.
pub(super) fn unwrap<'a>(table: &ToolTable, text: &'a str) -> Cow<'a, str> {
    let mut inner = text.trim_start();
    for wrapper in &table.common().wrappers {
        if let Some(rest) = inner.strip_prefix(wrapper.as_str()) {
            inner = rest.trim_start();
            break;
        }
    }
    // Codex wrote `{"output": …, "metadata": …}`, Cline `{"query": …, "result": …}`, alone or in a list.
    let object = inner.strip_prefix('[').unwrap_or(inner);
    if object.starts_with("{\"output\"") || object.starts_with("{\"query\"") {
        return unwrap_json(inner).map_or(Cow::Borrowed(inner), Cow::Owned);
    }
    Cow::Borrowed(inner)
}

/// The output of such a record, with what else it says on a line of its own behind.
fn unwrap_json(text: &str) -> Option<String> {
    use super::arguments::Argument;

    let value: Argument<'_> = serde_json::from_str(text).ok()?;
    let record = match &value {
        Argument::List(items) if items.len() == 1 => items.first()?,
        Argument::List(_) => return None,
        record => record,
    };
    let output = ["output", "result"]
        .iter()
        .find_map(|key| record.member(key)?.as_text())?;
    let mut text = output.to_owned();
    let status = record
        .member("metadata")
        .and_then(|metadata| metadata.member("exit_code")?.as_number());
    if let Some(status) = status {
        text.push_str(&format!("\n\"exit_code\":{status}"));
    }
    if let Some(Argument::Flag(false)) = record.member("success") {
        text.push_str("\n\"success\":false");
    }
    Some(text)
}

/// A result, read by its tool's row.
pub(super) struct Report<'a> {
    table: &'a ToolTable,
    row: Option<&'a Row>,
    text: &'a str,
    numbered: OnceCell<Option<Numbered>>,
}

impl<'a> Report<'a> {
    pub(super) fn new(table: &'a ToolTable, row: RowId, text: &'a str) -> Self {
        Self {
            table,
            row: table.row(row),
            text,
            numbered: OnceCell::new(),
        }
    }

    pub(super) fn says_failed(&self) -> bool {
        self.table.marks().errors.matches(self.text.trim())
            || self.says_refused()
            || self.says_failed_by_row()
    }

    pub(super) fn says_failed_by_row(&self) -> bool {
        let errors = self.row.and_then(|row| row.errors.as_ref());
        errors.is_some_and(|errors| errors.matches(self.text.trim()))
    }

    pub(super) fn says_refused(&self) -> bool {
        self.table.marks().refused.matches(self.text.trim())
    }

    pub(super) fn lists_a_directory(&self) -> bool {
        self.table.marks().listings.matches(self.text.trim())
    }

    /// The exit status that the first or the last lines tell.
    pub(super) fn exit_status(&self) -> Option<i32> {
        let marks = self.table.marks();
        let text = self.text.trim();
        let first = marks.exit_first.read_first(text, 6);
        first.or_else(|| marks.exit_last.read_last(text, 8))
    }

    /// Whether something was left out of the output.
    pub(super) fn is_cut(&self) -> bool {
        self.table.marks().cuts.is_in(self.text)
    }

    /// The same, where what lies between numbered lines is the file's own.
    fn is_cut_around(&self) -> bool {
        let (before, behind) = self.around();
        let cuts = &self.table.marks().cuts;
        cuts.is_in(before) || cuts.is_in(behind)
    }

    /// The text before and behind the numbered lines; the whole text twice where there are none.
    fn around(&self) -> (&'a str, &'a str) {
        match self.numbered() {
            Some(Numbered { at, .. }) => (&self.text[..at.start], &self.text[at.end..]),
            None => (self.text, self.text),
        }
    }

    fn numbered(&self) -> Option<&Numbered> {
        self.numbered
            .get_or_init(|| Numbered::find(self.text))
            .as_ref()
    }

    /// How many lines the output itself has, headers apart; never less than that.
    pub(super) fn body_lines(&self) -> u64 {
        let body = self.body();
        if body.is_empty() {
            return 0;
        }
        let newlines = memchr::memchr_iter(b'\n', body.as_bytes()).count() as u64;
        newlines + u64::from(!body.ends_with('\n'))
    }

    fn body(&self) -> &'a str {
        let mut offset = 0;
        for line in self.text.split_inclusive('\n').take(12) {
            let trimmed = line.trim_end();
            if let Some(rest) = self.table.marks().bodies.strip(trimmed) {
                // `Output: first line` of some, `Output:` alone of others.
                let rest = rest.trim_start();
                let skipped = if rest.is_empty() {
                    line.len()
                } else {
                    line.len() - rest.len() - (line.len() - trimmed.len())
                };
                return &self.text[offset + skipped..];
            }
            offset += line.len();
        }
        self.text
    }

    /// The lines really returned by a read of `asked`.
    pub(super) fn returned(&self, asked: LineRange) -> Vec<LineRange> {
        let note = self.note();
        let fewer = |after_last: u64| asked.end.is_none_or(|end| after_last < end);
        if let Some(mut pieces) = self.pieces() {
            if let Some(last) = pieces.last_mut()
                && let Some(end) = last.end
            {
                let at_end = match note.total {
                    Some(total) => end > total,
                    None => !note.more && fewer(end) && !self.is_cut_around(),
                };
                if at_end {
                    last.end = None;
                }
            }
            return pieces;
        }
        if let Some(last) = note.last {
            let first = note.first.unwrap_or(asked.start);
            let at_end = note.total.is_some_and(|total| last >= total);
            let end = last.saturating_add(1);
            return vec![LineRange::new(first, (!at_end).then_some(end))];
        }
        if let Some(next) = note.next.filter(|next| *next > asked.start) {
            return vec![LineRange::new(asked.start, Some(next))];
        }
        if asked.is_empty() || self.is_cut() {
            return vec![LineRange::NOTHING];
        }
        let after_last = asked.start.saturating_add(self.body_lines());
        if note.more {
            return vec![LineRange::new(
                asked.start,
                Some(asked.end.map_or(after_last, |end| end.min(after_last))),
            )];
        }
        if fewer(after_last) {
            return vec![LineRange::new(asked.start, None)];
        }
        vec![asked]
    }

    /// The numbered lines, as runs without a gap; `None` when the result does not number its lines.
    pub(super) fn pieces(&self) -> Option<Vec<LineRange>> {
        self.numbered().map(|numbered| numbered.pieces.clone())
    }

    /// What is said about the lines shown, at either end of the result and outside of what it numbers.
    fn note(&self) -> Note {
        let (before, behind) = self.around();
        let tail = window(
            behind,
            behind.len().saturating_sub(NOTE_WINDOW),
            behind.len(),
        );
        let head = window(before, 0, NOTE_WINDOW);
        let mut note = Note::default();
        for part in [tail, head] {
            let notes = &self.table.marks().notes;
            notes.read(part, |name, number| note.enter(name, number));
        }
        note
    }

    /// The text without header and footer lines that differ each time.
    pub(super) fn stable_parts(&self) -> impl Iterator<Item = &'a str> {
        let common = &self.table.marks().volatile;
        let own = self.row.and_then(|row| row.volatile.as_ref());
        let is_volatile =
            |line: &str| common.is_start_of(line) || own.is_some_and(|own| own.is_start_of(line));
        let mut rest = self.text.trim_end();
        let mut parts = Vec::new();
        for _ in 0..8 {
            let Some(end) = rest.find('\n') else {
                break;
            };
            let (line, after) = rest.split_at(end + 1);
            if !is_volatile(line) {
                parts.push(line);
            }
            rest = after;
        }
        let mut footer = Vec::new();
        for _ in 0..8 {
            let Some(start) = rest.rfind('\n') else {
                break;
            };
            let line = &rest[start + 1..];
            if !is_volatile(line) {
                footer.push(line);
            }
            rest = &rest[..start];
        }
        if !is_volatile(rest) || rest.contains('\n') {
            parts.push(rest);
        }
        parts.into_iter().chain(footer)
    }
}

/// What a result says about the lines it shows.
#[derive(Debug, Default)]
struct Note {
    first: Option<u64>,
    last: Option<u64>,
    total: Option<u64>,
    next: Option<u64>,
    more: bool,
}

impl Note {
    /// What was said first holds.
    fn enter(&mut self, name: &str, number: u64) {
        let entry = match name {
            "first" => &mut self.first,
            "last" => &mut self.last,
            "total" => &mut self.total,
            "next" => {
                self.more = true;
                &mut self.next
            }
            "more" => {
                self.more |= number > 0;
                return;
            }
            "above" => {
                self.first = self.first.or(Some(number.saturating_add(1)));
                return;
            }
            _ => return,
        };
        *entry = entry.or(Some(number));
    }
}

/// `text[start..end]`, moved inwards to where chars begin.
fn window(text: &str, start: usize, end: usize) -> &str {
    let (mut start, mut end) = (start.min(text.len()), end.min(text.len()));
    while !text.is_char_boundary(start) {
        start += 1;
    }
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(start..end).unwrap_or_default()
}
