//! What there is to see at `/_neenee/`, and who may see it.
//! Deliberately what a browser and Prometheus get, over the same port as everything else.

use neenee_proxy::ProxySettings;

use crate::harness::{Bare, Served, settings};
use crate::talk::{Shape, Talk};

async fn served(token: Option<&str>) -> (Served, Bare) {
    let upstream = Bare::answering("200 OK", "content-type: application/json\r\n", b"{}").await;
    let served = Served::start(ProxySettings {
        token: token.map(str::to_owned),
        window: Some(30_000),
        ..settings(&upstream.url)
    })
    .await;
    (served, upstream)
}

async fn get(served: &Served, path: &str, host: &str, headers: &str) -> u16 {
    let head = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{headers}connection: close\r\n\r\n");
    served.raw(head.as_bytes()).await.status
}

#[tokio::test(flavor = "multi_thread")]
async fn on_loopback_only_pages_of_this_machine_may_look() {
    let (served, upstream) = served(None).await;
    for path in [
        "/_neenee/",
        "/_neenee/page.js",
        "/_neenee/page.css",
        "/_neenee/metrics",
        "/_neenee/api/conversations",
    ] {
        assert_eq!(
            get(&served, path, "localhost:8787", "").await,
            200,
            "{path}"
        );
        assert_eq!(get(&served, path, "127.0.0.1:1", "").await, 200, "{path}");
        assert_eq!(get(&served, path, "[::1]:1", "").await, 200, "{path}");
        // A name of somebody else that points here.
        assert_eq!(get(&served, path, "evil.example", "").await, 403, "{path}");
        let origin = "origin: https://evil.example\r\n";
        assert_eq!(get(&served, path, "localhost", origin).await, 403, "{path}");
    }
    assert_eq!(
        get(&served, "/_neenee/health", "any.example", "").await,
        200
    );
    assert_eq!(get(&served, "/_neenee", "localhost", "").await, 308);
    assert_eq!(get(&served, "/_neenee/nothing", "localhost", "").await, 404);
    assert_eq!(served.post("/_neenee/", b"").await.status, 405);
    assert!(upstream.seen().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn elsewhere_a_token_is_asked_for() {
    let (served, _upstream) = served(Some("s3cret-token")).await;
    let path = "/_neenee/api/conversations";
    let cases = [
        ("", 401),
        ("authorization: Bearer wrong\r\n", 401),
        ("authorization: Bearer s3cret-token\r\n", 200),
        ("cookie: a=b; neenee_token=s3cret-token\r\n", 200),
        ("cookie: neenee_token=other\r\n", 401),
    ];
    for (headers, status) in cases {
        assert_eq!(
            get(&served, path, "proxy.example", headers).await,
            status,
            "{headers}"
        );
    }
    let entered = served.get("/_neenee/?token=s3cret-token").await;
    assert_eq!(entered.status, 303);
    assert!(
        entered.head.contains("HttpOnly; SameSite=Strict"),
        "{}",
        entered.head
    );
    assert!(entered.head.contains("location: /_neenee/"));
    assert_eq!(
        get(&served, "/_neenee/health", "proxy.example", "").await,
        200
    );
    assert_eq!(
        get(&served, "/_neenee/metrics", "proxy.example", "").await,
        401
    );
    // Requests for providers bring the credentials that those want.
    let talk = Talk::reading("gpt-5", 1, 100).body(Shape::Chat);
    assert_eq!(served.post(Shape::Chat.path(), &talk).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_self_contained_and_its_numbers_add_up() {
    let (served, _upstream) = served(None).await;
    let talk = Talk::reading("claude-sonnet-4-5", 22, 3_000);
    let headers = "user-agent: claude-cli/2.1.197 (external)\r\nx-claude-code-session-id: abc\r\n";
    served
        .post_with(Shape::Messages.path(), headers, &talk.body(Shape::Messages))
        .await;
    let listed = served.get("/_neenee/api/conversations").await.json();
    let one = &listed["conversations"][0];
    assert_eq!(one["client"], "claude-cli/2.1.197");
    assert_eq!(one["session"], "abc");
    assert_eq!(one["model"], "claude-sonnet-4-5");
    assert_eq!(one["prune_threshold"], 19_500);
    let totals = &listed["totals"];
    assert_eq!(totals["prunes"], 1);
    assert_eq!(totals["tokens_in"], one["tokens_in"]);
    assert!(one["tokens_in"].as_u64() > one["tokens_out"].as_u64());
    for file in ["/_neenee/", "/_neenee/page.js", "/_neenee/page.css"] {
        let answer = served.get(file).await;
        let text = answer.text();
        assert!(text.len() > 500, "{file}");
        assert!(
            !text.contains("http://") && !text.contains("https://"),
            "{file}"
        );
        assert!(
            answer
                .head
                .contains("content-security-policy: default-src 'none'")
        );
        assert!(answer.head.contains("x-content-type-options: nosniff"));
    }
    let metrics = served.get("/_neenee/metrics").await;
    assert!(metrics.head.contains("text/plain; version=0.0.4"));
    let mut families = 0;
    for line in metrics.text().lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with("neenee_"), "{line}");
        value.parse::<f64>().unwrap();
        families += 1;
    }
    assert!(families > 40, "{families}");
    assert_eq!(
        served.get("/_neenee/api/conversations/none").await.status,
        404
    );
    let id = one["id"].as_str().unwrap();
    let wrong = format!(
        "/_neenee/api/conversations/{id}/originals/{}",
        "0".repeat(32)
    );
    assert_eq!(served.get(&wrong).await.status, 404);
    assert_eq!(served.get(&wrong.replace("00", "zz")).await.status, 404);
}
