//! What the planner looks at: a stream of borrowed views of a conversation, in its order.
//! Deliberately not an owner of text: wire bodies and durable messages are planned by the same code.

use crate::message::{Degraded, Media, Message, Part, Role};

/// One step of a conversation, in the order in which the model sees it.
#[derive(Clone, Copy, Debug)]
pub enum View<'a> {
    /// A message of this role begins; everything up to the next `Message` belongs to it.
    Message(Role),
    /// The working directory that the conversation names from here on.
    Cwd(&'a str),
    /// Text of the current message. Decoded: a raw `\\n` of JSON would hide paths and falsify counts.
    Text(&'a str),
    /// Reasoning of the current message. It counts, and is never a reference.
    Reasoning {
        /// The readable text, or the encrypted form where there is no other.
        text: &'a str,
        /// Whether a provider signed or encrypted it.
        signed: bool,
    },
    /// Text that weighs and is never looked into: tool schemas, blocks of a provider that nobody knows.
    Opaque(&'a str),
    /// Content that is not text and stands outside tool results.
    Weight {
        /// Estimated tokens.
        tokens: usize,
    },
    /// A tool call of the current message.
    Call(CallView<'a>),
    /// A tool result.
    Result(ResultView<'a>),
}

/// A tool call, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct CallView<'a> {
    /// The id that its result names, where the format has ids.
    pub id: Option<&'a str>,
    /// The tool's name.
    pub name: &'a str,
    /// The arguments: JSON text, or free text for tools that take it.
    pub arguments: &'a str,
}

/// A tool result, borrowed.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResultView<'a> {
    /// The id of the call that it answers, where the format has ids.
    pub call_id: Option<&'a str>,
    /// The tool's name where the format repeats it.
    pub name: Option<&'a str>,
    /// The text, decoded; several text parts joined by a newline.
    pub text: &'a str,
    /// Content that is not text.
    pub media: &'a [Media],
    /// The format's own flag of failure.
    pub failed: Option<bool>,
    /// The exit status of a shell command where the format tells it outside the text.
    pub exit_status: Option<i32>,
    /// The recorded tier. `None` means that no record exists, and the text is looked at.
    pub degraded: Option<Degraded>,
    /// An envoy's transcript.
    pub children: &'a [Message],
}

/// The views of owned messages, in order.
pub fn views(messages: &[Message]) -> impl Iterator<Item = View<'_>> {
    messages.iter().flat_map(|message| {
        std::iter::once(View::Message(message.role)).chain(message.parts.iter().map(part_view))
    })
}

fn part_view(part: &Part) -> View<'_> {
    match part {
        Part::Text(text) => View::Text(text),
        Part::Reasoning(reasoning) => View::Reasoning {
            text: if reasoning.text.is_empty() {
                reasoning.signature.as_deref().unwrap_or("")
            } else {
                &reasoning.text
            },
            signed: reasoning.signature.is_some(),
        },
        Part::Call(call) => View::Call(CallView {
            id: call.id.as_deref(),
            name: &call.name,
            arguments: &call.arguments,
        }),
        Part::Result(result) => View::Result(ResultView {
            call_id: result.call_id.as_deref(),
            name: result.name.as_deref(),
            text: &result.text,
            media: &result.media,
            failed: result.failed,
            exit_status: result.exit_status,
            degraded: result.degraded,
            children: &result.children,
        }),
        Part::Media(media) => View::Weight {
            tokens: media.tokens,
        },
        Part::Opaque(json) => View::Opaque(json),
    }
}
