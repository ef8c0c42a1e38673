//! What the proxy adds to a request: beside a direct connection and, where it is installed, nginx.
//! Deliberately one process with a bare client and a bare upstream, so that what is measured is in between.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use neenee_core::message::{Message, Part, Role};
use neenee_proxy::{FileArchive, Proxy, ProxySettings, Silent};
use neenee_testkit::session::{SessionSpec, anthropic_body};

/// A conversation of this many turns more than its beginning is sent turn by turn.
const TURNS: usize = 200;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 56\r\n\r\n{\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tok\":1}}";

fn main() {
    let upstream = upstream();
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let proxy = proxy(upstream, folder.path());
    let nginx = nginx(upstream, folder.path());
    let mut out = std::io::stdout().lock();
    for (name, tokens) in [("20 KB", 4_300), ("1 MB", 262_000)] {
        let bodies = growing(tokens);
        let size = bodies[0].len();
        let results = count(&bodies[0]);
        let _ = writeln!(
            out,
            "{name}: {size} bytes, {results} results, {TURNS} turns"
        );
        // Interleaved, since the machine's clock swings.
        let mut rows = [
            ("direct", Some(upstream)),
            ("proxy", Some(proxy)),
            ("nginx", nginx.as_ref().map(|it| it.1)),
        ]
        .map(|(name, address)| (name, address.map(connect), Vec::new()));
        for body in &bodies {
            for (_, stream, times) in &mut rows {
                if let Some(stream) = stream {
                    times.push(exchange(stream, body));
                }
            }
        }
        let direct = row(&mut out, rows[0].0, &mut rows[0].2, None);
        for (name, _, times) in &mut rows[1..] {
            if !times.is_empty() {
                row(&mut out, name, times, Some(direct));
            }
        }
    }
    let mut stream = connect(proxy);
    let mut direct = connect(upstream);
    let (mut fresh, mut bare) = (Vec::new(), Vec::new());
    for number in 0..60 {
        let body = session(262_000, 1_000 + number);
        fresh.push(exchange(&mut stream, &body));
        bare.push(exchange(&mut direct, &body));
    }
    let _ = writeln!(
        out,
        "1 MB, first seen: planned, pruned, committed to the disk"
    );
    let direct = row(&mut out, "direct", &mut bare, None);
    row(&mut out, "proxy", &mut fresh, Some(direct));
    if let Some((mut child, _)) = nginx {
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn row(
    out: &mut impl std::io::Write,
    name: &str,
    times: &mut [Duration],
    base: Option<f64>,
) -> f64 {
    times.sort_unstable();
    let at = |share: f64| {
        let index = ((times.len() - 1) as f64 * share).round() as usize;
        times[index].as_secs_f64() * 1e3
    };
    let (median, tail) = (at(0.5), at(0.99));
    let added = base.map_or(String::new(), |base| {
        format!(", added {:.2} ms", median - base)
    });
    let _ = writeln!(
        out,
        "  {name:<7} median {median:.2} ms, 99th {tail:.2} ms{added}"
    );
    median
}

fn count(body: &[u8]) -> usize {
    neenee_wire::read(body, None).map_or(0, |document| document.results().len())
}

/// A session and then what its client sends in the turns after it.
fn growing(tokens: usize) -> Vec<Vec<u8>> {
    let messages = SessionSpec::of_tokens(tokens).build();
    let mut bodies = Vec::new();
    let mut more: Vec<Message> = messages;
    for turn in 0..TURNS {
        bodies.push(anthropic_body(&more, "claude-sonnet-4-5"));
        more.push(says(Role::User, format!("And what of number {turn}?")));
        more.push(says(
            Role::Assistant,
            format!("Number {turn} is as it was."),
        ));
    }
    bodies
}

fn session(tokens: usize, seed: u64) -> Vec<u8> {
    let spec = SessionSpec {
        seed,
        ..SessionSpec::of_tokens(tokens)
    };
    anthropic_body(&spec.build(), "claude-sonnet-4-5")
}

fn says(role: Role, text: String) -> Message {
    Message {
        role,
        parts: vec![Part::Text(text)],
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap_or_else(|error| panic!("{error}"));
    stream
        .set_nodelay(true)
        .unwrap_or_else(|error| panic!("{error}"));
    stream
}

fn exchange(stream: &mut TcpStream, body: &[u8]) -> Duration {
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut request = head.into_bytes();
    request.extend_from_slice(body);
    let start = Instant::now();
    stream
        .write_all(&request)
        .unwrap_or_else(|error| panic!("{error}"));
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while !answer.ends_with(b"}}") {
        let read = stream
            .read(&mut buffer)
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(read > 0, "{}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&buffer[..read]);
    }
    let took = start.elapsed();
    assert!(
        answer.starts_with(b"HTTP/1.1 200"),
        "{}",
        String::from_utf8_lossy(&answer)
    );
    took
}

/// Reads requests by their length and says that all is well.
fn upstream() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|error| panic!("{error}"));
    let address = listener
        .local_addr()
        .unwrap_or_else(|error| panic!("{error}"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = stream.set_nodelay(true);
            std::thread::spawn(move || answer(stream));
        }
    });
    address
}

fn answer(mut stream: TcpStream) -> Option<()> {
    let mut buffer = vec![0; 256 << 10];
    let mut head = Vec::new();
    loop {
        let end = loop {
            if let Some(end) = head.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            let read = stream.read(&mut buffer).ok().filter(|&read| read > 0)?;
            head.extend_from_slice(&buffer[..read]);
        };
        let text = String::from_utf8_lossy(&head[..end]).to_ascii_lowercase();
        let length: usize = text
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok())?;
        let mut have = head.len() - end;
        while have < length {
            have += stream.read(&mut buffer).ok().filter(|&read| read > 0)?;
        }
        head.clear();
        stream.write_all(ANSWER).ok()?;
    }
}

fn proxy(upstream: SocketAddr, folder: &Path) -> SocketAddr {
    let mut settings = ProxySettings::default();
    let url = format!("http://{upstream}");
    let set = settings.upstreams.set(neenee_proxy::ANTHROPIC, &url);
    set.unwrap_or_else(|error| panic!("{error}"));
    let archive = FileArchive::open(folder).unwrap_or_else(|error| panic!("{error}"));
    let proxy = Proxy::new(settings, Arc::new(archive), Arc::new(Silent));
    let proxy = proxy.unwrap_or_else(|error| panic!("{error}"));
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build();
        let runtime = runtime.unwrap_or_else(|error| panic!("{error}"));
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
            let listener = listener.unwrap_or_else(|error| panic!("{error}"));
            let _ = tell.send(listener.local_addr());
            let _ = proxy.serve(listener, std::future::pending()).await;
        });
    });
    match told.recv() {
        Ok(Ok(address)) => address,
        other => panic!("{other:?}"),
    }
}

/// nginx as a plain reverse proxy that keeps connections and buffers nothing; `None` where there is none.
fn nginx(upstream: SocketAddr, folder: &Path) -> Option<(Child, SocketAddr)> {
    let free = TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?;
    let folder_name = folder.display();
    let text = format!(
        "daemon off; worker_processes 1; pid {folder_name}/nginx.pid; error_log {folder_name}/error.log;\n\
         events {{ worker_connections 1024; }}\n\
         http {{ access_log off; client_max_body_size 64m; client_body_buffer_size 4m;\n\
         client_body_temp_path {folder_name}/body; proxy_temp_path {folder_name}/proxy;\n\
         fastcgi_temp_path {folder_name}/f; uwsgi_temp_path {folder_name}/u; scgi_temp_path {folder_name}/s;\n\
         keepalive_requests 1000000;\n\
         upstream up {{ server {upstream}; keepalive 16; keepalive_requests 1000000; }}\n\
         server {{ listen {free}; location / {{ proxy_pass http://up; proxy_http_version 1.1;\n\
         proxy_set_header Connection \"\"; proxy_buffering off; }} }} }}\n"
    );
    let path = folder.join("nginx.conf");
    std::fs::write(&path, text).ok()?;
    let child = Command::new("nginx")
        .arg("-c")
        .arg(&path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    for _ in 0..100 {
        if TcpStream::connect(free).is_ok() {
            return Some((child, free));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    None
}
