//! What may be tuned about a plan: two numbers, the options, what is never degraded.
//! Deliberately not when a plan is made; see `policy`.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::policy::{CompactionPolicy, PRUNE_MIN_RECLAIM_CHARS};
use crate::model::RewriteRule;

/// Everything that a plan depends on besides the conversation.
#[derive(Clone, Debug)]
pub struct PruneOptions {
    /// Recent tool output that is protected verbatim, in chars; 0 protects nothing.
    pub protect_recent_chars: usize,
    /// A plan is applied only when it gives back more chars than this.
    pub min_reclaim_chars: usize,
    /// A result that no assistant message follows is protected whatever its size.
    pub protect_unseen: bool,
    /// Several later reads that together leave no line out count as covering an earlier one.
    pub union_coverage: bool,
    /// A later call of the same tool with the same arguments and the same answer supersedes.
    pub dedupe_calls: bool,
    /// A recalled original is protected for this many turns; 0 protects none.
    pub protect_recalled_turns: usize,
    /// What a char of an error result counts in the recency pass, between 0 and 1.
    pub error_weight: f64,
    /// Results of tools declared disposable lose recency protection and keep-alive.
    pub disposable: bool,
    /// Tools and files whose results are never degraded.
    pub protected: Protected,
    /// What the provider's handling of signed reasoning allows.
    pub rewrite: RewriteRule,
    /// Under [`RewriteRule::AppendOnly`], results that were not sent yet are cut to this many chars.
    pub unsent_cap_chars: usize,
}

/// 25 000 tokens' worth: far over what an agent's own tools return, far under any window.
const UNSENT_CAP_CHARS: usize = 100_000;

impl PruneOptions {
    /// The design's bare operation: the two numbers, every option off.
    pub fn bare(protect_recent_chars: usize, min_reclaim_chars: usize) -> Self {
        PruneOptions {
            protect_recent_chars,
            min_reclaim_chars,
            protect_unseen: false,
            union_coverage: false,
            dedupe_calls: false,
            protect_recalled_turns: 0,
            error_weight: 1.0,
            disposable: false,
            protected: Protected::default(),
            rewrite: RewriteRule::Free,
            unsent_cap_chars: UNSENT_CAP_CHARS,
        }
    }
}

/// The entry points' defaults: every option on.
impl Default for PruneOptions {
    fn default() -> Self {
        PruneOptions {
            protect_recent_chars: CompactionPolicy::default().protect_recent_chars(),
            min_reclaim_chars: PRUNE_MIN_RECLAIM_CHARS,
            protect_unseen: true,
            union_coverage: true,
            dedupe_calls: true,
            protect_recalled_turns: 3,
            error_weight: 0.25,
            disposable: true,
            protected: Protected::bookkeeping(),
            rewrite: RewriteRule::Free,
            unsent_cap_chars: UNSENT_CAP_CHARS,
        }
    }
}

/// Globs over tool names (letter case aside) and over normalised file paths.
#[derive(Clone, Debug, Default)]
pub struct Protected {
    tools: GlobSet,
    files: GlobSet,
}

impl Protected {
    /// Tools that an agent keeps its own books with.
    pub const TOOLS: [&'static str; 5] = ["todo*", "*plan*", "skill*", "memory*", "ask_user*"];
    /// Files that hold an agent's standing instructions.
    pub const FILES: [&'static str; 4] = [
        "**/AGENTS.md",
        "**/CLAUDE.md",
        "**/GEMINI.md",
        "**/.cursorrules",
    ];

    /// The default: [`Self::TOOLS`] and [`Self::FILES`].
    pub fn bookkeeping() -> Self {
        // invariant: the patterns above are valid globs; a test builds them.
        Self::new(&Self::TOOLS, &Self::FILES).unwrap_or_default()
    }

    /// Compiles the patterns.
    ///
    /// # Errors
    /// The first pattern that is not a glob, with what is wrong about it.
    pub fn new<T: AsRef<str>, F: AsRef<str>>(
        tools: &[T],
        files: &[F],
    ) -> Result<Self, globset::Error> {
        Ok(Protected {
            tools: glob_set(tools, |pattern| {
                GlobBuilder::new(pattern).case_insensitive(true).build()
            })?,
            files: glob_set(files, |pattern| {
                GlobBuilder::new(pattern).literal_separator(true).build()
            })?,
        })
    }

    /// Whether results of this tool are never degraded.
    pub fn tool(&self, name: &str) -> bool {
        self.tools.is_match(name)
    }

    /// Whether results on this normalised path are never degraded.
    pub fn file(&self, path: &str) -> bool {
        self.files.is_match(path)
    }
}

fn glob_set<P: AsRef<str>>(
    patterns: &[P],
    compile: impl Fn(&str) -> Result<Glob, globset::Error>,
) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(compile(pattern.as_ref())?);
    }
    set.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_protects_bookkeeping_and_nothing_else() {
        let protected = Protected::bookkeeping();
        for tool in ["TodoWrite", "todo_read", "update_plan", "ExitPlanMode"] {
            assert!(protected.tool(tool), "{tool}");
        }
        assert!(!protected.tool("Read"));
        for file in ["AGENTS.md", "/repo/CLAUDE.md", "c:/x/GEMINI.md"] {
            assert!(protected.file(file), "{file}");
        }
        assert!(!protected.file("/repo/notAGENTS.md"));
    }

    #[test]
    fn a_bad_glob_is_named() {
        let error = Protected::new(&["a[", "b"], &["c"]).unwrap_err();
        assert_eq!(error.glob(), Some("a["));
    }
}
