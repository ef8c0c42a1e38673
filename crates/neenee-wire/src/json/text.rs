//! JSON strings: decoded for those who look at text, encoded for what replaces it.
//! Deliberately lossy in one place only: half a surrogate pair is shown as U+FFFD; its bytes stay.

use std::borrow::Cow;
use std::ops::Range;

/// A string of the input, not yet decoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    /// What stands between the quotes.
    raw: &'a str,
    /// The absolute offset of `raw`.
    start: usize,
    escaped: bool,
}

impl<'a> Text<'a> {
    pub(super) fn new(raw: &'a str, start: usize, escaped: bool) -> Text<'a> {
        Text {
            raw,
            start,
            escaped,
        }
    }

    /// What stands between the quotes, as it is written.
    pub(crate) fn raw(&self) -> &'a str {
        self.raw
    }

    /// The absolute range between the quotes.
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.start + self.raw.len()
    }

    /// The text: borrowed when it holds no escape.
    pub(crate) fn decode(&self) -> Cow<'a, str> {
        if self.escaped {
            Cow::Owned(decode(self.raw))
        } else {
            Cow::Borrowed(self.raw)
        }
    }

    /// Whether the decoded text equals `other`.
    pub(crate) fn is(&self, other: &str) -> bool {
        if self.escaped {
            self.decode() == other
        } else {
            self.raw == other
        }
    }

    /// The absolute range of the raw bytes that decode to `decoded`, a byte range of
    /// [`Text::decode`]. For formats that keep JSON inside a string: what is found in the decoded
    /// text is spliced in the raw one, escaped once more. Linear in the text.
    pub(crate) fn raw_range(&self, decoded: Range<usize>) -> Range<usize> {
        if !self.escaped {
            return self.start + decoded.start..self.start + decoded.end;
        }
        let (mut raw, mut seen) = (0, 0);
        let mut start = None;
        let bytes = self.raw.as_bytes();
        loop {
            if start.is_none() && seen >= decoded.start {
                start = Some(raw);
            }
            if seen >= decoded.end || raw == bytes.len() {
                break;
            }
            let (length, unit) = unit(self.raw, raw);
            raw += length;
            seen += unit.map_or(length, char::len_utf8);
        }
        self.start + start.unwrap_or(raw)..self.start + raw
    }
}

/// Appends `text` as the inside of a JSON string, escaped `levels` times; what is not ASCII as `\u`
/// escapes when `ascii`, so that a file written that way stays that way.
pub(crate) fn encode(out: &mut Vec<u8>, text: &str, levels: u8, ascii: bool) {
    if levels == 0 {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    let mut inner = Cow::Borrowed(text);
    for _ in 1..levels {
        let mut outer = String::with_capacity(inner.len() + 16);
        escape(&inner, ascii, |piece| outer.push_str(piece));
        inner = Cow::Owned(outer);
    }
    escape(&inner, ascii, |piece| {
        out.extend_from_slice(piece.as_bytes());
    });
}

fn escape(text: &str, ascii: bool, mut push: impl FnMut(&str)) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let units = |push: &mut dyn FnMut(&str), character: char| {
        for unit in character.encode_utf16(&mut [0; 2]) {
            push("\\u");
            for shift in [12, 8, 4, 0] {
                let digit = HEX[usize::from(*unit >> shift & 15)];
                push(char::from(digit).encode_utf8(&mut [0; 4]));
            }
        }
    };
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        let short = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0..0x20 => "",
            // The first byte of a character that is not ASCII; its other bytes are skipped with it.
            0xc0.. if ascii => "",
            _ => continue,
        };
        push(&text[plain..at]);
        if short.is_empty() {
            let character = text[at..].chars().next().unwrap_or_default();
            units(&mut push, character);
            plain = at + character.len_utf8();
        } else {
            push(short);
            plain = at + 1;
        }
    }
    push(&text[plain..]);
}

fn decode(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut at = 0;
    while let Some(plain) = memchr::memchr(b'\\', &raw.as_bytes()[at..]) {
        text.push_str(&raw[at..at + plain]);
        at += plain;
        let (length, character) = unit(raw, at);
        text.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
        at += length;
    }
    text.push_str(&raw[at..]);
    text
}

/// One step of a raw string at `at`: how many raw bytes, and the character where an escape made it
/// (`None` for a plain one, which decodes to itself). The scanner has checked every escape.
#[inline]
fn unit(raw: &str, at: usize) -> (usize, Option<char>) {
    let bytes = raw.as_bytes();
    if bytes[at] != b'\\' {
        return (raw[at..].chars().next().map_or(1, char::len_utf8), None);
    }
    let short = |character| (2, Some(character));
    match bytes.get(at + 1) {
        Some(b'n') => short('\n'),
        Some(b't') => short('\t'),
        Some(b'r') => short('\r'),
        Some(b'b') => short('\u{8}'),
        Some(b'f') => short('\u{c}'),
        Some(b'u') => match hex(bytes, at + 2) {
            high @ 0xd800..0xdc00 if bytes.get(at + 6..at + 8) == Some(b"\\u") => {
                match hex(bytes, at + 8) {
                    low @ 0xdc00..0xe000 => {
                        let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                        (12, char::from_u32(code))
                    }
                    _ => (6, Some(char::REPLACEMENT_CHARACTER)),
                }
            }
            code => (
                6,
                Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)),
            ),
        },
        Some(&other) => short(char::from(other)),
        None => (1, None),
    }
}

fn hex(bytes: &[u8], at: usize) -> u32 {
    bytes.iter().skip(at).take(4).fold(0, |code, &digit| {
        code << 4 | char::from(digit).to_digit(16).unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(raw: &str) -> Text<'_> {
        Text::new(raw, 100, raw.contains('\\'))
    }

    #[test]
    fn escapes_are_decoded() {
        for (raw, expected) in [
            ("plain", "plain"),
            (r#"a\nb\t\"\\\/"#, "a\nb\t\"\\/"),
            (r"\u00e9\u4e2d", "é中"),
            (r"\ud83d\ude00!", "😀!"),
            (r"\ud83d", "\u{fffd}"),
            (r"\ud83d\u0041", "\u{fffd}A"),
            (r"\ude00\ud83d\n", "\u{fffd}\u{fffd}\n"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}😀"),
        ] {
            assert_eq!(text(raw).decode(), expected, "{raw}");
        }
    }

    #[test]
    fn ranges_of_decoded_text_map_back_to_raw_bytes() {
        let raw = r#"é\n{\"k\":\"v\ud83d\ude00w\"}"#;
        let text = text(raw);
        let decoded = text.decode();
        let at = decoded.find("v😀w").unwrap();
        let range = text.raw_range(at..at + "v😀w".len());
        assert_eq!(&raw[range.start - 100..range.end - 100], r"v\ud83d\ude00w");
        assert_eq!(text.raw_range(0..decoded.len()), text.range());
    }

    #[test]
    fn what_is_encoded_decodes_to_itself_at_any_level() {
        let original = "a\"b\\c\n\u{1}é😀\u{8}\u{c}\r\t/";
        for ascii in [false, true] {
            for levels in 1..4 {
                let mut out = Vec::new();
                encode(&mut out, original, levels, ascii);
                let mut back = String::from_utf8(out).unwrap();
                assert_eq!(back.is_ascii(), ascii, "{back}");
                for _ in 0..levels {
                    back = decode(&back);
                }
                assert_eq!(back, original);
            }
        }
    }
}
