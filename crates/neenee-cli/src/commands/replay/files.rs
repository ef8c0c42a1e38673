//! Which files are replayed: those that are named, and all in folders that are named.
//! Deliberately by name order, so that halves of a corpus are the same everywhere.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::input::Input;

/// A file, and whether it was named itself.
pub(super) struct Found {
    pub(super) input: Input,
    pub(super) named: bool,
}

/// The files of the arguments, folders walked to the bottom. Hidden files are left out.
pub(super) fn all(arguments: &[PathBuf]) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for argument in arguments {
        if argument.is_dir() {
            let mut files = Vec::new();
            walk(argument, &mut files)?;
            files.sort();
            for input in Input::all(&files)? {
                found.push(Found {
                    input,
                    named: false,
                });
            }
        } else {
            for input in Input::all(std::slice::from_ref(argument))? {
                found.push(Found { input, named: true });
            }
        }
    }
    Ok(found)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let context = || format!("failed to read the folder {}", folder.display());
    for entry in std::fs::read_dir(folder).with_context(context)? {
        let entry = entry.with_context(context)?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        // What a link points to is walked where it is, if at all: links can go round.
        let kind = entry.file_type().with_context(context)?;
        if kind.is_dir() && !hidden {
            walk(&entry.path(), files)?;
        } else if kind.is_file() && !hidden {
            files.push(entry.path());
        }
    }
    Ok(())
}
