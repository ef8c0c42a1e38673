//! Requests that are not what they should be: they go on as they came, and the proxy lives on.
//! Deliberately nothing that the upstream would refuse is refused here before it.

use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use neenee_proxy::ProxySettings;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::{Bare, Served, settings};
use crate::talk::{Shape, Talk, results};

async fn echo() -> Bare {
    Bare::answering(
        "200 OK",
        "content-type: application/json\r\n",
        b"{\"ok\":1}",
    )
    .await
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_understood_goes_on_as_it_came() {
    let upstream = echo().await;
    let served = Served::start(settings(&upstream.url)).await;
    let deep = [b"{\"messages\":".to_vec(), vec![b'['; 200_000]].concat();
    let bodies: [&[u8]; 11] = [
        b"",
        b"null",
        b"{",
        b"[1,2",
        b"{\"messages\":7}",
        b"{\"messages\":[{\"role\":\"user\"}]}",
        b"{\"input\":[{\"type\":\"function_call_output\"}]}",
        b"{\"contents\":[{\"parts\":null}]}",
        b"{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]}",
        b"\x1f\x8bnot really",
        &deep,
    ];
    for shape in Shape::ALL {
        for body in bodies {
            let answer = served.post(shape.path(), body).await;
            assert_eq!((answer.status, &*answer.body), (200, &b"{\"ok\":1}"[..]));
            assert!(upstream.seen().pop().unwrap().body == body);
        }
    }
    let unreadable = served.metric("neenee_faults_total{cause=\"unreadable\"}");
    assert!(unreadable >= 4 * 7, "{unreadable}");
    assert_eq!(served.metric("neenee_faults_total{cause=\"panic\"}"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn packed_bodies_are_unpacked_pruned_and_packed_again() {
    let upstream = echo().await;
    let served = Served::start(ProxySettings {
        window: Some(30_000),
        ..settings(&upstream.url)
    })
    .await;
    let talk = Talk::reading("gpt-5", 22, 3_000);
    let body = talk.body(Shape::Responses);
    let zstd = zstd::stream::encode_all(&*body, 3).unwrap();
    for (coding, packed) in [("gzip", gzip(&body)), ("zstd", zstd)] {
        let header = format!("content-encoding: {coding}\r\n");
        served
            .post_with(Shape::Responses.path(), &header, &packed)
            .await;
        let seen = upstream.seen().pop().unwrap();
        assert!(seen.head.to_ascii_lowercase().contains(header.trim_end()));
        let mut unpacked = Vec::new();
        if coding == "gzip" {
            let mut decoder = flate2::read::GzDecoder::new(&*seen.body);
            std::io::Read::read_to_end(&mut decoder, &mut unpacked).unwrap();
        } else {
            unpacked = zstd::stream::decode_all(&*seen.body).unwrap();
        }
        let sent = results(Shape::Responses, &unpacked);
        assert!(sent.len() == 22 && sent[0].len() < 2_000);
    }
    // Small ones go on as they came, packed by whoever packed them.
    let small = gzip(&Talk::reading("gpt-5", 1, 100).body(Shape::Chat));
    served
        .post_with(Shape::Chat.path(), "content-encoding: gzip\r\n", &small)
        .await;
    assert!(upstream.seen().pop().unwrap().body == small);
    // So do those that are packed as nobody knows, twice, not really, or without end.
    let bomb = gzip(&vec![b' '; neenee_proxy::limits::DECODED_BODY + 1]);
    assert!(bomb.len() < 1 << 20);
    for (header, packed) in [
        ("content-encoding: br\r\n", &small[..]),
        ("content-encoding: gzip, gzip\r\n", &small[..]),
        ("content-encoding: gzip\r\n", &b"plain"[..]),
        ("content-encoding: zstd\r\n", &small[..]),
        ("content-encoding: gzip\r\n", &bomb[..]),
    ] {
        let answer = served.post_with(Shape::Chat.path(), header, packed).await;
        assert_eq!(answer.status, 200);
        assert!(upstream.seen().pop().unwrap().body == packed, "{header}");
    }
    assert_eq!(served.metric("neenee_faults_total{cause=\"coding\"}"), 4);
    assert_eq!(served.metric("neenee_faults_total{cause=\"bomb\"}"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_over_the_limit_flow_through() {
    let upstream = echo().await;
    let served = Served::start(settings(&upstream.url)).await;
    let large = vec![b'x'; neenee_proxy::limits::INSPECTED_BODY + 17];
    let answer = served.post(Shape::Messages.path(), &large).await;
    assert_eq!(answer.status, 200);
    assert!(upstream.seen().pop().unwrap().body == large);
    // Also when it is not told how long it will be.
    let mut request = format!(
        "POST {} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n",
        Shape::Chat.path()
    )
    .into_bytes();
    for piece in large.chunks(1 << 20) {
        request.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        request.extend_from_slice(piece);
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"0\r\n\r\n");
    let answer = served.raw(&request).await;
    assert_eq!(answer.status, 200);
    assert!(upstream.seen().pop().unwrap().body == large);
    assert_eq!(served.metric("neenee_uninspected_total"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_and_expectations_are_met() {
    let upstream = echo().await;
    let served = Served::start(settings(&upstream.url)).await;
    let body = Talk::reading("gpt-5", 1, 100).body(Shape::Chat);
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ntransfer-encoding: chunked\r\n\r\n",
        Shape::Chat.path()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut go = [0; 64];
    let read = stream.read(&mut go).await.unwrap();
    assert!(go[..read].starts_with(b"HTTP/1.1 100 Continue"));
    let chunk = format!("{:x}\r\n", body.len());
    for part in [chunk.as_bytes(), &body, b"\r\n0\r\n\r\n"] {
        stream.write_all(part).await.unwrap();
    }
    let read = stream.read(&mut go).await.unwrap();
    assert!(go[..read].starts_with(b"HTTP/1.1 200 OK"));
    let seen = upstream.seen().pop().unwrap();
    assert!(seen.body == body && !seen.head.to_ascii_lowercase().contains("expect"));
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_and_slow_clients_harm_nobody() {
    let upstream = echo().await;
    let served = Served::start(settings(&upstream.url)).await;
    let mut many = String::from("GET /v1/models HTTP/1.1\r\nhost: x\r\n");
    for number in 0..neenee_proxy::limits::HEADER_COUNT + 1 {
        many.push_str(&format!("x-{number}: 1\r\n"));
    }
    many.push_str("\r\n");
    assert_eq!(served.raw(many.as_bytes()).await.status, 431);
    let long = format!(
        "GET /v1/models HTTP/1.1\r\nhost: x\r\nx-long: {}\r\n\r\n",
        "a".repeat(neenee_proxy::limits::HEAD_BYTES * 2)
    );
    assert!([0, 431].contains(&served.raw(long.as_bytes()).await.status));
    // Clients that send nothing more, and half bodies, hold nobody up.
    let mut slow = Vec::new();
    for start in [
        "P",
        "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n{",
    ] {
        for _ in 0..100 {
            let mut stream = TcpStream::connect(served.address).await.unwrap();
            stream.write_all(start.as_bytes()).await.unwrap();
            slow.push(stream);
        }
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(served.get("/v1/models").await.status, 200);
    assert_eq!(served.metric("neenee_in_flight"), 100);
    drop(slow);
    for _ in 0..200 {
        if served.metric("neenee_in_flight") == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(served.metric("neenee_in_flight"), 0);
    assert_eq!(
        served.metric("neenee_requests_total{kind=\"messages\"}"),
        100
    );
    assert_eq!(upstream.seen().len(), 1);
}
