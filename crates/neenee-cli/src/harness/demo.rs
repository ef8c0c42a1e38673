//! `neenee run --demo`: a scripted model behind a real server, with a real project, real tools and a real session.
//! Deliberately scripted in its answers alone: requests, results, prunings and the store are as in earnest.

mod script;
mod server;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use neenee_agent::orchestration::{Sink, UsageSource};
use neenee_agent::provider::{Endpoint, Provider, Wire};
use neenee_agent::tool::AllowAll;
use neenee_agent::{AgentResponse, LiveModel};
use neenee_core::message::{Message, Part, ToolResult};
use neenee_store::location::Location;
use neenee_store::{NewSession, Operation, Origin, SessionEvent, SessionStore};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::terminal::meter;
use super::{Harness, project};
use crate::error::Failure;
use crate::output;
use crate::render::number::{counted, grouped};
use crate::settings::Settings;

/// Small, so that it fills in a minute.
const WINDOW_TOKENS: usize = 24_000;

/// What happened, for the report.
#[derive(Debug, Default)]
struct Report {
    requests: usize,
    before_round: usize,
    inside_round: usize,
    compactions: usize,
    reclaimed_tokens: usize,
    originals: usize,
    largest_request_tokens: usize,
}

pub(crate) async fn run(settings: &Settings, sink: Sink, json: bool) -> Result<()> {
    let bed = tempfile::tempdir().context("failed to make a folder for the demo")?;
    let folder = |name: &str| {
        let path = bed.path().join(name);
        std::fs::create_dir(&path).map(|()| path)
    };
    let (root, outputs) = (folder("project")?, folder("outputs")?);
    script::make_project(&root).context("failed to make the project of the demo")?;
    let server = server::Server::start(script::turns()).await?;
    let store = SessionStore::open(&Location::Folder(bed.path().join("sessions")))?;
    let session = store.create(NewSession::new(Origin::Agent))?;
    let id = session.id();
    let endpoint = Endpoint::new(Wire::Chat, format!("http://{}/v1", server.address()));
    let provider = Provider::new(endpoint)
        .map_err(|error| Failure::new(format!("failed to reach the demo's server: {error}")))?;
    let mut model = LiveModel::new("scripted");
    model.window_tokens = Some(WINDOW_TOKENS);
    // Where each projection came about: before a round's first request, or after.
    let marks: Arc<Marks> = Arc::default();
    let mut harness = Harness::assemble(
        provider,
        model,
        (store.clone(), session),
        project(&root, &outputs, &[])?,
        outputs.clone(),
        settings,
        Arc::new(AllowAll),
        counting(sink, Arc::clone(&marks)),
    )?;
    let cancel = CancellationToken::new();
    for task in script::TASKS {
        if !json {
            output::note(&format!("\n> {task}"));
        }
        let before = projections(&store, id)?;
        marks.first_turn_over.store(0, Ordering::SeqCst);
        *marks.probe.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((store.clone(), id, before));
        let outcome = harness.agent.run(task, &cancel).await;
        outcome.map_err(|error| Failure::new(format!("failed to {error}")))?;
    }
    let mut report = report(&store, id, harness.agent.window().messages())?;
    report.before_round = marks.before_round.load(Ordering::SeqCst);
    report.inside_round = report.inside_round.saturating_sub(report.before_round);
    report.requests = harness.agent.ledger().entries().len();
    report.largest_request_tokens = server.largest_tokens();
    tell(&report, &harness, json)
}

/// What the sink has to remember.
#[derive(Default)]
struct Marks {
    /// 1 once the first turn of the round was answered.
    first_turn_over: AtomicUsize,
    before_round: AtomicUsize,
    /// The session, and its prunings before the round.
    probe: Mutex<Option<(SessionStore, Uuid, usize)>>,
}

/// Hands on what happens, and at the first piece of each round's answer looks at what had been pruned until then.
fn counting(sink: Sink, marks: Arc<Marks>) -> Sink {
    Arc::new(move |response| {
        if let AgentResponse::Context(_) = &response
            && marks.first_turn_over.swap(1, Ordering::SeqCst) == 0
        {
            let probe = marks.probe.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((store, id, before)) = &*probe
                && let Ok(now) = projections(store, *id)
            {
                marks.before_round.fetch_add(now - before, Ordering::SeqCst);
            }
        }
        sink(response);
    })
}

/// Prunings so far.
fn projections(store: &SessionStore, id: Uuid) -> Result<usize> {
    let events = store.events(id)?;
    let prunes = events.iter().filter(|event| {
        matches!(
            &event.event,
            SessionEvent::ContextProjectionCommitted(done) if done.operation == Operation::Prune
        )
    });
    Ok(prunes.count())
}

/// Counts what the store says, and looks for every result that is no longer whole in the window.
fn report(store: &SessionStore, id: Uuid, window: &[Message]) -> Result<Report> {
    let mut report = Report::default();
    for event in store.events(id)? {
        if let SessionEvent::ContextProjectionCommitted(done) = event.event {
            match done.operation {
                Operation::Prune => {
                    report.inside_round += 1;
                    report.reclaimed_tokens += done.before.tokens.saturating_sub(done.after.tokens);
                }
                _ => report.compactions += 1,
            }
        }
    }
    let mut whole: BTreeMap<&str, &str> = BTreeMap::new();
    for result in results(window) {
        whole.insert(result.call_id.as_deref().unwrap_or(""), &result.text);
    }
    for result in results(&store.transcript(id)?) {
        let call = result.call_id.as_deref().unwrap_or("");
        if whole.get(call) == Some(&result.text.as_str()) {
            continue;
        }
        let originals = store.originals(id, call)?;
        if !originals
            .iter()
            .any(|original| original.text == result.text)
        {
            return Err(Failure::new(format!("the original of call {call} is lost")).into());
        }
        report.originals += 1;
    }
    Ok(report)
}

fn results(messages: &[Message]) -> Vec<&ToolResult> {
    let parts = messages.iter().flat_map(|message| &message.parts);
    let results = parts.filter_map(|part| match part {
        Part::Result(result) => Some(result),
        _ => None,
    });
    results.collect()
}

fn tell(report: &Report, harness: &Harness, json: bool) -> Result<()> {
    let meter_now = harness.agent.meter();
    if json {
        return output::json(&json!({
            "event": "demo", "requests": report.requests,
            "window_tokens": WINDOW_TOKENS, "largest_request_tokens": report.largest_request_tokens,
            "prunings_before_round": report.before_round, "prunings_inside_round": report.inside_round,
            "compactions": report.compactions, "reclaimed_tokens": report.reclaimed_tokens,
            "originals_recovered": report.originals,
        }));
    }
    let estimated = match meter_now.source {
        UsageSource::Reported => "",
        UsageSource::Estimated => " (estimated)",
    };
    output::stdout(
        format!(
            "\nWhat happened: {} in a window of {} tokens; the largest had {}.\n\
             Pruned {} before a round and {} inside one, {} tokens given back; compacted {}.\n\
             {} that left the window {} compared with the session's store: every one is there, whole.\n\
             At the end: {}{estimated}.\n",
            counted(report.requests, "request"),
            grouped(WINDOW_TOKENS),
            grouped(report.largest_request_tokens),
            counted(report.before_round, "time"),
            counted(report.inside_round, "time"),
            grouped(report.reclaimed_tokens),
            counted(report.compactions, "time"),
            counted(report.originals, "result"),
            if report.originals == 1 { "was" } else { "were" },
            meter(&meter_now),
        )
        .as_bytes(),
    )
}

/// Writes a text into the project of the demo.
fn put(root: &Path, name: &str, text: &str) -> std::io::Result<()> {
    let path = root.join(name);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)
}
