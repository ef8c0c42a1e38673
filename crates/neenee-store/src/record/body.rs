//! Where a text or payload stands: inside the record when small, by its digest when not.
//! Deliberately no I/O: writing collects bodies for the engine, reading asks a source for them.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// Bytes from which on a body is kept apart. Below, its row would weigh more than itself.
pub(crate) const APART_BYTES: usize = 256;

/// A body inside a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Body {
    /// Small text, here.
    Text(String),
    /// Kept apart under its digest.
    Apart { digest: Digest, bytes: u64 },
}

impl Body {
    /// The digest under which it is kept apart.
    pub(crate) fn digest(&self) -> Option<Digest> {
        match self {
            Body::Text(_) => None,
            Body::Apart { digest, .. } => Some(*digest),
        }
    }
}

/// Bodies that a batch of records brings along.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    bodies: FxHashMap<Digest, Arc<[u8]>>,
    /// In the order in which they were first seen, so that packs come out the same every time.
    order: Vec<Digest>,
}

impl Collector {
    /// The body of a text.
    pub(crate) fn text(&mut self, text: &str) -> Body {
        if text.len() < APART_BYTES {
            return Body::Text(text.to_owned());
        }
        self.bytes(text.as_bytes())
    }

    /// The body of bytes that need not be text; always apart.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Body {
        let digest = Digest::of(bytes);
        self.known(digest, bytes.into());
        Body::Apart {
            digest,
            bytes: bytes.len() as u64,
        }
    }

    /// Bytes whose digest is known already.
    pub(crate) fn known(&mut self, digest: Digest, bytes: Arc<[u8]>) {
        if self.bodies.insert(digest, bytes).is_none() {
            self.order.push(digest);
        }
    }

    /// Everything collected, in order.
    pub(crate) fn into_bodies(mut self) -> Vec<(Digest, Arc<[u8]>)> {
        self.order
            .iter()
            .filter_map(|digest| self.bodies.remove_entry(digest))
            .collect()
    }
}

/// Verified bodies by digest.
#[derive(Debug, Default)]
pub(crate) struct Bodies(pub(crate) FxHashMap<Digest, Arc<[u8]>>);

impl Bodies {
    /// The bytes of a body that was fetched; `None` when it is not among them.
    pub(crate) fn bytes(&self, body: &Body) -> Option<Vec<u8>> {
        match body {
            Body::Text(text) => Some(text.clone().into_bytes()),
            Body::Apart { digest, .. } => self.0.get(digest).map(|bytes| bytes.to_vec()),
        }
    }

    /// The text of a body that was fetched; `None` when it is missing or no text.
    pub(crate) fn text(&self, body: &Body) -> Option<String> {
        String::from_utf8(self.bytes(body)?).ok()
    }
}
