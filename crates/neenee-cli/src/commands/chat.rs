//! `neenee chat`: rounds with a person, until they have had enough.
//! Deliberately plain lines: any terminal, pipe or editor can speak them.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;

use anyhow::Result;

use super::run::ended;
use crate::cli::ChatArgs;
use crate::error;
use crate::harness::terminal::{Ask, Lines, meter};
use crate::harness::{Harness, block_on, on_interrupt, terminal};
use crate::output;
use crate::settings::Settings;

const HELP: &str = "\
/compact   summarise older rounds now
/context   how full the window is
/exit      end; the session is kept
Ctrl-C     stop the round";

pub(super) fn run(args: &ChatArgs, settings: &Settings) -> Result<()> {
    let lines = Lines::new();
    let sink = terminal::sink(io::stderr().is_terminal());
    let ask = Arc::new(Ask::new(Arc::clone(&lines)));
    let mut harness = Harness::new(&args.agent, settings, ask, sink)?;
    output::note(&format!("session {}; /help for help", harness.session));
    block_on(async {
        while let Some(line) = prompt(&lines).await {
            match line.trim() {
                "" => {}
                "/exit" | "/quit" => break,
                "/help" => output::note(HELP),
                "/context" => output::note(&meter(&harness.agent.meter())),
                "/compact" => compact(&mut harness).await,
                command if command.starts_with('/') && !command.contains(' ') => {
                    output::note(&format!("no command {command}; /help lists them"));
                }
                text => round(&mut harness, text).await,
            }
        }
    })?;
    output::note(&format!(
        "`neenee chat --resume {}` goes on",
        harness.session
    ));
    Ok(())
}

async fn prompt(lines: &Lines) -> Option<String> {
    if io::stdin().is_terminal() {
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "> ");
        let _ = stderr.flush();
    }
    lines.next().await
}

async fn round(harness: &mut Harness, text: &str) {
    let (cancel, _interrupt) = on_interrupt();
    let outcome = harness.agent.run(text, &cancel).await;
    if let Err(error) = ended(outcome, &harness.session) {
        output::note(&error::tell(&error));
    }
}

async fn compact(harness: &mut Harness) {
    let (cancel, _interrupt) = on_interrupt();
    match harness.agent.compact(&cancel).await {
        // What was done has been told by the agent.
        Ok(Some(_)) => {}
        Ok(None) => output::note("there is nothing to summarise yet"),
        Err(error) => output::note(&format!("error: failed to {error}")),
    }
}
