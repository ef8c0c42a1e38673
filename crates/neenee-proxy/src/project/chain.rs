//! What a conversation is known by: a hash chain over its messages, and a key for each result.
//! Deliberately over what is said and not over bytes: clients move cache markers from turn to turn.

use blake3::Hasher;
use neenee_core::message::Role;
use neenee_core::pressure::view::{ResultView, View};
use neenee_wire::Document;
use rustc_hash::FxHashMap;

use crate::archive::{DegradedResult, Node, ResultKey};

/// The identity of a body.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// One per message after the opening instructions.
    pub(crate) nodes: Vec<Node>,
    /// For each node, whether the model speaks in it or before it.
    pub(crate) answered: Vec<bool>,
    /// One per result, in the order of [`Document::results`].
    pub(crate) keys: Vec<ResultKey>,
    /// For each result, the index of its message in `nodes`.
    pub(crate) at: Vec<usize>,
    /// How many messages there are up to the last one of the model: what stands in them it has seen.
    pub(crate) seen: usize,
    /// How many views stand before the first message of the chain.
    pub(crate) preamble: usize,
}

/// Hashes a body once. Instructions and tool schemas in front are left out: clients change them while
/// a conversation goes on (a date, a build number), and it stays the same conversation.
pub(crate) fn chain(document: &Document<'_>) -> Chain {
    let mut chain = Chain::default();
    let mut seen: FxHashMap<ResultKey, u32> = FxHashMap::default();
    let mut hasher: Option<Hasher> = None;
    let mut answered = false;
    for view in document.views() {
        if let View::Message(role) = view {
            if let Some(done) = hasher.take() {
                chain.close(&done, answered);
            } else if role == Role::System {
                chain.preamble += 1;
                continue;
            }
            let mut next = Hasher::new();
            if let Some(before) = chain.nodes.last() {
                next.update(&before.0);
            }
            if role == Role::Assistant {
                answered = true;
                chain.seen = chain.nodes.len() + 1;
            }
            next.update(&[b'M', role as u8]);
            hasher = Some(next);
            continue;
        }
        if let View::Result(result) = view {
            let key = key(&result);
            // A result that stands in no message begins one.
            let hasher = hasher.get_or_insert_default();
            hasher.update(b"R");
            hasher.update(&key.0);
            let nth = seen.entry(key).or_default();
            chain.keys.push(numbered(key, *nth));
            chain.at.push(chain.nodes.len());
            *nth += 1;
        } else {
            let Some(hasher) = &mut hasher else {
                chain.preamble += 1;
                continue;
            };
            enter(hasher, &view);
        }
    }
    if let Some(done) = hasher {
        chain.close(&done, answered);
    }
    chain
}

impl Chain {
    /// Whether a result that was degraded elsewhere is so here too: the model has seen it, or it was cut
    /// before it was first sent.
    pub(crate) fn keeps(&self, ordinal: usize, result: &DegradedResult) -> bool {
        result.original_chars.is_none() || self.at[ordinal] < self.seen
    }

    fn close(&mut self, hasher: &Hasher, answered: bool) {
        self.nodes.push(Node(short(hasher)));
        self.answered.push(answered);
    }
}

fn enter(hasher: &mut Hasher, view: &View<'_>) {
    match view {
        View::Text(text) => field(hasher, b'T', text),
        View::Reasoning { text, .. } => field(hasher, b'S', text),
        View::Opaque(json) => field(hasher, b'O', json),
        View::Weight { tokens } => field(hasher, b'W', &tokens.to_string()),
        View::Call(call) => {
            field(hasher, b'I', call.id.unwrap_or_default());
            field(hasher, b'N', call.name);
            field(hasher, b'A', call.arguments);
        }
        // A result has its key, a message its place; the working directory is said in some text.
        View::Message(_) | View::Cwd(_) | View::Result(_) => {}
    }
}

fn key(result: &ResultView<'_>) -> ResultKey {
    let mut hasher = Hasher::new();
    field(&mut hasher, b'I', result.call_id.unwrap_or_default());
    field(&mut hasher, b'N', result.name.unwrap_or_default());
    field(&mut hasher, b'T', result.text);
    for media in result.media {
        hasher.update(b"W");
        hasher.update(&media.bytes.to_le_bytes());
        hasher.update(&(media.tokens as u64).to_le_bytes());
    }
    ResultKey(short(&hasher))
}

/// Local models reuse ids, so that two results may be alike; they are told apart by their order.
fn numbered(key: ResultKey, nth: u32) -> ResultKey {
    if nth == 0 {
        return key;
    }
    let mut hasher = Hasher::new();
    hasher.update(&key.0);
    hasher.update(&nth.to_le_bytes());
    ResultKey(short(&hasher))
}

fn field(hasher: &mut Hasher, tag: u8, text: &str) {
    hasher.update(&[tag]);
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

fn short(hasher: &Hasher) -> [u8; 16] {
    let mut short = [0; 16];
    short.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    short
}
