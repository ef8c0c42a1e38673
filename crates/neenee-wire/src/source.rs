//! An input as values: one JSON document, or lines of them.
//! Deliberately ignorant of formats; it only knows which bytes are JSON and which are carried along.

use std::borrow::Cow;

use crate::error::{Fault, ReadErrorKind, Warning};
use crate::json::{Tape, Value, has_control, skip_space};

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The scanned input.
pub(crate) struct Source<'a> {
    bytes: &'a [u8],
    tape: Tape,
    roots: Vec<Root<'a>>,
    lines: bool,
    warnings: Vec<Warning>,
}

struct Root<'a> {
    index: u32,
    text: &'a str,
    base: usize,
    line: usize,
}

impl<'a> Source<'a> {
    /// Scans `bytes`; of a file of lines no more than the first `limit` that hold something.
    ///
    /// A file is one document when one value is all there is. Else it is a file of lines when its
    /// first line is a whole value, or most lines are: whatever does not parse there is carried, since
    /// a session that was cut off is still a session. A fault names what is wrong with the document.
    pub(crate) fn scan(bytes: &'a [u8], limit: usize) -> Result<Source<'a>, Fault> {
        if u32::try_from(bytes.len()).is_err() {
            return Err(Fault::new(
                ReadErrorKind::TooLarge,
                0,
                "at most 4 GiB, which is as far as offsets reach",
            ));
        }
        let start = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
        if skip_space(bytes, start) == bytes.len() {
            return Err(Fault::new(
                ReadErrorKind::Empty,
                0,
                "a request body or a session file",
            ));
        }
        let mut source = Source {
            bytes,
            tape: Tape::with_room_for(bytes.len()),
            roots: Vec::new(),
            lines: false,
            warnings: Vec::new(),
        };
        let text = simdutf8::basic::from_utf8(bytes).ok();
        let fault = match text {
            Some(text) => match source.document(text, start) {
                Ok(()) => return Ok(source),
                Err(fault) => fault,
            },
            None => utf8_fault(bytes),
        };
        if source.read_lines(text, start, limit) {
            Ok(source)
        } else {
            Err(fault)
        }
    }

    /// The whole input.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether the input is a file of lines. A file of one line is a document.
    pub(crate) fn is_lines(&self) -> bool {
        self.lines
    }

    /// The only value of the input; `None` when there are several.
    pub(crate) fn document_root(&self) -> Option<Value<'_, 'a>> {
        match &self.roots[..] {
            [root] => Some(self.value(root)),
            _ => None,
        }
    }

    /// The values, in order: the document, or what the lines hold (a line may hold several).
    pub(crate) fn values(&self) -> impl Iterator<Item = Value<'_, 'a>> {
        self.roots.iter().map(|root| self.value(root))
    }

    /// The line of the `nth` value, counted from 1.
    pub(crate) fn line_of(&self, nth: usize) -> usize {
        self.roots.get(nth).map_or(1, |root| root.line)
    }

    pub(crate) fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }

    fn value(&self, root: &Root<'a>) -> Value<'_, 'a> {
        self.tape.value(root.index, root.text, root.base)
    }

    fn document(&mut self, text: &'a str, start: usize) -> Result<(), Fault> {
        let (index, end) = self.tape.scan(self.bytes, start)?;
        let end = skip_space(self.bytes, end);
        if end < self.bytes.len() {
            self.tape = Tape::with_room_for(self.bytes.len());
            return Err(Fault::json(self.bytes, end, "the end of the input"));
        }
        self.roots.push(Root {
            index,
            text,
            base: 0,
            line: 1,
        });
        Ok(())
    }

    /// Reads lines; whether they make sense as such. `text` is the input when all of it is UTF-8;
    /// else each line is looked at for itself.
    fn read_lines(&mut self, text: Option<&'a str>, start: usize, limit: usize) -> bool {
        self.lines = true;
        let bytes = self.bytes;
        let (mut held, mut whole, mut first_whole) = (0, 0, false);
        let mut at = start;
        let mut number = 0;
        while at < bytes.len() && held < limit {
            number += 1;
            let line = at;
            let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| line + n);
            at = end + 1;
            if skip_space(&bytes[..end], line) == end {
                continue;
            }
            held += 1;
            let (text, base) = match text {
                Some(text) => (text, 0),
                None => match simdutf8::basic::from_utf8(&bytes[line..end]) {
                    Ok(text) => (text, line),
                    Err(_) => {
                        self.warn(number, line, "a line that is not UTF-8");
                        continue;
                    }
                },
            };
            if self.line(line, end, number, text, base) {
                whole += 1;
                first_whole |= held == 1;
            }
        }
        // One line that is no document is a broken document.
        held > 1 && (first_whole || whole * 2 > held)
    }

    /// Reads the values of one line; whether that was all of the line.
    fn line(
        &mut self,
        start: usize,
        end: usize,
        number: usize,
        text: &'a str,
        base: usize,
    ) -> bool {
        let bytes = &self.bytes[..end];
        let controls = has_control(&bytes[start..]);
        let mut at = start;
        loop {
            at = skip_space(bytes, at);
            if at == end {
                return true;
            }
            let Ok((index, next)) = self.tape.scan_one_of_many(bytes, at, controls) else {
                let rest = skip_space(self.bytes, end);
                let what = if rest == self.bytes.len() {
                    "the last line is cut off or not JSON"
                } else {
                    "not JSON"
                };
                self.warn(number, at, what);
                return false;
            };
            self.roots.push(Root {
                index,
                text,
                base,
                line: number,
            });
            at = next;
        }
    }

    fn warn(&mut self, line: usize, offset: usize, what: &'static str) {
        self.warnings.push(Warning { line, offset, what });
    }
}

fn utf8_fault(bytes: &[u8]) -> Fault {
    let at = simdutf8::compat::from_utf8(bytes)
        .err()
        .map_or(0, |error| error.valid_up_to());
    let fault = Fault::new(ReadErrorKind::Utf8, at, "UTF-8 text");
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => fault.hint("it looks like UTF-16: convert it first"),
        [0x1f, 0x8b, ..] => fault.hint("it looks like gzip: decompress it first"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => fault.hint("it looks like zstd: decompress it first"),
        _ => match bytes.get(at) {
            Some(byte) => fault.hint(Cow::Owned(format!("found byte 0x{byte:02x}"))),
            None => fault,
        },
    }
}
