//! From arguments to an agent: which provider, which session, who is asked and who is told.
//! Deliberately no loop: rounds are the agent's, and what is done with them the commands'.

pub(crate) mod demo;
pub(crate) mod events;
mod provider;
pub(crate) mod terminal;

use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use neenee_agent::provider::{Provider, Thinking};
use neenee_agent::tool::{AllowAll, Approve, Project};
use neenee_agent::{
    Agent, AgentOptions, ContextProjectionSettings, LiveModel, StoreJournal, orchestration::Sink,
};
use neenee_store::{NewSession, Origin, Session, SessionStore};
use tokio_util::sync::CancellationToken;

use crate::cli::AgentArgs;
use crate::error::Failure;
use crate::settings::Settings;
use crate::store;

/// The longest standing instructions of a project that are taken along, in chars.
const MAX_INSTRUCTIONS_CHARS: usize = 20_000;

/// An agent with what the command keeps of it.
pub(crate) struct Harness {
    pub(crate) agent: Agent,
    /// What the person calls the session.
    pub(crate) session: String,
    /// Whole outputs of this session.
    outputs: PathBuf,
}

impl Harness {
    /// The agent that the arguments ask for.
    pub(crate) fn new(
        args: &AgentArgs,
        settings: &Settings,
        ask: Arc<dyn Approve>,
        sink: Sink,
    ) -> Result<Self> {
        let store = store::open(settings)?;
        let session = match &args.resume {
            Some(reference) => store.resume(&store::find(&store, reference)?.id.to_string())?,
            None => begin(&store, args, settings)?,
        };
        let name = args
            .model
            .as_deref()
            .or_else(|| session.model())
            .or_else(|| settings.model())
            .ok_or_else(|| {
                Failure::new("failed to choose a model: none is named")
                    .fix("name one with --model, or `model` in neenee.toml")
            })?;
        let mut model = LiveModel::new(name);
        model.window_tokens = args.window.or_else(|| settings.window());
        model.max_output_tokens = args.max_output;
        model.thinking = args.thinking.map_or(Thinking::Unasked, Thinking::Budget);
        let provider = Provider::new(provider::endpoint(args, name)?)
            .map_err(|error| Failure::new(format!("failed to reach the provider: {error}")))?;
        let here = match (&args.dir, session.cwd()) {
            (Some(dir), _) => dir.clone(),
            (None, Some(cwd)) => PathBuf::from(cwd),
            (None, None) => PathBuf::from("."),
        };
        let outputs = store::outputs(&session.id().to_string())?;
        let project = project(&here, &outputs, &args.allow)?;
        let approve = if args.yes { Arc::new(AllowAll) } else { ask };
        Self::assemble(
            provider,
            model,
            (store, session),
            project,
            outputs,
            settings,
            approve,
            sink,
        )
    }

    /// The same from parts that are there already.
    #[expect(
        clippy::too_many_arguments,
        reason = "each is a part of the agent, named once"
    )]
    pub(crate) fn assemble(
        provider: Provider,
        model: LiveModel,
        (store, session): (SessionStore, Session),
        project: Project,
        outputs: PathBuf,
        settings: &Settings,
        approve: Arc<dyn Approve>,
        sink: Sink,
    ) -> Result<Self> {
        let mut options = AgentOptions::new(system_prompt(project.root()), project);
        options.table = settings.tool_table()?;
        options.settings = ContextProjectionSettings {
            policy: settings.policy(),
            options: settings.options(neenee_core::model::RewriteRule::Free)?,
            rewrite: settings.rewrite_rule(),
        };
        options.approve = approve;
        options.sink = sink;
        let name = session.name().map(str::to_owned);
        let session_name = name.unwrap_or_else(|| session.id().to_string());
        let journal = Box::new(StoreJournal::new(store, session));
        let agent = Agent::new(provider, model, journal, options)
            .map_err(|error| Failure::new(format!("failed to {error}")))?;
        Ok(Harness {
            agent,
            session: session_name,
            outputs,
        })
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        // Most sessions have no output that was too long; a folder with something in it stays.
        let _ = fs::remove_dir(&self.outputs);
    }
}

fn begin(store: &SessionStore, args: &AgentArgs, settings: &Settings) -> Result<Session> {
    let here = args.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    let mut new = NewSession::new(Origin::Agent);
    new.name.clone_from(&args.name);
    new.cwd = fs::canonicalize(here)
        .ok()
        .map(|path| path.to_string_lossy().into_owned());
    new.model = args
        .model
        .clone()
        .or_else(|| settings.model().map(str::to_owned));
    if new.model.is_none() {
        return Err(Failure::new("failed to choose a model: none is named")
            .fix("name one with --model, or `model` in neenee.toml")
            .into());
    }
    // A key that is missing should not leave an empty session behind.
    provider::endpoint(args, new.model.as_deref().unwrap_or_default())?;
    Ok(store.create(new)?)
}

/// The project folder with the further ones.
pub(crate) fn project(folder: &Path, outputs: &Path, allowed: &[PathBuf]) -> Result<Project> {
    let mut project = Project::new(folder, outputs)
        .with_context(|| format!("failed to open the project folder {}", folder.display()))?;
    for folder in allowed {
        project = project
            .allow(folder)
            .with_context(|| format!("failed to allow {}", folder.display()))?;
    }
    Ok(project)
}

fn system_prompt(root: &Path) -> String {
    let mut prompt = format!(
        "You are a coding agent. You work in the folder {} of a {} machine through tools. Look before you change; \
         change no more than asked; run what shows that it works; say shortly what you did and what you could not do. \
         A tool result that reads `[cleared tool result: …]` was taken out of your window to make room: call the tool \
         again when you need it, and never write such a text into a file.",
        root.display(),
        std::env::consts::OS,
    );
    if let Ok(text) = fs::read_to_string(root.join("AGENTS.md")) {
        prompt.push_str("\n\nThe project's AGENTS.md:\n\n");
        prompt.extend(text.chars().take(MAX_INSTRUCTIONS_CHARS));
    }
    prompt
}

/// Runs asynchronous work to its end. Two threads: one goes on while the other waits for the disk.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("failed to start")?;
    let output = runtime.block_on(work);
    // A thread that waits for a line on stdin is not waited for.
    runtime.shutdown_background();
    Ok(output)
}

/// A token that Ctrl-C cancels, for as long as the guard lives. The second Ctrl-C ends the program.
pub(crate) fn on_interrupt() -> (CancellationToken, Interrupt) {
    let cancel = CancellationToken::new();
    let cancelled = cancel.clone();
    let task = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            cancelled.cancel();
        }
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(130);
        }
    });
    (cancel, Interrupt(task))
}

/// Listens for Ctrl-C until it is dropped.
pub(crate) struct Interrupt(tokio::task::JoinHandle<()>);

impl Drop for Interrupt {
    fn drop(&mut self) {
        self.0.abort();
    }
}
