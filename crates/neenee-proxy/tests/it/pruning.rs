//! What pruning does to requests: over many turns, in forks, after a restart, at the same time.
//! Deliberately against an upstream that refuses what the real ones refuse.

use std::sync::Arc;

use neenee_proxy::archive::{Node, Original, Projection, ResultKey};
use neenee_proxy::{Archive, ArchiveError, FileArchive, ProxySettings};
use neenee_testkit::upstream::{Script, Turn, Upstream};

use crate::harness::{Served, settings};
use crate::talk::{Shape, Talk, results, with_results};

const MODEL: &str = "gpt-5";

/// A small window, and no pruning before its threshold.
fn small(url: &str) -> ProxySettings {
    ProxySettings {
        window: Some(30_000),
        // The same estimate for all formats.
        model: Some(MODEL.to_owned()),
        cache_aware: false,
        ..settings(url)
    }
}

async fn strict() -> Upstream {
    Upstream::start(Script::new("/repo").round("", vec![Turn::say("Done.")]))
        .await
        .unwrap()
}

/// Sends a request and returns what the upstream got.
async fn send(served: &Served, upstream: &Upstream, talk: &Talk, shape: Shape) -> Vec<u8> {
    let answer = served.post(shape.path(), &talk.body(shape)).await;
    assert_eq!(answer.status, 200, "{shape:?}: {}", answer.text());
    let seen = upstream.requests().pop().unwrap();
    assert_eq!(seen.problems, Vec::<String>::new());
    seen.body
}

#[tokio::test(flavor = "multi_thread")]
async fn over_many_turns_what_was_degraded_stays_so_and_only_a_prune_changes_more() {
    for shape in Shape::ALL {
        let upstream = strict().await;
        let served = Served::start(small(&upstream.url())).await;
        let mut talk = Talk::reading(MODEL, 0, 0);
        let mut before: Vec<String> = Vec::new();
        let (mut rewrites, mut largest) = (0, 0);
        for turn in 0..90 {
            talk.read(700 + turn % 7 * 900);
            let body = send(&served, &upstream, &talk, shape).await;
            let now = results(shape, &body);
            let whole: Vec<String> = talk.turns.iter().map(|turn| turn.result.clone()).collect();
            // Besides results nothing is another.
            assert_eq!(
                with_results(shape, &body, &whole),
                serde_json::from_slice::<serde_json::Value>(&talk.body(shape)).unwrap(),
                "{shape:?}, turn {turn}"
            );
            // The newest is what the model has not seen.
            assert_eq!(now.last(), whole.last());
            let changed = before.iter().zip(&now).any(|(old, new)| old != new);
            rewrites += u64::from(changed);
            for (old, new) in before.iter().zip(&now) {
                assert!(old == new || new.len() < old.len());
            }
            assert_eq!(
                served.metric("neenee_prunes_total"),
                rewrites,
                "{shape:?}, turn {turn}"
            );
            largest = largest.max(body.len());
            before = now;
        }
        assert!((3..40).contains(&rewrites), "{shape:?}: {rewrites} prunes");
        let sent = talk.body(shape).len();
        assert!(
            largest < 120_000 && sent > 280_000,
            "{shape:?}: {largest} of {sent}"
        );
        assert_eq!(served.metric("neenee_conversations"), 1, "{shape:?}");
        for cause in ["unreadable", "splice", "archive", "panic"] {
            let name = format!("neenee_faults_total{{cause=\"{cause}\"}}");
            assert_eq!(served.metric(&name), 0, "{:?}", served.log.all());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_request_is_the_same_request() {
    for shape in Shape::ALL {
        let upstream = strict().await;
        let served = Served::start(small(&upstream.url())).await;
        let talk = Talk::reading(MODEL, 22, 3_000);
        let first = send(&served, &upstream, &talk, shape).await;
        assert!(first.len() < talk.body(shape).len() * 2 / 3);
        for _ in 0..3 {
            assert!(send(&served, &upstream, &talk, shape).await == first);
        }
        assert_eq!(served.metric("neenee_prunes_total"), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forks_share_the_degraded_prefix_and_go_their_own_ways() {
    for shape in Shape::ALL {
        let upstream = strict().await;
        let served = Served::start(small(&upstream.url())).await;
        let mut talk = Talk::reading(MODEL, 22, 3_000);
        let trunk = results(shape, &send(&served, &upstream, &talk, shape).await);
        // A fork from the middle, with another wish.
        let mut fork = talk.clone();
        fork.turns.truncate(12);
        fork.turns[11].wish = Some("Now something else.".to_owned());
        let other = results(shape, &send(&served, &upstream, &fork, shape).await);
        assert!(other[..11] == trunk[..11], "{shape:?}");
        assert_eq!(served.metric("neenee_prunes_total"), 1);
        // Both go on; what they share stays the same in both.
        let mut pruned = other;
        for turn in 0..60 {
            fork.turns.push(talk.turns[turn % 12].clone());
            let last = fork.turns.last_mut().unwrap();
            last.id = format!("fork_{turn}");
            last.file = format!("/repo/fork/{turn}.rs");
            pruned = results(shape, &send(&served, &upstream, &fork, shape).await);
        }
        assert!(served.metric("neenee_prunes_total") > 1);
        assert!(
            pruned
                .iter()
                .zip(&trunk)
                .take(11)
                .all(|(fork, trunk)| fork.len() <= trunk.len())
        );
        talk.read(500);
        let again = results(shape, &send(&served, &upstream, &talk, shape).await);
        assert!(again[..22] == trunk[..], "{shape:?}");
        assert_eq!(served.metric("neenee_conversations"), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_back_sees_whole_what_the_model_has_not_read() {
    let shape = Shape::Messages;
    let upstream = strict().await;
    let served = Served::start(small(&upstream.url())).await;
    let talk = Talk::reading(MODEL, 22, 3_000);
    let trunk = results(shape, &send(&served, &upstream, &talk, shape).await);
    let mut back = talk.clone();
    back.turns.truncate(10);
    let seen = results(shape, &send(&served, &upstream, &back, shape).await);
    assert_ne!(trunk[9], talk.turns[9].result);
    assert_eq!(seen[9], talk.turns[9].result);
    assert_eq!(seen[..9], trunk[..9]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_and_a_forgotten_conversation_change_nothing() {
    for shape in Shape::ALL {
        let upstream = strict().await;
        let mut served = Served::start(small(&upstream.url())).await;
        let mut talk = Talk::reading(MODEL, 22, 3_000);
        let before = results(shape, &send(&served, &upstream, &talk, shape).await);
        served.stop();
        served.server.take().unwrap().await.unwrap().unwrap();
        let folder = std::mem::replace(&mut served.folder, tempfile::tempdir().unwrap());
        drop(served);
        let archive = Arc::new(FileArchive::open(folder.path()).unwrap());
        let mut forgetful = small(&upstream.url());
        forgetful.memory_bytes = 1;
        let served = Served::with_archive(forgetful, archive, folder).await;
        for _ in 0..3 {
            talk.read(600);
            let after = results(shape, &send(&served, &upstream, &talk, shape).await);
            assert!(after[..22] == before[..], "{shape:?}");
            let other = Talk::reading(MODEL, 3, 100 + talk.turns.len());
            send(&served, &upstream, &other, shape).await;
            assert_eq!(served.metric("neenee_conversations"), 1);
        }
        assert_eq!(served.metric("neenee_prunes_total"), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_at_the_same_time_get_the_same_form() {
    let shape = Shape::Chat;
    let upstream = strict().await;
    let served = Served::start(small(&upstream.url())).await;
    let talk = Talk::reading(MODEL, 22, 3_000);
    let body = talk.body(shape);
    let posts = (0..16).map(|_| served.post(shape.path(), &body));
    for answer in futures_util::future::join_all(posts).await {
        assert_eq!(answer.status, 200);
    }
    assert_eq!(served.metric("neenee_prunes_total"), 1);
    let requests = upstream.requests();
    assert!(
        requests
            .iter()
            .all(|request| request.body == requests[0].body)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn counting_tokens_counts_what_would_be_sent_and_decides_nothing() {
    let upstream = strict().await;
    let served = Served::start(small(&upstream.url())).await;
    let talk = Talk::reading(MODEL, 22, 3_000);
    let body = talk.body(Shape::Messages);
    served.post("/v1/messages/count_tokens", &body).await;
    assert!(upstream.requests().pop().unwrap().body == body);
    let sent = send(&served, &upstream, &talk, Shape::Messages).await;
    served.post("/v1/messages/count_tokens", &body).await;
    assert!(upstream.requests().pop().unwrap().body == sent);
    assert_eq!(served.metric("neenee_prunes_total"), 1);
}

/// An archive that cannot keep anything.
#[derive(Debug)]
struct Gone;

impl Archive for Gone {
    fn record(&self, _: &Projection, _: &[Original<'_>]) -> Result<(), ArchiveError> {
        Err(std::io::Error::from(std::io::ErrorKind::StorageFull).into())
    }

    fn restore(&self, _: &[Node]) -> Result<Vec<Projection>, ArchiveError> {
        Err(ArchiveError::Damaged("gone".to_owned()))
    }

    fn original(&self, _: &str, _: ResultKey) -> Result<Option<Vec<u8>>, ArchiveError> {
        panic!("an archive may fail in any way")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_archive_nothing_is_pruned_and_everything_works() {
    for shape in Shape::ALL {
        let upstream = strict().await;
        let folder = tempfile::tempdir().unwrap();
        let served = Served::with_archive(small(&upstream.url()), Arc::new(Gone), folder).await;
        let mut talk = Talk::reading(MODEL, 22, 3_000);
        for _ in 0..3 {
            talk.read(1_000);
            assert!(send(&served, &upstream, &talk, shape).await == talk.body(shape));
        }
        assert!(served.metric("neenee_faults_total{cause=\"archive\"}") >= 3);
        assert_eq!(served.metric("neenee_prunes_total"), 0);
        assert!(
            served.log.all()[0].contains("archive"),
            "{:?}",
            served.log.all()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn originals_are_on_the_disk_before_anything_pruned_is_sent() {
    let upstream = strict().await;
    let served = Served::start(small(&upstream.url())).await;
    let talk = Talk::reading(MODEL, 22, 3_000);
    let sent = results(
        Shape::Messages,
        &send(&served, &upstream, &talk, Shape::Messages).await,
    );
    // Read by somebody else, as after a crash.
    let archive = FileArchive::open(served.folder.path()).unwrap();
    let listed = served.get("/_neenee/api/conversations").await.json();
    let id = listed["conversations"][0]["id"].as_str().unwrap();
    let shown = served
        .get(&format!("/_neenee/api/conversations/{id}"))
        .await
        .json();
    let shown = shown["results"].as_array().unwrap();
    let degraded = sent
        .iter()
        .zip(&talk.turns)
        .filter(|(sent, turn)| **sent != turn.result);
    assert_eq!(degraded.clone().count(), shown.len());
    for (sent, turn) in degraded {
        let result = shown.iter().find(|it| it["call_id"] == *turn.id).unwrap();
        assert_eq!(result["text"], *sent);
        let key = result["key"].as_str().unwrap();
        let content = archive
            .original(id, ResultKey::try_from(key.to_owned()).unwrap())
            .unwrap()
            .unwrap();
        let text: String = serde_json::from_slice(&content).unwrap();
        assert_eq!(text, turn.result);
        let page = format!("/_neenee/api/conversations/{id}/originals/{key}");
        assert_eq!(served.get(&page).await.text(), turn.result);
    }
}
