//! A session in the durable store: what is sent next is what is on the disk, and every original is there.
//! Deliberately with the store as users have it, SQLite in a folder.

use std::path::Path;
use std::sync::Arc;

use neenee_agent::provider::Wire;
use neenee_agent::tool::{AllowAll, Project};
use neenee_agent::{Agent, AgentOptions, LiveModel, RoundEnd, StoreJournal};
use neenee_store::location::Location;
use neenee_store::{NewSession, Operation, Origin, SessionEvent, SessionStore};
use neenee_testkit::upstream::{Script, Upstream};
use tokio_util::sync::CancellationToken;

use crate::long_session::turns;
use crate::support::{self, provider, results};

const WINDOW: usize = 32_000;
const TURNS: usize = 120;

fn agent(folder: &tempfile::TempDir, upstream: &Upstream, journal: StoreJournal) -> Agent {
    let project = Project::new(
        Path::new(&support::root(folder)),
        &folder.path().join("spill"),
    );
    let mut options = AgentOptions::new("You work on a project.", project.unwrap());
    options.approve = Arc::new(AllowAll);
    let mut model = LiveModel::new("scripted");
    model.window_tokens = Some(WINDOW);
    let provider = provider(Wire::Chat, upstream);
    Agent::new(provider, model, Box::new(journal), options).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_window_outlives_its_process_and_nothing_is_lost() {
    let folder = support::folder();
    for file in 0..7 {
        support::file(&folder, &format!("f{file}.txt"), 300);
    }
    let script = Script::new(support::root(&folder))
        .in_order()
        .round("", turns(TURNS));
    let upstream = Upstream::start(script).await.unwrap();
    let store = SessionStore::open(&Location::Folder(folder.path().join("store"))).unwrap();
    let session = store.create(NewSession::new(Origin::Agent)).unwrap();
    let id = session.id();
    let mut first = agent(
        &folder,
        &upstream,
        StoreJournal::new(store.clone(), session),
    );
    let outcome = first.run("Do it all.", &CancellationToken::new()).await;
    let outcome = outcome.unwrap();
    assert_eq!((outcome.end, outcome.turns), (RoundEnd::Done, TURNS));
    let window = first.window().messages().to_vec();
    drop(first);

    // Another process would see this.
    let store = SessionStore::open(&Location::Folder(folder.path().join("store"))).unwrap();
    let session = store.resume(&id.to_string()).unwrap();
    assert_eq!(session.window(), window);
    let again = agent(
        &folder,
        &upstream,
        StoreJournal::new(store.clone(), session),
    );
    assert_eq!(again.window().messages(), window);
    drop(again);

    let events = store.events(id).unwrap();
    let count = |wanted: Operation| {
        let done = events.iter().filter(|event| {
            matches!(&event.event, SessionEvent::ContextProjectionCommitted(done) if done.operation == wanted)
        });
        done.count()
    };
    assert!(count(Operation::Prune) > 0 && count(Operation::Compact) > 0);
    let transcript = store.transcript(id).unwrap();
    let all = results(&transcript);
    assert!(all.len() >= TURNS, "{}", all.len());
    for result in all {
        let call = result.call_id.as_deref().unwrap();
        let originals = store.originals(id, call).unwrap();
        assert!(
            originals
                .iter()
                .any(|original| original.text == result.text)
        );
    }
    let usage = events
        .iter()
        .filter(
            |event| matches!(&event.event, SessionEvent::Noted { topic, .. } if topic == "usage"),
        )
        .count();
    assert_eq!(usage, TURNS + count(Operation::Compact));
    store.verify(id).unwrap();
}
