//! The one table of keys: name, kind, default and meaning of everything that can be configured.
//! Deliberately complete: files, environment, flags, `neenee config` and the manual all follow it.

use neenee_core::pressure::{CHARS_PER_TOKEN, CompactionPolicy, Protected, PruneOptions};

use super::value::{Kind, Value};

/// What can be configured. The order is that of [`ROWS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// Whether anything is pruned at all.
    Prune,
    /// Recent tool output that is protected.
    ProtectTokens,
    /// Rounds that compaction leaves alone.
    PreserveRounds,
    /// When pruning engages.
    PruneUtilization,
    /// When compaction engages.
    CompactUtilization,
    /// What compaction aims at.
    TargetUtilization,
    /// The model to assume.
    Model,
    /// The window to assume.
    Window,
    /// How signed reasoning is dealt with.
    RewriteRule,
    /// Whether results that nobody read yet are protected.
    ProtectUnseen,
    /// Whether several reads can cover one together.
    UnionCoverage,
    /// Whether repeated calls supersede.
    DedupeCalls,
    /// For how long a recalled result is protected.
    RecalledTurns,
    /// What a char of an error counts.
    ErrorWeight,
    /// Whether listings go first.
    Disposable,
    /// Where nothing sent may be edited, the longest result that is sent.
    UnsentCap,
    /// Tools that are left alone.
    ProtectTools,
    /// Files that are left alone.
    ProtectFiles,
    /// Where sessions are kept.
    Store,
}

/// One key.
#[derive(Debug)]
pub(crate) struct Row {
    /// Which one.
    pub(crate) key: Key,
    /// Its name in a file, with its table before a dot.
    pub(crate) name: &'static str,
    /// What its values are.
    pub(crate) kind: Kind,
    /// What it does, in a sentence.
    pub(crate) about: &'static str,
}

/// All keys, plain ones first, then those of tables.
#[rustfmt::skip]
pub(crate) const ROWS: &[Row] = &[
    Row { key: Key::Prune, name: "compaction_prune", kind: Kind::Switch, about: "Master switch of pruning." },
    Row { key: Key::ProtectTokens, name: "compaction_prune_protect_tokens", kind: Kind::Count { least: 0 }, about: "Recent tool output that is protected from pruning, in tokens. Larger keeps more recent detail and prunes less; 0 protects nothing." },
    Row { key: Key::PreserveRounds, name: "compaction_preserve_rounds", kind: Kind::Count { least: 0 }, about: "Newest whole rounds that compaction leaves verbatim." },
    Row { key: Key::PruneUtilization, name: "compaction.prune_utilization", kind: Kind::Fraction, about: "Fraction of the window over which pruning engages." },
    Row { key: Key::CompactUtilization, name: "compaction.compact_utilization", kind: Kind::Fraction, about: "Fraction of the window over which compaction engages." },
    Row { key: Key::TargetUtilization, name: "compaction.target_utilization", kind: Kind::Fraction, about: "Fraction of the window that compaction aims at." },
    Row { key: Key::Model, name: "model", kind: Kind::Text, about: "Model to assume instead of the one that a session names." },
    Row { key: Key::Window, name: "window", kind: Kind::Count { least: 1 }, about: "Window to assume instead of the model's, in tokens of input." },
    Row { key: Key::RewriteRule, name: "rewrite_rule", kind: Kind::Choice(&["auto", "free", "drop", "delegate", "append_only"]), about: "What to do where a provider binds signed reasoning to what stands before it; `auto` follows the model." },
    Row { key: Key::ProtectUnseen, name: "protect_unseen", kind: Kind::Switch, about: "Protect results that the model has not seen yet, whatever their size." },
    Row { key: Key::UnionCoverage, name: "union_coverage", kind: Kind::Switch, about: "Count several later reads that together leave no line out as covering an earlier one." },
    Row { key: Key::DedupeCalls, name: "dedupe_calls", kind: Kind::Switch, about: "Let a later call of the same tool with the same arguments and the same answer supersede an earlier one." },
    Row { key: Key::RecalledTurns, name: "protect_recalled_turns", kind: Kind::Count { least: 0 }, about: "Turns for which a recalled result is protected." },
    Row { key: Key::ErrorWeight, name: "error_weight", kind: Kind::Fraction, about: "What a char of an error result counts against the protected output, so that failures outlive success." },
    Row { key: Key::Disposable, name: "disposable", kind: Kind::Switch, about: "Clear results of tools that are declared disposable at the next pass, however recent." },
    Row { key: Key::UnsentCap, name: "unsent_cap_tokens", kind: Kind::Count { least: 1 }, about: "Under `append_only`, results that were not sent yet are cut to this many tokens." },
    Row { key: Key::ProtectTools, name: "protect_tools", kind: Kind::Globs, about: "Tools whose results are never degraded, as globs over their names." },
    Row { key: Key::ProtectFiles, name: "protect_files", kind: Kind::Globs, about: "Files whose results are never degraded, as globs over their paths." },
    Row { key: Key::Store, name: "store", kind: Kind::Text, about: "Where sessions are kept: a folder, or `postgres://…`. Not set, it is `neenee/sessions` in the user's data folder." },
];

impl Key {
    /// The name in a file.
    pub(crate) fn name(self) -> &'static str {
        self.row().name
    }

    /// The key of that name.
    pub(crate) fn find(name: &str) -> Option<&'static Row> {
        ROWS.iter().find(|row| row.name == name)
    }

    /// The row of this key.
    pub(crate) fn row(self) -> &'static Row {
        // invariant: the rows stand in the order of the keys; a test walks them.
        &ROWS[self as usize]
    }

    /// The value when nobody sets one; the core's own, so that there is one place for each number.
    pub(crate) fn default(self) -> Option<Value> {
        let policy = CompactionPolicy::default();
        let options = PruneOptions::default();
        let globs =
            |globs: &[&str]| Value::List(globs.iter().map(|&glob| glob.to_owned()).collect());
        Some(match self {
            Key::Prune => Value::Switch(policy.prune),
            Key::ProtectTokens => Value::Count(policy.prune_protect_tokens),
            Key::PreserveRounds => Value::Count(policy.preserve_rounds),
            Key::PruneUtilization => Value::Fraction(policy.prune_utilization),
            Key::CompactUtilization => Value::Fraction(policy.compact_utilization),
            Key::TargetUtilization => Value::Fraction(policy.target_utilization),
            Key::Model | Key::Window | Key::Store => return None,
            Key::RewriteRule => Value::Text("auto".to_owned()),
            Key::ProtectUnseen => Value::Switch(options.protect_unseen),
            Key::UnionCoverage => Value::Switch(options.union_coverage),
            Key::DedupeCalls => Value::Switch(options.dedupe_calls),
            Key::RecalledTurns => Value::Count(options.protect_recalled_turns),
            Key::ErrorWeight => Value::Fraction(options.error_weight),
            Key::Disposable => Value::Switch(options.disposable),
            Key::UnsentCap => Value::Count(options.unsent_cap_chars / CHARS_PER_TOKEN),
            Key::ProtectTools => globs(&Protected::TOOLS),
            Key::ProtectFiles => globs(&Protected::FILES),
        })
    }
}

impl Row {
    /// The environment variable that sets it.
    pub(crate) fn variable(&self) -> String {
        format!(
            "NEENEE_{}",
            self.name.replace('.', "__").to_ascii_uppercase()
        )
    }
}

/// The valid name that is most like `name`, when one is alike.
pub(crate) fn nearest<'a>(name: &str, valid: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    valid
        .map(|candidate| {
            (
                strsim::normalized_damerau_levenshtein(name, candidate),
                candidate,
            )
        })
        .filter(|(likeness, _)| *likeness >= 0.6)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_their_keys_and_defaults_fit_their_kinds() {
        for (index, row) in ROWS.iter().enumerate() {
            assert_eq!(row.key as usize, index, "{}", row.name);
            if let Some(default) = row.key.default() {
                let read = row.kind.read_text(&default.to_string());
                let text = default.to_string();
                // A text stands unquoted in the environment and quoted in a file.
                let read = match &default {
                    Value::Text(plain) => row.kind.read_text(plain),
                    _ => read,
                };
                assert_eq!(read, Ok(default), "{} = {text}", row.name);
            }
        }
    }

    #[test]
    fn the_manual_tells_every_key_and_its_default() {
        let manual = include_str!("../../../../docs/configuration.md");
        for row in ROWS {
            let default = row
                .key
                .default()
                .map_or("not set".to_owned(), |value| format!("`{value}`"));
            let line = format!("| `{}` | {default} | {} |", row.name, row.about);
            assert!(
                manual.contains(&line),
                "docs/configuration.md lacks\n{line}"
            );
        }
    }

    #[test]
    fn variables_spell_tables_with_two_underscores() {
        assert_eq!(Key::Prune.row().variable(), "NEENEE_COMPACTION_PRUNE");
        assert_eq!(
            Key::PruneUtilization.row().variable(),
            "NEENEE_COMPACTION__PRUNE_UTILIZATION"
        );
    }
}
