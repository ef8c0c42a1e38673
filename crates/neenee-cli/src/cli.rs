//! The command line as plain data.
//! Deliberately no behaviour: arguments are parsed first and acted upon in `commands`.

mod catalogue;
mod history;
mod inspect;
mod proxy;
mod prune;
mod replay;
mod sessions;

use clap::{Parser, Subcommand};

use crate::render::ColorChoice;
pub(crate) use catalogue::{CompletionsArgs, ListArgs, ManArgs, ModelsArgs};
pub(crate) use history::{DiffArgs, RestoreArgs};
pub(crate) use inspect::InspectArgs;
pub(crate) use proxy::{ProxyArgs, ProxyCommand, RunArgs};
pub(crate) use prune::PruneArgs;
pub(crate) use replay::ReplayArgs;
pub(crate) use sessions::{
    ExportArgs, ForkArgs, GcArgs, ImportArgs, RemoveArgs, RenameArgs, SessionArgs, SessionsArgs,
    SessionsCommand,
};

/// Relieve the context of LLM agents: prune old tool results, leave everything else byte for byte.
#[derive(Debug, Parser)]
#[command(name = "neenee", version, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  neenee prune session.jsonl -o pruned.jsonl         prune when the window is over its threshold
  neenee prune --now --explain session.jsonl         what would go, and why; nothing is written
  neenee inspect session.jsonl                       what fills the window
  curl … | neenee prune --model claude-opus-4-5 -    prune a request body on its way
  neenee proxy run -- claude                         an agent whose requests are pruned on their way
  neenee prune --in-place session.jsonl              the same, the original kept in the store
  neenee restore session.jsonl --in-place            and back, byte for byte
  neenee replay --compare all ~/sessions             what policies would have kept, saved and cost
  neenee config                                      every setting and where it came from

Exit codes: 0 done (also when there was nothing to do), 1 a check failed, 2 bad input or usage; `proxy run`
ends as the agent does.";

/// What every command takes.
#[derive(Debug, clap::Args)]
pub(crate) struct GlobalArgs {
    /// Set a key of the configuration, as compaction.prune_utilization=0.5; `neenee config` lists them
    #[arg(long, value_name = "KEY=VALUE", global = true)]
    pub(crate) set: Vec<String>,
    /// When to use colours
    #[arg(long, value_enum, default_value_t, global = true, value_name = "WHEN")]
    pub(crate) color: ColorChoice,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Prune(PruneArgs),
    Inspect(InspectArgs),
    Proxy(ProxyArgs),
    Sessions(SessionsArgs),
    Restore(RestoreArgs),
    Diff(DiffArgs),
    Replay(ReplayArgs),
    /// List the formats that can be read and written back
    Formats(ListArgs),
    Models(ModelsArgs),
    /// Print the resolved configuration and where each value came from
    #[command(after_help = CONFIG_HELP)]
    Config(ListArgs),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS_HELP)]
    Completions(CompletionsArgs),
    /// Print a manual page
    #[command(after_help = MAN_HELP)]
    Man(ManArgs),
}

const CONFIG_HELP: &str = "\
Settings come from the user's config.toml, then neenee.toml in this folder or the nearest one above,
then NEENEE_… variables, then flags; the later win. What is printed is itself a valid file.

Examples:
  neenee config
  neenee config --json
  NEENEE_COMPACTION__PRUNE_UTILIZATION=0.5 neenee config --set model=gpt-5";

const COMPLETIONS_HELP: &str = "\
Examples:
  neenee completions bash > ~/.local/share/bash-completion/completions/neenee
  neenee completions zsh > ~/.zfunc/_neenee
  neenee completions fish > ~/.config/fish/completions/neenee.fish";

const MAN_HELP: &str = "\
Examples:
  neenee man | man -l -
  neenee man prune > neenee-prune.1";
