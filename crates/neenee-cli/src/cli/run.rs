//! Arguments of `neenee run` and `neenee chat`.
//! Deliberately no behaviour.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Let a model work on a task in this folder, with its context relieved as it fills
///
/// The answer goes to stdout, what is done on the way to stderr. Old tool results are pruned over 65% of
/// the window, older rounds summarised over 85%. Every original stays in the session's store.
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct RunArgs {
    /// What to do; without it a resumed session goes on where it stopped
    #[arg(required_unless_present_any = ["resume", "demo"])]
    pub(crate) task: Option<String>,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// Print every event on stdout as a line of JSON, for programs
    #[arg(long)]
    pub(crate) json: bool,
    /// Play a scripted model in a made-up project, with real tools, requests and sessions, and no key
    #[arg(long, conflicts_with_all = ["task", "resume", "model", "base_url", "api"])]
    pub(crate) demo: bool,
}

const RUN_EXAMPLES: &str = "\
Examples:
  neenee run \"make the tests pass\" --model claude-opus-4-5
  neenee run \"what does this do?\" --model qwen3 --base-url http://localhost:11434/v1 --window 32000
  neenee run --resume 0199 \"and now the docs\"
  neenee run --demo                                  see it prune, with no key and in a minute

Keys come from ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY, by the model's name; from
another variable with --key-env, or a file with --key-file. They are never written anywhere.

Exit codes: 0 done, 2 bad input or usage, no answer, or cancelled.";

/// Talk with a model that works in this folder, round by round
///
/// Ctrl-C stops a round and keeps the session; `/help` lists what can be asked for.
#[derive(Debug, Args)]
#[command(after_help = CHAT_EXAMPLES)]
pub(crate) struct ChatArgs {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

const CHAT_EXAMPLES: &str = "\
Examples:
  neenee chat --model claude-opus-4-5
  neenee chat --resume 0199";

/// What both take.
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// The model; `model` of the configuration otherwise
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// The window in tokens of input, for models that are not known
    #[arg(long, value_name = "TOKENS")]
    pub(crate) window: Option<usize>,
    /// The address before the API's own path, with the version, as http://localhost:8080/v1
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The API that is spoken there; by the model's name otherwise
    #[arg(long, value_enum)]
    pub(crate) api: Option<Api>,
    /// The environment variable that holds the key
    #[arg(long, value_name = "NAME")]
    pub(crate) key_env: Option<String>,
    /// The file that holds the key and nothing else
    #[arg(long, value_name = "FILE", conflicts_with = "key_env")]
    pub(crate) key_file: Option<PathBuf>,
    /// The longest answer, in tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) max_output: Option<usize>,
    /// Let the model think, for up to so many tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) thinking: Option<usize>,
    /// The project folder; this one otherwise
    #[arg(long, value_name = "FOLDER")]
    pub(crate) dir: Option<PathBuf>,
    /// A further folder that tools may read and write
    #[arg(long, value_name = "FOLDER")]
    pub(crate) allow: Vec<PathBuf>,
    /// Write files and run commands without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Go on with this session: its name, its id, or the beginning of one
    #[arg(long, value_name = "SESSION")]
    pub(crate) resume: Option<String>,
    /// The name of the new session
    #[arg(long, conflicts_with = "resume")]
    pub(crate) name: Option<String>,
}

/// An API that a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Api {
    /// OpenAI Chat Completions and what is compatible with it
    Chat,
    /// OpenAI Responses
    Responses,
    /// Anthropic Messages
    Anthropic,
}
