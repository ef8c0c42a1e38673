//! The archive in a folder: what is kept is found again, after a crash and by others too.
//! Deliberately over its files: damage is done to the bytes.

use std::fs;
use std::io::Write as _;

use neenee_proxy::archive::{DegradedResult, Node, Original, Projection, ResultKey};
use neenee_proxy::{Archive as _, ArchiveError, FileArchive};

fn projection(node: u8, keys: &[u8]) -> Projection {
    Projection {
        conversation: "c".to_owned(),
        node: Node([node; 16]),
        at: i64::from(node),
        model: "m".to_owned(),
        trigger: "threshold".to_owned(),
        drops_reasoning: false,
        results: keys
            .iter()
            .map(|&key| DegradedResult {
                key: ResultKey([key; 16]),
                call_id: Some(format!("call_{key}")),
                tool: "Read".to_owned(),
                label: "Read a.rs".to_owned(),
                reason: "large".to_owned(),
                truncated: true,
                lines: Some(3),
                original_chars: Some(9_000),
                chars: (9_000, 1_000),
                tokens: (2_000, 300),
                text: format!("short {key}"),
            })
            .collect(),
    }
}

fn keep(archive: &FileArchive, node: u8, keys: &[u8]) -> Projection {
    let projection = projection(node, keys);
    let contents: Vec<String> = keys.iter().map(|key| format!("\"long {key}\"")).collect();
    let originals: Vec<Original<'_>> = keys
        .iter()
        .zip(&contents)
        .map(|(&key, content)| Original {
            key: ResultKey([key; 16]),
            content: content.as_bytes(),
        })
        .collect();
    archive.record(&projection, &originals).unwrap();
    projection
}

fn original(archive: &FileArchive, key: u8) -> Option<String> {
    let found = archive.original("c", ResultKey([key; 16])).unwrap();
    found.map(|bytes| String::from_utf8(bytes).unwrap())
}

#[test]
fn projections_are_found_by_their_nodes_and_originals_by_their_keys() {
    let folder = tempfile::tempdir().unwrap();
    let archive = FileArchive::open(folder.path()).unwrap();
    let second = keep(&archive, 2, &[3]);
    let first = keep(&archive, 1, &[1, 2]);
    for archive in [archive, FileArchive::open(folder.path()).unwrap()] {
        let nodes = [Node([9; 16]), Node([1; 16]), Node([2; 16])];
        let found = archive.restore(&nodes).unwrap();
        assert_eq!(found, [first.clone(), second.clone()], "the oldest first");
        assert_eq!(archive.restore(&nodes[..1]).unwrap(), []);
        assert_eq!(original(&archive, 2).unwrap(), "\"long 2\"");
        assert_eq!(original(&archive, 7), None);
    }
}

#[test]
fn the_same_content_is_kept_once() {
    let folder = tempfile::tempdir().unwrap();
    let archive = FileArchive::open(folder.path()).unwrap();
    let large = vec![b'x'; 100_000];
    for node in 0..10 {
        let original = Original {
            key: ResultKey([1; 16]),
            content: &large,
        };
        archive
            .record(&projection(node, &[1]), &[original])
            .unwrap();
    }
    let size = fs::metadata(folder.path().join("archive-000.log"))
        .unwrap()
        .len();
    assert!(size < 120_000, "{size}");
}

#[test]
fn what_a_crash_left_half_written_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive-000.log");
    let first = {
        let archive = FileArchive::open(folder.path()).unwrap();
        keep(&archive, 1, &[1])
    };
    let whole = fs::read(&path).unwrap();
    {
        let archive = FileArchive::open(folder.path()).unwrap();
        keep(&archive, 2, &[2]);
    }
    let both = fs::read(&path).unwrap();
    // Every length that the second batch may have reached, and one that was filled with zeros.
    let mut left: Vec<Vec<u8>> = (whole.len()..both.len())
        .step_by(7)
        .map(|end| both[..end].to_vec())
        .collect();
    left.push([&whole[..], &vec![0; both.len() - whole.len()][..]].concat());
    for bytes in left {
        fs::write(&path, &bytes).unwrap();
        let archive = FileArchive::open(folder.path()).unwrap();
        let found = archive.restore(&[Node([1; 16])]).unwrap();
        assert_eq!(found, std::slice::from_ref(&first));
        assert_eq!(archive.restore(&[Node([2; 16])]).unwrap(), []);
        assert_eq!(original(&archive, 1).unwrap(), "\"long 1\"");
        // And it goes on behind what is whole.
        let third = keep(&archive, 3, &[3]);
        drop(archive);
        let archive = FileArchive::open(folder.path()).unwrap();
        assert_eq!(archive.restore(&[Node([3; 16])]).unwrap(), [third]);
    }
}

#[test]
fn damage_is_noticed_when_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive-000.log");
    let archive = FileArchive::open(folder.path()).unwrap();
    keep(&archive, 1, &[1]);
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes
        .windows(6)
        .position(|window| window == b"long 1")
        .unwrap();
    bytes[at] ^= 1;
    // In place, as a disk does it.
    let mut file = fs::File::options().write(true).open(&path).unwrap();
    file.write_all(&bytes).unwrap();
    let error = archive.original("c", ResultKey([1; 16])).unwrap_err();
    assert!(matches!(error, ArchiveError::Damaged(_)), "{error}");
}

#[test]
fn several_write_files_of_their_own_in_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let one = FileArchive::open(folder.path()).unwrap();
    let kept = keep(&one, 1, &[1]);
    let other = FileArchive::open(folder.path()).unwrap();
    assert_eq!(other.restore(&[Node([1; 16])]).unwrap(), [kept]);
    keep(&other, 2, &[2]);
    keep(&one, 3, &[3]);
    assert!(folder.path().join("archive-001.log").exists());
    assert_eq!(original(&other, 1).unwrap(), "\"long 1\"");
    drop((one, other));
    let all = FileArchive::open(folder.path()).unwrap();
    let nodes = [1, 2, 3].map(|node| Node([node; 16]));
    assert_eq!(all.restore(&nodes).unwrap().len(), 3);
}

#[cfg(unix)]
#[test]
fn it_is_readable_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("new/archive");
    let archive = FileArchive::open(&inside).unwrap();
    keep(&archive, 1, &[1]);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&inside), 0o700);
    assert_eq!(mode(&inside.join("archive-000.log")), 0o600);
}
