//! Many requests and many streams at one time: what they take of a core and of memory.
//! Deliberately the proxy in a process of its own, on one thread, so that its share can be told apart.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use neenee_proxy::{FileArchive, Proxy, ProxySettings, Silent};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const REQUESTS: usize = 100_000;
const CONNECTIONS: usize = 32;
const STREAMS: usize = 1_000;
const EVENTS: usize = 20;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 57\r\n\r\n{\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tok\":12}}";

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--serve") {
        return serve(&arguments[at + 1], &arguments[at + 2]);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(measure())
}

fn serve(upstream: &str, folder: &str) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut settings = ProxySettings::default();
        settings
            .upstreams
            .set(neenee_proxy::ANTHROPIC, &format!("http://{upstream}"))?;
        // So that memory has to be given back within the run.
        settings.memory_bytes = 64 << 20;
        let archive = Arc::new(FileArchive::open(folder)?);
        let proxy = Proxy::new(settings, archive, Arc::new(Silent))?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let mut out = std::io::stdout();
        writeln!(out, "{}", listener.local_addr()?)?;
        out.flush()?;
        proxy.serve(listener, std::future::pending()).await?;
        Ok(())
    })
}

async fn measure() -> Result<()> {
    let upstream = upstream().await?;
    let folder = tempfile::tempdir()?;
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--serve", &upstream.to_string()])
        .arg(folder.path())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    let stdout = child.stdout.take().ok_or("no stdout")?;
    BufReader::new(stdout).read_line(&mut line)?;
    let proxy: SocketAddr = line.trim().parse()?;
    let measured = run(proxy, &child).await;
    child.kill()?;
    child.wait()?;
    measured
}

async fn run(proxy: SocketAddr, child: &Child) -> Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "started: {} MB", memory(child)?)?;
    let (start, before) = (Instant::now(), cpu(child)?);
    let done = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    for connection in 0..CONNECTIONS {
        let done = Arc::clone(&done);
        tasks.push(tokio::spawn(async move {
            requests(proxy, connection, &done)
                .await
                .map_err(|error| error.to_string())
        }));
    }
    for share in 1..=10 {
        while done.load(Ordering::Relaxed) < REQUESTS * share / 10 {
            if tasks.iter().all(tokio::task::JoinHandle::is_finished) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        writeln!(
            out,
            "after {} requests: {} MB",
            done.load(Ordering::Relaxed),
            memory(child)?
        )?;
    }
    for task in tasks {
        task.await??;
    }
    let (wall, used) = (start.elapsed().as_secs_f64(), cpu(child)? - before);
    writeln!(
        out,
        "{REQUESTS} requests of 2 KB, {CONNECTIONS} connections: {:.0} a second by the clock, {:.0} a second of one core",
        REQUESTS as f64 / wall,
        REQUESTS as f64 / used,
    )?;
    let before = memory(child)?;
    let mut streams = Vec::new();
    for _ in 0..STREAMS {
        streams.push(tokio::spawn(async move {
            stream(proxy).await.map_err(|error| error.to_string())
        }));
    }
    let mut most = 0;
    while !streams.iter().all(tokio::task::JoinHandle::is_finished) {
        most = most.max(memory(child)?);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    for task in streams {
        task.await??;
    }
    writeln!(
        out,
        "{STREAMS} streams at one time: {most} MB, {before} MB before"
    )?;
    Ok(())
}

/// Conversations of a few messages, each of its own.
async fn requests(proxy: SocketAddr, connection: usize, done: &AtomicUsize) -> Result<()> {
    let mut socket = TcpStream::connect(proxy).await?;
    socket.set_nodelay(true)?;
    let mut buffer = vec![0; 4096];
    for number in 0..REQUESTS / CONNECTIONS {
        let words = "what was said before, at some length; ".repeat(48);
        let body = format!(
            "{{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":100,\"messages\":[{{\"role\":\"user\",\"content\":\"{connection} {number}\"}},{{\"role\":\"assistant\",\"content\":\"{words}\"}},{{\"role\":\"user\",\"content\":\"go on\"}}]}}"
        );
        let head = format!(
            "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        socket.write_all(format!("{head}{body}").as_bytes()).await?;
        let mut answer = Vec::new();
        while !answer.ends_with(b"}}") {
            let read = socket.read(&mut buffer).await?;
            if read == 0 {
                return Err("the proxy hung up".into());
            }
            answer.extend_from_slice(&buffer[..read]);
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

async fn stream(proxy: SocketAddr) -> Result<()> {
    let mut socket = TcpStream::connect(proxy).await?;
    let body = "{\"stream\":true,\"model\":\"claude-sonnet-4-5\",\"messages\":[{\"role\":\"user\",\"content\":\"stream\"}]}";
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all(format!("{head}{body}").as_bytes()).await?;
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await?;
    if answer.ends_with(b"0\r\n\r\n") {
        Ok(())
    } else {
        Err("a stream broke off".into())
    }
}

/// Answers in one piece, or in events over ten seconds where a stream is asked for.
async fn upstream() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(answer(socket));
        }
    });
    Ok(address)
}

async fn answer(mut socket: TcpStream) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let mut buffer = vec![0; 16 << 10];
    loop {
        let mut bytes = Vec::new();
        loop {
            let read = socket
                .read(&mut buffer)
                .await
                .ok()
                .filter(|&read| read > 0)?;
            bytes.extend_from_slice(&buffer[..read]);
            let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
                continue;
            };
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length: usize = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok())?;
            if bytes.len() >= end + 4 + length {
                break;
            }
        }
        if !bytes.windows(13).any(|window| window == b"\"stream\":true") {
            socket.write_all(ANSWER).await.ok()?;
            continue;
        }
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        socket.write_all(head).await.ok()?;
        for number in 0..EVENTS {
            let event = format!("event: delta\ndata: {{\"text\":\"{number}\"}}\n\n");
            let chunk = format!("{:x}\r\n{event}\r\n", event.len());
            socket.write_all(chunk.as_bytes()).await.ok()?;
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        socket.write_all(b"0\r\n\r\n").await.ok()?;
    }
}

/// MB that the process holds.
fn memory(child: &Child) -> Result<usize> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: usize = line
        .ok_or("no VmRSS")?
        .trim()
        .trim_end_matches(" kB")
        .parse()?;
    Ok(kib >> 10)
}

/// Seconds of a core that the process has used, of user and system, at 100 ticks a second.
fn cpu(child: &Child) -> Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
    let after = stat.rsplit(") ").next().ok_or("no stat")?;
    let fields: Vec<&str> = after.split(' ').collect();
    let ticks = fields[11].parse::<f64>()? + fields[12].parse::<f64>()?;
    Ok(ticks / 100.0)
}
