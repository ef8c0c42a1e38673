//! The core operation on owned messages: plan, gate, apply all or nothing.
//! Deliberately thin: the planner decides, this replaces contents.

use std::sync::Arc;

use super::options::PruneOptions;
use super::plan::{Left, Plan};
use super::planner::{Planner, Setup};
use crate::message::{Degraded, Media, Message, Part, Tier, ToolResult};

/// What a projection did, and what it took out.
#[derive(Clone, Debug, PartialEq)]
pub struct PruneOutcome {
    /// Results truncated, children included.
    pub truncated: usize,
    /// Results cleared, children included.
    pub cleared: usize,
    /// Chars given back.
    pub reclaimed_chars: usize,
    /// Estimated tokens given back.
    pub reclaimed_tokens: usize,
    /// What the window held before, oldest first, for the archive.
    pub originals: Vec<Original>,
    /// What a harness must no longer refer to as seen.
    pub left: Vec<Left>,
    /// The plan that was applied.
    pub plan: Plan,
}

/// The content that a replacement took the place of.
#[derive(Clone, Debug, PartialEq)]
pub struct Original {
    /// The result's running number; for a child, that of each envoy above it first.
    pub path: Vec<usize>,
    /// The id of its call.
    pub call_id: Option<String>,
    /// The text. Of a result that had been truncated before, the truncated text: the whole one
    /// was archived then.
    pub text: String,
    /// Content that is not text, payload included.
    pub media: Vec<Media>,
    /// The record that it carried.
    pub degraded: Option<Degraded>,
}

/// The design's operation, every option off: protects the most recent `protect_recent_chars` of
/// tool output, and changes anything only when more than `min_reclaim_chars` come back.
///
/// Pure: no clock, no I/O, no globals, no randomness. `None` means that nothing was changed.
///
/// ```
/// use neenee_core::message::{Message, Part, Role, ToolCall, ToolResult};
/// use neenee_core::pressure::prune_tool_results;
///
/// let mut messages = vec![
///     Message { role: Role::Assistant, parts: vec![Part::Call(ToolCall {
///         id: Some("c1".into()), name: "bash".into(), arguments: r#"{"command":"make"}"#.into(),
///     })] },
///     Message { role: Role::Tool, parts: vec![Part::Result(ToolResult {
///         call_id: Some("c1".into()), text: "cc -c a.c\n".repeat(500), ..ToolResult::default()
///     })] },
/// ];
/// let outcome = prune_tool_results(&mut messages, 0, 1_000).expect("5 000 chars are worth it");
/// assert_eq!(outcome.truncated, 1);
/// assert!(prune_tool_results(&mut messages, 24_000, 8_000).is_none());
/// ```
pub fn prune_tool_results(
    messages: &mut [Message],
    protect_recent_chars: usize,
    min_reclaim_chars: usize,
) -> Option<PruneOutcome> {
    let options = PruneOptions::bare(protect_recent_chars, min_reclaim_chars);
    prune_with(messages, &Arc::new(Setup::new(options)))
}

/// The same operation with options, tool table and estimator of the caller's choice.
pub fn prune_with(messages: &mut [Message], setup: &Arc<Setup>) -> Option<PruneOutcome> {
    let mut planner = Planner::new(setup.clone());
    planner.push_messages(messages);
    let plan = planner.plan();
    if plan.is_empty() || !planner.exceeds_floor(&plan) {
        return None;
    }
    let left = planner.left(&plan);
    Some(apply(messages, plan, left))
}

/// Carries out `plan`, which a planner made of exactly these messages.
pub fn apply(messages: &mut [Message], plan: Plan, left: Vec<Left>) -> PruneOutcome {
    let mut originals = Vec::new();
    replace(messages, &plan, &mut Vec::new(), &mut originals);
    PruneOutcome {
        truncated: plan.count(Tier::Truncated),
        cleared: plan.count(Tier::Cleared),
        reclaimed_chars: plan.reclaimed_chars,
        reclaimed_tokens: plan.reclaimed_tokens,
        originals,
        left,
        plan,
    }
}

fn replace(
    messages: &mut [Message],
    plan: &Plan,
    above: &mut Vec<usize>,
    originals: &mut Vec<Original>,
) {
    let mut edits = plan.edits.iter().peekable();
    let results = messages
        .iter_mut()
        .flat_map(|message| &mut message.parts)
        .filter_map(|part| match part {
            Part::Result(result) => Some(result),
            _ => None,
        });
    for (ordinal, result) in results.enumerate() {
        let Some(edit) = edits.next_if(|edit| edit.decision.ordinal == ordinal) else {
            continue;
        };
        above.push(ordinal);
        if let Some(replacement) = &edit.replacement {
            originals.push(take(result, above));
            result.text.clone_from(&replacement.text);
            result.degraded = replacement.record;
        }
        replace(&mut result.children, &edit.children, above, originals);
        above.pop();
    }
}

fn take(result: &mut ToolResult, path: &[usize]) -> Original {
    Original {
        path: path.to_vec(),
        call_id: result.call_id.clone(),
        text: std::mem::take(&mut result.text),
        media: std::mem::take(&mut result.media),
        degraded: result.degraded,
    }
}
