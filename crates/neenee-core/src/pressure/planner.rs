//! The incremental planner: fed a conversation step by step, asked for a plan at any moment.
//! Deliberately no owner of the conversation: it keeps what plans need and points back by ordinal.

mod decide;
mod feed;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::ledger::{Event, Ordinal, Staleness, sweep};
use super::options::PruneOptions;
use super::pairing::{CallIndex, OpenCalls};
use super::paths::{FileId, PathIndex, Pos};
use super::plan::{Left, Plan, ResultInfo};
use super::references::NameFilter;
use super::view::View;
use crate::estimate::{Estimator, Measure};
use crate::message::{Degraded, Media, Message, Tier};
use crate::touch::{Access, CallTouch, Target, ToolTable};

/// Everything a plan depends on besides the conversation; shared by a planner and its envoys'.
#[derive(Clone, Debug)]
pub struct Setup {
    /// What each tool's calls touch.
    pub tools: ToolTable,
    /// The two numbers and the options.
    pub options: PruneOptions,
    /// How tokens are estimated.
    pub estimator: Estimator,
}

impl Setup {
    /// The built-in tool table and the default estimator with these options.
    pub fn new(options: PruneOptions) -> Self {
        Setup {
            tools: ToolTable::builtin(),
            options,
            estimator: Estimator::default(),
        }
    }
}

/// Sub-agents do not spawn sub-agents; input that claims so is planned this deep and carried
/// untouched below.
const MAX_DEPTH: usize = 4;

/// An incremental planner of one conversation.
///
/// Each [`push`](Self::push) costs what it adds; [`plan`](Self::plan) costs the results that are
/// still whole. The one-shot [`prune_tool_results`](super::prune_tool_results) is a thin wrapper.
#[derive(Debug)]
pub struct Planner {
    setup: Arc<Setup>,
    depth: usize,
    pos: Pos,
    speaker: Speaker,
    cwd: Option<String>,
    assistant_messages: usize,
    size: Measure,
    paths: PathIndex,
    names: NameFilter,
    files: Vec<Ledger>,
    dirty: Vec<FileId>,
    open: OpenCalls,
    calls: Vec<Call>,
    results: Vec<Held>,
    /// Results that are not cleared, in order.
    live: Vec<Ordinal>,
    /// Results that carry a transcript.
    envoys: Vec<Ordinal>,
    /// The latest result of each file-less call, by its arguments and by what it said.
    said: FxHashMap<(u64, u64), Ordinal>,
    /// Signed reasoning: where, and its estimated tokens.
    signed: Vec<(Pos, usize)>,
}

/// Whose text the current message is, as far as references go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaker {
    /// User or assistant: what they name is in play.
    Refers,
    /// Instructions: they weigh only.
    Weighs,
}

#[derive(Debug, Default)]
struct Ledger {
    events: Vec<Event>,
    dirty: bool,
}

#[derive(Debug)]
struct Call {
    id: Option<Box<str>>,
    name: Box<str>,
    at: Pos,
    /// The arguments' hash, for calls that touch no file.
    key: u64,
    touch: CallTouch,
}

/// What is kept of one result.
#[derive(Debug, Default)]
struct Held {
    call: Option<CallIndex>,
    at: Pos,
    /// Assistant messages before it.
    turn: usize,
    label: Box<str>,
    /// Its own content now: text and media.
    size: Measure,
    /// The size of its original and the tier that it is in, where that is not whole.
    degraded: Option<Degraded>,
    /// Media without their payload, for the placeholder.
    media: Vec<Media>,
    /// The format's own word on how the call ended.
    failed: Option<bool>,
    exit_status: Option<i32>,
    is_error: bool,
    disposable: bool,
    recalls: bool,
    protected_tool: bool,
    protected_file: bool,
    targets: Vec<Target>,
    files: Vec<FileId>,
    /// Per target, what superseded it.
    stale: Vec<Option<Staleness>>,
    /// What it said, where a later result may say the same.
    said: Option<(u64, u64)>,
    /// The later result that said the same.
    duplicate: Option<Ordinal>,
    truncated: Option<Box<str>>,
    /// Cut to the cap, until it has been sent.
    capped: Option<Box<str>>,
    children: Option<Box<Planner>>,
}

impl Planner {
    /// An empty conversation.
    pub fn new(setup: Arc<Setup>) -> Self {
        Self::at_depth(setup, 0)
    }

    fn at_depth(setup: Arc<Setup>, depth: usize) -> Self {
        Planner {
            setup,
            depth,
            pos: 0,
            speaker: Speaker::Weighs,
            cwd: None,
            assistant_messages: 0,
            size: Measure::default(),
            paths: PathIndex::default(),
            names: NameFilter::default(),
            files: Vec::new(),
            dirty: Vec::new(),
            open: OpenCalls::default(),
            calls: Vec::new(),
            results: Vec::new(),
            live: Vec::new(),
            envoys: Vec::new(),
            said: FxHashMap::default(),
            signed: Vec::new(),
        }
    }

    /// Feeds whole messages.
    pub fn push_messages(&mut self, messages: &[Message]) {
        for view in super::view::views(messages) {
            self.push(&view);
        }
    }

    /// Feeds views in the order of the conversation.
    pub fn extend<'a>(&mut self, views: impl IntoIterator<Item = View<'a>>) {
        for view in views {
            self.push(&view);
        }
    }

    /// Estimated tokens of everything fed, less what recorded plans gave back.
    pub fn pressure_tokens(&self) -> usize {
        self.size.tokens
    }

    /// Chars of everything fed, less what recorded plans gave back.
    pub fn chars(&self) -> usize {
        self.size.chars
    }

    /// How many tool results were fed.
    pub fn result_count(&self) -> usize {
        self.results.len()
    }

    /// What is known of the result with this running number.
    pub fn result(&self, ordinal: usize) -> Option<ResultInfo<'_>> {
        let held = self.results.get(ordinal)?;
        let call = held.call.map(|call| &self.calls[call as usize]);
        Some(ResultInfo {
            call_id: call.and_then(|call| call.id.as_deref()),
            tool: call.map_or("", |call| &call.name),
            label: &held.label,
            targets: &held.targets,
            is_error: held.is_error,
            chars: held.size.chars,
            tokens: held.size.tokens,
            tier: held.tier(),
            turn: held.turn,
        })
    }

    /// What leaves the window when `plan` is applied, top level only.
    pub fn left(&self, plan: &Plan) -> Vec<Left> {
        let edits = plan.edits.iter().filter(|edit| edit.replacement.is_some());
        edits
            .filter_map(|edit| {
                let info = self.result(edit.decision.ordinal)?;
                Some(Left {
                    call_id: info.call_id.map(str::to_owned),
                    reads: info
                        .targets
                        .iter()
                        .filter_map(|target| match target.access {
                            Access::Read(range) => Some((target.path.as_str().to_owned(), range)),
                            Access::Mutate => None,
                        })
                        .collect(),
                })
            })
            .collect()
    }

    /// Takes note that `plan`, which this planner made, has been applied.
    pub fn record(&mut self, plan: &Plan) {
        for edit in &plan.edits {
            let ordinal = edit.decision.ordinal;
            let Some(held) = self.results.get_mut(ordinal) else {
                continue;
            };
            if let Some(children) = &mut held.children {
                children.record(&edit.children);
            }
            let Some(replacement) = &edit.replacement else {
                continue;
            };
            held.size.chars = edit.decision.chars.after;
            held.size.tokens = edit.decision.tokens.after;
            held.capped = None;
            if let Some(record) = replacement.record {
                held.degraded = Some(record);
                held.truncated = None;
                held.media.clear();
                self.settle(ordinal as Ordinal, &replacement.text);
            }
        }
        self.size.chars -= plan.reclaimed_chars.min(self.size.chars);
        self.size.tokens -= plan.reclaimed_tokens.min(self.size.tokens);
        let results = &self.results;
        self.live
            .retain(|&ordinal| results[ordinal as usize].tier() != Tier::Cleared);
    }

    /// Brings staleness up to date for the files that something happened to.
    fn refresh(&mut self) {
        for &ordinal in &self.envoys {
            if let Some(child) = &mut self.results[ordinal as usize].children {
                child.refresh();
            }
        }
        for file in std::mem::take(&mut self.dirty) {
            self.files[file as usize].dirty = false;
            let union = self.setup.options.union_coverage;
            let aliases = self.paths.aliases(file);
            let merged;
            let events: &[Event] = if aliases.is_empty() {
                &self.files[file as usize].events
            } else {
                let mut all = self.files[file as usize].events.clone();
                for alias in aliases {
                    let theirs = &self.files[alias.file as usize].events;
                    let linked =
                        |event: &&Event| alias.until.is_none_or(|until| event.called_at < until);
                    all.extend(theirs.iter().filter(linked));
                }
                all.sort_by_key(|event| (event.result, event.slot));
                merged = all;
                &merged
            };
            let results = &mut self.results;
            for event in events.iter().filter(|event| event.file == file) {
                results[event.result as usize].stale[event.slot as usize] = None;
            }
            sweep(events, union, |event, stale| {
                if event.file == file {
                    results[event.result as usize].stale[event.slot as usize] = Some(stale);
                }
            });
        }
    }
}

impl Ledger {
    /// Takes back what is entered of `result`.
    fn forget(&mut self, result: Ordinal) {
        let start = self.events.partition_point(|event| event.result < result);
        let end = self.events.partition_point(|event| event.result <= result);
        self.events.drain(start..end);
    }

    /// Enters an event at its place: mostly the end.
    fn enter(&mut self, event: Event) {
        let key = |event: &Event| (event.result, event.slot);
        let at = self
            .events
            .partition_point(|known| key(known) < key(&event));
        self.events.insert(at, event);
    }
}

impl Held {
    fn tier(&self) -> Tier {
        self.degraded.map_or(Tier::Kept, |degraded| degraded.tier)
    }

    /// Chars now, children included.
    fn chars_with_children(&self) -> usize {
        self.size.chars + self.children.as_ref().map_or(0, |child| child.chars())
    }
}

fn mark_dirty(files: &mut [Ledger], dirty: &mut Vec<FileId>, file: FileId) {
    let ledger = &mut files[file as usize];
    if !ledger.dirty {
        ledger.dirty = true;
        dirty.push(file);
    }
}
