//! Outputs: stdout, messages on stderr, and files that appear whole or not at all.
//! Deliberately never over an input: that is refused before anything is read.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::error::Failure;

/// Writes to stdout. A reader that has gone away is an error like any other here; `error::report`
/// keeps quiet about it.
pub(crate) fn stdout(bytes: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(bytes)
        .and_then(|()| stdout.flush())
        .context("failed to write to stdout")
}

/// Writes a line to stderr. That nobody can read it is no reason to fail.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes a file whole: aside, to the disk, then renamed to its place. What stood there before stays
/// until then, and whatever fails leaves no trace.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    Aside::write(path, bytes)?.put()
}

/// A file that is written and not in its place yet.
pub(crate) struct Aside {
    place: PathBuf,
    /// `None` when it went straight to a pipe or a device.
    written: Option<(tempfile::NamedTempFile, PathBuf)>,
}

impl Aside {
    /// Writes the bytes beside their place, on the disk.
    pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<Self> {
        let written = write_aside(path, bytes)
            .with_context(|| format!("failed to write {}", path.display()))?;
        Ok(Aside {
            place: path.to_owned(),
            written,
        })
    }

    /// Puts the file in its place.
    pub(crate) fn put(self) -> Result<()> {
        let Some((aside, target)) = self.written else {
            return Ok(());
        };
        let put = aside.persist(&target).map_err(|error| error.error);
        put.with_context(|| format!("failed to write {}", self.place.display()))?;
        sync_folder(folder_of(&target));
        Ok(())
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn write_aside(
    path: &Path,
    bytes: &[u8],
) -> io::Result<Option<(tempfile::NamedTempFile, PathBuf)>> {
    // A link stays a link; what it points to is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let before = fs::metadata(&target).ok();
    if before.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        // A pipe or a device has no "aside", and renaming over it would take it away.
        File::options()
            .write(true)
            .open(&target)?
            .write_all(bytes)?;
        return Ok(None);
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".neenee-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // Of a new file the user's mask decides, as with any other.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut aside = builder.tempfile_in(folder_of(&target))?;
    aside.write_all(bytes)?;
    if let Some(metadata) = before {
        fs::set_permissions(aside.path(), metadata.permissions())?;
    }
    aside.as_file().sync_all()?;
    Ok(Some((aside, target)))
}

/// Makes the new name durable where the system can. The content is on the disk already, so that a
/// file system which cannot is no reason to fail.
fn sync_folder(folder: &Path) {
    #[cfg(unix)]
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    #[cfg(not(unix))]
    let _ = folder;
}

/// Refuses an output that is an input by any name: the same path, a link to it, a hard link.
pub(crate) fn refuse_inputs<'a>(
    output: &Path,
    mut inputs: impl Iterator<Item = &'a Path>,
) -> Result<()> {
    let Some(identity) = Identity::of(output) else {
        return Ok(());
    };
    match inputs.find(|input| Identity::of(input).as_ref() == Some(&identity)) {
        None => Ok(()),
        Some(input) => Err(Failure::new(format!(
            "failed to write {}: it is the input {}",
            output.display(),
            input.display()
        ))
        .fix("choose another file, or prune it with --in-place, which keeps the original in the store")
        .into()),
    }
}

/// What makes two names one file.
#[derive(PartialEq, Eq)]
enum Identity {
    #[cfg(unix)]
    Node(u64, u64),
    #[cfg(not(unix))]
    Path(PathBuf),
}

impl Identity {
    #[cfg(unix)]
    fn of(path: &Path) -> Option<Identity> {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = fs::metadata(path).ok()?;
        metadata
            .is_file()
            .then(|| Identity::Node(metadata.dev(), metadata.ino()))
    }

    #[cfg(not(unix))]
    fn of(path: &Path) -> Option<Identity> {
        fs::canonicalize(path).ok().map(Identity::Path)
    }
}

/// Where the output of `input` goes in `folder`: under its own name.
pub(crate) fn in_folder(folder: &Path, input: &Path) -> Result<PathBuf> {
    match input.file_name() {
        Some(name) => Ok(folder.join(name)),
        None => Err(Failure::new(format!(
            "failed to read {}: expected a file, found a folder",
            input.display()
        ))
        .fix("name the session files in it")
        .into()),
    }
}

/// Writes a value to stdout as one line of JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<()> {
    let mut line = serde_json::to_vec(value).context("failed to write JSON")?;
    line.push(b'\n');
    stdout(&line)
}
