//! One conversation as the proxy knows it: what was degraded, the planner's state, what was seen.
//! Deliberately without the text of it: the client sends that each time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use neenee_core::model::RewriteRule;
use neenee_core::pressure::Planner;
use neenee_wire::Delegate;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::archive::{DegradedResult, Node, Projection, ResultKey};
use crate::limits;
use crate::route::Kind;
use crate::usage::Usage;

/// A conversation. Its state is held while a request is planned, its story only for moments.
#[derive(Debug)]
pub(crate) struct Conversation {
    /// A stable name, made of the message with which it became one.
    pub(crate) id: String,
    /// The conversation that it went on from.
    pub(crate) parent: Option<String>,
    state: Mutex<State>,
    story: Mutex<Story>,
}

/// What the next request depends on.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Whether what its parent and the archive know has still to be taken over.
    pub(crate) news: bool,
    /// The parent, until that has happened.
    pub(crate) parent: Option<Arc<Conversation>>,
    /// Results and what is sent instead of them.
    pub(crate) degraded: FxHashMap<ResultKey, Arc<DegradedResult>>,
    /// The planner, fed with what was sent last.
    pub(crate) fed: Option<Fed>,
    /// Whether results were degraded in requests before the latest.
    pub(crate) edited_before: bool,
    /// The provider refused edited history: nothing that was sent is edited any more.
    pub(crate) append_only: bool,
    /// The provider was told to drop reasoning that does not fit, and has to be told each time.
    pub(crate) drops_reasoning: bool,
    /// The provider was asked to clear by itself, and has to be asked each time, in the same words.
    pub(crate) delegated: Option<Delegate>,
}

/// A planner and what it has seen.
#[derive(Debug)]
pub(crate) struct Fed {
    pub(crate) planner: Planner,
    /// What it was made for.
    pub(crate) setup: SetupId,
    /// The messages that it was fed with.
    pub(crate) nodes: Vec<Node>,
    /// How many results those hold.
    pub(crate) results: usize,
}

/// What a planner's set-up depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetupId {
    /// The generation of the settings.
    pub(crate) generation: u64,
    /// The model's name.
    pub(crate) model: String,
    /// The rewrite rule.
    pub(crate) rule: RewriteRule,
}

/// What the page shows.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Story {
    pub(crate) upstream: String,
    pub(crate) kind: &'static str,
    pub(crate) model: String,
    /// The client by its own word, as `claude-cli/2.1`.
    pub(crate) client: Option<String>,
    /// The id that the client has for it.
    pub(crate) session: Option<String>,
    pub(crate) rule: &'static str,
    pub(crate) window: usize,
    pub(crate) prune_threshold: usize,
    pub(crate) cold_threshold: usize,
    /// Of the first and the latest request or answer, in ms since the epoch; 0 before there was one.
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) requests: u64,
    /// Tokens, estimated, that the client sent and that went on, all requests together.
    pub(crate) tokens_in: u64,
    pub(crate) tokens_out: u64,
    pub(crate) cleared: usize,
    pub(crate) truncated: usize,
    /// US dollars by the price table, and what of it is known: `None` without a price.
    pub(crate) saved: Option<f64>,
    /// Tokens that the provider says it cleared by itself, in its latest answer.
    pub(crate) cleared_by_provider: u64,
    pub(crate) samples: VecDeque<Sample>,
    pub(crate) decisions: VecDeque<Decision>,
    /// Counts up with each request, so that its answer finds its sample.
    pub(crate) serial: u64,
}

/// One request.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Sample {
    pub(crate) serial: u64,
    pub(crate) at: i64,
    /// Estimated tokens as the client sent it.
    pub(crate) sent: usize,
    /// Estimated tokens as it went on.
    pub(crate) forwarded: usize,
    /// What the provider reported, once it has.
    pub(crate) usage: Option<Usage>,
}

/// One decision about pruning, with its numbers.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Decision {
    pub(crate) at: i64,
    /// What led to it.
    pub(crate) trigger: &'static str,
    /// What came of it.
    pub(crate) outcome: &'static str,
    pub(crate) pressure: usize,
    pub(crate) reclaimed_tokens: usize,
    pub(crate) results: usize,
    /// Whether the provider's cache was warm; `None` when that could not be told.
    pub(crate) warm: Option<bool>,
    /// Seconds since the conversation was heard of last.
    pub(crate) idle: Option<f64>,
    /// US dollars that the rewritten suffix costs, and what each later request gives back.
    pub(crate) cost: Option<f64>,
    pub(crate) gain_per_request: Option<f64>,
    pub(crate) lost_reasoning_tokens: usize,
}

impl Conversation {
    pub(crate) fn new(id: String, parent: Option<Arc<Conversation>>) -> Conversation {
        Conversation {
            id,
            parent: parent.as_ref().map(|parent| parent.id.clone()),
            state: Mutex::new(State {
                news: true,
                parent,
                ..State::default()
            }),
            story: Mutex::default(),
        }
    }

    /// The state; whoever holds it plans. A child may take its parent's, never the other way round.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, unless somebody plans.
    pub(crate) fn state_now(&self) -> Option<MutexGuard<'_, State>> {
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The story; held for moments only.
    pub(crate) fn story(&self) -> MutexGuard<'_, Story> {
        self.story.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of memory that it takes, estimated; its place in the index aside.
    pub(crate) fn weight(state: &State) -> usize {
        /// What a planner keeps of a result, its truncated form included, measured on made-up sessions.
        const PLANNED_RESULT: usize = 2_048;
        const FIXED: usize = 16 << 10;
        let texts: usize = state
            .degraded
            .values()
            .map(|result| 400 + result.text.len() + result.label.len())
            .sum();
        let fed = state.fed.as_ref().map_or(0, |fed| {
            fed.results * PLANNED_RESULT + fed.nodes.len() * 256
        });
        FIXED + texts + fed
    }
}

impl State {
    /// Takes over a projection.
    pub(crate) fn apply(&mut self, projection: &Projection) {
        if projection.trigger == Projection::REFUSED {
            self.degraded.clear();
            self.append_only = true;
            self.drops_reasoning = projection.drops_reasoning;
            return;
        }
        self.drops_reasoning |= projection.drops_reasoning;
        for result in &projection.results {
            self.degraded.insert(result.key, Arc::new(result.clone()));
        }
    }
}

impl Story {
    /// A request comes in: its sample, and its number for when the answer is there.
    pub(crate) fn request(&mut self, kind: Kind, sample: Sample) -> u64 {
        self.kind = kind.name();
        self.requests += 1;
        self.serial += 1;
        if self.first == 0 {
            self.first = sample.at;
        }
        self.last = self.last.max(sample.at);
        self.tokens_in += sample.sent as u64;
        self.tokens_out += sample.forwarded as u64;
        if self.samples.len() == limits::SAMPLES {
            self.samples.pop_front();
        }
        self.samples.push_back(Sample {
            serial: self.serial,
            ..sample
        });
        self.serial
    }

    /// The answer to a request is there, or what there is of it.
    pub(crate) fn answer(&mut self, serial: u64, at: i64, usage: &Usage) {
        self.last = self.last.max(at);
        self.cleared_by_provider = usage.cleared;
        let mut samples = self.samples.iter_mut().rev();
        if let Some(sample) = samples.find(|sample| sample.serial == serial) {
            sample.usage = Some(usage.clone());
        }
    }

    pub(crate) fn decide(&mut self, decision: Decision) {
        if self.decisions.len() == limits::DECISIONS {
            self.decisions.pop_front();
        }
        self.decisions.push_back(decision);
    }
}
