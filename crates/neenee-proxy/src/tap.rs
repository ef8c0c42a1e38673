//! A copy of an answer on the side, from which its usage is read while it flows.
//! Deliberately never in the way: bytes go on first and unchanged, and whatever fails here is dropped.

use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use flate2::write::{GzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body::{Body, Frame, SizeHint};
use memchr::{memchr, memmem};
use serde_json::Value;

use crate::coding::Coding;
use crate::limits;
use crate::usage::Usage;

/// A body that is read along. `done` is called once, at its end or when it is dropped before; it is told
/// which.
pub(crate) struct Tap<B: Body, F: FnOnce(Usage, bool)> {
    inner: B,
    reader: Unpack,
    done: Option<F>,
}

impl<B: Body, F: FnOnce(Usage, bool)> Tap<B, F> {
    pub(crate) fn new(inner: B, headers: &HeaderMap, done: F) -> Self {
        let stream = headers
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"));
        Tap {
            inner,
            reader: Unpack::new(Coding::of(headers), Reader::new(stream)),
            done: Some(done),
        }
    }

    fn finish(&mut self, whole: bool) {
        if let Some(done) = self.done.take() {
            done(self.reader.finish(), whole);
        }
    }
}

impl<B, F> Body for Tap<B, F>
where
    B: Body<Data = Bytes> + Unpin,
    F: FnOnce(Usage, bool) + Unpin,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(cx);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(data) = frame.data_ref() {
                    self.reader.feed(data);
                }
            }
            Poll::Ready(_) => self.finish(true),
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl<B: Body, F: FnOnce(Usage, bool)> Drop for Tap<B, F> {
    fn drop(&mut self) {
        // A body of a known length is not asked again once all of it is there.
        let whole = self.inner.is_end_stream();
        self.finish(whole);
    }
}

/// Takes the content coding off.
enum Unpack {
    Plain(Reader),
    Gzip(Box<GzDecoder<Reader>>),
    Deflate(Box<ZlibDecoder<Reader>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, Reader>>),
    /// Not understood, or not any more.
    Off,
}

impl Unpack {
    fn new(coding: Option<Coding>, reader: Reader) -> Unpack {
        match coding {
            Some(Coding::Identity) => Unpack::Plain(reader),
            Some(Coding::Gzip) => Unpack::Gzip(Box::new(GzDecoder::new(reader))),
            Some(Coding::Deflate) => Unpack::Deflate(Box::new(ZlibDecoder::new(reader))),
            Some(Coding::Zstd) => match zstd::stream::write::Decoder::new(reader) {
                Ok(decoder) => Unpack::Zstd(Box::new(decoder)),
                Err(_) => Unpack::Off,
            },
            None => Unpack::Off,
        }
    }

    fn feed(&mut self, bytes: &[u8]) {
        let fed = match self {
            Unpack::Plain(reader) => reader.write_all(bytes),
            // Flushed, so that what is there is seen although the stream goes on.
            Unpack::Gzip(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            Unpack::Deflate(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            Unpack::Zstd(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            Unpack::Off => Ok(()),
        };
        if fed.is_err() {
            *self = Unpack::Off;
        }
    }

    fn finish(&mut self) -> Usage {
        match std::mem::replace(self, Unpack::Off) {
            Unpack::Plain(reader) => reader.finish(),
            Unpack::Gzip(mut decoder) => std::mem::take(decoder.get_mut()).finish(),
            Unpack::Deflate(mut decoder) => std::mem::take(decoder.get_mut()).finish(),
            Unpack::Zstd(mut decoder) => std::mem::take(decoder.get_mut()).finish(),
            Unpack::Off => Usage::default(),
        }
    }
}

/// Looks for usage in plain bytes: line by line in a stream of events, else in one piece at the end.
#[derive(Default)]
struct Reader {
    stream: bool,
    /// The line that is not ended yet, or all.
    held: Vec<u8>,
    /// The line or the answer is longer than is looked at.
    skipping: bool,
    usage: Usage,
}

impl Reader {
    fn new(stream: bool) -> Reader {
        Reader {
            stream,
            ..Reader::default()
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        let limit = if self.stream {
            limits::EVENT_LINE
        } else {
            limits::WHOLE_ANSWER
        };
        if self.skipping || self.held.len() + bytes.len() > limit {
            self.skipping = true;
            self.held = Vec::new();
        } else {
            self.held.extend_from_slice(bytes);
        }
    }

    fn line(&mut self) {
        let line = std::mem::take(&mut self.held);
        let data = line.strip_prefix(b"data:").unwrap_or(&line);
        // Most events are text and hold none; those that may are few.
        if !self.skipping && memmem::find(data, b"sage").is_some() {
            self.parse(data);
        }
        self.skipping = false;
        self.held = line;
        self.held.clear();
    }

    fn parse(&mut self, json: &[u8]) {
        match serde_json::from_slice::<Value>(json) {
            // Gemini without `alt=sse` streams one array.
            Ok(Value::Array(items)) => {
                for item in &items {
                    self.usage.read(item);
                }
            }
            Ok(value) => {
                self.usage.read(&value);
            }
            Err(_) => {}
        }
    }

    fn finish(mut self) -> Usage {
        if self.stream {
            self.line();
        } else if !self.skipping {
            let held = std::mem::take(&mut self.held);
            self.parse(&held);
        }
        self.usage
    }
}

impl Write for Reader {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.stream {
            self.hold(bytes);
            return Ok(bytes.len());
        }
        let mut rest = bytes;
        while let Some(end) = memchr(b'\n', rest) {
            self.hold(&rest[..end]);
            self.line();
            rest = &rest[end + 1..];
        }
        self.hold(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: &str = "event: message_start\ndata: {\"message\":{\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":7}}}\n\ndata: {\"delta\":\"text\"}\n\ndata: {\"usage\":{\"output_tokens\":9}}\r\n\r\n";

    #[test]
    fn usage_is_found_wherever_chunks_are_cut_and_however_it_is_packed() {
        for coding in [
            Coding::Identity,
            Coding::Gzip,
            Coding::Deflate,
            Coding::Zstd,
        ] {
            let packed = coding.encode(EVENTS.into()).unwrap();
            for size in [1, 3, 7, 1_000] {
                let mut unpack = Unpack::new(Some(coding), Reader::new(true));
                for chunk in packed.chunks(size) {
                    unpack.feed(chunk);
                }
                let usage = unpack.finish();
                let found = (usage.input, usage.cache_read, usage.output);
                assert_eq!(found, (5, 7, 9), "{coding:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn long_lines_are_skipped_and_what_follows_is_not() {
        let mut reader = Reader::new(true);
        let long = vec![b'x'; limits::EVENT_LINE + 1];
        reader.write_all(&long).unwrap();
        assert!(reader.held.is_empty());
        reader.write_all(b"\n").unwrap();
        reader.write_all(EVENTS.as_bytes()).unwrap();
        assert_eq!(reader.finish().output, 9);
    }
}
