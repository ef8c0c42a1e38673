//! The new body: every result that was degraded in its degraded form, and what a rewrite rule adds.
//! Deliberately a splice: all other bytes are the client's.

use memchr::memmem;
use neenee_wire::{Document, Edit, Insertion, InsertionError, SpliceError};

use super::Chain;
use crate::conversation::State;
use crate::fault::Fault;

/// Switches on `thinking.block_binding`.
pub(super) const DROP_BETA: &str = "thinking-binding-controls-2026-08-01";
/// Switches on `context_management`.
const DELEGATE_BETA: &str = "context-management-2025-06-27";
/// The edit that a client may have asked for by itself.
const CLEAR_TOOL_USES: &[u8] = b"\"clear_tool_uses_20250919\"";

/// The body to send, `None` when it is the client's own, and the flags that belong to it.
pub(super) fn write(
    document: &Document<'_>,
    chain: &Chain,
    state: &State,
    body: &[u8],
) -> Result<(Option<Vec<u8>>, Vec<&'static str>), Fault> {
    let degraded = chain.keys.iter().enumerate();
    let edits: Vec<Edit<'_>> = degraded
        .filter_map(|(ordinal, key)| {
            let content = &state.degraded.get(key)?.text;
            Some(Edit { ordinal, content })
        })
        .collect();
    if let Some(delegate) = &state.delegated
        && memmem::find(body, CLEAR_TOOL_USES).is_none()
    {
        let body = document.splice_with(&edits, &Insertion::Delegate(delegate.clone()))?;
        return Ok((Some(body), vec![DELEGATE_BETA]));
    }
    if state.drops_reasoning {
        match document.splice_with(&edits, &Insertion::Drop) {
            Ok(body) => return Ok((Some(body), vec![DROP_BETA])),
            // Without `thinking` the provider reads no reasoning, so that none can be in its way.
            Err(SpliceError::Insertion {
                reason: InsertionError::NoThinking,
                ..
            }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    if edits.is_empty() {
        return Ok((None, Vec::new()));
    }
    Ok((Some(document.splice(&edits)?), Vec::new()))
}

/// The original with the provider told to drop reasoning that does not fit; `None` when there is
/// nothing to tell it by.
pub(super) fn drop_reasoning(document: &Document<'_>) -> Result<Option<Vec<u8>>, Fault> {
    match document.splice_with(&[], &Insertion::Drop) {
        Ok(body) => Ok(Some(body)),
        Err(SpliceError::Insertion { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Estimated tokens that degraded results of a body no longer have.
pub(super) fn saved(chain: &Chain, state: &State) -> usize {
    let degraded = chain.keys.iter().filter_map(|key| state.degraded.get(key));
    degraded
        .map(|result| result.tokens.0.saturating_sub(result.tokens.1))
        .sum()
}
