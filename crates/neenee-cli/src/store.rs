//! The session store of this user: where it is, and what people call its sessions.
//! Deliberately opened only by commands that need it, so that the others leave no trace.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use neenee_store::location::Location;
use neenee_store::{SessionInfo, SessionStore, StoreError};

use crate::error::Failure;
use crate::settings::Settings;

/// Opens the store that the configuration names, else the user's.
pub(crate) fn open(settings: &Settings) -> Result<SessionStore> {
    let location = match settings.store() {
        Some(location) => location,
        None => Location::Folder(
            default_folder(|name| env::var_os(name), env::home_dir()).ok_or_else(|| {
                Failure::new("failed to find a place for sessions: there is no home folder")
                    .fix("name a folder with NEENEE_STORE=FOLDER")
            })?,
        ),
    };
    Ok(SessionStore::open(&location)?)
}

/// `$XDG_DATA_HOME/neenee/sessions` or `~/.local/share/neenee/sessions`, on macOS as well; on Windows
/// `%LOCALAPPDATA%\neenee\sessions`.
fn default_folder(
    variable: impl Fn(&str) -> Option<OsString>,
    home: Option<PathBuf>,
) -> Option<PathBuf> {
    let folder = |name| {
        // The XDG specification says to ignore relative ones.
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let configured = folder("XDG_DATA_HOME");
    let base = if cfg!(windows) {
        configured.or_else(|| folder("LOCALAPPDATA"))
    } else {
        configured.or_else(|| home.map(|home| home.join(".local/share")))
    };
    base.map(|base| base.join("neenee").join("sessions"))
}

/// The session that `reference` means: a name, an id, the beginning of an id, or the path of a file
/// that was pruned in place.
pub(crate) fn find(store: &SessionStore, reference: &str) -> Result<SessionInfo> {
    match store.find(reference) {
        Err(StoreError::NoSuchSession(_)) => {
            let path = path_name(Path::new(reference));
            match store.find(&path) {
                Ok(session) => Ok(session),
                Err(StoreError::NoSuchSession(_)) => {
                    Err(StoreError::NoSuchSession(reference.to_owned()).into())
                }
                Err(error) => Err(error.into()),
            }
        }
        found => Ok(found?),
    }
}

/// The name of the session of a file: its path, links followed as far as they are there.
pub(crate) fn path_name(path: &Path) -> String {
    let whole = std::fs::canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned());
    whole.to_string_lossy().into_owned()
}

/// Runs `work` on a writer of the session, which is given back afterwards.
pub(crate) fn with_writer<T>(
    store: &SessionStore,
    session: &SessionInfo,
    work: impl FnOnce(&mut neenee_store::Session) -> Result<T, StoreError>,
) -> Result<T> {
    let mut writer = store.resume(&session.id.to_string())?;
    work(&mut writer).with_context(|| format!("failed to write session {}", session.label()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn the_user_s_data_folder_is_found() {
        let home = Some(PathBuf::from("/home/a"));
        for (xdg, expected) in [
            (None, "/home/a/.local/share/neenee/sessions"),
            (Some("/x"), "/x/neenee/sessions"),
            (Some("relative"), "/home/a/.local/share/neenee/sessions"),
        ] {
            let found = default_folder(
                |name| (name == "XDG_DATA_HOME").then(|| xdg.map(OsString::from))?,
                home.clone(),
            );
            assert_eq!(found, Some(PathBuf::from(expected)));
        }
        assert_eq!(default_folder(|_| None, None), None);
    }
}
