//! Where what a proxy says about requests goes.
//! Deliberately no levels and no format: each line is about one request that was not as it should be.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result};
use neenee_proxy::Log;

use crate::output;

/// To stderr.
#[derive(Debug)]
pub(super) struct ToStderr;

impl Log for ToStderr {
    fn line(&self, line: &str) {
        output::note(line);
    }
}

/// To the end of a file.
#[derive(Debug)]
pub(super) struct ToFile(Mutex<File>);

impl ToFile {
    pub(super) fn open(path: &Path) -> Result<ToFile> {
        let file = File::options().create(true).append(true).open(path);
        file.map(|file| ToFile(Mutex::new(file)))
            .with_context(|| format!("failed to write {}", path.display()))
    }
}

impl Log for ToFile {
    fn line(&self, line: &str) {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A full disk is no reason to stop serving.
        let _ = writeln!(file, "{line}");
    }
}
