//! Files of other programs: pruned, and given back byte for byte.
//! Deliberately bytes of every kind, since the store does not know formats.

use neenee_store::file::{FileProjection, Side};
use neenee_store::{Counts, NewSession, Origin, Refusal, StoreError};

use crate::conversation::output;
use crate::setup::each;

fn projection<'a>(before: &'a [u8], after: &'a [u8], results: &'a [String]) -> FileProjection<'a> {
    FileProjection {
        path: "/home/u/größe 漢字/session.jsonl",
        format: "claude-code",
        before,
        after,
        cause: "asked for",
        results,
        counts_before: Counts::default(),
        counts_after: Counts::default(),
    }
}

#[test]
fn every_state_of_a_file_comes_back_byte_for_byte() {
    each(|place| {
        let mut session = place
            .store
            .create(NewSession::new(Origin::File))
            .expect("created");
        let mut file = output(1, 20_000).into_bytes();
        file.extend([0xff, 0, 0xc3, 0x28, b'\r', b'\n']);
        let mut states = Vec::new();
        for round in 0..4 {
            let before = file.clone();
            file.splice(
                round * 1000..round * 1000 + 90_000,
                *b"[cleared tool result: x]",
            );
            let ids = [format!("call_{round}")];
            let seq = place
                .store
                .commit_file_projection(&mut session, &projection(&before, &file, &ids))
                .expect("committed");
            states.push((seq, before, file.clone()));
            // The owner goes on writing.
            file.extend(output(round + 2, 500).into_bytes());
        }
        let id = session.id();
        let again = place.again();
        let first = again
            .file(id, None, Side::Before)
            .expect("read")
            .expect("there");
        assert_eq!(first.bytes, states[0].1, "the file as it came first");
        for (seq, before, after) in &states {
            for (side, bytes) in [(Side::Before, before), (Side::After, after)] {
                let found = again
                    .file(id, Some(*seq), side)
                    .expect("read")
                    .expect("there");
                assert!(found.bytes == *bytes, "event {seq}, {side:?}");
                assert_eq!(found.path, "/home/u/größe 漢字/session.jsonl");
                assert_eq!(found.format.as_deref(), Some("claude-code"));
            }
        }
        assert_eq!(again.file(id, Some(1), Side::Before).expect("read"), None);
        let usage = again.usage().expect("usage");
        assert!(
            usage.archived_bytes < states[0].1.len() as u64,
            "four states weigh less than one raw: {usage:?}"
        );
        again.verify(id).expect("sound");
    });
}

#[test]
fn a_prune_that_changes_nothing_is_no_event() {
    each(|place| {
        let mut session = place
            .store
            .create(NewSession::new(Origin::File))
            .expect("created");
        let error = place
            .store
            .commit_file_projection(&mut session, &projection(b"same", b"same", &[]))
            .expect_err("nothing changed");
        assert!(
            matches!(
                error,
                StoreError::Refused {
                    refusal: Refusal::Empty,
                    ..
                }
            ),
            "{error}"
        );
        assert_eq!(session.revision(), 1);
    });
}
