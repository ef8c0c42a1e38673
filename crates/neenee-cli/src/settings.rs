//! What the user chose: layers of settings, each value with where it came from.
//! Deliberately not what the values do; that is the policy's, in `neenee-core`.

mod environment;
mod file;
mod key;
mod places;
mod value;

use std::fmt;
use std::path::PathBuf;

use anyhow::Result;
use neenee_core::model::RewriteRule;
use neenee_core::pressure::{CHARS_PER_TOKEN, CompactionPolicy, Protected, PruneOptions};
use neenee_core::touch::ToolTable;
use neenee_store::location::Location;

use crate::error::Failure;
pub(crate) use file::ToolRows;
pub(crate) use key::{Key, ROWS, Row, nearest};
pub(crate) use places::{Place, Places};
pub(crate) use value::Value;

/// The resolved configuration.
#[derive(Debug)]
pub(crate) struct Settings {
    /// By [`Key`], in the order of [`ROWS`].
    values: Vec<Setting>,
    /// Rows for the tool table, the weakest layer first.
    pub(crate) tools: Vec<ToolRows>,
    /// The files that were looked for, the weakest first.
    pub(crate) places: Vec<Place>,
}

/// One resolved value.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// `None` when it is not set and has no default.
    pub(crate) value: Option<Value>,
    /// Who set it.
    pub(crate) origin: Origin,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nobody set it.
    Default,
    /// A configuration file.
    File {
        /// The file.
        path: PathBuf,
        /// Its line, counted from 1.
        line: usize,
    },
    /// An environment variable of this name.
    Variable(String),
    /// A flag, as the user spells it.
    Flag(&'static str),
}

/// What the layers above the defaults are read from.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    /// Where the configuration files are.
    pub(crate) places: Places,
    /// The environment: names and values.
    pub(crate) variables: Vec<(String, String)>,
    /// `KEY=VALUE` from `--set`, in order.
    pub(crate) assignments: Vec<String>,
}

impl Settings {
    /// What `--window` and `--model` say, as the last layer.
    pub(crate) fn window_flags(&mut self, window: Option<usize>, model: Option<&str>) {
        if let Some(tokens) = window {
            self.set(Key::Window, Value::Count(tokens), Origin::Flag("--window"));
        }
        if let Some(model) = model {
            let model = Value::Text(model.to_owned());
            self.set(Key::Model, model, Origin::Flag("--model"));
            // A flag beats a file: a window that is configured for another model is not meant for this one.
            if window.is_none() && !matches!(self.get(Key::Window).origin, Origin::Flag(_)) {
                self.unset(Key::Window);
            }
        }
    }

    /// Defaults, the user's file, the project's file, the environment, `--set`: the later win.
    pub(crate) fn load(layers: &Layers) -> Result<Self> {
        let mut settings = Settings {
            values: ROWS
                .iter()
                .map(|row| Setting {
                    value: row.key.default(),
                    origin: Origin::Default,
                })
                .collect(),
            tools: Vec::new(),
            places: layers.places.in_order(),
        };
        for place in settings.places.clone() {
            if let Some(text) = place.read()? {
                file::apply(&mut settings, &place.path, &text)?;
            }
        }
        environment::apply(&mut settings, &layers.variables)?;
        for assignment in &layers.assignments {
            environment::assign(&mut settings, assignment)?;
        }
        // A table that does not compile is refused now, with the file and line, not at the first session.
        settings.tool_table()?;
        settings.protected()?;
        Ok(settings)
    }

    /// A value as it may be shown to anyone: an address stands without its password.
    pub(crate) fn shown(&self, key: Key) -> Option<Value> {
        match (key, &self.get(key).value) {
            (Key::Store, Some(Value::Text(text))) => {
                Some(Value::Text(Location::parse(text).to_string()))
            }
            (_, value) => value.clone(),
        }
    }

    /// The setting of one key.
    pub(crate) fn get(&self, key: Key) -> &Setting {
        &self.values[key as usize]
    }

    /// Overrides one key; a flag of a command, say.
    pub(crate) fn set(&mut self, key: Key, value: Value, origin: Origin) {
        self.values[key as usize] = Setting {
            value: Some(value),
            origin,
        };
    }

    /// Takes one key back to its default.
    pub(crate) fn unset(&mut self, key: Key) {
        self.values[key as usize] = Setting {
            value: key.default(),
            origin: Origin::Default,
        };
    }

    /// When pruning and compaction engage.
    pub(crate) fn policy(&self) -> CompactionPolicy {
        CompactionPolicy {
            prune: self.switch(Key::Prune),
            prune_utilization: self.fraction(Key::PruneUtilization),
            compact_utilization: self.fraction(Key::CompactUtilization),
            target_utilization: self.fraction(Key::TargetUtilization),
            prune_protect_tokens: self.count(Key::ProtectTokens).unwrap_or_default(),
            preserve_rounds: self.count(Key::PreserveRounds).unwrap_or_default(),
            ..CompactionPolicy::default()
        }
    }

    /// What a plan depends on. `rule` is the one that the model asks for; the configuration wins.
    pub(crate) fn options(&self, rule: RewriteRule) -> Result<PruneOptions> {
        Ok(PruneOptions {
            protect_recent_chars: self.policy().protect_recent_chars(),
            protect_unseen: self.switch(Key::ProtectUnseen),
            union_coverage: self.switch(Key::UnionCoverage),
            dedupe_calls: self.switch(Key::DedupeCalls),
            protect_recalled_turns: self.count(Key::RecalledTurns).unwrap_or_default(),
            error_weight: self.fraction(Key::ErrorWeight),
            disposable: self.switch(Key::Disposable),
            protected: self.protected()?,
            rewrite: self.rewrite_rule().unwrap_or(rule),
            unsent_cap_chars: self
                .count(Key::UnsentCap)
                .unwrap_or_default()
                .saturating_mul(CHARS_PER_TOKEN),
            ..PruneOptions::default()
        })
    }

    /// The rule that the configuration asks for; `None` leaves it to the model.
    pub(crate) fn rewrite_rule(&self) -> Option<RewriteRule> {
        match self.text(Key::RewriteRule)? {
            "free" => Some(RewriteRule::Free),
            "drop" => Some(RewriteRule::Drop),
            "delegate" => Some(RewriteRule::Delegate),
            "append_only" => Some(RewriteRule::AppendOnly),
            _ => None,
        }
    }

    /// The built-in table of tools with the rows of the configuration before it.
    pub(crate) fn tool_table(&self) -> Result<ToolTable> {
        let mut table = ToolTable::builtin();
        for rows in &self.tools {
            table = table.extended(&rows.text).map_err(|error| {
                let line = error.line.map_or(rows.line, |line| line);
                Failure::new(format!(
                    "failed to read {}, line {line}: {}",
                    rows.path.display(),
                    error.message
                ))
            })?;
        }
        Ok(table)
    }

    /// The model that is configured.
    pub(crate) fn model(&self) -> Option<&str> {
        self.text(Key::Model)
    }

    /// Where sessions are kept; `None` leaves it to the machine.
    pub(crate) fn store(&self) -> Option<Location> {
        self.text(Key::Store).map(Location::parse)
    }

    /// The window that is configured, in tokens.
    pub(crate) fn window(&self) -> Option<usize> {
        self.count(Key::Window)
    }

    fn protected(&self) -> Result<Protected> {
        let tools = self.list(Key::ProtectTools);
        let files = self.list(Key::ProtectFiles);
        Protected::new(tools, files).map_err(|error| {
            let glob = error.glob().unwrap_or_default();
            let key = if files.iter().any(|file| file == glob) {
                Key::ProtectFiles
            } else {
                Key::ProtectTools
            };
            Failure::new(format!(
                "failed to read {} of {}: expected a glob, found `{glob}`: {}",
                key.name(),
                self.get(key).origin,
                error.kind()
            ))
            .into()
        })
    }

    // The kinds of values are checked where they are read, so a value of another kind cannot be here;
    // the fallbacks below are for the compiler.

    fn switch(&self, key: Key) -> bool {
        matches!(self.get(key).value, Some(Value::Switch(true)))
    }

    fn count(&self, key: Key) -> Option<usize> {
        match self.get(key).value {
            Some(Value::Count(count)) => Some(count),
            _ => None,
        }
    }

    fn fraction(&self, key: Key) -> f64 {
        match self.get(key).value {
            Some(Value::Fraction(fraction)) => fraction,
            _ => 0.0,
        }
    }

    fn text(&self, key: Key) -> Option<&str> {
        match &self.get(key).value {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn list(&self, key: Key) -> &[String] {
        match &self.get(key).value {
            Some(Value::List(list)) => list,
            _ => &[],
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File { path, line } => write!(f, "{}, line {line}", path.display()),
            Origin::Variable(name) => write!(f, "the environment variable {name}"),
            Origin::Flag(flag) => f.write_str(flag),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_core() {
        let settings = Settings::load(&Layers::default()).unwrap();
        assert_eq!(settings.policy(), CompactionPolicy::default());
        let ours = settings.options(RewriteRule::Drop).unwrap();
        let core = PruneOptions {
            rewrite: RewriteRule::Drop,
            ..PruneOptions::default()
        };
        assert_eq!(format!("{ours:?}"), format!("{core:?}"));
    }

    #[test]
    fn later_layers_win_and_say_who_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let user = folder.path().join("config.toml");
        let project = folder.path().join("neenee.toml");
        std::fs::write(
            &user,
            "compaction_prune_protect_tokens = 1\nprotect_unseen = false\nmodel = 'a'\n",
        )
        .unwrap();
        std::fs::write(
            &project,
            "\ncompaction_prune_protect_tokens = 2\nmodel = 'b'\n",
        )
        .unwrap();
        let settings = Settings::load(&Layers {
            places: Places {
                user: Some(user),
                project: Some(project.clone()),
            },
            variables: vec![("NEENEE_MODEL".into(), "c".into())],
            assignments: vec!["compaction.prune_utilization=0.5".into()],
        })
        .unwrap();
        assert_eq!(settings.policy().prune_protect_tokens, 2);
        assert_eq!(settings.policy().prune_utilization, 0.5);
        assert_eq!(settings.model(), Some("c"));
        assert!(!settings.switch(Key::ProtectUnseen));
        assert_eq!(
            settings.get(Key::ProtectTokens).origin,
            Origin::File {
                path: project,
                line: 2
            }
        );
        assert_eq!(
            settings.get(Key::Model).origin,
            Origin::Variable("NEENEE_MODEL".into())
        );
        assert_eq!(
            settings.get(Key::PruneUtilization).origin,
            Origin::Flag("--set")
        );
    }
}
