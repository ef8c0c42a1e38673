//! Which lines a resume would send, in which order.
//! Deliberately about the tree alone: a line's text is not looked at.
//!
//! From the last thing said, the links lead back to the last compaction. That alone loses results:
//! an answer with several calls is several lines in a chain, and the result of each call is a child of
//! its own line, so that the chain to the next answer passes through one result only. Hence an answer
//! takes with it every line of the same message and every result of its calls.

use std::collections::{HashMap, HashSet};

use super::line::{Kind, Line};
use crate::json::Value;

/// The window of a session.
pub(super) struct Window {
    /// The lines that are sent, in the order in which the model sees them.
    pub(super) lines: Vec<usize>,
    /// The line of the last compaction.
    pub(super) compacted: Option<usize>,
    /// Whether these are side chain lines: in the file of a sub-agent all lines are.
    pub(super) sidechain: bool,
}

pub(super) fn window(lines: &[Line<'_, '_>]) -> Window {
    let sidechain = !lines.iter().any(|line| line.speaks() && !line.sidechain);
    let mut tree = Tree::new(lines, sidechain);
    let chain = tree.chain();
    let compacted = chain
        .first()
        .copied()
        .filter(|&root| lines[root].kind == Kind::Boundary);
    Window {
        lines: tree.whole(&chain),
        compacted,
        sidechain,
    }
}

struct Tree<'l, 't, 'a> {
    lines: &'l [Line<'t, 'a>],
    sidechain: bool,
    by_uuid: HashMap<&'a str, usize>,
    /// The lines of each answer, by its id.
    by_message: HashMap<&'a str, Vec<usize>>,
    /// The lines that answer each call, by its id.
    by_call: HashMap<&'a str, Vec<usize>>,
    /// Lines that the window has.
    taken: Vec<bool>,
    /// Calls that the window has, and calls that it has a result of.
    called: HashSet<&'a str>,
    answered: HashSet<&'a str>,
}

impl<'l, 't, 'a> Tree<'l, 't, 'a> {
    fn new(lines: &'l [Line<'t, 'a>], sidechain: bool) -> Self {
        let mut tree = Tree {
            lines,
            sidechain,
            by_uuid: HashMap::new(),
            by_message: HashMap::new(),
            by_call: HashMap::new(),
            taken: vec![false; lines.len()],
            called: HashSet::new(),
            answered: HashSet::new(),
        };
        for (at, line) in lines.iter().enumerate() {
            if let Some(uuid) = line.uuid {
                tree.by_uuid.insert(uuid, at);
            }
            if line.sidechain != sidechain {
                continue;
            }
            if let Some(id) = line.message_id {
                tree.by_message.entry(id).or_default().push(at);
            }
            for id in line.answers() {
                tree.by_call.entry(id).or_default().push(at);
            }
        }
        tree
    }

    /// From the root, or the last compaction, to the last thing said and what the client added to it.
    fn chain(&self) -> Vec<usize> {
        let last = self
            .lines
            .iter()
            .rposition(|line| line.speaks() && line.sidechain == self.sidechain);
        let Some(last) = last else { return Vec::new() };
        let mut chain = Vec::new();
        let mut seen = vec![false; self.lines.len()];
        let mut next = Some(last);
        while let Some(at) = next.filter(|&at| !seen[at]) {
            seen[at] = true;
            chain.push(at);
            let line = &self.lines[at];
            if line.kind == Kind::Boundary {
                break;
            }
            next = line
                .parent
                .and_then(|parent| self.by_uuid.get(parent))
                .copied();
        }
        chain.reverse();
        self.insert_preserved(&mut chain);

        let mut below: HashSet<&str> = self.lines[last].uuid.into_iter().collect();
        for (at, line) in self.lines.iter().enumerate().skip(last + 1) {
            if line.parent.is_some_and(|parent| below.contains(parent)) {
                below.extend(line.uuid);
                chain.push(at);
            }
        }
        chain
    }

    /// A compaction may keep messages from before it; they stand behind its summary.
    fn insert_preserved(&self, chain: &mut Vec<usize>) {
        let Some(boundary) = chain
            .first()
            .map(|&root| &self.lines[root])
            .filter(|line| line.kind == Kind::Boundary)
        else {
            return;
        };
        let metadata = boundary.value.get("compactMetadata");
        let field = |path: &[&str]| metadata.and_then(|metadata| metadata.at(path));
        let find = |uuid: Value<'_, '_>| {
            let uuid = uuid.string()?.raw();
            self.by_uuid.get(uuid).copied()
        };
        let kept: Vec<usize> = match field(&["preservedMessages", "uuids"]) {
            Some(uuids) => uuids.items().filter_map(find).collect(),
            None => match (
                field(&["preservedSegment", "headUuid"]).and_then(find),
                field(&["preservedSegment", "tailUuid"]).and_then(find),
            ) {
                (Some(head), Some(tail)) => self.segment(head, tail),
                _ => return,
            },
        };
        let anchor = field(&["preservedMessages", "anchorUuid"])
            .or(field(&["preservedSegment", "anchorUuid"]))
            .and_then(find);
        let behind = chain.iter().position(|&at| Some(at) == anchor).unwrap_or(0);
        let have: HashSet<usize> = chain.iter().copied().collect();
        chain.splice(
            behind + 1..behind + 1,
            kept.into_iter().filter(|at| !have.contains(at)),
        );
    }

    /// The chain from `head` down to `tail`; nothing when they are on no chain.
    fn segment(&self, head: usize, tail: usize) -> Vec<usize> {
        let mut segment = vec![tail];
        let mut at = tail;
        while at != head {
            let parent = self.lines[at].parent;
            match parent.and_then(|parent| self.by_uuid.get(parent)) {
                Some(&parent) if segment.len() < self.lines.len() => at = parent,
                _ => return Vec::new(),
            }
            segment.push(at);
        }
        segment.reverse();
        segment
    }

    /// The chain with all lines of its answers and all results of their calls, without what is not said.
    fn whole(&mut self, chain: &[usize]) -> Vec<usize> {
        for &at in chain {
            self.take(at);
        }
        let mut window = Vec::with_capacity(chain.len());
        let mut answer: Option<Answer<'_>> = None;
        for &at in chain {
            let line = &self.lines[at];
            match line.kind {
                Kind::Assistant => {
                    if answer
                        .as_ref()
                        .is_none_or(|answer| answer.id.is_none() || answer.id != line.message_id)
                    {
                        self.close(answer.take(), &mut window);
                    }
                    answer
                        .get_or_insert_with(|| Answer::new(line.message_id))
                        .lines
                        .push(at);
                }
                Kind::User | Kind::Attachment => match &mut answer {
                    // Results may come while the rest of the answer is still being streamed.
                    Some(answer)
                        if line.kind == Kind::Attachment || line.answers().next().is_some() =>
                    {
                        answer.followed_by.push(at);
                    }
                    _ => {
                        self.close(answer.take(), &mut window);
                        window.push(at);
                    }
                },
                _ => {}
            }
        }
        self.close(answer, &mut window);
        window
    }

    fn take(&mut self, at: usize) {
        self.taken[at] = true;
        let line = &self.lines[at];
        self.called.extend(line.calls());
        self.answered.extend(line.answers());
    }

    fn close(&mut self, answer: Option<Answer<'a>>, window: &mut Vec<usize>) {
        let Some(mut answer) = answer else { return };
        let siblings = answer.id.and_then(|id| self.by_message.remove(id));
        for at in siblings.unwrap_or_default() {
            // A line that was written twice makes its calls once.
            let again = self.lines[at].calls().any(|id| self.called.contains(id));
            if !self.taken[at] && !again {
                self.take(at);
                answer.lines.push(at);
            }
        }
        answer.lines.sort_unstable();
        let lines = self.lines;
        for id in answer.lines.iter().flat_map(|&at| lines[at].calls()) {
            if self.answered.contains(id) {
                continue;
            }
            let results = self.by_call.remove(id).unwrap_or_default();
            if let Some(at) = results.into_iter().find(|&at| !self.taken[at]) {
                self.take(at);
                answer.followed_by.push(at);
            }
        }
        answer.followed_by.sort_unstable();
        window.append(&mut answer.lines);
        window.append(&mut answer.followed_by);
    }
}

/// An answer of the model: its lines, and the results (and what else came between) after it.
struct Answer<'a> {
    id: Option<&'a str>,
    lines: Vec<usize>,
    followed_by: Vec<usize>,
}

impl<'a> Answer<'a> {
    fn new(id: Option<&'a str>) -> Answer<'a> {
        Answer {
            id,
            lines: Vec::new(),
            followed_by: Vec::new(),
        }
    }
}
