//! A snapshot: which messages the window holds, so that loading skips what left it.
//! Deliberately references and changed messages only. It is never the truth: whatever is wrong
//! with one, the log is folded instead.

use serde::{Deserialize, Serialize};

use crate::record::message::StoredMessage;
use crate::record::payload::FileChange;
use crate::state::State;

/// The version written. Any other is ignored and the log is folded.
pub(crate) const VERSION: u32 = 1;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    pub(crate) version: u32,
    pub(crate) seq: u64,
    pub(crate) name: Option<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) window: Vec<Slot>,
    pub(crate) file: Option<FileChange>,
    pub(crate) projections: u64,
}

/// A message of the window: where it stands in the log, and itself when it changed since.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Slot {
    pub(crate) seq: u64,
    pub(crate) index: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) changed: Option<StoredMessage>,
}

impl Snapshot {
    /// The snapshot of a state.
    pub(crate) fn of(state: &State) -> Self {
        Snapshot {
            version: VERSION,
            seq: state.seq,
            name: state.name.clone(),
            cwd: state.cwd.clone(),
            model: state.model.clone(),
            window: state
                .window
                .iter()
                .map(|entry| Slot {
                    seq: entry.seq,
                    index: entry.index,
                    changed: entry.changed.then(|| entry.message.clone()),
                })
                .collect(),
            file: state.file.clone(),
            projections: state.projections,
        }
    }

    /// As bytes, with their check in front.
    pub(crate) fn encode(&self) -> serde_json::Result<Vec<u8>> {
        let json = serde_json::to_vec(self)?;
        let mut bytes = blake3::hash(&json).as_bytes()[..16].to_vec();
        bytes.extend(json);
        Ok(bytes)
    }

    /// Back; `None` when anything about it is not as this program writes it.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (check, json) = bytes.split_at_checked(16)?;
        if blake3::hash(json).as_bytes()[..16] != *check {
            return None;
        }
        let snapshot: Snapshot = serde_json::from_slice(json).ok()?;
        (snapshot.version == VERSION).then_some(snapshot)
    }

    /// The records that hold the unchanged messages, as ranges of numbers, ends included.
    pub(crate) fn needed(&self) -> Vec<(u64, u64)> {
        let mut numbers: Vec<u64> = self
            .window
            .iter()
            .filter(|slot| slot.changed.is_none())
            .map(|slot| slot.seq)
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for seq in numbers {
            match ranges.last_mut() {
                // Reading a few records too many is cheaper than another query.
                Some((_, end)) if seq <= *end + 16 => *end = seq,
                _ => ranges.push((seq, seq)),
            }
        }
        ranges
    }
}
