//! What a commit, a projection and a load cost on SQLite with full durability.
//! Deliberately on the disk that the temporary folder is on: its sync is most of a small commit.

use std::sync::Arc;

use divan::{Bencher, black_box};
use neenee_core::message::{Message, Part, Role, ToolCall, ToolResult};
use neenee_core::pressure::{PruneOptions, Setup, prune_with};
use neenee_store::location::Location;
use neenee_store::{Counts, NewSession, Operation, Origin, Projection, Session, SessionStore};
use neenee_testkit::session::SessionSpec;
use tempfile::TempDir;

fn main() {
    divan::main();
}

fn store() -> (TempDir, SessionStore) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = SessionStore::open(&Location::Folder(folder.path().to_owned())).expect("opens");
    (folder, store)
}

fn filled(store: &SessionStore, messages: &[Message]) -> Session {
    let mut session = store
        .create(NewSession::new(Origin::Agent))
        .expect("created");
    for some in messages.chunks(50) {
        store.append(&mut session, some.to_vec()).expect("appended");
    }
    session
}

/// 500 results of 4 KB each: 2 MB of originals.
fn results() -> Vec<Message> {
    let spec = SessionSpec {
        results: 500,
        files: 40,
        bytes: 2_700_000,
        seed: 3,
    };
    spec.build()
}

fn turn(number: usize) -> Vec<Message> {
    let id = format!("turn_{number}");
    let text = format!("line of output {number}\n").repeat(170);
    vec![
        Message {
            role: Role::Assistant,
            parts: vec![Part::Call(ToolCall {
                id: Some(id.clone()),
                name: "bash".to_owned(),
                arguments: r#"{"command":"make check"}"#.to_owned(),
            })],
        },
        Message {
            role: Role::Tool,
            parts: vec![Part::Result(ToolResult {
                call_id: Some(id),
                text,
                ..ToolResult::default()
            })],
        },
    ]
}

fn prune(session: &Session) -> Projection {
    let mut window = session.window().to_vec();
    let setup = Arc::new(Setup::new(PruneOptions::bare(0, 0)));
    let outcome = prune_with(&mut window, &setup).expect("there is much to prune");
    Projection {
        base: session.revision(),
        operation: Operation::Prune,
        cause: "benchmark".to_owned(),
        before: Counts::default(),
        after: Counts::default(),
        window,
        originals: outcome.originals,
    }
}

/// A turn of one call and 4 KB of output, to a session that has 1 million tokens.
#[divan::bench(sample_count = 200, sample_size = 1)]
fn append_a_turn(bencher: Bencher<'_, '_>) {
    let (_folder, store) = store();
    let mut session = filled(&store, &SessionSpec::of_tokens(1_000_000).build());
    let mut number = 0;
    bencher.bench_local(|| {
        number += 1;
        store.append(&mut session, turn(number)).expect("appended")
    });
}

/// The projection alone; the plan is made before.
#[divan::bench(sample_count = 30, sample_size = 1)]
fn project_500_results(bencher: Bencher<'_, '_>) {
    let (_folder, store) = store();
    let mut seed = 0;
    bencher
        .with_inputs(|| {
            // Originals that no other session has, so that nothing is known already.
            seed += 1;
            let mut messages = results();
            for part in messages.iter_mut().flat_map(|message| &mut message.parts) {
                if let Part::Result(result) = part {
                    result.text.insert_str(0, &format!("{seed}\n"));
                }
            }
            let session = filled(&store, &messages);
            let projection = prune(&session);
            (session, projection)
        })
        .bench_local_values(|(mut session, projection)| {
            store
                .commit_context_projection(&mut session, projection)
                .expect("committed")
        });
}

/// A session of 1 million tokens that was never pruned: all of its log and all of its bodies.
#[divan::bench(sample_count = 30, sample_size = 1)]
fn load_1_million_tokens(bencher: Bencher<'_, '_>) {
    let (_folder, store) = store();
    let id = filled(&store, &SessionSpec::of_tokens(1_000_000).build()).id();
    bencher.bench_local(|| black_box(store.window(id).expect("loaded")).1);
}

/// The same after a prune: what is left of the window, from the snapshot.
#[divan::bench(sample_count = 30, sample_size = 1)]
fn load_1_million_tokens_pruned(bencher: Bencher<'_, '_>) {
    let (_folder, store) = store();
    let mut session = filled(&store, &SessionSpec::of_tokens(1_000_000).build());
    let projection = prune(&session);
    store
        .commit_context_projection(&mut session, projection)
        .expect("committed");
    bencher.bench_local(|| black_box(store.window(session.id()).expect("loaded")).1);
}
