//! Lines that a result numbers: where they stand in its text, and which they are.
//! Deliberately no meaning beyond that: whether they are a file's is `result`'s to say.

use std::ops::Range;

use super::range::LineRange;

/// How many lines at either end may hold headers and footers.
const MARGIN_LINES: usize = 24;

/// More pieces than a cut leaves of one file: what is numbered are no lines of it.
const MAX_PIECES: usize = 16;

/// The numbered lines of a result.
#[derive(Debug, Clone)]
pub(super) struct Numbered {
    /// From the first to behind the last of them, in bytes.
    pub(super) at: Range<usize>,
    /// Their numbers, as runs without a gap.
    pub(super) pieces: Vec<LineRange>,
}

impl Numbered {
    /// `None` when `text` does not number its lines.
    pub(super) fn find(text: &str) -> Option<Self> {
        let mut offset = 0;
        let mut lines = text.split_inclusive('\n');
        let (start, first, mark) = lines.by_ref().take(MARGIN_LINES).find_map(|line| {
            let at = offset;
            offset += line.len();
            line_number(line).map(|(number, mark)| (at, number, mark))
        })?;
        // What looks like a number may be anything; the next line tells.
        if let Some((number, next)) = lines.next().and_then(line_number)
            && (number != first + 1 || next != mark)
        {
            return None;
        }
        // The last one, looked for from the end.
        let mut end = text.len();
        let mut last = None;
        for line in text[start..].rsplit('\n').take(MARGIN_LINES) {
            let at = end - line.len();
            if let Some((number, _)) = line_number(line).filter(|(_, other)| *other == mark) {
                last = Some((at, number));
                break;
            }
            end = at.saturating_sub(1);
        }
        if let Some((at, last)) = last {
            let between = memchr::memchr_iter(b'\n', &text.as_bytes()[start..at]).count() as u64;
            if last >= first && between == last - first {
                let pieces = vec![LineRange::new(first, Some(last.saturating_add(1)))];
                return Some(Self {
                    at: start..end,
                    pieces,
                });
            }
        }
        let end = if last.is_some() { end } else { text.len() };
        let pieces = runs(&text[start..], mark)?;
        Some(Self {
            at: start..end,
            pieces,
        })
    }
}

/// The runs of numbers that a text with gaps or with lines between has.
fn runs(text: &str, mark: u8) -> Option<Vec<LineRange>> {
    let mut runs: Vec<LineRange> = Vec::new();
    let numbers = text.lines().filter_map(line_number);
    for (number, _) in numbers.filter(|(_, other)| *other == mark) {
        let full = runs.len() == MAX_PIECES;
        match runs.last_mut() {
            Some(run) if run.end == Some(number) => run.end = Some(number + 1),
            _ if full => return None,
            _ => runs.push(LineRange::new(number, Some(number + 1))),
        }
    }
    Some(runs)
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
