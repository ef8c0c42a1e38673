//! What the text of a result tells about the call: failure, exit status, the lines shown.
//! Deliberately only its first and last lines where that is enough: results are the bulk of a conversation.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::range::LineRange;
use super::rows::Row;
use super::table::{RowId, ToolTable};

/// How far into a result an error may announce itself, in bytes.
const HEAD: usize = 300;

/// How much of a result's ends may hold notes on the lines shown, in bytes.
const NOTE_WINDOW: usize = 1024;

/// How many lines at either end may hold headers and footers.
const MARGIN_LINES: usize = 24;

/// More pieces than a cut leaves of one file: what is numbered are no lines of it.
const MAX_PIECES: usize = 16;

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
    pieces: OnceCell<Option<Vec<LineRange>>>,
}

impl<'a> Report<'a> {
    pub(super) fn new(table: &'a ToolTable, row: RowId, text: &'a str) -> Self {
        Self {
            table,
            row: table.row(row),
            text,
            pieces: OnceCell::new(),
        }
    }

    pub(super) fn says_failed(&self) -> bool {
        self.matches(&self.table.common().errors)
            || self.says_refused()
            || self.says_failed_by_row()
    }

    pub(super) fn says_failed_by_row(&self) -> bool {
        let patterns = self.row.and_then(|row| row.errors.as_deref());
        self.matches(patterns.unwrap_or_default())
    }

    pub(super) fn says_refused(&self) -> bool {
        self.matches(&self.table.common().refused)
    }

    pub(super) fn lists_a_directory(&self) -> bool {
        self.matches(&self.table.common().listings)
    }

    /// Whether the result begins with one of `patterns`, or has one that begins with `*` in its head or last line.
    fn matches(&self, patterns: &[String]) -> bool {
        let text = self.text.trim_start();
        let head = &text.as_bytes()[..HEAD.min(text.len())];
        let last = text
            .trim_end()
            .rsplit('\n')
            .next()
            .unwrap_or(text)
            .as_bytes();
        patterns
            .iter()
            .any(|pattern| match pattern.strip_prefix('*') {
                Some(inside) => {
                    memchr::memmem::find(head, inside.as_bytes()).is_some()
                        || memchr::memmem::find(
                            &last[last.len().saturating_sub(HEAD)..],
                            inside.as_bytes(),
                        )
                        .is_some()
                }
                None => text.starts_with(pattern.as_str()),
            })
    }

    /// The exit status that the first or the last lines tell.
    pub(super) fn exit_status(&self) -> Option<i32> {
        let common = self.table.common();
        let first = self.text.trim_start().lines().take(6);
        let mut first =
            first.flat_map(|line| common.exit_first.iter().map(move |pattern| (line, pattern)));
        if let Some(status) = first.find_map(|(line, pattern)| status_in(line, pattern)) {
            return Some(status);
        }
        let last = self.text.trim_end().rsplit('\n').take(8);
        let mut last =
            last.flat_map(|line| common.exit_last.iter().map(move |pattern| (line, pattern)));
        last.find_map(|(line, pattern)| status_in(line.trim_end(), pattern))
    }

    /// Whether something was left out of the output.
    pub(super) fn is_cut(&self) -> bool {
        self.table
            .cuts()
            .is_some_and(|cuts| cuts.is_match(self.text))
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
            let marker = self
                .table
                .common()
                .bodies
                .iter()
                .find_map(|marker| trimmed.strip_prefix(marker.as_str()));
            if let Some(rest) = marker {
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
        if let Some(pieces) = self.pieces() {
            let mut pieces = pieces;
            if let Some(last) = pieces.last_mut()
                && let Some(end) = last.end
            {
                let at_end = match note.total {
                    Some(total) => end > total,
                    None => !note.more && fewer(end) && !self.is_cut(),
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
        self.pieces.get_or_init(|| pieces(self.text)).clone()
    }

    fn note(&self) -> Note {
        let text = self.text;
        let mut note = Note::default();
        let head = window(text, 0, NOTE_WINDOW.min(text.len()));
        let tail = window(
            text,
            text.len().saturating_sub(NOTE_WINDOW).max(head.len()),
            text.len(),
        );
        for pattern in &self.table.common().notes {
            if !note.read(tail, pattern) {
                note.read(head, pattern);
            }
        }
        note
    }

    /// The text without header and footer lines that differ each time.
    pub(super) fn stable_parts(&self) -> impl Iterator<Item = &'a str> {
        let common = &self.table.common().volatile;
        let own = self
            .row
            .and_then(|row| row.volatile.as_deref())
            .unwrap_or_default();
        let is_volatile = move |line: &str| {
            common
                .iter()
                .chain(own)
                .any(|prefix| line.starts_with(prefix.as_str()))
        };
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
    /// Reads `pattern` where it first stands in `text`.
    fn read(&mut self, text: &str, pattern: &str) -> bool {
        let literal = pattern.split('{').next().unwrap_or_default();
        let mut from = 0;
        while let Some(at) = memchr::memmem::find(&text.as_bytes()[from..], literal.as_bytes()) {
            let start = from + at;
            if let Some(found) = captures(&text[start..], pattern) {
                for (name, number) in found.into_iter().flatten() {
                    match name {
                        "first" => self.first = self.first.or(Some(number)),
                        "last" => self.last = self.last.or(Some(number)),
                        "total" => self.total = self.total.or(Some(number)),
                        "next" => {
                            self.next = self.next.or(Some(number));
                            self.more = true;
                        }
                        "more" => self.more |= number > 0,
                        "above" => self.first = self.first.or(Some(number.saturating_add(1))),
                        _ => {}
                    }
                }
                return true;
            }
            from = start + literal.len().max(1);
            if from > text.len() || !text.is_char_boundary(from) {
                break;
            }
        }
        false
    }
}

/// The numbers in place of the names in braces, when `text` begins as `pattern` says.
fn captures<'p>(text: &str, pattern: &'p str) -> Option<[Option<(&'p str, u64)>; 4]> {
    let mut found = [None; 4];
    let mut count = 0;
    let mut text = text;
    let mut pattern = pattern;
    while let Some((literal, rest)) = pattern.split_once('{') {
        let (name, after) = rest.split_once('}')?;
        text = text.strip_prefix(literal)?;
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let number = text[..digits].parse().ok()?;
        if count < found.len() {
            found[count] = Some((name, number));
            count += 1;
        }
        text = &text[digits..];
        pattern = after;
    }
    text.starts_with(pattern).then_some(found)
}

fn status_in(line: &str, pattern: &str) -> Option<i32> {
    let (prefix, suffix) = pattern.split_once("{code}")?;
    let rest = match prefix.strip_prefix('*') {
        Some(prefix) => &line[line.rfind(prefix)? + prefix.len()..],
        None => line.strip_prefix(prefix)?,
    };
    let digits = rest
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b'-')
        .count();
    let status = rest[..digits].parse().ok()?;
    rest[digits..].starts_with(suffix).then_some(status)
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

/// The runs of numbered lines in `text`.
fn pieces(text: &str) -> Option<Vec<LineRange>> {
    let mut offset = 0;
    let mut lines = text.split_inclusive('\n');
    let (first_at, first, mark) = lines.by_ref().take(MARGIN_LINES).find_map(|line| {
        let at = offset;
        offset += line.len();
        line_number(line).map(|(number, mark)| (at, number, mark))
    })?;
    // What looks like a number may be anything; the next line tells.
    let follows = lines.next().and_then(line_number);
    let is_run = match follows {
        Some((number, next_mark)) => number == first + 1 && next_mark == mark,
        None => true,
    };
    if !is_run {
        return None;
    }
    let numbered = &text[first_at..];
    let mut end = numbered.len();
    let last = numbered.rsplit('\n').take(MARGIN_LINES).find_map(|line| {
        let start = end - line.len();
        end = start.saturating_sub(1);
        line_number(line)
            .filter(|(_, other)| *other == mark)
            .map(|(number, _)| (start, number))
    });
    if let Some((last_at, last)) = last {
        let between = memchr::memchr_iter(b'\n', &numbered.as_bytes()[..last_at]).count() as u64;
        if last >= first && between == last - first {
            return Some(vec![LineRange::new(first, Some(last.saturating_add(1)))]);
        }
    }
    let mut pieces: Vec<LineRange> = Vec::new();
    for (number, _) in numbered
        .lines()
        .filter_map(line_number)
        .filter(|(_, other)| *other == mark)
    {
        let full = pieces.len() == MAX_PIECES;
        match pieces.last_mut() {
            Some(piece) if piece.end == Some(number) => piece.end = Some(number + 1),
            _ if full => return None,
            _ => pieces.push(LineRange::new(number, Some(number + 1))),
        }
    }
    Some(pieces)
}

/// The number at the start of a line and the mark behind it: `12<tab>`, `    12→`, `12: `, `12 | `, `L12: `.
fn line_number(line: &str) -> Option<(u64, u8)> {
    let text = line.trim_start_matches(' ');
    let text = text.strip_prefix('L').unwrap_or(text);
    let digits = text.bytes().take(10).take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 9 {
        return None;
    }
    let number: u64 = text[..digits].parse().ok().filter(|number| *number > 0)?;
    let rest = &text[digits..];
    let mark = match rest.as_bytes() {
        [b'\t', ..] => b'\t',
        [b':', ..] => b':',
        [b'|', ..] | [b' ', b'|', ..] => b'|',
        _ if rest.starts_with('→') => b'>',
        _ => return None,
    };
    Some((number, mark))
}
