//! The command as a user runs it: the built binary on files of this repository and on made ones.
//! Deliberately no unit tests: those stand beside the code.

mod config;
mod inspect;
#[cfg(unix)]
mod proxy;
mod prune;
mod replay;
mod sessions;

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::TempDir;

/// A folder of its own, so that no configuration of the machine is read.
pub(crate) struct Bed {
    folder: TempDir,
}

impl Bed {
    pub(crate) fn new() -> Self {
        Bed {
            folder: TempDir::new().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    pub(crate) fn neenee(&self, args: &[&str]) -> Command {
        let mut command = Command::cargo_bin("neenee").unwrap();
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.path("config"))
            .args(args);
        command
    }

    /// Runs it and returns what it printed, when it ended as expected.
    #[track_caller]
    pub(crate) fn run(&self, args: &[&str], code: i32) -> (String, String) {
        let output = self.neenee(args).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{args:?}\n{err}");
        (out, err)
    }
}

/// A recording of this repository.
pub(crate) fn recorded(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/recorded");
    folder.join(name).to_str().unwrap().to_owned()
}
