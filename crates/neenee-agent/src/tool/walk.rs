//! Files under a folder, as `grep`, `glob` and `list` see them.
//! Deliberately blind to what Git ignores and to `.git`, and follows no link.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use tokio_util::sync::CancellationToken;

/// Every file under `root`, in the order of their paths, until `each` says that it has enough.
pub(super) fn files(
    root: &Path,
    depth: Option<usize>,
    cancel: &CancellationToken,
    mut each: impl FnMut(&Path, bool) -> bool,
) -> Result<(), String> {
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .max_depth(depth)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_path(Path::cmp)
        .build();
    for entry in walk {
        if cancel.is_cancelled() {
            return Err("cancelled".to_owned());
        }
        // A folder that cannot be entered hides nothing else.
        let Ok(entry) = entry else { continue };
        let Some(kind) = entry.file_type() else {
            continue;
        };
        if entry.depth() == 0 && kind.is_dir() {
            continue;
        }
        if !each(entry.path(), kind.is_dir()) {
            break;
        }
    }
    Ok(())
}

/// A pattern over paths; one without a slash is about names, wherever they stand.
pub(super) fn matcher(pattern: &str) -> Result<GlobMatcher, String> {
    let anywhere = if pattern.contains('/') {
        pattern.trim_start_matches("./").to_owned()
    } else {
        format!("**/{pattern}")
    };
    GlobBuilder::new(&anywhere)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| format!("expected a glob, found `{pattern}`: {}", error.kind()))
}

/// The path below `root`, with slashes.
pub(super) fn below(root: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(root).unwrap_or(path).to_owned()
}
