//! The plan as a value: what happens to each result, why, and what it gives back.
//! Deliberately data only. Everything that shows pruning to a person shows this; nobody re-derives it.

use std::fmt;

use crate::message::{Degraded, Tier};
use crate::model::RewriteRule;
use crate::touch::{LineRange, Target};

/// A projection that has not happened yet. It is applied whole or not at all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The results that change, oldest first. An envoy's result may stand here for its children
    /// alone.
    pub edits: Vec<Edit>,
    /// Chars given back, children included.
    pub reclaimed_chars: usize,
    /// Estimated tokens given back, children included.
    pub reclaimed_tokens: usize,
    /// What the provider's rule for signed reasoning makes of it.
    pub rewrite: Rewrite,
}

impl Plan {
    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// How many results end in `tier`, children included.
    pub fn count(&self, tier: Tier) -> usize {
        self.edits
            .iter()
            .map(|edit| {
                let own = edit.decision.tier == tier && edit.replacement.is_some();
                usize::from(own) + edit.children.count(tier)
            })
            .sum()
    }
}

/// One result that changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// What was decided and why.
    pub decision: Decision,
    /// The new content; `None` when only children change.
    pub replacement: Option<Replacement>,
    /// The envoy's transcript, planned by the same passes.
    pub children: Plan,
}

/// The degraded content of a result, and the record that goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// What the window holds from now on.
    pub text: String,
    /// The tier, and the size of the original; `None` for a result that was only cut to the cap
    /// of [`RewriteRule::AppendOnly`], which later passes treat as whole.
    pub record: Option<Degraded>,
}

/// What happens to one result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The result's running number in its conversation, from 0.
    pub ordinal: usize,
    /// The tier that it is in afterwards.
    pub tier: Tier,
    /// Which pass decided.
    pub reason: Reason,
    /// For a stale result, the ordinal of the later result whose call superseded it.
    pub superseded_by: Option<usize>,
    /// Chars before and after, its own content alone.
    pub chars: Change,
    /// Estimated tokens before and after, its own content alone.
    pub tokens: Change,
}

/// A number before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Before.
    pub before: usize,
    /// After.
    pub after: usize,
}

impl Change {
    /// Nothing changes.
    pub fn none(size: usize) -> Self {
        Change {
            before: size,
            after: size,
        }
    }

    /// What is given back.
    pub fn saved(&self) -> usize {
        self.before.saturating_sub(self.after)
    }
}

/// Which pass decided about a result, and what it found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Kept: among the most recent output.
    Recent,
    /// Kept: the model has not seen it yet.
    Unseen,
    /// Kept: recalled a few turns ago.
    Recalled,
    /// Kept: its tool is protected by configuration.
    ProtectedTool,
    /// Kept: its file is protected by configuration.
    ProtectedFile,
    /// Kept: its file was referred to after it.
    InPlay,
    /// Kept: a degraded form would not be shorter.
    NotShorter,
    /// Kept: it was cleared already.
    AlreadyCleared,
    /// Kept: it was sent before and the provider's rule forbids to edit it.
    AlreadySent,
    /// Cleared: its file was changed later.
    Mutated,
    /// Cleared: a later read covers its lines.
    Reread,
    /// Cleared: later reads together cover its lines.
    Covered,
    /// Cleared: a later call with the same arguments said the same.
    Duplicate,
    /// Cleared: its tool declares its results disposable.
    Disposable,
    /// Truncated: fresh and large.
    Large,
    /// Cleared: fresh, and too small for a truncation to be worth it.
    Small,
    /// Cleared: truncated by an earlier pass.
    Escalated,
    /// Cut before it was first sent: longer than a result may be where nothing sent is editable.
    OverCap,
}

impl Reason {
    /// Whether this is one of the kinds of staleness.
    pub fn is_stale(self) -> bool {
        matches!(
            self,
            Reason::Mutated | Reason::Reread | Reason::Covered | Reason::Duplicate
        )
    }

    /// Whether a pass spared the result, and with it what it carries.
    pub fn spares(self) -> bool {
        matches!(
            self,
            Reason::Recent
                | Reason::Unseen
                | Reason::Recalled
                | Reason::ProtectedTool
                | Reason::ProtectedFile
                | Reason::InPlay
                | Reason::AlreadySent
        )
    }

    /// A stable name for programs, in kebab case.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Recent => "recent",
            Reason::Unseen => "unseen",
            Reason::Recalled => "recalled",
            Reason::ProtectedTool => "protected-tool",
            Reason::ProtectedFile => "protected-file",
            Reason::InPlay => "in-play",
            Reason::NotShorter => "not-shorter",
            Reason::AlreadyCleared => "already-cleared",
            Reason::AlreadySent => "already-sent",
            Reason::Mutated => "mutated",
            Reason::Reread => "reread",
            Reason::Covered => "covered",
            Reason::Duplicate => "duplicate",
            Reason::Disposable => "disposable",
            Reason::Large => "large",
            Reason::Small => "small",
            Reason::Escalated => "escalated",
            Reason::OverCap => "over-cap",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Recent => "recent output is protected",
            Reason::Unseen => "the model has not seen it yet",
            Reason::Recalled => "recalled a few turns ago",
            Reason::ProtectedTool => "its tool is protected",
            Reason::ProtectedFile => "its file is protected",
            Reason::InPlay => "its file was referred to since",
            Reason::NotShorter => "a placeholder would not be shorter",
            Reason::AlreadyCleared => "cleared already",
            Reason::AlreadySent => "sent already, and the provider binds reasoning to it",
            Reason::Mutated => "stale: the file was changed since",
            Reason::Reread => "stale: a later read covers it",
            Reason::Covered => "stale: later reads together cover it",
            Reason::Duplicate => "stale: the same call said the same later",
            Reason::Disposable => "its tool's results are disposable",
            Reason::Large => "large and not in play",
            Reason::Small => "not in play",
            Reason::Escalated => "truncated by an earlier pass",
            Reason::OverCap => "longer than a result may be here",
        })
    }
}

/// What a plan means for reasoning that a provider has bound to the messages before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rewrite {
    /// The rule that the plan was made for; `Free` when nothing is bound after the first edit.
    pub rule: RewriteRule,
    /// Estimated tokens of signed reasoning after the first edit that the provider will drop;
    /// part of the plan's cost.
    pub lost_reasoning_tokens: usize,
}

/// Parameters of a provider's own clearing of tool results, derived from this policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delegated {
    /// Input tokens over which the provider clears.
    pub trigger_tokens: usize,
    /// The newest tool results that it keeps.
    pub keep_results: usize,
    /// It clears at least so many tokens, or nothing.
    pub clear_at_least_tokens: usize,
    /// Tools whose results it must keep.
    pub exclude_tools: Vec<String>,
}

/// One piece of content that leaves the window: what a harness must no longer call "unchanged,
/// see above".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The call whose result it was, where the format has ids.
    pub call_id: Option<String>,
    /// Files and the lines of them that the result held.
    pub reads: Vec<(String, LineRange)>,
}

/// What is known of one result, for those who show a plan.
#[derive(Clone, Copy, Debug)]
pub struct ResultInfo<'a> {
    /// The id of its call, where the format has ids.
    pub call_id: Option<&'a str>,
    /// The tool's name; empty when the call is not in the conversation.
    pub tool: &'a str,
    /// Tool and salient argument, as placeholders show them.
    pub label: &'a str,
    /// The files that it touched.
    pub targets: &'a [Target],
    /// Whether it tells of a failure.
    pub is_error: bool,
    /// Chars, its own content alone.
    pub chars: usize,
    /// Estimated tokens, its own content alone.
    pub tokens: usize,
    /// The tier that it is in now.
    pub tier: Tier,
    /// Assistant messages before it.
    pub turn: usize,
}
