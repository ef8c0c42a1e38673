//! A scripted upstream: a local HTTP server that plays a model in four wire formats, from a script.
//! Deliberately not a model and not a proxy: it never looks further than the script and what was asked.

mod anthropic;
mod chat;
mod gemini;
mod responses;
mod script;
mod tools;
mod turn;
mod wire;

pub use script::{Fault, Script};
pub use turn::{Op, Turn};
pub use wire::Wire;

use axum::body::{Body, Bytes};
use axum::extract::{Request as Incoming, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt as _};
use serde_json::{Value, json};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tools::Dialect;
use wire::Answer;

/// The largest request body taken, in bytes; agents send a few megabytes at most.
const BODY_LIMIT: usize = 256 << 20;

/// Headers that name a person; they are dropped before anything is kept.
const SECRET_HEADERS: &[&str] = &["authorization", "x-api-key", "x-goog-api-key", "cookie"];

/// A running server; dropping it stops it.
#[derive(Debug)]
pub struct Upstream {
    address: SocketAddr,
    log: Arc<Mutex<Vec<Received>>>,
    server: tokio::task::JoinHandle<()>,
}

impl Upstream {
    /// Listens on a free port of 127.0.0.1. Must be called in a tokio runtime.
    ///
    /// # Errors
    /// When no port can be bound.
    pub async fn start(script: Script) -> io::Result<Self> {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let log = Arc::new(Mutex::new(Vec::new()));
        let state = Arc::new(Stage {
            script,
            played: AtomicUsize::new(0),
            log: Arc::clone(&log),
        });
        let app = axum::Router::new().fallback(receive).with_state(state);
        let server = tokio::spawn(async move {
            // It ends when the task is aborted; an error of `accept` is retried within.
            let _ = axum::serve(listener, app).await;
        });
        Ok(Self {
            address,
            log,
            server,
        })
    }

    /// `http://127.0.0.1:PORT`, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, oldest first.
    pub fn requests(&self) -> Vec<Received> {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// A request as it came in.
#[derive(Debug, Clone)]
pub struct Received {
    /// Path and query.
    pub path: String,
    /// Names in lower case, in order, without those that carry credentials.
    pub headers: Vec<(String, String)>,
    /// The bytes of the body.
    pub body: Vec<u8>,
    /// The format that the path is of.
    pub wire: Option<Wire>,
    /// Whether it offers tools: an agent's turn rather than one of its side errands.
    pub has_tools: bool,
    /// What the real API would refuse it for; none when it would be taken.
    pub problems: Vec<String>,
}

struct Stage {
    script: Script,
    /// Requests with tools that were answered.
    played: AtomicUsize,
    log: Arc<Mutex<Vec<Received>>>,
}

async fn receive(State(stage): State<Arc<Stage>>, request: Incoming) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, BODY_LIMIT).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let headers = parts.headers.iter().filter_map(|(name, value)| {
        let kept = !SECRET_HEADERS.contains(&name.as_str());
        kept.then(|| {
            (
                name.to_string(),
                String::from_utf8_lossy(value.as_bytes()).into_owned(),
            )
        })
    });
    let mut received = Received {
        path: path.to_owned(),
        headers: headers.collect(),
        body: body.to_vec(),
        wire: Wire::of(parts.uri.path()),
        has_tools: false,
        problems: Vec::new(),
    };
    let number = {
        let log = stage.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.len()
    };
    let mut faults = stage.script.faults.iter();
    let response = match faults.find(|(at, _)| *at == number) {
        Some((_, fault)) => fail(fault),
        None => stage.respond(&mut received),
    };
    stage
        .log
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(received);
    response
}

impl Stage {
    fn respond(&self, received: &mut Received) -> Response {
        let Some(wire) = received.wire else {
            return (
                StatusCode::NOT_FOUND,
                axum::Json(json!({ "error": { "message": "not found" } })),
            )
                .into_response();
        };
        let body: Value = match serde_json::from_slice(&received.body) {
            Ok(body) => body,
            Err(error) => {
                received
                    .problems
                    .push(format!("the body is not JSON: {error}"));
                return refuse(wire, &received.problems);
            }
        };
        let tokens = received.body.len() / self.script.bytes_per_token.max(1);
        if received.path.contains("count_tokens") {
            return axum::Json(json!({ "input_tokens": tokens })).into_response();
        }
        if received.path.contains(":countTokens") {
            return axum::Json(json!({ "totalTokens": tokens })).into_response();
        }
        let mut request = wire.read(&body);
        if wire == Wire::Gemini {
            request.streamed = received.path.contains(":stream");
            let model = received.path.rsplit('/').next().unwrap_or_default();
            request.model = model.split(':').next().unwrap_or_default().to_owned();
        }
        received.has_tools = !request.offered.is_empty();
        received.problems = std::mem::take(&mut request.problems);
        if self.script.strict && !received.problems.is_empty() {
            return refuse(wire, &received.problems);
        }
        if self
            .script
            .window_tokens
            .is_some_and(|window| tokens > window)
        {
            return refuse_with(wire.overflow(tokens, self.script.window_tokens.unwrap_or(0)));
        }
        let (turn, seed) = if self.script.in_order {
            let number = if received.has_tools {
                self.played.fetch_add(1, Ordering::SeqCst)
            } else {
                self.played.load(Ordering::SeqCst)
            };
            self.script.nth(number)
        } else {
            self.script.answer(&request.said)
        };
        let dialect = Dialect {
            offered: &request.offered,
            root: &self.script.root,
        };
        let calls: Vec<_> = turn
            .calls
            .iter()
            .filter_map(|op| dialect.call(op))
            .collect();
        // A request without tools in the middle of a round is an errand of the client, such as a
        // title; and an answer without anything in it is retried.
        let errand = calls.is_empty() && !turn.calls.is_empty();
        let text = if errand {
            Some("Shop work".to_owned())
        } else {
            turn.text
        };
        let answer = Answer {
            model: request.model,
            seed,
            reasoning: turn.reasoning.filter(|_| !errand),
            text,
            calls,
            input_tokens: tokens,
        };
        if request.streamed {
            self.stream(wire.events(&answer))
        } else {
            axum::Json(wire.whole(&answer)).into_response()
        }
    }

    fn stream(&self, events: Vec<String>) -> Response {
        let mut left = self.script.cut_at.unwrap_or(usize::MAX);
        let mut chunks: Vec<Result<Bytes, io::Error>> = Vec::new();
        for event in events {
            let take = left.min(event.len());
            chunks.push(Ok(Bytes::copy_from_slice(&event.as_bytes()[..take])));
            left -= take;
            if left == 0 {
                break;
            }
        }
        let chunks = stream::iter(chunks);
        let kind = [(header::CONTENT_TYPE, "text/event-stream")];
        if self.script.cut_at.is_none() {
            return (kind, Body::from_stream(chunks)).into_response();
        }
        // An error ends the connection without the end mark of the chunked coding. What came before
        // it is written out only when the body makes the server wait.
        let cut = stream::once(async {
            tokio::task::yield_now().await;
            Err(io::ErrorKind::ConnectionAborted.into())
        });
        (kind, Body::from_stream(chunks.chain(cut))).into_response()
    }
}

fn refuse(wire: Wire, problems: &[String]) -> Response {
    refuse_with(wire.refusal(&problems.join("; ")))
}

fn refuse_with(body: Value) -> Response {
    (StatusCode::BAD_REQUEST, axum::Json(body)).into_response()
}

fn fail(fault: &Fault) -> Response {
    let mut response = fault.body.clone().into_response();
    *response.status_mut() =
        StatusCode::from_u16(fault.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in &fault.headers {
        if let (Ok(name), Ok(value)) = (
            header::HeaderName::from_bytes(name.as_bytes()),
            header::HeaderValue::from_str(value),
        ) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}
