//! Loading: records along a chain of forks, the fold or its snapshot, verified bodies.
//! Deliberately distrustful: every record and every body is compared with its check before use.

use std::sync::Arc;

use neenee_core::message::Message;
use rustc_hash::FxHashMap;
use uuid::Uuid;

use super::SessionStore;
use crate::digest::Digest;
use crate::engine::{BodyPlace, KeptBody, KeptPack};
use crate::error::StoreError;
use crate::pack;
use crate::record::Record;
use crate::record::body::Bodies;
use crate::record::message::StoredMessage;
use crate::record::payload::{Payload, StoredChange};
use crate::snapshot::Snapshot;
use crate::state::{Entry, State};

/// Forks of forks of forks: more than anyone makes, few enough that a loop in damaged rows ends.
const MAX_FORKS: usize = 1000;

/// How often bodies are looked up again when a sweep wrote their pack anew in between.
const RACES: u32 = 3;

/// A session and those it was forked from: whose records hold which numbers, oldest first.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) id: Uuid,
    /// Session, first and last number, ends included.
    links: Vec<(Uuid, u64, u64)>,
}

impl Chain {
    /// The last event.
    pub(crate) fn last(&self) -> u64 {
        self.links.last().map_or(0, |(_, _, last)| *last)
    }

    /// The session whose own record `seq` is, with the number.
    pub(crate) fn owner(&self, seq: u64) -> (Uuid, u64) {
        let owner = self
            .links
            .iter()
            .find(|(_, first, last)| (*first..=*last).contains(&seq));
        (owner.map_or(self.id, |(session, _, _)| *session), seq)
    }
}

impl SessionStore {
    /// The chain of a session that is not removed.
    pub(crate) fn chain(&self, id: Uuid) -> Result<Chain, StoreError> {
        let mut links = Vec::new();
        let mut next = Some((id, u64::MAX));
        while let Some((session, upto)) = next {
            let row = self
                .engine
                .session(session)?
                .filter(|row| !row.removed || session != id)
                .ok_or_else(|| StoreError::NoSuchSession(session.to_string()))?;
            let first = row.parent.map_or(1, |(_, seq)| seq + 1);
            links.push((session, first, row.last_seq.min(upto)));
            next = row.parent;
            if links.len() > MAX_FORKS {
                return Err(StoreError::CorruptRecord {
                    session: id,
                    seq: first,
                    cause: "its forks do not end".to_owned(),
                });
            }
        }
        links.reverse();
        Ok(Chain { id, links })
    }

    /// Verified records with numbers from `first` to `last`.
    pub(crate) fn records(
        &self,
        chain: &Chain,
        first: u64,
        last: u64,
    ) -> Result<Vec<Record>, StoreError> {
        let mut records = Vec::new();
        for (session, own_first, own_last) in &chain.links {
            let range = (first.max(*own_first), last.min(*own_last));
            if range.0 > range.1 {
                continue;
            }
            let found = self.engine.records(*session, range)?;
            let mut expected = range.0;
            for record in &found {
                if record.seq != expected {
                    break;
                }
                record.verify(*session)?;
                expected += 1;
            }
            if expected != range.1 + 1 {
                return Err(StoreError::CorruptRecord {
                    session: *session,
                    seq: expected,
                    cause: "it is missing".to_owned(),
                });
            }
            records.extend(found);
        }
        Ok(records)
    }

    /// The current state, from the snapshot when it fits.
    pub(crate) fn load(&self, chain: &Chain) -> Result<State, StoreError> {
        if let Some(state) = self.resume_snapshot(chain)? {
            return Ok(state);
        }
        self.fold(chain, chain.last())
    }

    /// The state after event `upto`, from the log alone.
    pub(crate) fn fold(&self, chain: &Chain, upto: u64) -> Result<State, StoreError> {
        let mut state = State::default();
        self.go_on(chain, &mut state, upto)?;
        Ok(state)
    }

    fn go_on(&self, chain: &Chain, state: &mut State, upto: u64) -> Result<(), StoreError> {
        for record in self.records(chain, state.seq + 1, upto)? {
            let payload = Payload::of(chain.id, &record)?;
            state.apply(chain.id, &record, payload)?;
        }
        Ok(())
    }

    /// `None` when there is no snapshot, or it does not fit the log.
    pub(crate) fn resume_snapshot(&self, chain: &Chain) -> Result<Option<State>, StoreError> {
        let Some(snapshot) = self
            .engine
            .snapshot(chain.id)?
            .and_then(|data| Snapshot::decode(&data))
            .filter(|snapshot| snapshot.seq <= chain.last())
        else {
            return Ok(None);
        };
        let mut messages: FxHashMap<(u64, u64), StoredMessage> = FxHashMap::default();
        for (first, last) in snapshot.needed() {
            for record in self.records(chain, first, last)? {
                let payload = Payload::of(chain.id, &record)?;
                for (index, message) in brought(payload).into_iter().enumerate() {
                    messages.insert((record.seq, index as u64), message);
                }
            }
        }
        let mut state = State {
            seq: snapshot.seq,
            name: snapshot.name,
            cwd: snapshot.cwd,
            model: snapshot.model,
            window: Vec::with_capacity(snapshot.window.len()),
            file: snapshot.file,
            projections: snapshot.projections,
        };
        for slot in snapshot.window {
            let changed = slot.changed.is_some();
            let message = slot
                .changed
                .or_else(|| messages.remove(&(slot.seq, slot.index)));
            let Some(message) = message else {
                return Ok(None);
            };
            state.window.push(Entry {
                seq: slot.seq,
                index: slot.index,
                message,
                changed,
            });
        }
        self.go_on(chain, &mut state, chain.last())?;
        Ok(Some(state))
    }

    /// The window of a state with its bodies.
    pub(crate) fn materialise(
        &self,
        session: Uuid,
        state: &State,
    ) -> Result<Vec<Message>, StoreError> {
        let messages = state.window.iter().map(|entry| &entry.message);
        self.with_bodies(session, messages)
    }

    /// Messages with their bodies.
    pub(crate) fn with_bodies<'a>(
        &self,
        session: Uuid,
        messages: impl Iterator<Item = &'a StoredMessage> + Clone,
    ) -> Result<Vec<Message>, StoreError> {
        let mut digests = Vec::new();
        for message in messages.clone() {
            message.digests(&mut digests);
        }
        let bodies = self.bodies(session, digests)?;
        messages
            .map(|message| message.load(&bodies))
            .collect::<Result<_, _>>()
            .map_err(|digest| corrupt(session, digest, "missing"))
    }

    /// Bodies by digest, verified; any that is missing or damaged is an error.
    pub(crate) fn bodies(
        &self,
        session: Uuid,
        mut digests: Vec<Digest>,
    ) -> Result<Bodies, StoreError> {
        digests.sort_unstable();
        digests.dedup();
        let (mut kept, mut packs, mut whole) = self.kept(&digests)?;
        for _ in 0..RACES {
            if whole {
                break;
            }
            (kept, packs, whole) = self.kept(&digests)?;
        }
        let found = verified(session, kept, &packs)?;
        match digests.iter().find(|digest| !found.0.contains_key(digest)) {
            Some(digest) => Err(corrupt(session, *digest, "missing")),
            None => Ok(found),
        }
    }

    /// Bodies and the packs that they are in, unverified; also whether no pack is missing.
    fn kept(&self, digests: &[Digest]) -> Result<(Vec<KeptBody>, Vec<KeptPack>, bool), StoreError> {
        let kept = self.engine.bodies(digests)?;
        let mut numbers: Vec<i64> = kept
            .iter()
            .filter_map(|body| match body.place {
                BodyPlace::Pack { number, .. } => Some(number),
                BodyPlace::Raw(_) => None,
            })
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        let packs = self.engine.packs(&numbers)?;
        let whole = packs.len() == numbers.len();
        Ok((kept, packs, whole))
    }
}

/// Takes bodies out of their packs and compares each with its digest.
pub(crate) fn verified(
    session: Uuid,
    kept: Vec<KeptBody>,
    packs: &[KeptPack],
) -> Result<Bodies, StoreError> {
    let unpacked: FxHashMap<i64, Option<Vec<u8>>> = packs
        .iter()
        .map(|pack| (pack.number, pack::unpack(&pack.data, pack.raw_bytes)))
        .collect();
    let mut bodies = Bodies::default();
    for body in kept {
        let bytes: Option<Arc<[u8]>> = match body.place {
            BodyPlace::Raw(bytes) => Some(bytes.into()),
            BodyPlace::Pack {
                number,
                offset,
                length,
            } => unpacked.get(&number).and_then(|raw| {
                let start = usize::try_from(offset).ok()?;
                let end = start.checked_add(usize::try_from(length).ok()?)?;
                raw.as_ref()?.get(start..end).map(Arc::from)
            }),
        };
        let bytes = bytes
            .filter(|bytes| Digest::of(bytes) == body.digest)
            .ok_or_else(|| corrupt(session, body.digest, "corrupt"))?;
        bodies.0.insert(body.digest, bytes);
    }
    Ok(bodies)
}

fn corrupt(session: Uuid, digest: Digest, what: &'static str) -> StoreError {
    StoreError::CorruptBody {
        session,
        digest,
        what,
    }
}

/// The messages that a record brought into the window, in the order of their index.
pub(crate) fn brought(payload: Payload) -> Vec<StoredMessage> {
    match payload {
        Payload::Messages(messages) => messages.messages,
        Payload::Projected(projected) => match projected.change {
            StoredChange::Window(change) => change.inserted,
            StoredChange::File(_) => Vec::new(),
        },
        _ => Vec::new(),
    }
}
