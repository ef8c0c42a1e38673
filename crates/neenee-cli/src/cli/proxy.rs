//! Arguments of `neenee proxy`.
//! Deliberately no behaviour.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Stand between an agent and its provider, and prune requests on their way
///
/// Listens on this machine alone, forwards every request to its provider, and prunes those that hold a
/// conversation over the threshold of its model's window. Answers are handed back byte for byte.
/// Originals are kept before anything pruned is sent; the page at /_neenee/ shows them.
///
/// SIGHUP reads the configuration again; SIGINT and SIGTERM let running answers end first.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ProxyArgs {
    /// Address and port to listen at; `run` takes a free port unless told
    #[arg(long, value_name = "ADDRESS", global = true)]
    pub(crate) listen: Option<String>,
    /// Where requests of a provider go, as anthropic=https://host; again for more
    #[arg(long, value_name = "NAME=URL", global = true)]
    pub(crate) upstream: Vec<String>,
    /// Folder for the originals of what is pruned
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) archive: Option<PathBuf>,
    /// File with the token that the page asks for where others can reach it; else one is made up
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) token_file: Option<PathBuf>,
    /// Write what is said about requests to this file; without it to stderr, from `run` nowhere
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) log: Option<PathBuf>,
    /// The window, in tokens of input, whatever the model
    #[arg(long, value_name = "N", value_parser = super::prune::window, global = true)]
    pub(crate) window: Option<usize>,
    #[command(subcommand)]
    pub(crate) command: Option<ProxyCommand>,
}

/// What to do besides serving.
#[derive(Debug, Subcommand)]
pub(crate) enum ProxyCommand {
    Run(ProxyRunArgs),
}

/// Start an agent with the variables that point it at a proxy of its own
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct ProxyRunArgs {
    /// The agent and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    pub(crate) agent: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  neenee proxy                                       serve, and print a line to paste for each agent
  neenee proxy run -- claude                         start an agent with everything set
  neenee proxy --upstream openai=https://openrouter.ai/api
  curl localhost:6336/_neenee/metrics";

const RUN_EXAMPLES: &str = "\
Examples:
  neenee proxy run -- claude
  neenee proxy run --window 100000 -- opencode
  neenee proxy run -- python agent.py";
