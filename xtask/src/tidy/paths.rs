//! What must not leave the machine: its own paths, and the data shared for measuring.
//! Deliberately learnt from the machine at run time; a list of paths here would be the thing it forbids.

use super::{File, Finding};
use anyhow::Context as _;
use std::collections::HashSet;
use std::path::Path;

/// A line of shared data this long, in bytes, is nobody's coincidence.
const TELLING_LINE: usize = 200;

/// Folders whose name in a committed file would tell of this machine.
pub(super) fn machine(root: &Path, shared: &Path) -> Vec<String> {
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from);
    let shared = shared.canonicalize().ok();
    [Some(root.to_path_buf()), home, shared]
        .into_iter()
        .flatten()
        .map(|folder| folder.to_string_lossy().trim_end_matches('/').to_owned())
        // `/` and the like are everywhere and tell nothing.
        .filter(|folder| folder.len() > 3)
        .collect()
}

/// Names of this machine's folders in any file, data included.
pub(super) fn check(files: &[File], machine: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let text = String::from_utf8_lossy(&file.bytes);
        for (number, line) in text.lines().enumerate() {
            for folder in machine {
                let ends = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric());
                // `</root>` is a tag that clients write, not a folder.
                let found = line.match_indices(folder.as_str()).any(|(start, _)| {
                    ends(&line[start + folder.len()..]) && !line[..start].ends_with('<')
                });
                if found {
                    findings.push(Finding::new(
                        &file.path,
                        number + 1,
                        format!(
                            "{folder} is a folder of this machine: use a relative or a made-up path"
                        ),
                    ));
                }
            }
        }
    }
    findings
}

/// Files and long lines that are copies from the shared data. Without that folder nothing is checked.
pub(super) fn check_shared(files: &[File], shared: &Path) -> anyhow::Result<Vec<Finding>> {
    let mut originals = Vec::new();
    if shared.is_dir() {
        read_all(shared, &mut originals)
            .with_context(|| format!("failed to read {}", shared.display()))?;
    }
    Ok(copies(files, &originals))
}

fn copies(files: &[File], originals: &[Vec<u8>]) -> Vec<Finding> {
    let whole: HashSet<&[u8]> = originals.iter().map(Vec::as_slice).collect();
    let lines: HashSet<&[u8]> = originals
        .iter()
        .flat_map(|bytes| telling(bytes))
        .map(|(_, line)| line)
        .collect();
    let mut findings = Vec::new();
    for file in files {
        let copied = if !file.bytes.is_empty() && whole.contains(file.bytes.as_slice()) {
            Some(1)
        } else {
            telling(&file.bytes)
                .find(|(_, line)| lines.contains(line))
                .map(|(number, _)| number)
        };
        if let Some(line) = copied {
            findings.push(Finding::new(
                &file.path,
                line,
                "copied from the shared data, which is never committed: record or generate your own",
            ));
        }
    }
    findings
}

/// Long lines with their numbers, from 1.
fn telling(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    bytes
        .split(|byte| *byte == b'\n')
        .enumerate()
        .map(|(number, line)| (number + 1, line.trim_ascii()))
        .filter(|(_, line)| line.len() >= TELLING_LINE)
}

fn read_all(folder: &Path, into: &mut Vec<Vec<u8>>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_all(&path, into)?;
        } else {
            into.push(std::fs::read(path)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    #[test]
    fn folders_of_this_machine_are_found() {
        let machine = ["/somewhere/ann".to_owned()];
        let files = [
            file("a.jsonl", "{\"cwd\": \"/somewhere/ann/repo\"}\n"),
            file("b.md", "\nsee /somewhere/ann\n"),
            file("c.md", "/somewhere/annex and /elsewhere\n"),
            file("d.md", "a tag: <somewhere></somewhere/ann>\n"),
        ];
        let found = check(&files, &machine);
        assert_eq!(found.len(), 2, "{found:#?}");
        assert!(
            found[0]
                .to_string()
                .starts_with("a.jsonl:1: /somewhere/ann is")
        );
        assert!(found[1].to_string().starts_with("b.md:2: "));
    }

    #[test]
    fn copies_of_shared_data_are_found() {
        let long = "x".repeat(TELLING_LINE);
        let originals = [
            format!("short\n{long}\n").into_bytes(),
            b"small file".to_vec(),
        ];
        let files = [
            file("a.json", "small file"),
            file("b.jsonl", &format!("mine\n  {long}\r\n")),
            file("c.jsonl", &format!("short\n{long}x\n")),
        ];
        let found = copies(&files, &originals);
        assert_eq!(found.len(), 2, "{found:#?}");
        assert!(found[0].to_string().starts_with("a.json:1: copied"));
        assert!(found[1].to_string().starts_with("b.jsonl:2: copied"));
    }
}
