//! Server-sent events: a byte stream that arrives in pieces, cut into events.
//! Deliberately not about what an event says, and not a parser of JSON: its data is handed on as bytes.

use memchr::memchr2;

/// The largest event in bytes. A provider's are a few kilobytes; what grows beyond this is no event
/// stream, and must not fill the memory.
pub const MAX_EVENT_BYTES: usize = 32 << 20;

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The `event` field; empty when there was none.
    pub name: String,
    /// The `data` fields, joined by line feeds.
    pub data: Vec<u8>,
}

/// Cuts a stream into events, wherever its pieces were cut.
///
/// Follows the WHATWG HTML standard, section 9.2.6: lines end in LF, CR or CRLF, a byte order mark at
/// the start is dropped, comments and unknown fields are ignored, an event without data is none.
///
/// ```
/// use neenee_wire::sse::Splitter;
///
/// let mut splitter = Splitter::default();
/// let mut events = Vec::new();
/// for piece in ["event: a\r", "\ndata: 1\nda", "ta: 2\n", "\n: hello\n"] {
///     splitter.push(piece.as_bytes(), |event| events.push(event)).unwrap();
/// }
/// assert_eq!(events[0].name, "a");
/// assert_eq!(events[0].data, b"1\n2");
/// ```
#[derive(Debug, Default)]
pub struct Splitter {
    /// The start of a line whose end has not arrived.
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    /// The last byte was a CR, so that a LF now belongs to it.
    after_cr: bool,
    started: bool,
}

/// An event grew beyond [`MAX_EVENT_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected events of at most {MAX_EVENT_BYTES} bytes")]
pub struct EventTooLarge;

impl Splitter {
    /// Takes the next bytes and hands on each event that they complete.
    ///
    /// # Errors
    /// When an event grows beyond [`MAX_EVENT_BYTES`]; the stream is of no use from there on.
    pub fn push(
        &mut self,
        mut bytes: &[u8],
        mut each: impl FnMut(Event),
    ) -> Result<(), EventTooLarge> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', bytes) else {
                self.check(bytes.len())?;
                self.line.extend_from_slice(bytes);
                return Ok(());
            };
            self.check(end)?;
            self.after_cr = bytes[end] == b'\r';
            if self.line.is_empty() {
                self.take_line(&bytes[..end], &mut each);
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(&bytes[..end]);
                self.take_line(&line, &mut each);
                line.clear();
                self.line = line;
            }
            bytes = &bytes[end + 1..];
        }
        Ok(())
    }

    fn check(&self, more: usize) -> Result<(), EventTooLarge> {
        let size = self.line.len() + self.event.data.len() + more;
        if size > MAX_EVENT_BYTES {
            return Err(EventTooLarge);
        }
        Ok(())
    }

    fn take_line(&mut self, mut line: &[u8], each: &mut impl FnMut(Event)) {
        if !std::mem::replace(&mut self.started, true) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if std::mem::take(&mut self.has_data) {
                each(event);
            }
            return;
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        match field {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            b"event" => self.event.name = String::from_utf8_lossy(value).into_owned(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&[u8]]) -> Vec<Event> {
        let mut splitter = Splitter::default();
        let mut events = Vec::new();
        for piece in pieces {
            splitter.push(piece, |event| events.push(event)).unwrap();
        }
        events
    }

    fn event(name: &str, data: &str) -> Event {
        Event {
            name: name.into(),
            data: data.into(),
        }
    }

    #[test]
    fn the_same_events_wherever_the_stream_is_cut() {
        let stream = "\u{feff}: hello\r\n\r\nevent: one\rdata: {\"a\":\r\ndata:  \"ü\"}\n\n\
                      data\n\nid: 4\nretry: 1\n\nevent: empty\n\ndata:x\n\ndata: [DONE]\n\n";
        let expect = vec![
            event("one", "{\"a\":\n \"ü\"}"),
            event("", ""),
            event("", "x"),
            event("", "[DONE]"),
        ];
        let bytes = stream.as_bytes();
        assert_eq!(split(&[bytes]), expect);
        for cut in 0..=bytes.len() {
            assert_eq!(
                split(&[&bytes[..cut], &bytes[cut..]]),
                expect,
                "cut at {cut}"
            );
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(split(&single), expect);
    }

    #[test]
    fn an_event_without_its_empty_line_is_none() {
        assert_eq!(split(&[b"data: a\n"]), []);
    }

    #[test]
    fn what_never_ends_is_refused() {
        let mut splitter = Splitter::default();
        let piece = vec![b'a'; MAX_EVENT_BYTES];
        assert_eq!(splitter.push(&piece, |_| ()), Ok(()));
        assert_eq!(splitter.push(b"a", |_| ()), Err(EventTooLarge));
    }
}
