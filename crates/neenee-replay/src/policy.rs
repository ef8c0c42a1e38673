//! Policies: who decides what leaves the window, and when. Ours, those of other systems, the limits.
//! Deliberately small: each file is what one system does, with its defaults and where they are from.

mod cache_aware;
mod dedupe;
mod keep_last;
mod langchain;
mod mask_last;
mod none;
mod openclaw;
mod opencode;
mod oracle;
mod ours;
mod planned;
mod stop_at_target;

use neenee_core::pressure::view::View;

use crate::ground::Ground;
use crate::params::{ParamError, Params, Reading};
use crate::recording::Recording;
use crate::window::{Edit, Window};

/// Projects a window. What it takes out stays out.
pub trait Policy: Send {
    /// Takes note of the next view of the conversation, as it was recorded.
    fn see(&mut self, view: &View<'_>) {
        let _ = view;
    }

    /// What to take out before the request that is about to be sent.
    fn project(&mut self, window: &Window<'_, '_>) -> Vec<Edit>;
}

/// A policy by name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    build: Build,
}

type Build = for<'r> fn(
    &Reading<'_>,
    &Ground,
    &'r Recording<'_>,
) -> Result<Box<dyn Policy + 'r>, ParamError>;

/// All policies, in the order in which they are compared.
pub const ALL: &[Entry] = &[
    none::ENTRY,
    ours::ENTRY,
    cache_aware::ENTRY,
    keep_last::ENTRY,
    langchain::ENTRY,
    mask_last::ENTRY,
    opencode::ENTRY,
    openclaw::ENTRY,
    stop_at_target::ENTRY,
    dedupe::ENTRY,
    oracle::ENTRY,
];

/// The policy of that name, for one run over one recording.
///
/// # Errors
/// When there is no such policy, or it has no such parameter, or a value does not fit.
pub fn build<'r>(
    name: &str,
    params: &Params,
    ground: &Ground,
    recording: &'r Recording<'_>,
) -> Result<Box<dyn Policy + 'r>, ParamError> {
    let entry = ALL.iter().find(|entry| entry.name == name);
    let entry = entry.ok_or_else(|| ParamError::Policy {
        name: name.to_owned(),
        valid: ALL.iter().map(|entry| entry.name).collect(),
    })?;
    let reading = params.read();
    let policy = (entry.build)(&reading, ground, recording)?;
    reading.finish()?;
    Ok(policy)
}

/// That a policy of that name can be built with these parameters.
///
/// # Errors
/// As those of [`build`].
pub fn check(name: &str, params: &Params) -> Result<(), ParamError> {
    build(name, params, &Ground::new(1), &Recording::empty()).map(|_| ())
}

/// A threshold that other systems fix in tokens, whatever the model: one that the window never
/// reaches is lowered to where ours engages, as a user of a small model would have to.
fn threshold(ground: &Ground, tokens: usize) -> usize {
    tokens.min(ground.budget().prune_threshold_tokens)
}
