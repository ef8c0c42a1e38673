//! The conversations that are known, found again by the messages they are made of; bounded.
//! Deliberately not durable: what a conversation must not forget is in the archive.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use crate::archive::Node;
use crate::conversation::Conversation;
use crate::project::Chain;

/// What a node costs in the index and in its conversation's path, in bytes.
const NODE: usize = 80;

/// Conversations with the same beginning that are compared with a body; more are forks of forks.
const FORKS: usize = 8;

/// All conversations in memory.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Numbers are given once and never again.
    next: u64,
    entries: FxHashMap<u64, Entry>,
    nodes: FxHashMap<Node, u64>,
    /// The latest of each session that a client names.
    sessions: FxHashMap<String, u64>,
    /// By when they were used; the oldest first.
    order: BTreeMap<u64, u64>,
    clock: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    conversation: Arc<Conversation>,
    path: Vec<Node>,
    session: Option<String>,
    used: u64,
    bytes: usize,
}

impl Memory {
    /// The conversation that a body belongs to: the one that it continues, a fork of one, or a new one.
    pub(crate) fn find(&self, chain: &Chain, session: Option<&str>) -> Option<Arc<Conversation>> {
        let tip = *chain.nodes.last()?;
        let mut inner = self.lock();
        if let Some(number) = inner.continued(chain) {
            inner.touch(number, Some(&chain.nodes));
            return Some(Arc::clone(&inner.entries[&number].conversation));
        }
        let known = inner.deepest(chain);
        // Talk that only begins the same is no fork.
        let parent = known
            .filter(|&(_, shared)| chain.answered[shared - 1])
            .map(|(number, _)| number)
            .or_else(|| session.and_then(|session| inner.sessions.get(session).copied()))
            .map(|number| Arc::clone(&inner.entries[&number].conversation));
        let first = known.map_or(0, |(_, shared)| shared);
        let id = inner.name(chain.nodes.get(first).unwrap_or(&tip));
        let conversation = Arc::new(Conversation::new(id, parent));
        inner.add(Arc::clone(&conversation), &chain.nodes, session);
        Some(conversation)
    }

    /// The conversation that a body belongs to or would go on from, without taking note of it.
    pub(crate) fn peek(&self, chain: &Chain) -> Option<Arc<Conversation>> {
        let mut inner = self.lock();
        let (number, _) = inner.deepest(chain)?;
        inner.touch(number, None);
        Some(Arc::clone(&inner.entries[&number].conversation))
    }

    /// All conversations, the latest first.
    pub(crate) fn all(&self) -> Vec<Arc<Conversation>> {
        let inner = self.lock();
        let latest = inner.order.values().rev();
        latest
            .map(|number| Arc::clone(&inner.entries[number].conversation))
            .collect()
    }

    /// Takes note of what a conversation weighs now, and forgets others until all fit in `limit`. The
    /// one in use stays, whatever it weighs.
    pub(crate) fn weigh(&self, chain: &Chain, bytes: usize, limit: usize) {
        let mut inner = self.lock();
        let Some(&number) = chain.nodes.last().and_then(|tip| inner.nodes.get(tip)) else {
            return;
        };
        if let Some(entry) = inner.entries.get_mut(&number) {
            let now = bytes + entry.path.len() * NODE;
            let before = std::mem::replace(&mut entry.bytes, now);
            inner.bytes = inner.bytes + now - before;
        }
        while inner.bytes > limit && inner.entries.len() > 1 {
            let Some((_, &oldest)) = inner.order.first_key_value() else {
                break;
            };
            inner.forget(oldest);
        }
    }

    /// How many there are, and what they weigh in bytes.
    pub(crate) fn size(&self) -> (usize, usize) {
        let inner = self.lock();
        (inner.entries.len(), inner.bytes)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// The conversation that a body continues: of those that its messages are known of, the one that
    /// ends, but for its last message, where they part.
    fn continued(&self, chain: &Chain) -> Option<u64> {
        let mut asked = Vec::new();
        for (index, node) in chain.nodes.iter().enumerate().rev() {
            let Some(&number) = self.nodes.get(node) else {
                continue;
            };
            if asked.contains(&number) {
                continue;
            }
            let path = &self.entries[&number].path;
            let same = path.iter().zip(&chain.nodes);
            let common = same.take_while(|(old, new)| old == new).count();
            // Its last message may be another now: clients add notes to it and take them away again.
            let goes_on = common + 1 >= path.len() && chain.answered[index];
            if goes_on || common == path.len() {
                return Some(number);
            }
            asked.push(number);
            if asked.len() == FORKS {
                return None;
            }
        }
        None
    }

    /// Whose the deepest known message of a body is, and how many messages lead to it.
    fn deepest(&self, chain: &Chain) -> Option<(u64, usize)> {
        let mut nodes = chain.nodes.iter().enumerate().rev();
        nodes.find_map(|(index, node)| Some((*self.nodes.get(node)?, index + 1)))
    }

    /// A name of a conversation that begins with that message; numbered when another one has it.
    fn name(&self, node: &Node) -> String {
        let mut name = node.to_string();
        name.truncate(16);
        let mut entries = self.entries.values();
        if entries.any(|entry| entry.conversation.id == name) {
            name = format!("{name}-{}", self.next);
        }
        name
    }

    fn add(&mut self, conversation: Arc<Conversation>, path: &[Node], session: Option<&str>) {
        let number = self.next;
        self.next += 1;
        let entry = Entry {
            conversation,
            path: Vec::new(),
            session: session.map(str::to_owned),
            used: u64::MAX,
            bytes: 0,
        };
        self.entries.insert(number, entry);
        if let Some(session) = session {
            self.sessions.insert(session.to_owned(), number);
        }
        self.touch(number, Some(path));
    }

    /// It is in use, and perhaps longer or another than before.
    fn touch(&mut self, number: u64, path: Option<&[Node]>) {
        self.clock += 1;
        let Some(entry) = self.entries.get_mut(&number) else {
            return;
        };
        self.order.remove(&entry.used);
        entry.used = self.clock;
        self.order.insert(self.clock, number);
        let Some(path) = path else { return };
        let common = entry
            .path
            .iter()
            .zip(path)
            .take_while(|(old, new)| old == new)
            .count();
        for node in &entry.path[common..] {
            if self.nodes.get(node) == Some(&number) {
                self.nodes.remove(node);
            }
        }
        entry.path.truncate(common);
        entry.path.extend_from_slice(&path[common..]);
        for node in &path[common..] {
            self.nodes.insert(*node, number);
        }
    }

    fn forget(&mut self, number: u64) {
        let Some(entry) = self.entries.remove(&number) else {
            return;
        };
        self.order.remove(&entry.used);
        self.bytes -= entry.bytes;
        for node in &entry.path {
            if self.nodes.get(node) == Some(&number) {
                self.nodes.remove(node);
            }
        }
        if let Some(session) = &entry.session
            && self.sessions.get(session) == Some(&number)
        {
            self.sessions.remove(session);
        }
    }
}
