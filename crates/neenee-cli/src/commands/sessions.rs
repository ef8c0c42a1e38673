//! `neenee sessions`: what is in the store.
//! Deliberately thin: each answer is one call of the store and its rendering.

mod gc;
mod list;
mod show;
mod transfer;

use std::io::IsTerminal as _;

use anyhow::{Context as _, Result};
use neenee_store::SessionStore;
use serde_json::json;

use crate::cli::{ForkArgs, RemoveArgs, RenameArgs, SessionArgs, SessionsArgs, SessionsCommand};
use crate::error::Failure;
use crate::output;
use crate::render::number::counted;
use crate::settings::Settings;
use crate::store;

pub(super) fn run(args: &SessionsArgs, settings: &Settings, colour: bool) -> Result<()> {
    let store = store::open(settings)?;
    match &args.command {
        None => list::run(&store, args.json, colour),
        Some(SessionsCommand::Show(args)) => show::run(&store, args, colour),
        Some(SessionsCommand::Verify(args)) => verify(&store, args),
        Some(SessionsCommand::Export(args)) => transfer::export(&store, args),
        Some(SessionsCommand::Import(args)) => transfer::import(&store, args),
        Some(SessionsCommand::Fork(args)) => fork(&store, args),
        Some(SessionsCommand::Rename(args)) => rename(&store, args),
        Some(SessionsCommand::Delete(args)) => delete(&store, args),
        Some(SessionsCommand::Gc(args)) => gc::run(&store, args, colour),
    }
}

fn verify(store: &SessionStore, args: &SessionArgs) -> Result<()> {
    let session = store::find(store, &args.session)?;
    let verified = store.verify(session.id)?;
    if args.json {
        return output::json(&json!({
            "id": session.id,
            "events": verified.events,
            "bodies": verified.bodies,
            "snapshot": verified.snapshot,
        }));
    }
    output::stdout(
        format!(
            "{}: {} and {} are what was written{}\n",
            session.label(),
            counted(verified.events, "event"),
            counted(verified.bodies, "original"),
            if verified.snapshot {
                ", and the snapshot agrees"
            } else {
                ""
            }
        )
        .as_bytes(),
    )
}

fn fork(store: &SessionStore, args: &ForkArgs) -> Result<()> {
    let session = store::find(store, &args.session)?;
    let fork = store.fork(session.id, args.at, args.name.clone())?;
    output::stdout(format!("{}\n", fork.id).as_bytes())
}

fn rename(store: &SessionStore, args: &RenameArgs) -> Result<()> {
    let session = store::find(store, &args.session)?;
    store::with_writer(store, &session, |writer| {
        store.rename(writer, args.name.clone())
    })
}

fn delete(store: &SessionStore, args: &RemoveArgs) -> Result<()> {
    let sessions: Vec<_> = args
        .sessions
        .iter()
        .map(|reference| store::find(store, reference))
        .collect::<Result<_>>()?;
    if !args.yes {
        let names: Vec<String> = sessions
            .iter()
            .map(neenee_store::SessionInfo::label)
            .collect();
        let question = format!("delete {} and their originals?", names.join(", "));
        if !confirmed(&question)? {
            return Err(Failure::new("nothing was deleted")
                .fix("answer y, or give --yes")
                .into());
        }
    }
    let ids: Vec<_> = sessions.iter().map(|session| session.id).collect();
    store.remove(&ids)?;
    store.sweep()?;
    Ok(())
}

/// Asks on a terminal; without one the answer is no.
fn confirmed(question: &str) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    output::note(&format!("{question} [y/N]"));
    let mut answer = String::new();
    std::io::stdin()
        .read_line(&mut answer)
        .context("failed to read the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
