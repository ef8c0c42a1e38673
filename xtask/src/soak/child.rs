//! The process that is killed: it admits, appends, prunes and compacts, and says what it does.
//! Deliberately says it before and after each commit, so that the one in flight can be judged too.

use std::io::Write as _;
use std::sync::Arc;

use anyhow::Context as _;
use neenee_core::message::{Message, Part, Role};
use neenee_core::pressure::{PruneOptions, Setup, prune_with};
use neenee_store::location::Location;
use neenee_store::{Counts, NewSession, Operation, Origin, Projection, Session, SessionStore};
use neenee_testkit::session::SessionSpec;

use super::{fingerprint, random};

/// Commits until it is killed.
pub(super) fn run(location: &Location, seed: u64) -> anyhow::Result<()> {
    let store = SessionStore::open(location)?;
    for number in 0.. {
        let seed = random(seed.wrapping_add(number));
        session(&store, seed)?;
    }
    Ok(())
}

/// One session from beginning to end.
fn session(store: &SessionStore, seed: u64) -> anyhow::Result<()> {
    let spec = SessionSpec {
        results: 60,
        files: 6,
        bytes: 150_000,
        seed,
    };
    let mut session = store.create(NewSession::new(Origin::Agent))?;
    done(&session)?;
    let mut messages = spec.build().into_iter().peekable();
    let mut transcript = Vec::new();
    let mut dice = seed;
    while let Some(first) = messages.next() {
        let mut turn = vec![first];
        while let Some(result) = messages.next_if(|next| next.role == Role::Tool) {
            turn.push(result);
        }
        transcript.extend(turn.iter().cloned());
        let mut window = session.window().to_vec();
        window.extend(turn.iter().cloned());
        about(&session, &window, &transcript)?;
        let is_user = turn
            .first()
            .is_some_and(|message| message.role == Role::User);
        match turn.pop() {
            Some(message) if is_user && turn.is_empty() => store.admit(&mut session, message)?,
            Some(message) => {
                turn.push(message);
                store.append(&mut session, turn)?
            }
            None => continue,
        };
        done(&session)?;

        dice = random(dice);
        let projection = match dice % 6 {
            0 | 1 => prune(&session, (dice >> 8) as usize % 20_000),
            2 => compact(&session),
            _ => None,
        };
        if let Some(projection) = projection {
            about(&session, &projection.window, &transcript)?;
            store
                .commit_context_projection(&mut session, projection)
                .context("a projection of the child's own was refused")?;
            done(&session)?;
        }
    }
    Ok(())
}

/// Says what the next commit will make of the session.
fn about(session: &Session, window: &[Message], transcript: &[Message]) -> anyhow::Result<()> {
    let (id, seq) = (session.id(), session.revision() + 1);
    let (window, transcript) = (fingerprint(window), fingerprint(transcript));
    say(&format!("about {id} {seq} {window} {transcript}"))
}

/// Says that it did.
fn done(session: &Session) -> anyhow::Result<()> {
    say(&format!("done {} {}", session.id(), session.revision()))
}

/// A line that is out of the process once it goes on.
fn say(line: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").context("failed to speak")?;
    out.flush().context("failed to speak")
}

fn prune(session: &Session, protect_chars: usize) -> Option<Projection> {
    let mut window = session.window().to_vec();
    let options = PruneOptions::bare(protect_chars, 2_000);
    let outcome = prune_with(&mut window, &Arc::new(Setup::new(options)))?;
    Some(projection(
        session,
        Operation::Prune,
        window,
        outcome.originals,
    ))
}

/// Everything before the last message of the user becomes a summary.
fn compact(session: &Session) -> Option<Projection> {
    let old = session.window();
    let cut = old.iter().rposition(|message| message.role == Role::User)?;
    if cut < 4 {
        return None;
    }
    let mut window = vec![Message {
        role: Role::User,
        parts: vec![Part::Text(format!("[summary of {cut} messages]"))],
    }];
    window.extend_from_slice(&old[cut..]);
    Some(projection(session, Operation::Compact, window, Vec::new()))
}

fn projection(
    session: &Session,
    operation: Operation,
    window: Vec<Message>,
    originals: Vec<neenee_core::pressure::Original>,
) -> Projection {
    let counts = |messages: usize| Counts {
        messages,
        ..Counts::default()
    };
    Projection {
        base: session.revision(),
        operation,
        cause: "soak".to_owned(),
        before: counts(session.window().len()),
        after: counts(window.len()),
        window,
        originals,
    }
}
