//! An answer that is being put together from pieces, whatever format they came in.
//! Deliberately knows no format: decoders say what a piece is and which part it belongs to.

use neenee_core::message::{Message, Part, Reasoning, Role, ToolCall};

use super::{Reply, Stop, StreamEvent, Usage};

/// The parts so far, and the events that nobody has taken yet.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    parts: Vec<Part>,
    /// For each call in order, its part.
    calls: Vec<usize>,
    pub(crate) events: Vec<StreamEvent>,
    pub(crate) usage: Option<Usage>,
    pub(crate) stop: Option<Stop>,
    pub(crate) cleared_tokens: usize,
}

impl Draft {
    /// More text; a text part that stands last goes on.
    pub(crate) fn text(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        self.events.push(StreamEvent::Text(piece.to_owned()));
        match self.parts.last_mut() {
            Some(Part::Text(text)) => text.push_str(piece),
            _ => self.parts.push(Part::Text(piece.to_owned())),
        }
    }

    /// More reasoning; reasoning that stands last and is not signed yet goes on.
    pub(crate) fn reasoning(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        self.events.push(StreamEvent::Reasoning(piece.to_owned()));
        match self.parts.last_mut() {
            Some(Part::Reasoning(reasoning)) if reasoning.signature.is_none() => {
                reasoning.text.push_str(piece);
            }
            _ => self.parts.push(Part::Reasoning(Reasoning {
                text: piece.to_owned(),
                signature: None,
            })),
        }
    }

    /// Reasoning that is only shown: what the next request needs of it comes as an opaque part.
    pub(crate) fn show_reasoning(&mut self, piece: &str) {
        if !piece.is_empty() {
            self.events.push(StreamEvent::Reasoning(piece.to_owned()));
        }
    }

    /// A piece of the signature of the reasoning that stands last.
    pub(crate) fn signature(&mut self, piece: &str) {
        match self.parts.last_mut() {
            Some(Part::Reasoning(reasoning)) => {
                reasoning.signature.get_or_insert_default().push_str(piece);
            }
            _ => self.parts.push(Part::Reasoning(Reasoning {
                text: String::new(),
                signature: Some(piece.to_owned()),
            })),
        }
    }

    /// A block of the provider's that is sent back as it is.
    pub(crate) fn opaque(&mut self, json: String) {
        self.parts.push(Part::Opaque(json));
    }

    /// A call begins; returns its running number.
    pub(crate) fn call(&mut self, id: &str, name: &str) -> usize {
        let index = self.calls.len();
        self.calls.push(self.parts.len());
        self.parts.push(Part::Call(ToolCall {
            id: Some(id.to_owned()).filter(|id| !id.is_empty()),
            name: name.to_owned(),
            arguments: String::new(),
        }));
        self.events.push(StreamEvent::CallBegun {
            index,
            id: id.to_owned(),
            name: name.to_owned(),
        });
        index
    }

    /// More arguments of a call.
    pub(crate) fn arguments(&mut self, index: usize, piece: &str) {
        if piece.is_empty() {
            return;
        }
        let Some(call) = self.call_mut(index) else {
            return;
        };
        call.arguments.push_str(piece);
        self.events.push(StreamEvent::CallArguments {
            index,
            text: piece.to_owned(),
        });
    }

    pub(crate) fn call_mut(&mut self, index: usize) -> Option<&mut ToolCall> {
        let part = *self.calls.get(index)?;
        match self.parts.get_mut(part) {
            Some(Part::Call(call)) => Some(call),
            _ => None,
        }
    }

    /// The whole answer. Calls without an id get one that no other call of the answer has; `salt` tells
    /// answers apart.
    pub(crate) fn finish(mut self, salt: u64) -> Reply {
        for (index, &part) in self.calls.iter().enumerate() {
            if let Some(Part::Call(call)) = self.parts.get_mut(part) {
                call.id
                    .get_or_insert_with(|| format!("call_{salt:012x}_{index}"));
            }
        }
        let wants_tools = !self.calls.is_empty();
        let stop = match self.stop {
            // Some servers say `stop` although they call.
            Some(Stop::Done) | None if wants_tools => Stop::Calls,
            stop => stop.unwrap_or_default(),
        };
        Reply {
            message: Message {
                role: Role::Assistant,
                parts: self.parts,
            },
            usage: self.usage,
            stop,
            cleared_by_provider_tokens: self.cleared_tokens,
        }
    }
}
