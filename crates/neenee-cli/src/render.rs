//! What a person sees: numbers, tables, colours.
//! Deliberately no decisions; it shows what it is given.

pub(crate) mod messages;
pub(crate) mod number;
pub(crate) mod table;
pub(crate) mod text;

use std::env;
use std::io::{self, IsTerminal as _};

use neenee_core::model::RewriteRule;

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    /// On terminals, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorChoice {
    /// Whether stdout gets colours.
    pub(crate) fn on_stdout(self) -> bool {
        match self {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
                let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
                io::stdout().is_terminal() && !set("NO_COLOR") && !dumb
            }
        }
    }
}

/// The name of a rewrite rule, as the configuration spells it.
pub(crate) fn rule_name(rule: RewriteRule) -> &'static str {
    match rule {
        RewriteRule::Free => "free",
        RewriteRule::Drop => "drop",
        RewriteRule::Delegate => "delegate",
        RewriteRule::AppendOnly => "append_only",
    }
}
