//! The vocabulary of a conversation: roles, parts, calls, results, what a result has been degraded to.
//! Deliberately no wire form and no ids of its own: codecs and stores bring theirs.

use std::fmt;

/// Who speaks. `Tool` is the role that carries results in formats that have one; formats that put
/// results into user messages use `User` and a [`Part::Result`] all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// System or developer instructions.
    System,
    /// The person, or a program in their place.
    User,
    /// The model.
    Assistant,
    /// A carrier of tool results.
    Tool,
}

/// One message. Its parts keep their order; pruning never adds, removes or moves one.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Plain text.
    Text(String),
    /// The model's reasoning; never changed.
    Reasoning(Reasoning),
    /// A request to run a tool; never changed.
    Call(ToolCall),
    /// What a tool answered; the only part whose content may change.
    Result(ToolResult),
    /// An image or another attachment outside a tool result; never changed.
    Media(Media),
    /// A provider's block that this vocabulary does not know, as its JSON text; never changed.
    Opaque(String),
}

/// Reasoning text, with whether a provider signed or encrypted it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reasoning {
    /// The readable text; empty when the provider sent only an encrypted form.
    pub text: String,
    /// The signature or encrypted form, verbatim.
    pub signature: Option<String>,
}

/// A request to run a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The id that its result names; some formats have none, local models reuse them.
    pub id: Option<String>,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them: JSON text, or free text for tools that take it.
    pub arguments: String,
}

/// What a tool answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    /// The id of the call that this answers.
    pub call_id: Option<String>,
    /// The tool's name where the format repeats it.
    pub name: Option<String>,
    /// The text, several text parts joined by a newline.
    pub text: String,
    /// Images and other content that is not text.
    pub media: Vec<Media>,
    /// The format's own flag: `Some(true)` failed, `Some(false)` succeeded, `None` not told.
    pub failed: Option<bool>,
    /// The exit status of a shell command where the format tells it outside the text.
    pub exit_status: Option<i32>,
    /// What this result has been degraded to, and the size of its original.
    pub degraded: Option<Degraded>,
    /// The whole transcript of an envoy (a sub-agent).
    pub children: Vec<Message>,
}

/// Content that is not text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// What it is.
    pub kind: MediaKind,
    /// Size in bytes once decoded.
    pub bytes: u64,
    /// What the provider counts for it, in tokens.
    pub tokens: usize,
    /// The payload as the owner keeps it (a provider block, a reference, raw bytes); opaque here.
    pub payload: Vec<u8>,
}

/// Kinds of content that is not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MediaKind {
    /// A picture.
    Image,
    /// Sound.
    Audio,
    /// A PDF or another document.
    Document,
    /// Anything else.
    Other,
}

impl fmt::Display for MediaKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MediaKind::Image => "image",
            MediaKind::Audio => "audio",
            MediaKind::Document => "document",
            MediaKind::Other => "attachment",
        })
    }
}

/// How much of a result is in the window, from whole to placeholder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Whole.
    #[default]
    Kept,
    /// Head and tail, the middle elided.
    Truncated,
    /// An informative placeholder.
    Cleared,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tier::Kept => "kept",
            Tier::Truncated => "truncated",
            Tier::Cleared => "cleared",
        })
    }
}

/// The record that a result carries once it has been degraded. Kept on the message, so that no
/// text has to be guessed at: the source file of this very rule is not a truncated result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Degraded {
    /// [`Tier::Truncated`] or [`Tier::Cleared`].
    pub tier: Tier,
    /// Lines of the original; `None` when only its truncated text is left to tell.
    pub lines: Option<usize>,
    /// Chars (Unicode scalars) of the original.
    pub chars: usize,
}
