//! The named insertions of rewrite rules: fields that a provider is told besides edited results.
//! Deliberately the only thing this crate adds to a body, and never without being asked by name.

use std::fmt::Write as _;
use std::ops::Range;

use crate::json::encode;

/// What a rewrite rule asks to be merged into a request body.
///
/// Source: Anthropic's API documentation on preserved thinking and on context editing. The beta
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
    /// The input is a bare array of messages.
    #[error("expected a request body: a bare array of messages has no fields")]
    BareMessages,
    /// There is no `thinking` to merge into.
    #[error("expected an object `thinking`: a request without it has no reasoning to drop")]
    NoThinking,
    /// A field that an object is merged into holds something else.
    #[error("expected an object `{0}`")]
    NotAnObject(&'static str),
    /// A field that an item is appended to holds something else.
    #[error("expected an array `{0}`")]
    NotAnArray(&'static str),
}

/// Where the fields stand that an insertion merges into; with each range whether it is an object
/// (of `edits`: an array) as it should be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Anchors {
    /// The request body; `None` for a bare array of messages.
    pub(crate) body: Option<Range<usize>>,
    pub(crate) thinking: Option<(bool, Range<usize>)>,
    /// `thinking.block_binding`.
    pub(crate) binding: Option<(bool, Range<usize>)>,
    /// `thinking.block_binding.prefix_mismatch_behavior`, whatever it is.
    pub(crate) behaviour: Option<Range<usize>>,
    /// `context_management`.
    pub(crate) management: Option<(bool, Range<usize>)>,
    /// `context_management.edits`.
    pub(crate) edits: Option<(bool, Range<usize>)>,
}

impl Insertion {
    /// What to replace by what.
    pub(crate) fn replacements(
        &self,
        bytes: &[u8],
        anchors: Option<&Anchors>,
    ) -> Result<Vec<(Range<usize>, String)>, InsertionError> {
        let anchors = anchors.ok_or(InsertionError::Unsupported)?;
        let body = anchors.body.clone().ok_or(InsertionError::BareMessages)?;
        Ok(vec![match self {
            Insertion::Drop => drop_block(bytes, anchors)?,
            Insertion::Delegate(delegate) => delegate.replacement(bytes, anchors, body)?,
        }])
    }
}

fn drop_block(bytes: &[u8], anchors: &Anchors) -> Result<(Range<usize>, String), InsertionError> {
    const BEHAVIOUR: &str = "\"prefix_mismatch_behavior\":\"drop_block\"";
    if let Some(range) = &anchors.behaviour {
        return Ok((range.clone(), "\"drop_block\"".to_owned()));
    }
    let thinking =
        object(anchors.thinking.as_ref(), "thinking")?.ok_or(InsertionError::NoThinking)?;
    Ok(
        match object(anchors.binding.as_ref(), "thinking.block_binding")? {
            Some(binding) => appended(bytes, &binding, BEHAVIOUR),
            None => appended(
                bytes,
                &thinking,
                &format!("\"block_binding\":{{{BEHAVIOUR}}}"),
            ),
        },
    )
}

impl Delegate {
    fn replacement(
        &self,
        bytes: &[u8],
        anchors: &Anchors,
        body: Range<usize>,
    ) -> Result<(Range<usize>, String), InsertionError> {
        let edit = self.edit();
        let Some(management) = object(anchors.management.as_ref(), "context_management")? else {
            let field = format!("\"context_management\":{{\"edits\":[{edit}]}}");
            return Ok(appended(bytes, &body, &field));
        };
        match &anchors.edits {
            Some((true, edits)) => Ok(appended(bytes, edits, &edit)),
            Some((false, _)) => Err(InsertionError::NotAnArray("context_management.edits")),
            None => Ok(appended(bytes, &management, &format!("\"edits\":[{edit}]"))),
        }
    }

    /// The edit. Its keys and their shapes are those of the documentation of context editing.
    fn edit(&self) -> String {
        let mut edit = format!(
            "{{\"type\":\"clear_tool_uses_20250919\",\
             \"trigger\":{{\"type\":\"input_tokens\",\"value\":{}}},\
             \"keep\":{{\"type\":\"tool_uses\",\"value\":{}}},\
             \"clear_at_least\":{{\"type\":\"input_tokens\",\"value\":{}}}",
            self.trigger_input_tokens, self.keep_tool_uses, self.clear_at_least_input_tokens,
        );
        if !self.exclude_tools.is_empty() {
            let names: Vec<String> = self
                .exclude_tools
                .iter()
                .map(|name| {
                    let mut quoted = Vec::new();
                    encode(&mut quoted, name, 1, true);
                    format!("\"{}\"", String::from_utf8_lossy(&quoted))
                })
                .collect();
            let _ = write!(edit, ",\"exclude_tools\":[{}]", names.join(","));
        }
        edit.push('}');
        edit
    }
}

/// The range of an object; `None` when the field is absent.
fn object(
    anchor: Option<&(bool, Range<usize>)>,
    name: &'static str,
) -> Result<Option<Range<usize>>, InsertionError> {
    match anchor {
        None => Ok(None),
        Some((true, range)) => Ok(Some(range.clone())),
        Some((false, _)) => Err(InsertionError::NotAnObject(name)),
    }
}

/// `item` behind the last one of the object or array at `range`.
fn appended(bytes: &[u8], range: &Range<usize>, item: &str) -> (Range<usize>, String) {
    let inside = &bytes[range.start + 1..range.end - 1];
    let content = inside.trim_ascii_end().len();
    let at = range.start + 1 + content;
    if inside.trim_ascii().is_empty() {
        (range.start + 1..range.start + 1, item.to_owned())
    } else {
        (at..at, format!(",{item}"))
    }
}
