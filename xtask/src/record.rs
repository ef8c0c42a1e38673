//! `cargo xtask record`: real clients work on a made-up shop against a scripted upstream; what they
//! write and send is kept as examples. Deliberately installs nothing: clients come from npm, by hand.

pub(crate) mod client;
pub(crate) mod home;
mod scrub;
mod shop;
mod story;

use anyhow::{Context as _, bail};
use client::{Client, Installed};
use home::{Home, PROJECT};
use neenee_testkit::upstream::{Received, Upstream};
use std::path::{Path, PathBuf};
use story::Story;

/// What to record and where to put it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The client; all of them when none is named.
    client: Option<Client>,
    /// Folder of the recordings.
    #[arg(long, default_value = "examples/recorded")]
    out: PathBuf,
    #[command(flatten)]
    place: Place,
    /// Which session to record.
    #[arg(long, value_enum, default_value_t = Kind::Usual)]
    kind: Kind,
}

/// The sessions that can be recorded; of all but the usual one only the session file is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// About 40 turns, below the prune threshold of a window of 200 000 tokens.
    Usual,
    /// About 80 turns, above it.
    Long,
    /// With a compaction in the middle (not Gemini CLI).
    Compacted,
}

impl Kind {
    fn story(self) -> Story {
        match self {
            Self::Usual => Story::usual(),
            Self::Long => Story::long(),
            Self::Compacted => Story::compacted(),
        }
    }

    fn file(self) -> &'static str {
        match self {
            Self::Usual => "session",
            Self::Long => "long-session",
            Self::Compacted => "compacted-session",
        }
    }
}

/// Where clients are.
#[derive(clap::Args)]
pub(crate) struct Place {
    /// Folder that `npm install --prefix` was given.
    #[arg(long, default_value = ".")]
    pub(crate) npm_prefix: PathBuf,
    /// The client's binary, when it was not installed by npm.
    #[arg(long)]
    pub(crate) bin: Option<PathBuf>,
    /// Leave the home of the run behind, to look at.
    #[arg(long)]
    pub(crate) keep_home: bool,
}

/// Records each client in a home of its own.
///
/// # Errors
/// When a client is missing or fails, or when a body is one that the real API would refuse.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let clients = args
        .client
        .map_or_else(|| Client::ALL.to_vec(), |client| vec![client]);
    for client in clients {
        let story = args.kind.story();
        let story = if client == Client::ClaudeCode {
            story
        } else {
            story.without_commands()
        };
        // Gemini CLI 0.61.0 sends each result twice once it has resumed, so it gets one round.
        let story = if client == Client::Gemini {
            story.in_one_round()
        } else {
            story
        };
        let mut script = story.script(PROJECT);
        if args.kind == Kind::Long {
            // Half the truth: at the real count the client refuses to go on before the end.
            script.bytes_per_token = 8;
        }
        let upstream = runtime
            .block_on(Upstream::start(script))
            .context("failed to start the upstream")?;
        let home = Home::make(args.place.keep_home)?;
        let compacting = args.kind == Kind::Compacted;
        let url = upstream.url();
        let installed = Installed::set_up(client, &args.place, &url, &home, compacting)?;
        println!("{}: {}", client.folder(), installed.version()?);
        for (number, prompt) in story.prompts().enumerate() {
            installed.ask(prompt, number > 0)?;
        }
        keep(args, &installed, &upstream.requests())?;
    }
    Ok(())
}

/// What the upstream runs on while clients run as processes.
///
/// # Errors
/// When the system gives no thread.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("failed to start a runtime")
}

fn keep(args: &Args, installed: &Installed<'_>, requests: &[Received]) -> anyhow::Result<()> {
    let client = installed.client;
    for request in requests {
        if !request.problems.is_empty() {
            bail!(
                "{}: a body was refused: {}",
                client.folder(),
                request.problems.join("; ")
            );
        }
    }
    let folder = args.out.join(client.folder());
    let ending = if client == Client::Opencode {
        "json"
    } else {
        "jsonl"
    };
    let name = args.kind.file();
    save(
        &folder.join(format!("{name}.{ending}")),
        &installed.session()?,
    )?;
    if args.kind != Kind::Usual {
        return Ok(());
    }
    if let Some(side_chain) = installed.side_chain() {
        save(&folder.join("subagent.jsonl"), &side_chain)?;
    }
    let last = requests
        .iter()
        .rev()
        .find(|request| request.wire == Some(client.wire()) && request.has_tools)
        .with_context(|| format!("{} sent no request with tools", client.folder()))?;
    save(&folder.join(client.request_file()), &last.body)
}

fn save(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let bytes =
        scrub::scrub(bytes).with_context(|| format!("failed to clean {}", path.display()))?;
    let parent = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent)
        .and_then(|()| std::fs::write(path, &bytes))
        .with_context(|| format!("failed to write {}", path.display()))?;
    println!("{}: {} bytes", path.display(), bytes.len());
    Ok(())
}
