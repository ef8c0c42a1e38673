//! `neenee run`: one task, worked on until it is answered.
//! Deliberately thin: the agent works, the harness brings its parts, this prints how it ended.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use anyhow::Result;
use neenee_agent::{AgentError, RoundEnd, RoundOutcome};
use serde_json::json;

use crate::cli::RunArgs;
use crate::error::Failure;
use crate::harness::terminal::{Ask, Lines};
use crate::harness::{Harness, block_on, demo, events, on_interrupt, terminal};
use crate::output;
use crate::settings::Settings;

pub(super) fn run(args: &RunArgs, settings: &Settings) -> Result<()> {
    let sink = if args.json {
        events::sink()
    } else {
        terminal::sink(io::stderr().is_terminal())
    };
    if args.demo {
        return block_on(demo::run(settings, sink, args.json))?;
    }
    let ask = Arc::new(Ask::new(Lines::new()));
    let mut harness = Harness::new(&args.agent, settings, ask, sink)?;
    let session = harness.session.clone();
    if args.json {
        output::json(&json!({ "event": "session", "session": session }))?;
    } else {
        output::note(&format!("session {session}"));
    }
    let outcome = block_on(async {
        let (cancel, _interrupt) = on_interrupt();
        match &args.task {
            Some(task) => harness.agent.run(task, &cancel).await,
            None => harness.agent.resume(&cancel).await,
        }
    })?;
    let outcome = ended(outcome, &session)?;
    if args.json {
        output::json(&json!({
            "event": "ended", "session": session, "text": outcome.text, "turns": outcome.turns,
        }))?;
    } else if outcome.turns == 0 {
        // A resumed session that had ended already: its last answer, which nobody has streamed.
        output::stdout(format!("{}\n", outcome.text).as_bytes())?;
    }
    Ok(())
}

/// The outcome, or what to do about it.
pub(super) fn ended(
    outcome: Result<RoundOutcome, AgentError>,
    session: &str,
) -> Result<RoundOutcome> {
    let go_on = format!("`neenee run --resume {session}` goes on");
    let outcome =
        outcome.map_err(|error| Failure::new(format!("failed to {error}")).fix(go_on.as_str()))?;
    match outcome.end {
        RoundEnd::Done => Ok(outcome),
        RoundEnd::Cancelled => Err(Failure::new("cancelled; the session is kept")
            .fix(go_on)
            .into()),
        RoundEnd::Length => Err(Failure::new(
            "failed to get the whole answer: it was cut at its longest length",
        )
        .fix("allow a longer one with --max-output")
        .into()),
        RoundEnd::Refused => {
            Err(Failure::new("failed to get an answer: the provider withheld it").into())
        }
    }
}
