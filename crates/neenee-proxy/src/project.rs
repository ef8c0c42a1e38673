//! What becomes of one request's body: read, found again, planned, archived, spliced.
//! Deliberately synchronous and away from the network; whatever fails here, the caller sends the original.

mod chain;
mod decide;
mod feed;
mod write;

use std::sync::Arc;

use bytes::Bytes;
use neenee_core::estimate::Estimator;
use neenee_core::model::{self, Binding, Prices, RewriteRule, Traits};
use neenee_core::pressure::ContextBudget;
use neenee_wire::{Document, Format};

pub(crate) use chain::Chain;

use crate::archive::Projection;
use crate::conversation::{Conversation, Sample, SetupId, State};
use crate::fault::Fault;
use crate::metrics::add;
use crate::route::Kind;
use crate::shared::{Current, Shared};

/// A request to look into.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) current: Arc<Current>,
    pub(crate) kind: Kind,
    pub(crate) upstream: String,
    /// The model that the path names.
    pub(crate) model: Option<String>,
    /// The body, unpacked.
    pub(crate) body: Bytes,
    pub(crate) session: Option<String>,
    pub(crate) client: Option<String>,
    pub(crate) attempt: Attempt,
    /// Whether this thread serves connections: nothing is waited for then, and nothing long is done.
    pub(crate) quick: bool,
}

/// Which try this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// The first.
    First,
    /// The window was full all the same: as much goes as may.
    Harder,
    /// Reasoning did not fit what is before it: the original, from now on.
    Original,
}

/// What became of a request.
#[derive(Debug, Default)]
pub(crate) struct Projected {
    /// The new body; `None` when it is to be sent as it came.
    pub(crate) body: Option<Vec<u8>>,
    /// Values that `anthropic-beta` has to hold.
    pub(crate) betas: Vec<&'static str>,
    /// Where what the answer tells belongs to.
    pub(crate) ticket: Option<Ticket>,
    /// What failed beside: the request is what it would be without a new prune.
    pub(crate) fault: Option<Fault>,
}

/// A request of a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    pub(crate) conversation: Arc<Conversation>,
    pub(crate) serial: u64,
}

/// A request while it is looked into.
struct Request<'a> {
    shared: &'a Shared,
    job: &'a Job,
    document: &'a Document<'a>,
    chain: &'a Chain,
    conversation: &'a Conversation,
    target: &'a Target,
}

/// What holds for a request's model.
struct Target {
    /// As the request names it.
    name: String,
    traits: Traits,
    prices: Option<&'static Prices>,
    budget: ContextBudget,
    /// Over this many tokens a cold conversation is pruned.
    cold: usize,
    rule: RewriteRule,
}

/// Looks into a request.
///
/// # Errors
/// When nothing can be done; the request is sent as it came. [`Fault::Slow`] of a quick job means that it
/// is to be done once more where it may take its time.
pub(crate) fn project(shared: &Shared, job: &Job) -> Result<Projected, Fault> {
    let document = neenee_wire::read(&job.body, format(job.kind))
        .map_err(|error| Fault::Unreadable(error.kind()))?;
    let chain = chain::chain(&document);
    if job.kind == Kind::CountTokens {
        return count(shared, &document, &chain, job);
    }
    let Some(conversation) = shared.memory.find(&chain, job.session.as_deref()) else {
        return Ok(Projected::default());
    };
    let mut state = if job.quick {
        conversation.state_now().ok_or(Fault::Slow)?
    } else {
        conversation.state()
    };
    if job.quick && state.news && chain.seen > 0 {
        return Err(Fault::Slow);
    }
    let mut fault = inform(shared, &mut state, &chain).err();
    if job.attempt == Attempt::Original {
        return refused(shared, &document, &chain, &conversation, &mut state);
    }
    let target = Target::of(job, &document, state.append_only);
    let setup = SetupId {
        generation: job.current.generation,
        model: target.name.clone(),
        rule: target.rule,
    };
    state.edited_before = chain
        .keys
        .iter()
        .any(|key| state.degraded.contains_key(key));
    let request = Request {
        shared,
        job,
        document: &document,
        chain: &chain,
        conversation: &conversation,
        target: &target,
    };
    let preamble = request.feed(&mut state, setup);
    match request.decide(&mut state, preamble) {
        Ok(()) => {}
        Err(Fault::Slow) => return Err(Fault::Slow),
        Err(error) => fault = Some(error),
    }
    let (body, betas) = write::write(&document, &chain, &state, &job.body)?;
    let fed = state.fed.as_ref();
    let forwarded = preamble + fed.map_or(0, |fed| fed.planner.pressure_tokens());
    let saved = write::saved(&chain, &state);
    let sample = Sample {
        at: shared.now(),
        sent: forwarded + saved,
        forwarded,
        ..Sample::default()
    };
    let serial = tell(job, &conversation, &state, &target, sample);
    add(&shared.metrics.tokens_in, forwarded + saved);
    add(&shared.metrics.tokens_out, forwarded);
    let weight = Conversation::weight(&state);
    drop(state);
    let limit = job.current.settings.memory_bytes;
    shared.memory.weigh(&chain, weight, limit);
    Ok(Projected {
        body,
        betas,
        ticket: Some(Ticket {
            conversation,
            serial,
        }),
        fault,
    })
}

/// Counting tokens is counting what would be sent; it decides nothing.
fn count(
    shared: &Shared,
    document: &Document<'_>,
    chain: &Chain,
    job: &Job,
) -> Result<Projected, Fault> {
    let Some(conversation) = shared.memory.peek(chain) else {
        return Ok(Projected::default());
    };
    let state = if job.quick {
        conversation.state_now().ok_or(Fault::Slow)?
    } else {
        conversation.state()
    };
    let (body, betas) = write::write(document, chain, &state, &job.body)?;
    Ok(Projected {
        body,
        betas,
        ..Projected::default()
    })
}

/// A conversation that is new here takes over what its parent and the archive know of it.
fn inform(shared: &Shared, state: &mut State, chain: &Chain) -> Result<(), Fault> {
    if !std::mem::take(&mut state.news) {
        return Ok(());
    }
    if let Some(parent) = state.parent.take() {
        let theirs = parent.state();
        for (ordinal, key) in chain.keys.iter().enumerate() {
            if let Some(result) = theirs.degraded.get(key)
                && chain.keeps(ordinal, result)
            {
                state.degraded.insert(*key, Arc::clone(result));
            }
        }
        state.append_only |= theirs.append_only;
        state.drops_reasoning |= theirs.drops_reasoning;
        state.delegated.clone_from(&theirs.delegated);
        return Ok(());
    }
    // Whoever sends fewer messages than an answer takes has not been pruned.
    if chain.seen == 0 {
        return Ok(());
    }
    for projection in shared.archive.restore(&chain.nodes)? {
        state.apply(&projection);
    }
    Ok(())
}

/// The provider refused what was edited: from now on nothing is, and this time the original goes.
fn refused(
    shared: &Shared,
    document: &Document<'_>,
    chain: &Chain,
    conversation: &Conversation,
    state: &mut State,
) -> Result<Projected, Fault> {
    let edited_before = state.edited_before;
    state.append_only = true;
    state.degraded.clear();
    state.drops_reasoning = false;
    state.delegated = None;
    state.fed = None;
    let mut projected = Projected::default();
    if edited_before {
        // Earlier reasoning was signed over edited results, and fits the original no better.
        if let Some(body) = write::drop_reasoning(document)? {
            state.drops_reasoning = true;
            projected.body = Some(body);
            projected.betas.push(write::DROP_BETA);
        }
    }
    let Some(&node) = chain.nodes.last() else {
        return Ok(projected);
    };
    let projection = Projection {
        conversation: conversation.id.clone(),
        node,
        at: shared.now(),
        model: document.model().unwrap_or_default().to_owned(),
        trigger: Projection::REFUSED.to_owned(),
        drops_reasoning: state.drops_reasoning,
        results: Vec::new(),
    };
    projected.fault = shared
        .archive
        .record(&projection, &[])
        .err()
        .map(Fault::from);
    let mut story = conversation.story();
    story.rule = "append_only";
    story.decide(crate::conversation::Decision {
        at: shared.now(),
        trigger: "refused",
        outcome: "append-only",
        ..Default::default()
    });
    drop(story);
    add(&shared.metrics.mismatch_retries, 1);
    Ok(projected)
}

/// Enters a request into the story of its conversation; returns its number there.
fn tell(
    job: &Job,
    conversation: &Conversation,
    state: &State,
    target: &Target,
    sample: Sample,
) -> u64 {
    let mut story = conversation.story();
    if job.attempt != Attempt::First {
        // The second try of a request that is in the story already.
        if let Some(last) = story.samples.back_mut() {
            last.forwarded = sample.forwarded;
        }
        return story.serial;
    }
    if let Some(prices) = target.prices {
        let read = prices.cache_read.unwrap_or(prices.input);
        let saved = (sample.sent - sample.forwarded) as f64 * read / 1e6;
        *story.saved.get_or_insert(0.0) += saved;
    }
    story.upstream.clone_from(&job.upstream);
    story.model.clone_from(&target.name);
    story.client.clone_from(&job.client);
    story.session.clone_from(&job.session);
    story.rule = rule_name(target.rule);
    story.window = target.budget.window_tokens;
    story.prune_threshold = target.budget.prune_threshold_tokens;
    story.cold_threshold = target.cold;
    story.truncated = state.degraded.values().filter(|it| it.truncated).count();
    story.cleared = state.degraded.len() - story.truncated;
    story.request(job.kind, sample)
}

impl Target {
    fn of(job: &Job, document: &Document<'_>, append_only: bool) -> Target {
        let settings = &job.current.settings;
        let name = settings
            .model
            .as_deref()
            .or(document.model())
            .or(job.model.as_deref())
            .unwrap_or_default();
        let row = model::find(name);
        let traits = model::traits(name);
        let window = settings.window.or(row.map(|row| row.input_window as usize));
        let budget = settings.policy.budget(window);
        let cold = budget.window_tokens as f64 * settings.cold_prune_utilization;
        Target {
            name: name.to_owned(),
            rule: rule(job, traits, append_only),
            traits,
            prices: row.and_then(|row| row.prices.as_ref()),
            budget,
            cold: cold.round() as usize,
        }
    }

    fn estimator(&self) -> Estimator {
        Estimator::new(self.traits.family).with_factor(self.traits.token_factor)
    }
}

/// The rule of a request. Where reasoning is checked, the provider's own clearing is what cannot fail.
fn rule(job: &Job, traits: Traits, append_only: bool) -> RewriteRule {
    if append_only {
        return RewriteRule::AppendOnly;
    }
    let rule = job
        .current
        .settings
        .rewrite
        .unwrap_or(match traits.binding {
            Binding::Checked => RewriteRule::Delegate,
            Binding::No | Binding::SignsOnly => RewriteRule::Free,
        });
    match rule {
        // Only Anthropic's API can be told either.
        RewriteRule::Drop | RewriteRule::Delegate if job.kind != Kind::Messages => {
            RewriteRule::AppendOnly
        }
        rule => rule,
    }
}

fn rule_name(rule: RewriteRule) -> &'static str {
    match rule {
        RewriteRule::Free => "free",
        RewriteRule::Drop => "drop",
        RewriteRule::Delegate => "delegate",
        RewriteRule::AppendOnly => "append_only",
    }
}

fn format(kind: Kind) -> Option<Format> {
    match kind {
        Kind::Chat => Some(Format::OpenAiChat),
        Kind::Responses => Some(Format::OpenAiResponses),
        Kind::Messages | Kind::CountTokens => Some(Format::Anthropic),
        Kind::Gemini => Some(Format::Gemini),
        Kind::Other => None,
    }
}
