//! Keeping what a prune takes out: the original goes to the store before anything pruned leaves.
//! Deliberately in this order: written aside, kept, put in place. Whatever fails, the file is as before.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use neenee_store::file::FileProjection;
use neenee_store::{Counts, NewSession, Origin, SessionStore, StoreError};

use super::project::Report;
use crate::error::Failure;
use crate::output::Aside;
use crate::store::path_name;

/// Where originals are kept.
pub(super) struct Keeper {
    /// The store.
    pub(super) store: SessionStore,
    /// The session's name; `None` names it by the file's path.
    pub(super) session: Option<String>,
}

impl Keeper {
    /// Keeps `before`; returns the session's name.
    pub(super) fn keep(
        &self,
        path: Option<&Path>,
        before: &[u8],
        after: &[u8],
        report: &Report,
    ) -> Result<String> {
        let place = path.map_or_else(|| "stdin".to_owned(), path_name);
        let name = self.session.clone().unwrap_or_else(|| place.clone());
        let mut session = self.session(&name)?;
        let counts = |chars, tokens| Counts {
            messages: report.messages,
            chars,
            tokens,
        };
        let (chars, tokens) = (report.chars, report.tokens);
        self.store
            .commit_file_projection(
                &mut session,
                &FileProjection {
                    path: &place,
                    format: report.format.name(),
                    before,
                    after,
                    cause: "neenee prune",
                    results: &report.changed,
                    counts_before: counts(chars, tokens),
                    counts_after: counts(
                        chars.saturating_sub(report.plan.reclaimed_chars),
                        tokens.saturating_sub(report.plan.reclaimed_tokens),
                    ),
                },
            )
            .with_context(|| format!("failed to keep the original of {place}"))?;
        Ok(name)
    }

    fn session(&self, name: &str) -> Result<neenee_store::Session> {
        let info = match self.store.find(name) {
            Ok(info) => info,
            Err(StoreError::NoSuchSession(_)) => {
                return Ok(self.store.create(NewSession {
                    name: Some(name.to_owned()),
                    ..NewSession::new(Origin::File)
                })?);
            }
            Err(error) => return Err(error.into()),
        };
        if info.origin != Origin::File {
            return Err(Failure::new(format!(
                "failed to keep the original in session {name}: it is one of {} and holds no files",
                info.origin
            ))
            .fix("choose another name with --session NAME")
            .into());
        }
        Ok(self.store.resume(&info.id.to_string())?)
    }

    /// Replaces the file by its pruned form, the original kept.
    pub(super) fn replace(
        &self,
        path: &Path,
        before: &[u8],
        after: &[u8],
        report: &Report,
    ) -> Result<String> {
        let aside = Aside::write(path, after)?;
        let name = self.keep(Some(path), before, after, report)?;
        let now = fs::read(path)
            .with_context(|| format!("failed to read {} once more", path.display()))?;
        if now != before {
            return Err(Failure::new(format!(
                "failed to replace {}: it was written to while it was pruned",
                path.display()
            ))
            .fix("let the agent finish or end it, then prune again; the file is as the agent left it")
            .into());
        }
        aside.put()?;
        Ok(name)
    }
}
