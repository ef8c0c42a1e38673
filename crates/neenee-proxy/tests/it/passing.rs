//! What passes through: bytes of answers, headers, other paths, upgrades, cancellations, faults.
//! Deliberately without any pruning: these bodies are far under every threshold.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::{Bare, PATIENCE, Served, Step, chunked, settings};

const PATHS: [&str; 5] = [
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/messages",
    "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
    "/v1/anything/else",
];

fn small_body(path: &str) -> &'static [u8] {
    if path.contains("gemini") {
        br#"{ "contents" : [{"role":"user","parts":[{"text":"hi \u00e9"}]}] }"#
    } else if path.ends_with("responses") {
        br#"{"model":"gpt-5", "input":[{"role":"user","content":"hi"}]}"#
    } else {
        br#"{"model":"claude-sonnet-4-5","max_tokens":1e2,"messages":[{"role":"user","content":"hi"}]}"#
    }
}

/// Numbers that look random and are the same each time.
fn numbers(seed: u64) -> impl Iterator<Item = usize> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_are_byte_for_byte_whatever_the_chunks() {
    let events: Vec<u8> = (0..400)
        .flat_map(|number| {
            format!("event: e{number}\r\ndata: {{\"text\":\"é\\n{number}\",\"usage\":{{\"output_tokens\":{number}}}}}\n\n: ping\n\n")
                .into_bytes()
        })
        .chain([0xff, 0x00, b'\n'])
        .collect();
    for seed in 1..6 {
        let mut pieces: Vec<&[u8]> = Vec::new();
        let mut rest = &events[..];
        let mut sizes = numbers(seed);
        while !rest.is_empty() {
            let size = match sizes.next().unwrap() % 4 {
                0 => 1,
                1 => 2 + sizes.next().unwrap() % 30,
                _ => 1 + sizes.next().unwrap() % 900,
            };
            let (piece, after) = rest.split_at(size.min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        let upstream = Bare::start(vec![chunked("text/event-stream", &pieces)]).await;
        let served = Served::start(settings(&upstream.url)).await;
        for path in PATHS {
            let answer = served.post(path, small_body(path)).await;
            assert_eq!(answer.status, 200, "{path}: {}", answer.head);
            assert!(answer.whole, "{path}");
            assert!(answer.body == events, "{path}, seed {seed}");
            assert_eq!(upstream.seen().last().unwrap().body, small_body(path));
        }
        assert_eq!(served.metric("neenee_cancelled_total"), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_go_both_ways_and_those_of_a_connection_do_not() {
    let headers = "content-type: application/json\r\nrequest-id: req_1\r\nset-cookie: a=1\r\nset-cookie: b=2\r\nkeep-alive: timeout=5\r\n";
    let upstream = Bare::answering("201 Made", headers, b"{\"ok\":true}").await;
    let served = Served::start(settings(&upstream.url)).await;
    let secrets = "authorization: Bearer sk-secret\r\nx-api-key: sk-other\r\ncookie: c=sk-cookie\r\nanthropic-version: 2023-06-01\r\nte: trailers\r\n";
    for path in PATHS {
        let answer = served.post_with(path, secrets, small_body(path)).await;
        assert_eq!(answer.status, 201);
        let head = answer.head.to_ascii_lowercase();
        assert!(head.contains("request-id: req_1"));
        assert!(head.contains("set-cookie: a=1") && head.contains("set-cookie: b=2"));
        assert!(!head.contains("keep-alive"));
        assert_eq!(answer.body, b"{\"ok\":true}");
        let seen = upstream.seen().pop().unwrap();
        let sent = seen.head.to_ascii_lowercase();
        for kept in [
            "bearer sk-secret",
            "x-api-key: sk-other",
            "cookie: c=sk-cookie",
        ] {
            assert!(sent.contains(kept), "{path}: {sent}");
        }
        assert!(!sent.contains("te: trailers"));
        let host = upstream.url.trim_start_matches("http://");
        assert!(sent.contains(&format!("host: {host}")), "{sent}");
    }
    let page = served.get("/_neenee/api/conversations").await.text();
    let said = served.log.all().join("\n");
    assert!(!page.contains("sk-") && !said.contains("sk-"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_cancels_the_upstream_within_a_second() {
    let hanging = vec![
        Step::Write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n5\r\ndata:\r\n".to_vec()),
        Step::AwaitClose,
    ];
    // Once while an answer streams, once before it has begun.
    for (steps, streams) in [(hanging, true), (vec![Step::AwaitClose], false)] {
        let upstream = Bare::start(vec![steps]).await;
        let served = Served::start(settings(&upstream.url)).await;
        for (number, path) in PATHS.iter().enumerate() {
            let body = small_body(path);
            let mut stream = TcpStream::connect(served.address).await.unwrap();
            let head = format!(
                "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(body).await.unwrap();
            if streams {
                let mut byte = [0; 16];
                assert!(stream.read(&mut byte).await.unwrap() > 0);
            }
            while upstream.seen().len() <= number {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            drop(stream);
            let gone = Instant::now();
            while upstream.closed.load(Ordering::Relaxed) <= number as i64 {
                assert!(gone.elapsed() < Duration::from_secs(1), "{path}, {streams}");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        assert_eq!(served.metric("neenee_in_flight"), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_of_an_upstream_are_the_clients_to_see() {
    let rate = br#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#;
    for status in [
        "429 Too Many Requests",
        "529 Overloaded",
        "500 Oops",
        "400 Bad Request",
    ] {
        let upstream = Bare::answering(status, "retry-after: 7\r\n", rate).await;
        let served = Served::start(settings(&upstream.url)).await;
        for path in PATHS {
            let answer = served.post(path, small_body(path)).await;
            assert_eq!(answer.status.to_string(), status[..3]);
            assert!(answer.head.to_ascii_lowercase().contains("retry-after: 7"));
            assert_eq!(answer.body, rate);
        }
        assert_eq!(upstream.seen().len(), PATHS.len(), "nothing is sent twice");
    }
    // Closed or reset in the middle: what came is handed on, and that it is not whole is seen.
    let begun = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n6\r\ndata: \r\n".to_vec();
    for end in [
        vec![],
        vec![Step::Rest(Duration::from_millis(50)), Step::Reset],
    ] {
        let mut steps = vec![Step::Write(begun.clone())];
        steps.extend(end);
        if steps.len() == 1 {
            steps.push(Step::Write(b"zz\r\n".to_vec()));
            steps.push(Step::Reset);
        }
        let upstream = Bare::start(vec![steps]).await;
        let served = Served::start(settings(&upstream.url)).await;
        let answer = served.post(PATHS[2], small_body(PATHS[2])).await;
        assert!(answer.status == 200 && !answer.whole, "{answer:?}");
    }
    // No HTTP at all, or nobody there.
    let garbage = Bare::start(vec![vec![
        Step::Write(b"\x16\x03garbage\r\n\r\n".to_vec()),
        Step::Reset,
    ]])
    .await;
    let served = Served::start(settings(&garbage.url)).await;
    let answer = served.post(PATHS[0], small_body(PATHS[0])).await;
    assert_eq!(answer.status, 502);
    assert_eq!(answer.json()["error"]["type"], "neenee_proxy");
    let nobody = Served::start(settings("http://127.0.0.1:1")).await;
    for path in PATHS {
        assert_eq!(nobody.post(path, small_body(path)).await.status, 502);
    }
    assert_eq!(
        nobody.metric("neenee_unreachable_total"),
        PATHS.len() as u64
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_changes_its_protocol_is_passed_through() {
    let upstream = TcpStreamEcho::start().await;
    let served = Served::start(settings(&upstream)).await;
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    stream
        .write_all(b"GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: k\r\n\r\n")
        .await
        .unwrap();
    let mut head = vec![0; 1024];
    let read = stream.read(&mut head).await.unwrap();
    let head = String::from_utf8_lossy(&head[..read]).to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 101"), "{head}");
    assert!(head.contains("upgrade: websocket"), "{head}");
    for _ in 0..3 {
        stream.write_all(b"\x81\x02hi").await.unwrap();
        let mut echo = [0; 4];
        let echoed = tokio::time::timeout(PATIENCE, stream.read_exact(&mut echo)).await;
        echoed.unwrap().unwrap();
        assert_eq!(&echo, b"\x81\x02hi");
    }
}

/// Agrees to any change of protocol, then says back what it hears.
struct TcpStreamEcho;

impl TcpStreamEcho {
    async fn start() -> String {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
            .await
            .unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut buffer = vec![0; 4096];
            let read = stream.read(&mut buffer).await.unwrap();
            let head = String::from_utf8_lossy(&buffer[..read]).to_ascii_lowercase();
            assert!(head.contains("connection: upgrade") && head.contains("sec-websocket-key: k"));
            let agreed = b"HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n";
            stream.write_all(agreed).await.unwrap();
            while let Ok(read @ 1..) = stream.read(&mut buffer).await {
                stream.write_all(&buffer[..read]).await.unwrap();
            }
        });
        url
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_runs_is_drained_at_shutdown() {
    let mut steps = chunked("text/event-stream", &[b"data: 1\n\n", b"data: 2\n\n"]);
    steps.insert(2, Step::Rest(Duration::from_millis(300)));
    let upstream = Bare::start(vec![steps]).await;
    let mut served = Served::start(settings(&upstream.url)).await;
    let body = small_body(PATHS[2]);
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n",
        PATHS[2],
        body.len()
    );
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body).await.unwrap();
    let mut first = [0; 1];
    stream.read_exact(&mut first).await.unwrap();
    served.stop();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    let rest = String::from_utf8_lossy(&rest).into_owned();
    assert!(
        rest.contains("data: 2\n\n") && rest.ends_with("0\r\n\r\n"),
        "{rest}"
    );
    let server = served.server.take().unwrap();
    tokio::time::timeout(PATIENCE, server)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    TcpStream::connect(served.address).await.unwrap_err();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_holds_the_upstream_back_and_misses_nothing() {
    const CHUNK: usize = 64 << 10;
    const CHUNKS: usize = 1_024;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let written = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = std::sync::Arc::clone(&written);
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut buffer = vec![0; 64 << 10];
        assert!(stream.read(&mut buffer).await.unwrap() > 0);
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n",
            CHUNK * CHUNKS
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        for chunk in 0..CHUNKS {
            let bytes = vec![(chunk % 251) as u8; CHUNK];
            stream.write_all(&bytes).await.unwrap();
            count.fetch_add(CHUNK, Ordering::Relaxed);
        }
        tokio::time::sleep(PATIENCE).await;
    });
    let served = Served::start(settings(&url)).await;
    let body = small_body(PATHS[2]);
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        PATHS[2],
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body).await.unwrap();
    // Nobody reads: what fits into buffers of connections is written, and no more.
    let mut before = usize::MAX;
    loop {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let now = written.load(Ordering::Relaxed);
        if now == before && now > 0 {
            break;
        }
        before = now;
    }
    assert!(before < CHUNK * CHUNKS / 2, "{before} bytes are held");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let start = answer
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .unwrap()
        + 4;
    assert_eq!(answer.len() - start, CHUNK * CHUNKS);
    let chunks = answer[start..].chunks(CHUNK).enumerate();
    for (number, chunk) in chunks {
        assert!(chunk.iter().all(|&byte| byte == (number % 251) as u8));
    }
}
