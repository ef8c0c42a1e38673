//! A policy file and its bound: what a team's CI holds itself to.
//! Deliberately strict: an unknown key is an error, since a check that checks nothing is worse than none.

use std::path::Path;

use anyhow::{Context as _, Result};
use neenee_replay::{Corpus, Params, Spec};
use serde::Deserialize;

use crate::error::CheckFailed;
use crate::error::Failure;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyFile {
    policy: String,
    window: Option<usize>,
    #[serde(default)]
    set: toml::Table,
}

/// The window and the policy of a policy file.
pub(super) fn read(path: &Path) -> Result<(Option<usize>, Spec)> {
    let context = || format!("failed to read {}", path.display());
    let text = std::fs::read_to_string(path).with_context(context)?;
    let file: PolicyFile = toml::from_str(&text).with_context(context)?;
    let mut params = Params::default();
    for (key, value) in &file.set {
        match value {
            toml::Value::String(text) => params.set(key, text),
            value => params.set(key, &value.to_string()),
        }
    }
    Ok((
        file.window,
        Spec {
            policy: file.policy,
            params,
        },
    ))
}

/// Fails when more than `most` of the needed chars was missed at any window.
pub(super) fn hold(sums: &[Corpus], most: f64) -> Result<()> {
    if sums.iter().all(|sum| sum.totals.requests == 0) {
        return Err(
            Failure::new("failed to check: no session comes over the trigger")
                .fix("name longer sessions, or a smaller window with --window N")
                .into(),
        );
    }
    for sum in sums {
        let missed = sum.totals.missed_fraction();
        if missed > most {
            return Err(CheckFailed(format!(
                "{} misses {:.2}% of what was needed at a window of {} tokens; at most {:.2}% may be",
                sum.policy,
                missed * 100.0,
                sum.window,
                most * 100.0
            ))
            .into());
        }
    }
    Ok(())
}
