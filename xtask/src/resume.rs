//! `cargo xtask resume`: puts a session file where its client looks for it, lets the client go on with
//! it, and shows what it sends. Deliberately asks nothing of the file: the client is the judge.

use crate::record::client::{Client, Installed};
use crate::record::home::{Home, PROJECT};
use crate::record::{Place, runtime};
use anyhow::{Context as _, bail};
use neenee_testkit::upstream::{Received, Script, Turn, Upstream};
use std::path::PathBuf;

/// Which client shall go on with which session.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The client that wrote the session.
    client: Client,
    /// Its session file, pruned or not.
    file: PathBuf,
    /// Where to write the request body that the client sends.
    #[arg(long)]
    request: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
}

/// What the person asks of the resumed session.
const PROMPT: &str = "Where do we stand?";

/// Resumes and reports.
///
/// # Errors
/// When the client does not take the session, sends no request, or sends one that the real API would refuse.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let session = std::fs::read_to_string(&args.file)
        .with_context(|| format!("failed to read {}", args.file.display()))?;
    let mut script = Script::new(PROJECT).round(PROMPT, vec![Turn::say("At the end.")]);
    // What would be refused is reported rather than refused: a client retries for minutes.
    script.strict = false;
    let runtime = runtime()?;
    let upstream = runtime
        .block_on(Upstream::start(script))
        .context("failed to start the upstream")?;
    let home = Home::make(args.place.keep_home)?;
    let installed = Installed::set_up(args.client, &args.place, &upstream.url(), &home, false)?;
    let id = installed.take_in(&session)?;
    let said = installed.ask_in(&id, PROMPT)?;

    let requests = upstream.requests();
    let request = requests
        .iter()
        .rev()
        .find(|request| request.wire == Some(args.client.wire()) && request.has_tools)
        .with_context(|| format!("{} sent no request with tools", args.client.folder()))?;
    if let Some(path) = &args.request {
        std::fs::write(path, &request.body)
            .with_context(|| format!("failed to write {}", path.display()))?;
    }
    report(request, said.trim())
}

fn report(request: &Received, said: &str) -> anyhow::Result<()> {
    let body = String::from_utf8_lossy(&request.body);
    println!(
        "{}: {} bytes, {} cleared results, {} truncated ones; the client says: {said}",
        request.path,
        request.body.len(),
        body.matches("[cleared tool result: ").count(),
        body.matches(" chars elided to relieve context ...]")
            .count(),
    );
    if !request.problems.is_empty() {
        bail!(
            "the real API would refuse it: {}",
            request.problems.join("; ")
        );
    }
    Ok(())
}
