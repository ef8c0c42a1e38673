//! Looking back: the timeline, the window as of any event, the whole transcript, one original.
//! Deliberately readers only: nothing here needs a claim, so a session in use can be looked at.

use neenee_core::message::{Message, Part, ToolResult};
use uuid::Uuid;

use crate::error::StoreError;
use crate::event::NumberedEvent;
use crate::record::message::{StoredMessage, StoredPart};
use crate::record::payload::Payload;
use crate::store::SessionStore;
use crate::store::brought;

impl SessionStore {
    /// Everything that happened in a session, oldest first.
    pub fn events(&self, session: Uuid) -> Result<Vec<NumberedEvent>, StoreError> {
        let chain = self.chain(session)?;
        self.records(&chain, 1, chain.last())?
            .iter()
            .map(|record| {
                let payload = Payload::of(session, record)?;
                Ok(NumberedEvent::of(record, &payload))
            })
            .collect()
    }

    /// The window as it is now, and the event after which it is so.
    pub fn window(&self, session: Uuid) -> Result<(Vec<Message>, u64), StoreError> {
        let chain = self.chain(session)?;
        let state = self.load(&chain)?;
        Ok((self.materialise(session, &state)?, state.seq))
    }

    /// The window as it was after event `seq`.
    ///
    /// # Errors
    /// [`StoreError::NoSuchEvent`] when the session has not got that far.
    pub fn window_at(&self, session: Uuid, seq: u64) -> Result<Vec<Message>, StoreError> {
        let chain = self.chain(session)?;
        if seq > chain.last() {
            return Err(StoreError::NoSuchEvent {
                session,
                last: chain.last(),
                asked: seq,
            });
        }
        let state = self.fold(&chain, seq)?;
        self.materialise(session, &state)
    }

    /// The whole transcript: every message as it joined the session, nothing pruned, nothing
    /// summarised. Checkpoint messages of compactions are not part of it.
    pub fn transcript(&self, session: Uuid) -> Result<Vec<Message>, StoreError> {
        let chain = self.chain(session)?;
        let mut messages: Vec<StoredMessage> = Vec::new();
        for record in self.records(&chain, 1, chain.last())? {
            if let Payload::Messages(added) = Payload::of(session, &record)? {
                messages.extend(added.messages);
            }
        }
        self.with_bodies(session, messages.iter())
    }

    /// The results of the call `call`, whole, as they joined the session, oldest first: local
    /// models reuse ids. Envoys' transcripts are looked through as well.
    ///
    /// # Errors
    /// [`StoreError::NoSuchCall`] when the session never had one.
    pub fn originals(&self, session: Uuid, call: &str) -> Result<Vec<ToolResult>, StoreError> {
        let chain = self.chain(session)?;
        let mut holders = Vec::new();
        for record in self.records(&chain, 1, chain.last())? {
            let messages = brought(Payload::of(session, &record)?);
            holders.extend(
                messages
                    .into_iter()
                    .filter(|message| answers(message, call)),
            );
        }
        let mut found = Vec::new();
        for message in self.with_bodies(session, holders.iter())? {
            collect(message, call, &mut found);
        }
        if found.is_empty() {
            return Err(StoreError::NoSuchCall {
                session,
                call: call.to_owned(),
            });
        }
        Ok(found)
    }
}

fn answers(message: &StoredMessage, call: &str) -> bool {
    message.parts.iter().any(|part| match part {
        StoredPart::Result(result) => {
            result.call_id.as_deref() == Some(call)
                || result.children.iter().any(|child| answers(child, call))
        }
        _ => false,
    })
}

fn collect(message: Message, call: &str, found: &mut Vec<ToolResult>) {
    for part in message.parts {
        let Part::Result(result) = part else { continue };
        if result.call_id.as_deref() == Some(call) {
            found.push(result);
        } else {
            for child in result.children {
                collect(child, call, found);
            }
        }
    }
}
