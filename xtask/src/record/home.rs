//! The neutral home that clients run in: made, filled with the shop, and removed again.
//! Deliberately a fixed path: it ends up in recorded files, and it must tell nothing of this machine.

use super::shop;
use anyhow::{Context as _, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What recorded files show as the home of the person.
pub(crate) const HOME: &str = "/home/dev";

/// The project of the person.
pub(crate) const PROJECT: &str = "/home/dev/shop";

/// A client that takes longer hangs: on a wrong event it retries for minutes.
const PATIENCE: Duration = Duration::from_secs(300);

/// The home while it exists; dropping it removes it.
pub(crate) struct Home {
    keep: bool,
}

impl Home {
    /// Makes an empty home with the shop in it. A home that somebody else made is left alone.
    ///
    /// # Errors
    /// When the folder exists, or cannot be written (it usually takes root, as in a container).
    pub(crate) fn make(keep: bool) -> anyhow::Result<Self> {
        if Path::new(HOME).exists() {
            bail!("{HOME} exists: recordings are made in a home of their own; move it away first");
        }
        let home = Self { keep };
        shop::write(Path::new(PROJECT))?;
        Ok(home)
    }

    /// Writes a file below the home.
    pub(crate) fn write(&self, path: &str, text: &str) -> anyhow::Result<()> {
        let full = Path::new(HOME).join(path);
        let parent = full.parent().unwrap_or(Path::new(HOME));
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&full, text))
            .with_context(|| format!("failed to write {}", full.display()))
    }

    /// The newest file below `folder` of the home whose path `accept` takes.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn newest(
        &self,
        folder: &str,
        accept: impl Fn(&str) -> bool,
    ) -> anyhow::Result<PathBuf> {
        let mut found = Vec::new();
        walk(&Path::new(HOME).join(folder), &mut found);
        let newest = found
            .into_iter()
            .filter(|(_, path)| accept(&path.to_string_lossy()))
            .max_by_key(|(time, _)| *time);
        newest.map(|(_, path)| path).with_context(|| {
            format!("failed to find the session: nothing fits below {HOME}/{folder}")
        })
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if !self.keep {
            // A leftover is reported by the next run, which refuses to start.
            let _ = std::fs::remove_dir_all(HOME);
        }
    }
}

/// A command in the project with a bare environment: nothing of this machine's is inherited.
pub(crate) fn command(binary: &Path) -> Command {
    let mut command = Command::new(binary);
    command
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", HOME)
        .env("USER", "dev")
        .env("LOGNAME", "dev")
        .env("SHELL", "/bin/bash")
        .env("LANG", "C.UTF-8")
        .env("TERM", "dumb")
        .env("NO_COLOR", "1")
        .env("NO_PROXY", "127.0.0.1")
        .current_dir(PROJECT)
        .stdin(Stdio::null());
    command
}

/// Runs to the end and gives standard output. It is written to a file, as a client may leave a
/// child behind that holds a pipe open for ever.
///
/// # Errors
/// When the command cannot be started, fails, or takes too long; with what it said.
pub(crate) fn run(mut command: Command) -> anyhow::Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let folder = std::env::temp_dir().join(format!("neenee-record-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (out, err) = (folder.join("stdout"), folder.join("stderr"));
    command
        .stdout(std::fs::File::create(&out)?)
        .stderr(std::fs::File::create(&err)?);
    let mut child = command
        .spawn()
        .with_context(|| format!("failed to start {name}"))?;
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if started.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let text = |path: &Path| {
        String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
    };
    let (said, complained) = (text(&out), text(&err));
    std::fs::remove_dir_all(&folder)?;
    match status {
        Some(status) if status.success() => Ok(said),
        Some(status) => bail!(
            "{name} failed ({status}): {}\n{}",
            said.trim(),
            complained.trim()
        ),
        None => bail!(
            "{name} took more than {} s\n{}",
            PATIENCE.as_secs(),
            complained.trim()
        ),
    }
}

fn walk(folder: &Path, found: &mut Vec<(std::time::SystemTime, PathBuf)>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        match entry.metadata() {
            Ok(meta) if meta.is_dir() => walk(&path, found),
            Ok(meta) => found.extend(meta.modified().map(|time| (time, path))),
            Err(_) => {}
        }
    }
}
