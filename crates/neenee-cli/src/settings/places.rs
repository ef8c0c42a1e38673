//! Where configuration files are: the user's folder, and the project's root by walking up.
//! Deliberately two files at most, so that anyone can say which file a value came from.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// The file of a project.
pub(crate) const PROJECT_FILE: &str = "neenee.toml";

/// The files of both layers, whether or not they are there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// The user's.
    pub(crate) user: Option<PathBuf>,
    /// The project's: the nearest one from the working directory upwards.
    pub(crate) project: Option<PathBuf>,
}

/// A file that is looked for.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Whose it is.
    pub(crate) layer: &'static str,
    /// Where it is or would be.
    pub(crate) path: PathBuf,
    /// Whether it is there.
    pub(crate) exists: bool,
}

impl Places {
    /// The places on this machine, as seen from the working directory.
    pub(crate) fn here() -> Self {
        let here = env::current_dir().ok();
        Places {
            user: user_file(|name| env::var_os(name), env::home_dir()),
            project: here.as_deref().and_then(project_file),
        }
    }

    /// The weakest first.
    pub(super) fn in_order(&self) -> Vec<Place> {
        let place = |layer, path: &Option<PathBuf>| {
            path.clone().map(|path| Place {
                layer,
                exists: path.is_file(),
                path,
            })
        };
        [place("user", &self.user), place("project", &self.project)]
            .into_iter()
            .flatten()
            .collect()
    }
}

impl Place {
    /// The file's text; `None` when there is no such file.
    pub(super) fn read(&self) -> Result<Option<String>> {
        match std::fs::read_to_string(&self.path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                Err(error).with_context(|| format!("failed to read {}", self.path.display()))
            }
        }
    }
}

/// `$XDG_CONFIG_HOME/neenee/config.toml` or `~/.config/neenee/config.toml`, on macOS as well: that is
/// where people look for the files of command-line tools. On Windows `%APPDATA%\neenee\config.toml`.
fn user_file(
    variable: impl Fn(&str) -> Option<OsString>,
    home: Option<PathBuf>,
) -> Option<PathBuf> {
    let folder = |name| {
        // The XDG specification says to ignore relative ones.
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let configured = folder("XDG_CONFIG_HOME");
    let base = if cfg!(windows) {
        configured.or_else(|| folder("APPDATA"))
    } else {
        configured.or_else(|| home.map(|home| home.join(".config")))
    };
    base.map(|base| base.join("neenee").join("config.toml"))
}

fn project_file(from: &Path) -> Option<PathBuf> {
    from.ancestors()
        .map(|folder| folder.join(PROJECT_FILE))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn the_user_s_folder_is_found() {
        let home = Some(PathBuf::from("/home/a"));
        for (xdg, expected) in [
            (None, "/home/a/.config/neenee/config.toml"),
            (Some("/x"), "/x/neenee/config.toml"),
            (Some("relative"), "/home/a/.config/neenee/config.toml"),
            (Some(""), "/home/a/.config/neenee/config.toml"),
        ] {
            let found = user_file(
                |name| (name == "XDG_CONFIG_HOME").then(|| xdg.map(OsString::from))?,
                home.clone(),
            );
            assert_eq!(found, Some(PathBuf::from(expected)));
        }
        assert_eq!(user_file(|_| None, None), None);
    }

    #[test]
    fn the_nearest_project_file_is_found_upwards() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("a/b");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(root.path().join(PROJECT_FILE), "").unwrap();
        assert_eq!(project_file(&deep), Some(root.path().join(PROJECT_FILE)));
        std::fs::write(root.path().join("a").join(PROJECT_FILE), "").unwrap();
        assert_eq!(
            project_file(&deep),
            Some(root.path().join("a").join(PROJECT_FILE))
        );
    }
}
