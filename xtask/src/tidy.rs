//! `cargo xtask tidy`: the rules of the repository that no compiler checks, each finding with its fix.
//! Deliberately not a linter of code; rustfmt, clippy and rustdoc are.

mod arrows;
mod links;
mod paths;
mod source;

use anyhow::{Context as _, bail};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// No arguments: the workspace is the one the tool was built in.
#[derive(clap::Args)]
pub(crate) struct Args {}

/// Fails when there is any finding, after printing one line for each.
pub(crate) fn run(_: &Args) -> anyhow::Result<()> {
    let root = crate::workspace_root();
    let files = tracked_files(root)?;
    let packages = arrows::packages(root)?;

    let mut findings = arrows::check(&packages);
    for file in &files {
        findings.extend(source::check(file));
        findings.extend(links::check(file, &files));
    }
    findings.extend(paths::check(
        &files,
        &paths::machine(root, &crate::shared_data()),
    ));
    findings.extend(paths::check_shared(&files, &crate::shared_data())?);
    findings.sort();

    for finding in &findings {
        eprintln!("{finding}");
    }
    if !findings.is_empty() {
        bail!("the repository is untidy: {} findings", findings.len());
    }
    println!("tidy: {} crates, {} files", packages.len(), files.len());
    Ok(())
}

/// A file that is, or would be, committed.
struct File {
    /// Relative to the workspace, with `/`.
    path: String,
    bytes: Vec<u8>,
}

impl File {
    /// The content of a file that people write; `None` for data, which may hold anything.
    fn text(&self) -> Option<&str> {
        let written = [".rs", ".md", ".toml", ".sh", ".yml", ".yaml", ".sql"]
            .iter()
            .any(|ending| self.path.ends_with(ending))
            || self.path.starts_with(".ci/");
        if !written || is_data(&self.path) {
            return None;
        }
        std::str::from_utf8(&self.bytes).ok()
    }
}

/// What is wrong, where, and what to do about it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    /// From 1.
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Input of tests and recorded sessions: what is in them was not written for people to read.
fn is_data(path: &str) -> bool {
    path.starts_with("examples/")
        || path
            .split('/')
            .any(|part| matches!(part, "data" | "fixtures" | "corpus"))
}

/// Files that git tracks and new ones that it does not ignore, by path.
fn tracked_files(root: &Path) -> anyhow::Result<Vec<File>> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .output()
        .context("failed to run git ls-files")?;
    if !output.status.success() {
        bail!(
            "failed to list files: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let mut files = Vec::new();
    for path in output
        .stdout
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
    {
        let path = String::from_utf8_lossy(path).into_owned();
        let full: PathBuf = root.join(&path);
        // A file deleted but not yet staged is still listed.
        if full.is_file() {
            let bytes = std::fs::read(&full)
                .with_context(|| format!("failed to read {}", full.display()))?;
            files.push(File { path, bytes });
        }
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(files)
}

#[cfg(test)]
fn file(path: &str, text: &str) -> File {
    File {
        path: path.to_owned(),
        bytes: text.as_bytes().to_vec(),
    }
}
