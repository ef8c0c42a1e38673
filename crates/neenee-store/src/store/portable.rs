//! Export and import.
//! Deliberately one pass each, a line at a time; an import goes in whole or not at all.

use std::io::{BufRead, Write};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::SessionStore;
use crate::digest::Digest;
use crate::error::StoreError;
use crate::pack;
use crate::portable::{BodyLine, End, Header, Peek, RecordLine, VERSION};
use crate::record::Record;
use crate::record::payload::Payload;
use crate::session::SessionInfo;
use crate::state::State;

/// Bodies that are fetched and written at a time.
const BODIES_AT_ONCE: usize = 256;

impl SessionStore {
    /// Writes a session with all its originals as JSON lines. A fork comes with all it shares.
    pub fn export(&self, session: Uuid, out: &mut dyn Write) -> Result<(), StoreError> {
        let chain = self.chain(session)?;
        let row = self
            .engine
            .session(session)?
            .ok_or_else(|| StoreError::NoSuchSession(session.to_string()))?;
        let mut lines = Lines { out, count: 0 };
        lines.write(&Header {
            neenee_session: VERSION,
            id: row.id,
            name: row.name,
            origin: row.origin,
            created_ms: row.created_ms,
        })?;
        let mut digests = Vec::new();
        for record in self.records(&chain, 1, chain.last())? {
            digests.extend(Payload::of(session, &record)?.digests());
            let corrupt = |cause: String| StoreError::CorruptRecord {
                session,
                seq: record.seq,
                cause,
            };
            let json =
                String::from_utf8(record.payload).map_err(|error| corrupt(error.to_string()))?;
            let payload =
                RawValue::from_string(json).map_err(|error| corrupt(error.to_string()))?;
            lines.write(&RecordLine {
                seq: record.seq,
                at_ms: record.at_ms,
                kind: record.kind,
                version: record.version,
                payload,
            })?;
        }
        digests.sort_unstable();
        digests.dedup();
        for some in digests.chunks(BODIES_AT_ONCE) {
            let mut bodies = self.bodies(session, some.to_vec())?;
            for digest in some {
                let bytes = bodies.0.remove(digest).unwrap_or_default();
                let (text, base64) = match std::str::from_utf8(&bytes) {
                    Ok(text) => (Some(text.to_owned()), None),
                    Err(_) => (None, Some(STANDARD.encode(&bytes))),
                };
                lines.write(&BodyLine {
                    digest: *digest,
                    text,
                    base64,
                })?;
            }
        }
        let end = lines.count;
        lines.write(&End { end })?;
        lines.out.flush().map_err(|cause| StoreError::Stream {
            action: "write",
            cause,
        })
    }

    /// Reads a session that [`SessionStore::export`] wrote. It keeps its id unless one with that id
    /// is here; it keeps its name unless another has it.
    ///
    /// # Errors
    /// [`StoreError::BadExport`] with the line; nothing has been added then.
    pub fn import(&self, input: &mut dyn BufRead) -> Result<SessionInfo, StoreError> {
        let mut parts = Parts::read(input)?;
        let rows = self.engine.sessions()?;
        let id = if rows.iter().any(|row| row.id == parts.header.id) {
            self.new_id()
        } else {
            parts.header.id
        };
        let taken = |name: &String| {
            rows.iter()
                .any(|row| !row.removed && row.name.as_ref() == Some(name))
        };
        let name = parts.header.name.take().filter(|name| !taken(name));
        let mut batch = self.batch();
        let mut state = State::default();
        for (line, record) in parts.records {
            let bad = |error: StoreError| StoreError::BadExport {
                line,
                cause: error.to_string(),
            };
            // The check names the session, so an import under another id needs new ones.
            let record = Record::new(
                id,
                record.seq,
                record.at_ms,
                &record.kind,
                record.version,
                record.payload.get().as_bytes().to_vec(),
            );
            let payload = Payload::of(id, &record).map_err(bad)?;
            batch.uses.extend(payload.digests());
            state.apply(id, &record, payload).map_err(bad)?;
            batch.records.push(record);
        }
        batch.uses.sort_unstable();
        batch.uses.dedup();
        if let Some(missing) = batch
            .uses
            .iter()
            .find(|digest| !parts.bodies.contains_key(digest))
        {
            return Err(StoreError::BadExport {
                line: parts.lines,
                cause: format!("body {missing} is missing"),
            });
        }
        let mut live = Vec::new();
        for entry in &state.window {
            entry.message.digests(&mut live);
        }
        for digest in live {
            batch.fresh.extend(parts.bodies.remove_entry(&digest));
        }
        let mut rest: Vec<(Digest, Arc<[u8]>)> = parts.bodies.into_iter().collect();
        rest.sort_unstable_by_key(|(digest, _)| *digest);
        batch.packs = pack::pack(&rest).map_err(|error| StoreError::Engine {
            cause: format!("cannot compress originals: {error}"),
            retry: false,
        })?;
        batch.brought = batch.packs.iter().map(|pack| pack.raw_bytes).sum();
        let mut row = self.new_row(id, name, &parts.header.origin, None, state.seq);
        row.created_ms = parts.header.created_ms;
        let mut claim = self.engine.create(&row, &batch)?;
        self.engine.release(&mut claim);
        row.bytes = batch.bytes();
        Ok(SessionInfo::of(row))
    }
}

struct Lines<'a> {
    out: &'a mut dyn Write,
    count: usize,
}

impl Lines<'_> {
    fn write(&mut self, line: &impl Serialize) -> Result<(), StoreError> {
        let failed = |cause| StoreError::Stream {
            action: "write",
            cause,
        };
        serde_json::to_writer(&mut *self.out, line).map_err(|error| failed(error.into()))?;
        self.out.write_all(b"\n").map_err(failed)?;
        self.count += 1;
        Ok(())
    }
}

/// An export, read and verified.
struct Parts {
    header: Header,
    records: Vec<(usize, RecordLine)>,
    bodies: FxHashMap<Digest, Arc<[u8]>>,
    lines: usize,
}

impl Parts {
    fn read(input: &mut dyn BufRead) -> Result<Self, StoreError> {
        let mut parts: Option<Parts> = None;
        let mut ended = false;
        let mut lines = 0;
        for (index, line) in input.lines().enumerate() {
            let line = line.map_err(|cause| StoreError::Stream {
                action: "read",
                cause,
            })?;
            lines = index + 1;
            let bad = |cause: String| StoreError::BadExport { line: lines, cause };
            let json = |error: serde_json::Error| bad(error.to_string());
            if ended {
                return Err(bad("something follows the end".to_owned()));
            }
            let Some(parts) = &mut parts else {
                let header: Header = serde_json::from_str(&line).map_err(|error| {
                    bad(format!("not the header of a neenee session ({error})"))
                })?;
                if header.neenee_session > VERSION {
                    return Err(bad(format!(
                        "the form has version {} and this program reads {VERSION}; use a newer neenee",
                        header.neenee_session
                    )));
                }
                parts = Some(Parts {
                    header,
                    records: Vec::new(),
                    bodies: FxHashMap::default(),
                    lines,
                });
                continue;
            };
            let peek: Peek = serde_json::from_str(&line).map_err(json)?;
            if peek.seq.is_some() {
                parts
                    .records
                    .push((lines, serde_json::from_str(&line).map_err(json)?));
            } else if peek.digest.is_some() {
                let body: BodyLine = serde_json::from_str(&line).map_err(json)?;
                let bytes = body_bytes(&body).map_err(bad)?;
                if Digest::of(&bytes) != body.digest {
                    return Err(bad(format!(
                        "body {} is not what its digest says",
                        body.digest
                    )));
                }
                parts.bodies.insert(body.digest, bytes.into());
            } else if let Some(end) = peek.end {
                if end != index {
                    return Err(bad(format!(
                        "{end} lines were written and {index} are here"
                    )));
                }
                ended = true;
            } else {
                return Err(bad("neither a record nor a body".to_owned()));
            }
            parts.lines = lines;
        }
        match parts {
            Some(parts) if ended => Ok(parts),
            _ => Err(StoreError::BadExport {
                line: lines.max(1),
                cause: "the export is cut off".to_owned(),
            }),
        }
    }
}

fn body_bytes(body: &BodyLine) -> Result<Vec<u8>, String> {
    match (&body.text, &body.base64) {
        (Some(text), None) => Ok(text.clone().into_bytes()),
        (None, Some(base64)) => STANDARD.decode(base64).map_err(|error| error.to_string()),
        _ => Err("a body has either text or base64".to_owned()),
    }
}
