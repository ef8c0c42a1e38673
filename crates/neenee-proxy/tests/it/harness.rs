//! A proxy on a free port, upstreams that do as they are told, a client over a bare connection.
//! Deliberately no HTTP library on the test's side of a connection: every byte is seen.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use neenee_proxy::{Archive, FileArchive, Log, Proxy, ProxySettings};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// No test waits longer for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A served proxy; dropping it stops it.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) proxy: Proxy,
    pub(crate) clock: Arc<AtomicI64>,
    pub(crate) log: Arc<Lines>,
    pub(crate) folder: tempfile::TempDir,
    stop: Option<oneshot::Sender<()>>,
    pub(crate) server: Option<tokio::task::JoinHandle<std::io::Result<()>>>,
}

/// What was said.
#[derive(Debug, Default)]
pub(crate) struct Lines(Mutex<Vec<String>>);

impl Log for Lines {
    fn line(&self, line: &str) {
        self.0.lock().unwrap().push(line.to_owned());
    }
}

impl Lines {
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Settings whose upstreams are all the one at `url`.
pub(crate) fn settings(url: &str) -> ProxySettings {
    let mut settings = ProxySettings::default();
    for name in ["openai", "anthropic", "gemini"] {
        settings.upstreams.set(name, url).unwrap();
    }
    settings
}

impl Served {
    pub(crate) async fn start(settings: ProxySettings) -> Served {
        let folder = tempfile::tempdir().unwrap();
        let archive = Arc::new(FileArchive::open(folder.path()).unwrap());
        Self::with_archive(settings, archive, folder).await
    }

    pub(crate) async fn with_archive(
        settings: ProxySettings,
        archive: Arc<dyn Archive>,
        folder: tempfile::TempDir,
    ) -> Served {
        let clock = Arc::new(AtomicI64::new(1_800_000_000_000));
        let log = Arc::new(Lines::default());
        let time = Arc::clone(&clock);
        let proxy = Proxy::with_clock(
            settings,
            archive,
            Arc::clone(&log) as Arc<dyn Log>,
            Arc::new(move || time.load(Ordering::Relaxed)),
        )
        .unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let running = proxy.clone();
        let server = tokio::spawn(async move {
            running
                .serve(listener, async {
                    let _ = stopped.await;
                })
                .await
        });
        Served {
            address,
            proxy,
            clock,
            log,
            folder,
            stop: Some(stop),
            server: Some(server),
        }
    }

    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
    }

    pub(crate) fn pass_time(&self, ms: i64) {
        self.clock.fetch_add(ms, Ordering::Relaxed);
    }

    /// Posts JSON and reads the whole answer.
    pub(crate) async fn post(&self, path: &str, body: &[u8]) -> Answer {
        self.post_with(path, "", body).await
    }

    /// The same with more header lines, each with its line end.
    pub(crate) async fn post_with(&self, path: &str, headers: &str, body: &[u8]) -> Answer {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
            self.address,
            body.len()
        );
        let mut request = head.into_bytes();
        request.extend_from_slice(body);
        self.raw(&request).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
            self.address
        );
        self.raw(head.as_bytes()).await
    }

    /// Sends bytes and reads until the connection ends.
    pub(crate) async fn raw(&self, request: &[u8]) -> Answer {
        let exchange = async {
            let mut stream = TcpStream::connect(self.address).await.unwrap();
            // An early answer may close the way there.
            let _ = stream.write_all(request).await;
            let mut bytes = Vec::new();
            let _ = stream.read_to_end(&mut bytes).await;
            Answer::parse(&bytes)
        };
        tokio::time::timeout(PATIENCE, exchange).await.unwrap()
    }

    /// The value of one metric, its label included in `name`.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let text = self.proxy.metrics();
        let mut lines = text.lines();
        let line = lines
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
            .unwrap_or_else(|| panic!("{name} in\n{text}"));
        line.parse().unwrap()
    }
}

/// What came back.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// Whether the body has the end that its head promises.
    pub(crate) whole: bool,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Answer {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let Some(end) = end else {
            return Answer {
                status: 0,
                head: String::from_utf8_lossy(bytes).into_owned(),
                body: Vec::new(),
                whole: false,
            };
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let raw = &bytes[end + 4..];
        let lower = head.to_ascii_lowercase();
        let (body, whole) = if lower.contains("transfer-encoding: chunked") {
            unchunk(raw)
        } else {
            let length = lower
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            (
                raw.to_vec(),
                length.is_none_or(|length: usize| length == raw.len()),
            )
        };
        Answer {
            status: head
                .split(' ')
                .nth(1)
                .and_then(|status| status.parse().ok())
                .unwrap_or(0),
            head,
            body,
            whole,
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

fn unchunk(mut raw: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    loop {
        let Some(end) = raw.windows(2).position(|window| window == b"\r\n") else {
            return (body, false);
        };
        let size = std::str::from_utf8(&raw[..end]).unwrap();
        let size = usize::from_str_radix(size.split(';').next().unwrap(), 16).unwrap();
        raw = &raw[end + 2..];
        if size == 0 {
            return (body, true);
        }
        if raw.len() < size + 2 {
            body.extend_from_slice(&raw[..raw.len().min(size)]);
            return (body, false);
        }
        body.extend_from_slice(&raw[..size]);
        raw = &raw[size + 2..];
    }
}

/// One request as an upstream got it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// One step of what an upstream does once it has read a request.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Writes bytes.
    Write(Vec<u8>),
    /// Waits.
    Rest(Duration),
    /// Resets the connection.
    Reset,
    /// Waits until the other side has closed, and takes note of it.
    AwaitClose,
}

/// An upstream that does the same steps for each request, or the n-th of several lists for the n-th.
pub(crate) struct Bare {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    pub(crate) closed: Arc<AtomicI64>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Bare {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Bare {
    pub(crate) async fn start(scripts: Vec<Vec<Step>>) -> Bare {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let closed = Arc::new(AtomicI64::new(0));
        let (log, gone) = (Arc::clone(&seen), Arc::clone(&closed));
        let task = tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else {
                    return;
                };
                let (log, gone, scripts) = (Arc::clone(&log), Arc::clone(&gone), scripts.clone());
                tokio::spawn(serve(stream, log, gone, scripts));
            }
        });
        Bare {
            url,
            seen,
            closed,
            task,
        }
    }

    /// One answer for all requests: head lines and body, in pieces.
    pub(crate) async fn answering(status: &str, headers: &str, body: &[u8]) -> Bare {
        let mut bytes = format!(
            "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        bytes.extend_from_slice(body);
        Self::start(vec![vec![Step::Write(bytes)]]).await
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    log: Arc<Mutex<Vec<Seen>>>,
    gone: Arc<AtomicI64>,
    scripts: Vec<Vec<Step>>,
) {
    loop {
        let Some(request) = read_request(&mut stream).await else {
            return;
        };
        let steps = {
            let mut log = log.lock().unwrap();
            log.push(request);
            scripts[(log.len() - 1).min(scripts.len() - 1)].clone()
        };
        for step in steps {
            match step {
                Step::Write(bytes) => {
                    if stream.write_all(&bytes).await.is_err() {
                        gone.fetch_add(1, Ordering::Relaxed);
                        return;
                    }
                }
                Step::Rest(time) => tokio::time::sleep(time).await,
                Step::Reset => {
                    let _ = stream.set_zero_linger();
                    return;
                }
                Step::AwaitClose => {
                    let mut byte = [0; 64];
                    while matches!(stream.read(&mut byte).await, Ok(1..)) {}
                    gone.fetch_add(1, Ordering::Relaxed);
                    return;
                }
            }
        }
    }
}

/// Reads one request, its body by length or in chunks; `None` at the end of the connection.
async fn read_request(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let lower = head.to_ascii_lowercase();
    let mut raw = bytes[end + 4..].to_vec();
    let length = lower
        .lines()
        .find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
    let chunked = lower.contains("transfer-encoding: chunked");
    loop {
        let done = match length {
            Some(length) => raw.len() >= length,
            None => !chunked || raw.ends_with(b"0\r\n\r\n") && unchunk(&raw).1,
        };
        if done {
            break;
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => raw.extend_from_slice(&buffer[..read]),
        }
    }
    let body = if chunked { unchunk(&raw).0 } else { raw };
    Some(Seen { head, body })
}

/// An answer in chunks of the given pieces, with its end.
pub(crate) fn chunked(kind: &str, pieces: &[&[u8]]) -> Vec<Step> {
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n");
    let mut steps = vec![Step::Write(head.into_bytes())];
    for piece in pieces {
        let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
        chunk.extend_from_slice(piece);
        chunk.extend_from_slice(b"\r\n");
        steps.push(Step::Write(chunk));
    }
    steps.push(Step::Write(b"0\r\n\r\n".to_vec()));
    steps
}
