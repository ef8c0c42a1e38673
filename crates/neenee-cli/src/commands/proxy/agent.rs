//! An agent with a proxy of its own: variables set, started, waited for, ended as it ends.
//! Deliberately invisible: the terminal is the agent's, and nothing is said unless it cannot start.

use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitStatus;

use anyhow::{Context as _, Result};
use neenee_proxy::{ANTHROPIC, GEMINI, OPENAI};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

use super::{bind, codex, settings};
use crate::cli::{GlobalArgs, ProxyArgs, ProxyRunArgs};
use crate::error::{EndedWith, Failure};

/// Which variable points at which provider, and what its value has behind the address.
const VARIABLES: [(&str, &str, &str); 4] = [
    ("ANTHROPIC_BASE_URL", ANTHROPIC, ""),
    ("OPENAI_BASE_URL", OPENAI, "/v1"),
    ("OPENAI_API_BASE", OPENAI, "/v1"),
    ("GOOGLE_GEMINI_BASE_URL", GEMINI, ""),
];

pub(super) async fn run(args: &ProxyArgs, run: &ProxyRunArgs, global: &GlobalArgs) -> Result<()> {
    // Where the variables point already is where this user's requests go.
    let there: Vec<String> = VARIABLES
        .iter()
        .filter_map(|(variable, upstream, _)| {
            let url = env::var(variable).ok().filter(|url| !url.is_empty())?;
            Some(format!("{upstream}={url}"))
        })
        .collect();
    let settings = settings(args, global, &there)?;
    let listen = args.listen.as_deref().unwrap_or("127.0.0.1:0");
    let bound = bind(args, &settings, listen, true).await?;
    let url = bound.url();
    let mut command = Command::new(&run.agent[0]);
    if is_codex(&run.agent[0]) {
        command.args(codex(&url));
    }
    command.args(&run.agent[1..]);
    for (variable, _, path) in VARIABLES {
        command.env(variable, format!("{url}{path}"));
    }
    for variable in ["NO_PROXY", "no_proxy"] {
        let known = env::var(variable).unwrap_or_default();
        let comma = if known.is_empty() { "" } else { "," };
        command.env(variable, format!("{known}{comma}127.0.0.1,localhost"));
    }
    let (stop, stopped) = oneshot::channel::<()>();
    let proxy = bound.proxy.clone();
    let serving = tokio::spawn(async move {
        let stopped = async {
            let _ = stopped.await;
        };
        proxy.serve(bound.listener, stopped).await
    });
    let name = run.agent[0].to_string_lossy().into_owned();
    let child = command.spawn().map_err(|error| {
        Failure::new(format!("failed to start {name}: {error}"))
            .fix("check the name, or write the whole path")
    })?;
    let status = wait(child)
        .await
        .with_context(|| format!("failed to wait for {name}"))?;
    drop(stop);
    serving
        .await
        .context("failed to serve")?
        .context("failed to serve")?;
    match code(status) {
        0 => Ok(()),
        code => Err(EndedWith(code).into()),
    }
}

/// Codex has no variable for the address.
fn is_codex(agent: &OsStr) -> bool {
    let name = Path::new(agent).file_stem();
    name.is_some_and(|name| name == "codex")
}

/// Waits for the agent. What the terminal sends goes to it as well, so that it decides when to end; what
/// was sent to this process alone is passed on.
#[cfg(unix)]
async fn wait(mut child: Child) -> Result<ExitStatus> {
    use rustix::process::{Pid, Signal, kill_process};
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let pid = child
        .id()
        .and_then(|id| i32::try_from(id).ok())
        .and_then(Pid::from_raw);
    let pass = |signal| {
        // It may have ended in this moment.
        if let Some(pid) = pid {
            let _ = kill_process(pid, signal);
        }
    };
    loop {
        tokio::select! {
            status = child.wait() => return Ok(status?),
            _ = interrupt.recv() => {}
            _ = terminate.recv() => pass(Signal::TERM),
            _ = hangup.recv() => pass(Signal::HUP),
        }
    }
}

#[cfg(not(unix))]
async fn wait(mut child: Child) -> Result<ExitStatus> {
    loop {
        tokio::select! {
            status = child.wait() => return Ok(status?),
            _ = tokio::signal::ctrl_c() => {}
        }
    }
}

/// The code of an end, as shells tell it: 128 and the signal where there was one.
fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        if let Some(signal) = status.signal() {
            return u8::try_from(128 + signal).unwrap_or(u8::MAX);
        }
    }
    status
        .code()
        .map_or(u8::MAX, |code| u8::try_from(code).unwrap_or(u8::MAX))
}
