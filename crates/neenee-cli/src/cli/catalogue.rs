//! Arguments of the commands that print what is known: formats, models, settings, the manual.
//! Deliberately no behaviour.

use clap::Args;
use clap_complete::Shell;

/// Arguments of a command that prints a list.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print JSON, for programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// List models: input window, prices, how tokens are counted, what an edit of the history needs
#[derive(Debug, Args)]
#[command(after_help = MODELS_HELP)]
pub(crate) struct ModelsArgs {
    /// Only those whose name or provider contains this, or the one that goes by this name
    pub(crate) name: Option<String>,
    /// Print JSON, for programs
    #[arg(long)]
    pub(crate) json: bool,
}

const MODELS_HELP: &str = "\
Windows are in tokens of input. Prices are US dollars per million tokens.

Examples:
  neenee models opus
  neenee models us.anthropic.claude-sonnet-4-5-20250929-v1:0
  neenee models --json";

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command whose page is wanted; without it, that of neenee itself
    pub(crate) command: Option<String>,
}
