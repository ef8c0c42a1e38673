//! From the bytes of an event stream to an answer, for every format.
//! Deliberately no I/O: bytes in, events out, so that a test can cut a stream anywhere.

use neenee_wire::sse::Splitter;
use serde_json::Value;

use super::draft::Draft;
use super::error::{ProviderError, ProviderErrorKind};
use super::{Reply, StreamEvent, Wire, anthropic, chat, overflow, responses};

/// A stream that is being read.
#[derive(Debug)]
pub struct Decoder {
    splitter: Splitter,
    format: Format,
    draft: Draft,
    /// The format's own last event has been seen.
    ended: bool,
    salt: u64,
}

#[derive(Debug)]
enum Format {
    Chat(chat::Slots),
    Responses(responses::Slots),
    Anthropic(anthropic::Slots),
}

impl Decoder {
    /// A stream of that format. `salt` goes into the ids of calls to which the server gives none.
    pub fn new(wire: Wire, salt: u64) -> Self {
        Decoder {
            splitter: Splitter::default(),
            format: match wire {
                Wire::Chat => Format::Chat(chat::Slots::default()),
                Wire::Responses => Format::Responses(responses::Slots::default()),
                Wire::Anthropic => Format::Anthropic(anthropic::Slots::default()),
            },
            draft: Draft::default(),
            ended: false,
            salt,
        }
    }

    /// Takes the next bytes, cut anywhere, and hands on what they complete.
    ///
    /// # Errors
    /// When the stream carries an error, or an event that is not of the format.
    pub fn push(
        &mut self,
        bytes: &[u8],
        each: &mut dyn FnMut(StreamEvent),
    ) -> Result<(), ProviderError> {
        let mut events = Vec::new();
        let split = self.splitter.push(bytes, |event| events.push(event));
        for event in events {
            self.event(&event.data)?;
            self.draft.events.drain(..).for_each(&mut *each);
        }
        split.map_err(|error| ProviderError::new(ProviderErrorKind::Protocol, error.to_string()))
    }

    /// Whether the answer is whole: nothing that comes later belongs to it.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The answer, once the stream has ended.
    ///
    /// # Errors
    /// When it ended before the answer did.
    pub fn finish(self) -> Result<Reply, ProviderError> {
        // Some compatible servers leave `[DONE]` out; the reason for the stop is then the end.
        if !self.ended && self.draft.stop.is_none() {
            return Err(ProviderError::new(
                ProviderErrorKind::Connection,
                "the answer stopped before its end",
            ));
        }
        Ok(self.draft.finish(self.salt))
    }

    fn event(&mut self, data: &[u8]) -> Result<(), ProviderError> {
        if data == b"[DONE]" {
            self.ended = true;
            return Ok(());
        }
        let value: Value = serde_json::from_slice(data).map_err(|error| {
            ProviderError::new(
                ProviderErrorKind::Protocol,
                format!("an event is not JSON: {error}"),
            )
        })?;
        if value["error"].is_object() || value["error"].is_string() {
            return Err(overflow::of_stream(&value));
        }
        self.ended |= match &mut self.format {
            Format::Chat(slots) => slots.event(&value, &mut self.draft),
            Format::Responses(slots) => slots.event(&value, &mut self.draft)?,
            Format::Anthropic(slots) => slots.event(&value, &mut self.draft),
        };
        Ok(())
    }
}

/// A count of tokens; 0 when it is not there.
pub(super) fn count(value: &Value) -> usize {
    value
        .as_u64()
        .and_then(|count| usize::try_from(count).ok())
        .unwrap_or(0)
}

/// A string member; empty when there is none.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or("")
}
