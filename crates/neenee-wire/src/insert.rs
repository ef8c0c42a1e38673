//! The named insertions of rewrite rules: fields that a provider is told besides edited results.
//! Deliberately the only thing this crate adds to a body, and never without being asked by name.

use std::ops::Range;

/// What a rewrite rule asks to be merged into a request body.
///
/// Source: Anthropic's API documentation on extended thinking and on context editing. The beta
/// headers that switch these fields on are the caller's to send.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Insertion {
    /// Reasoning that no longer fits its prefix is dropped by the provider:
    /// `thinking.block_binding.prefix_mismatch_behavior = "drop_block"`.
    Drop,
    /// The provider clears old results itself: a `clear_tool_uses_20250919` edit of `context_management`.
    Delegate(Delegate),
}

/// The parameters of a `clear_tool_uses_20250919` edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delegate {
    /// Input tokens above which the provider clears.
    pub trigger_input_tokens: usize,
    /// How many of the latest tool uses stay.
    pub keep_tool_uses: usize,
    /// Input tokens that must be cleared at least, else nothing is.
    pub clear_at_least_input_tokens: usize,
    /// Tools whose results stay.
    pub exclude_tools: Vec<String>,
}

/// Why an insertion has no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InsertionError {
    /// The format has no such field.
    #[error("the format has no such field")]
    Unsupported,
    /// There is no `thinking` object to merge into.
    #[error("expected an object `thinking`: a request without it has no reasoning to drop")]
    NoThinking,
    /// The input is a bare array of messages.
    #[error("expected a request body: a bare array of messages has no fields")]
    BareMessages,
    /// A field of that name holds something else.
    #[error("expected an object `{0}`")]
    NotAnObject(&'static str),
    /// A field of that name holds something else.
    #[error("expected an array `{0}`")]
    NotAnArray(&'static str),
}

/// Where the fields stand that an insertion merges into.
#[derive(Clone, Debug, Default)]
pub(crate) struct Anchors {
    /// The request body; `None` for a bare array of messages.
    pub(crate) body: Option<Range<usize>>,
}

impl Insertion {
    /// What to replace by what.
    pub(crate) fn replacements(
        &self,
        _bytes: &[u8],
        anchors: Option<&Anchors>,
    ) -> Result<Vec<(Range<usize>, String)>, InsertionError> {
        let anchors = anchors.ok_or(InsertionError::Unsupported)?;
        anchors.body.clone().ok_or(InsertionError::BareMessages)?;
        Err(InsertionError::Unsupported)
    }
}
