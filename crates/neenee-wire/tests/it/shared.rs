//! Every real session of every format that is read, when the shared data is there.
//! Deliberately asserts nothing about a single file: what a file holds is checked by its format's tests.

use std::path::{Path, PathBuf};

use neenee_wire::Format;

use crate::check;

/// The folder of real sessions; `None`, said aloud, when it is absent and need not be there.
pub(crate) fn sessions() -> Option<PathBuf> {
    let data = std::env::var_os("NEENEE_SHARED_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let sessions = data.join("sessions");
    if sessions.is_dir() {
        return Some(sessions);
    }
    assert!(
        std::env::var_os("NEENEE_REQUIRE_SHARED_DATA").is_none_or(|value| value != "1"),
        "no real sessions in {}",
        sessions.display()
    );
    eprintln!("skipped: no real sessions in {}", sessions.display());
    None
}

/// The files of one format's folder, sorted.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
}

#[test]
fn every_real_session_reads_and_splices() {
    let Some(sessions) = sessions() else { return };
    for format in Format::all() {
        for file in files(&sessions.join(format.name())) {
            let bytes = std::fs::read(&file).unwrap();
            println!("{}", file.display());
            check::splices(&bytes, format);
            let document = check::read(&bytes, format);
            // A session that ends with its compaction has a summary for a window.
            let compacted = document
                .outside()
                .iter()
                .any(|outside| outside.what == "messages before the last compaction");
            assert!(
                compacted || !document.results().is_empty(),
                "no result in {}",
                file.display()
            );
        }
    }
}
