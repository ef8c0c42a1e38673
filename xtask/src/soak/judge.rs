//! What a killed child left, compared with what it said.
//! Deliberately merciless: a commit that was acknowledged is whole; one that was not is whole or absent.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use anyhow::{Context as _, bail, ensure};
use neenee_core::message::{Message, Part};
use neenee_store::location::Location;
use neenee_store::{SessionStore, StoreError};

use super::{fingerprint, random};

/// What one child said.
#[derive(Debug, Default)]
pub(super) struct Run {
    sessions: BTreeMap<String, Said>,
}

/// What it said of one session.
#[derive(Debug, Default)]
struct Said {
    /// The last event that was acknowledged.
    done: u64,
    /// Of each event that was announced: fingerprints of window and transcript.
    about: BTreeMap<u64, (String, String)>,
}

/// What has been seen in all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    sessions: usize,
    acknowledged: u64,
    in_flight_whole: usize,
    in_flight_absent: usize,
    states_read: usize,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} acknowledged commits in {} sessions are whole; of those in flight {} are whole and {} absent; {} earlier states read back",
            self.acknowledged,
            self.sessions,
            self.in_flight_whole,
            self.in_flight_absent,
            self.states_read
        )
    }
}

impl Run {
    /// Takes in a line. A line cut by the kill is not one.
    pub(super) fn hear(&mut self, line: &str) -> anyhow::Result<()> {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["done", id, seq] => {
                let said = self.sessions.entry(id.to_owned()).or_default();
                said.done = said.done.max(seq.parse().context("a number")?);
            }
            ["about", id, seq, window, transcript] if transcript.len() == 32 => {
                let said = self.sessions.entry(id.to_owned()).or_default();
                let states = (window.to_owned(), transcript.to_owned());
                said.about.insert(seq.parse().context("a number")?, states);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Fails with the first thing that is not as it must be.
pub(super) fn judge(
    store: &SessionStore,
    location: &Location,
    run: &Run,
    seed: u64,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    for (id, said) in &run.sessions {
        let state = session(store, id, said, seed, tally);
        state.with_context(|| format!("session {id}"))?;
    }
    // The last session was being written: its writer is dead, and on SQLite its lock with it. A lease
    // of PostgreSQL runs out by itself, which a test waits for.
    if matches!(location, Location::Folder(_))
        && let Some((id, said)) = run.sessions.iter().next_back()
    {
        let session = store
            .resume(id)
            .context("the killed writer still holds it")?;
        ensure!(
            session.revision() >= said.done,
            "the writer resumes too early"
        );
    }
    Ok(())
}

fn session(
    store: &SessionStore,
    id: &str,
    said: &Said,
    seed: u64,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let info = match store.find(id) {
        Err(StoreError::NoSuchSession(_)) if said.done == 0 => return Ok(()),
        found => found?,
    };
    let verified = store.verify(info.id)?;
    let (window, last) = store.window(info.id)?;
    ensure!(
        last >= said.done,
        "event {} was acknowledged and the last is {last}",
        said.done
    );
    ensure!(
        verified.events as u64 == last,
        "{} events, and the last is {last}",
        verified.events
    );
    pairs(&window)?;
    tally.sessions += 1;
    tally.acknowledged += said.done;
    match said.about.last_key_value() {
        Some((announced, _)) if last > *announced => bail!("event {last} was never announced"),
        Some((announced, _)) if *announced > said.done => {
            if last == *announced {
                tally.in_flight_whole += 1;
            } else {
                tally.in_flight_absent += 1;
            }
        }
        _ => {}
    }
    if let Some((expected, transcript)) = said.about.get(&last) {
        ensure!(fingerprint(&window) == *expected, "the window is another");
        let found = store.transcript(info.id)?;
        ensure!(
            fingerprint(&found) == *transcript,
            "the originals are others"
        );
    }
    if last > 2 {
        let earlier = 2 + random(seed ^ last) % (last - 2);
        let (expected, _) = said
            .about
            .get(&earlier)
            .context("every event was announced")?;
        let found = store.window_at(info.id, earlier)?;
        ensure!(
            fingerprint(&found) == *expected,
            "event {earlier} is another"
        );
        tally.states_read += 1;
    }
    Ok(())
}

/// Every result has its call before it, and every call at most one result.
fn pairs(window: &[Message]) -> anyhow::Result<()> {
    let mut open: HashMap<&str, usize> = HashMap::new();
    for part in window.iter().flat_map(|message| &message.parts) {
        match part {
            Part::Call(call) => *open.entry(call.id.as_deref().unwrap_or("")).or_default() += 1,
            Part::Result(result) => {
                let id = result.call_id.as_deref().unwrap_or("");
                match open.get_mut(id) {
                    Some(calls) if *calls > 0 => *calls -= 1,
                    _ => bail!("the result of {id} has no call"),
                }
            }
            _ => {}
        }
    }
    ensure!(
        open.values().all(|calls| *calls == 0),
        "a call lost its result"
    );
    Ok(())
}
