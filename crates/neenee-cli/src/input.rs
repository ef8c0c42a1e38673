//! Inputs: files and stdin, read whole, once.
//! Deliberately knows no format; what the bytes mean is `neenee-wire`'s.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::error::Failure;
use crate::render::text::plain;

/// Where a session comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// `-`.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Input {
    /// The inputs that the arguments name.
    ///
    /// # Errors
    /// When stdin is named twice: there is only one.
    pub(crate) fn all(arguments: &[PathBuf]) -> Result<Vec<Input>> {
        let inputs: Vec<Input> = arguments
            .iter()
            .map(|argument| Input::new(argument))
            .collect();
        if inputs
            .iter()
            .filter(|input| **input == Input::Stdin)
            .count()
            > 1
        {
            return Err(Failure::new("failed to read stdin: `-` is named twice")
                .fix("name it once")
                .into());
        }
        Ok(inputs)
    }

    fn new(argument: &Path) -> Input {
        if argument.as_os_str() == OsStr::new("-") {
            Input::Stdin
        } else {
            Input::File(argument.to_owned())
        }
    }

    /// The file, where it is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Input::Stdin => None,
            Input::File(path) => Some(path),
        }
    }

    /// The name for people.
    pub(crate) fn name(&self) -> String {
        match self {
            Input::Stdin => "stdin".to_owned(),
            Input::File(path) => plain(&path.to_string_lossy()),
        }
    }

    /// The size in bytes, where it is known before reading.
    pub(crate) fn size(&self) -> u64 {
        self.path()
            .and_then(|path| fs::metadata(path).ok())
            .map_or(0, |metadata| metadata.len())
    }

    /// All of its bytes.
    pub(crate) fn load(&self) -> Result<Vec<u8>> {
        match self {
            Input::Stdin => {
                let mut bytes = Vec::new();
                io::stdin()
                    .lock()
                    .read_to_end(&mut bytes)
                    .context("failed to read stdin")?;
                Ok(bytes)
            }
            Input::File(path) if path.is_dir() => Err(Failure::new(format!(
                "failed to read {}: expected a file, found a folder",
                self.name()
            ))
            .fix("name the session files in it")
            .into()),
            Input::File(path) => {
                fs::read(path).with_context(|| format!("failed to read {}", self.name()))
            }
        }
    }
}
