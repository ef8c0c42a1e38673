//! Serving until a signal: what to paste first, then requests, reloads, the end.
//! Deliberately no daemon: whoever wants one has a supervisor that starts commands.

use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use tokio::sync::oneshot;

use super::{Bound, bind, codex, reloaded, settings};
use crate::cli::{GlobalArgs, ProxyArgs};
use crate::{error, output};

pub(super) async fn run(args: &ProxyArgs, global: &GlobalArgs) -> Result<()> {
    let settings = settings(args, global, &[])?;
    let bound = bind(args, &settings, settings.proxy_listen()?, false).await?;
    output::stdout(greeting(&bound).as_bytes())?;
    let (stop, stopped) = oneshot::channel::<()>();
    let proxy = bound.proxy.clone();
    let serving = tokio::spawn(async move {
        let stopped = async {
            let _ = stopped.await;
        };
        proxy.serve(bound.listener, stopped).await
    });
    signals(|| match reloaded(args, global, bound.token.as_ref()) {
        Ok(proxy) => {
            bound.proxy.reload(proxy);
            output::note("the configuration was read again");
        }
        Err(error) => output::note(&error::tell(&error)),
    })
    .await?;
    output::note("stopping once running answers have ended; once more stops at once");
    drop(stop);
    tokio::select! {
        served = serving => served.context("failed to serve")?.context("failed to serve"),
        again = signals(|| {}) => again,
    }
}

/// Waits for the end, and calls `reload` for each SIGHUP until then.
#[cfg(unix)]
async fn signals(reload: impl Fn()) -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = |kind| signal(kind).context("failed to listen for signals");
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    let mut hangup = listen(SignalKind::hangup())?;
    loop {
        tokio::select! {
            _ = interrupt.recv() => return Ok(()),
            _ = terminate.recv() => return Ok(()),
            _ = hangup.recv() => reload(),
        }
    }
}

#[cfg(not(unix))]
async fn signals(_: impl Fn()) -> Result<()> {
    tokio::signal::ctrl_c()
        .await
        .context("failed to listen for signals")
}

/// Where it is and how each agent is pointed there.
fn greeting(bound: &Bound) -> String {
    let url = bound.url();
    let token = bound
        .token
        .as_ref()
        .map_or(String::new(), |token| format!("?token={token}"));
    let mut text = format!("listening at {url}, page at {url}/_neenee/{token}\n\n");
    for (agent, line) in [
        ("Claude Code", format!("ANTHROPIC_BASE_URL={url} claude")),
        ("Codex", format!("codex {}", quoted(&codex(&url)))),
        ("Gemini CLI", format!("GOOGLE_GEMINI_BASE_URL={url} gemini")),
        ("aider", format!("OPENAI_API_BASE={url}/v1 aider")),
        (
            "opencode",
            format!("\"options\": {{ \"baseURL\": \"{url}/v1\" }} of a provider in opencode.json"),
        ),
        (
            "SDKs",
            format!("OPENAI_BASE_URL={url}/v1 ANTHROPIC_BASE_URL={url} …"),
        ),
    ] {
        let _ = writeln!(text, "  {agent:<12} {line}");
    }
    text.push('\n');
    text
}

/// Arguments as a shell takes them; none holds a single quote.
fn quoted(arguments: &[String]) -> String {
    let quoted: Vec<String> = arguments
        .iter()
        .map(|argument| {
            if argument.starts_with('-') {
                argument.clone()
            } else {
                format!("'{argument}'")
            }
        })
        .collect();
    quoted.join(" ")
}
