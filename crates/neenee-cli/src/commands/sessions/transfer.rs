//! Export and import of sessions.
//! Deliberately through the same safe writes as every other output.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};

use anyhow::{Context as _, Result};
use neenee_store::SessionStore;

use crate::cli::{ExportArgs, ImportArgs};
use crate::output;
use crate::store;

pub(super) fn export(store: &SessionStore, args: &ExportArgs) -> Result<()> {
    let session = store::find(store, &args.session)?;
    match &args.output {
        None => {
            let mut out = io::BufWriter::new(io::stdout().lock());
            store.export(session.id, &mut out)?;
            out.flush().context("failed to write to stdout")
        }
        Some(path) => {
            let mut bytes = Vec::new();
            store.export(session.id, &mut bytes)?;
            output::write_whole(path, &bytes)
        }
    }
}

pub(super) fn import(store: &SessionStore, args: &ImportArgs) -> Result<()> {
    let name = args.file.display();
    let mut input: Box<dyn BufRead> = if args.file.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(&args.file).with_context(|| format!("failed to read {name}"))?;
        Box::new(BufReader::new(file))
    };
    let session = store
        .import(&mut input)
        .with_context(|| format!("failed to import {name}"))?;
    output::stdout(format!("{}\n", session.id).as_bytes())
}
