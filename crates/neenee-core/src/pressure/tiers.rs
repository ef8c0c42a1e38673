//! What a degraded result looks like, and how one is recognised that carries no record.
//! Deliberately not who is degraded; see `plan`.

use memchr::memmem;
use unicode_segmentation::{GraphemeCursor, GraphemeIncomplete};

use crate::estimate::count_chars;
use crate::message::{Degraded, Media, Tier};

/// How every placeholder of a cleared result begins.
pub const CLEARED_TOOL_PREFIX: &str = "[cleared tool result: ";

/// The placeholder that older sessions hold; it counts as cleared.
pub const PRUNED_TOOL_PLACEHOLDER: &str = "[Old tool result content cleared]";

/// Fresh results of at least this many chars are truncated before they are cleared.
pub const TRUNCATE_MIN_CHARS: usize = 2_000;

/// Chars of the head, and of the tail, that truncation keeps at most.
pub const TRUNCATE_KEEP_CHARS: usize = 500;

/// How far from the full kept length a line end may be, in chars, for the cut to move to it.
const NEAR_LINE_END_CHARS: usize = 120;

/// Longer than any placeholder of ours: a tool's name, 60 chars of argument, sizes.
const MAX_PLACEHOLDER_BYTES: usize = 1_024;

const MARKER_OPEN: &str = "[... ";
const MARKER_CLOSE: &str = " chars elided to relieve context ...]";

/// Room for the marker, its two line breaks and any number.
const MARKER_CHARS: usize = MARKER_OPEN.len() + MARKER_CLOSE.len() + 2 + 20;

/// Head and tail of `text` with the elision marker alone on its line between.
/// `chars` is the text's own length in Unicode scalars; the caller has counted it already.
///
/// The line breaks around the marker are always ours (a cut at a line end leaves the line's own
/// break among what is elided), so the original's length can be told from the truncated text.
pub fn truncated(text: &str, chars: usize) -> String {
    cut(text, chars, TRUNCATE_KEEP_CHARS)
}

/// The same in at most `cap` chars, or in [`TRUNCATE_MIN_CHARS`] where that is more: what was cut
/// to a cap does not exceed it on the next look.
pub fn cut_to(text: &str, chars: usize, cap: usize) -> String {
    cut(
        text,
        chars,
        (cap.max(TRUNCATE_MIN_CHARS) - MARKER_CHARS) / 2,
    )
}

/// The same with `keep` chars at either end.
fn cut(text: &str, chars: usize, keep: usize) -> String {
    let head = head_end(text, keep);
    let tail = tail_start(text, keep).max(head);
    let (head, tail) = (&text[..head], &text[tail..]);
    let elided = chars - count_chars(head) - count_chars(tail);
    let elided = elided.to_string();
    let marker = MARKER_OPEN.len() + elided.len() + MARKER_CLOSE.len();
    let mut out = String::with_capacity(head.len() + marker + tail.len() + 2);
    for part in [head, "\n", MARKER_OPEN, &elided, MARKER_CLOSE, "\n", tail] {
        out.push_str(part);
    }
    out
}

/// The placeholder of a cleared result. `label` is the tool and its salient argument;
/// `original` holds the lines and chars of the original text, `media` what else it held.
pub fn cleared(label: &str, original: &Degraded, media: &[Media]) -> String {
    let mut size = Vec::new();
    if original.chars > 0 || media.is_empty() {
        if let Some(lines) = original.lines {
            size.push(format!("{lines} lines"));
        }
        size.push(format!("{} chars", original.chars));
    }
    for item in media {
        size.push(item.kind.to_string());
        size.push(human_bytes(item.bytes));
    }
    format!("{CLEARED_TOOL_PREFIX}{label} ({})]", size.join(", "))
}

/// Recognises text that this module wrote, for sessions that carry no record: only when the whole
/// text has exactly a placeholder's form, or the marker stands alone on its line between a head
/// and a tail of the kept length.
pub fn recognise(text: &str) -> Option<Degraded> {
    // Four bytes a char and the marker: nothing longer can be ours, so long texts cost nothing.
    if text.len() > 4 * (2 * TRUNCATE_KEEP_CHARS) + 80 {
        return None;
    }
    recognise_cleared(text).or_else(|| recognise_truncated(text))
}

/// Whether `text` holds one of our markers verbatim. Arguments of a `write` or `edit` that do were
/// imitated from a pruned window and must not reach a file.
pub fn contains_marker(text: &str) -> bool {
    let bytes = text.as_bytes();
    memmem::find(bytes, PRUNED_TOOL_PLACEHOLDER.as_bytes()).is_some()
        || memmem::find_iter(bytes, CLEARED_TOOL_PREFIX.as_bytes()).any(|start| {
            // A label is short, so ours ends early; the bound keeps a hostile line linear.
            let end = text.floor_char_boundary(start + MAX_PLACEHOLDER_BYTES);
            let line = text[start..end].lines().next().unwrap_or("");
            line.match_indices(")]")
                .any(|(end, _)| recognise_cleared(&line[..end + 2]).is_some())
        })
        || memmem::find_iter(bytes, MARKER_CLOSE.as_bytes()).any(|end| {
            text[..end].rfind(MARKER_OPEN).is_some_and(|start| {
                text[start + MARKER_OPEN.len()..end]
                    .bytes()
                    .all(|b| b.is_ascii_digit())
            })
        })
}

fn recognise_cleared(text: &str) -> Option<Degraded> {
    let unknown = Degraded {
        tier: Tier::Cleared,
        lines: None,
        chars: 0,
    };
    if text == PRUNED_TOOL_PLACEHOLDER {
        return Some(unknown);
    }
    let inner = text.strip_prefix(CLEARED_TOOL_PREFIX)?.strip_suffix(")]")?;
    if inner.contains('\n') {
        return None;
    }
    let (_, size) = inner.rsplit_once(" (")?;
    let mut found = unknown;
    let mut any = false;
    for field in size.split(", ") {
        let (amount, unit) = field.split_once(' ').unwrap_or(("", field));
        match unit {
            "lines" => found.lines = Some(amount.parse().ok()?),
            "chars" => found.chars = amount.parse().ok()?,
            "image" | "audio" | "document" | "attachment" if amount.is_empty() => {}
            "B" | "kB" | "MB" | "GB" => {
                amount.parse::<f64>().ok()?;
            }
            _ => return None,
        }
        any = true;
    }
    any.then_some(found)
}

fn recognise_truncated(text: &str) -> Option<Degraded> {
    // Most results hold no `[` at the start of a line, so this is one pass of `memchr`.
    memchr::memchr_iter(b'[', text.as_bytes())
        .filter(|&at| at > 0 && text.as_bytes()[at - 1] == b'\n')
        .find_map(|at| {
            let (head, line) = (&text[..at - 1], text[at..].strip_prefix(MARKER_OPEN)?);
            let (elided, rest) = line.split_once(MARKER_CLOSE)?;
            truncated_around(head, elided, rest.strip_prefix('\n')?)
        })
}

fn truncated_around(head: &str, elided: &str, tail: &str) -> Option<Degraded> {
    if elided.is_empty() || !elided.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (head, tail) = (count_chars(head), count_chars(tail));
    let chars = elided.parse::<usize>().ok()?.checked_add(head + tail)?;
    let kept = 0..=TRUNCATE_KEEP_CHARS;
    (kept.contains(&head) && kept.contains(&tail) && chars >= TRUNCATE_MIN_CHARS).then_some(
        Degraded {
            tier: Tier::Truncated,
            lines: None,
            chars,
        },
    )
}

/// Byte offset at which the head ends: at most the kept chars, at a line end where one is near,
/// else at a grapheme boundary.
fn head_end(text: &str, keep: usize) -> usize {
    let limit = nth_char_from_start(text, keep);
    let near = nth_char_from_start(text, keep.saturating_sub(NEAR_LINE_END_CHARS));
    match memchr::memrchr(b'\n', &text.as_bytes()[near..limit]) {
        Some(at) => {
            let at = near + at;
            at - usize::from(text[..at].ends_with('\r'))
        }
        None => boundary_before(text, limit),
    }
}

/// Byte offset at which the tail starts, by the same rule.
fn tail_start(text: &str, keep: usize) -> usize {
    let limit = nth_char_from_end(text, keep);
    let near = nth_char_from_end(text, keep.saturating_sub(NEAR_LINE_END_CHARS));
    match memchr::memchr(b'\n', &text.as_bytes()[limit..near]) {
        Some(at) => limit + at + 1,
        None => boundary_after(text, limit),
    }
}

/// Byte offset of the char with the number `n`, or the end of the text.
fn nth_char_from_start(text: &str, n: usize) -> usize {
    let mut at = 0;
    let mut left = n;
    // A char has at least a byte: step by as many bytes as chars are left, and count them.
    while left > 0 && at < text.len() {
        let end = text.ceil_char_boundary((at + left).min(text.len()));
        left -= count_chars(&text[at..end]).min(left);
        at = end;
    }
    at
}

/// Byte offset at which the last `n` chars begin, or the start of the text.
fn nth_char_from_end(text: &str, n: usize) -> usize {
    let mut at = text.len();
    let mut left = n;
    while left > 0 && at > 0 {
        let start = text.floor_char_boundary(at.saturating_sub(left));
        left -= count_chars(&text[start..at]).min(left);
        at = start;
    }
    at
}

fn boundary_before(text: &str, at: usize) -> usize {
    if is_boundary(text, at) {
        return at;
    }
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0)
}

fn boundary_after(text: &str, at: usize) -> usize {
    if is_boundary(text, at) {
        return at;
    }
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    let next = cursor.next_boundary(text, 0).ok().flatten();
    next.unwrap_or(text.len())
}

fn is_boundary(text: &str, at: usize) -> bool {
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    // The whole text is one chunk, so the cursor is never in want of context.
    let answer: Result<bool, GraphemeIncomplete> = cursor.is_boundary(text, 0);
    answer.unwrap_or(true)
}

/// Decimal units with one digit, as file managers show them.
fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 3] = ["kB", "MB", "GB"];
    if bytes < 1_000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1_000.0;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1_000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_cut(text: &str) {
        let chars = count_chars(text);
        let cut = truncated(text, chars);
        let found = recognise(&cut).unwrap_or_else(|| panic!("not recognised: {cut}"));
        assert_eq!((found.tier, found.chars), (Tier::Truncated, chars));
        let (head, rest) = cut.split_once("\n[... ").unwrap();
        let (_, tail) = rest.split_once(" ...]\n").unwrap();
        assert!(text.starts_with(head) && text.ends_with(tail));
        assert!(count_chars(head) <= 500 && count_chars(tail) <= 500);
    }

    #[test]
    fn a_cut_keeps_whole_lines_and_whole_graphemes() {
        check_cut(&"0123456789 abcdefgh\n".repeat(200));
        check_cut(&"crlf line of text\r\n".repeat(200));
        check_cut(&"日本語の文章です。".repeat(300));
        check_cut(&"👩‍👩‍👧‍👦".repeat(600));
        check_cut(&"e\u{301}\u{302}".repeat(900));
        check_cut(&"x".repeat(5_000));
        check_cut(&format!("{}{}", "[".repeat(1_500), "\n[... \n".repeat(300)));
        let lines = "0123456789 abcdefgh\n".repeat(200);
        let cut = truncated(&lines, lines.len());
        assert!(
            cut.starts_with("0123456789") && cut.contains("abcdefgh\n[... 3021 chars"),
            "{cut}"
        );
        let family = truncated(&"👩‍👩‍👧‍👦".repeat(600), 4_200);
        assert!(
            family.starts_with('👩') && family.contains("👦\n[..."),
            "{family}"
        );
    }

    #[test]
    fn only_our_own_form_is_recognised() {
        let yes = [
            "[cleared tool result: Read a.rs (42 lines, 1500 chars)]",
            "[cleared tool result: bash echo (x) (1 lines, 9 chars)]",
            "[cleared tool result: shot (image, 1.2 MB)]",
            "[cleared tool result: Read a.rs (1500 chars)]",
            PRUNED_TOOL_PLACEHOLDER,
        ];
        for text in yes {
            assert_eq!(
                recognise(text).map(|found| found.tier),
                Some(Tier::Cleared),
                "{text}"
            );
            assert!(contains_marker(&format!("x = {text};")), "{text}");
        }
        let no = [
            "[cleared tool result: Read a.rs (42 lines, 1500 chars)] ",
            "x [cleared tool result: Read a.rs (42 lines, 1500 chars)]",
            "[cleared tool result: Read a.rs]",
            "[cleared tool result: a\nb (1 lines, 2 chars)]",
            "[cleared tool result: ",
            "",
            "a\n[... 3000 chars elided to relieve context ...]",
            "a [... 3000 chars elided to relieve context ...]\nb",
            "a\n[... 30 chars elided to relieve context ...]\nb",
            "a\n[... many chars elided to relieve context ...]\nb",
        ];
        for text in no {
            assert_eq!(recognise(text), None, "{text}");
        }
        let quoting = format!(
            "{0}\n[... 9999 chars elided to relieve context ...]\n{0}",
            "y".repeat(501)
        );
        assert_eq!(recognise(&quoting), None);
        assert!(contains_marker(&quoting));
        assert!(!contains_marker(
            "const A: &str = \"[cleared tool result: \";"
        ));
    }

    #[test]
    fn placeholders_tell_the_originals_size() {
        let original = Degraded {
            tier: Tier::Kept,
            lines: Some(42),
            chars: 1500,
        };
        assert_eq!(
            cleared("read config.rs", &original, &[]),
            "[cleared tool result: read config.rs (42 lines, 1500 chars)]"
        );
        let image = Media {
            kind: crate::message::MediaKind::Image,
            bytes: 1_234_567,
            tokens: 1_500,
            payload: Vec::new(),
        };
        let none = Degraded {
            tier: Tier::Kept,
            lines: Some(0),
            chars: 0,
        };
        assert_eq!(
            cleared("shot", &none, std::slice::from_ref(&image)),
            "[cleared tool result: shot (image, 1.2 MB)]"
        );
        assert_eq!(
            cleared("shot", &original, &[image]),
            "[cleared tool result: shot (42 lines, 1500 chars, image, 1.2 MB)]"
        );
        assert_eq!(human_bytes(999), "999 B");
        assert_eq!(human_bytes(999_960), "1.0 MB");
    }
}
