//! The server of the demo: OpenAI Chat Completions over HTTP on a free port of this machine.
//! Deliberately answers in order, whatever it is asked; it refuses only what is larger than the window.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::WINDOW_TOKENS;
use super::script::{SUMMARY, Turn};

/// Bytes of a body that are counted as a token.
const BYTES_PER_TOKEN: usize = 4;

/// A running server; dropping it stops it.
pub(super) struct Server {
    address: SocketAddr,
    stage: Arc<Stage>,
    task: tokio::task::JoinHandle<()>,
}

struct Stage {
    turns: Vec<Turn>,
    played: AtomicUsize,
    largest: AtomicUsize,
}

impl Server {
    pub(super) async fn start(turns: Vec<Turn>) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .context("failed to open a port for the demo")?;
        let address = listener
            .local_addr()
            .context("failed to open a port for the demo")?;
        let stage = Arc::new(Stage {
            turns,
            played: AtomicUsize::new(0),
            largest: AtomicUsize::new(0),
        });
        let shared = Arc::clone(&stage);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let stage = Arc::clone(&shared);
                tokio::spawn(async move {
                    let service = service_fn(|request| answer(Arc::clone(&stage), request));
                    // A connection that breaks ends with the demo.
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Ok(Server {
            address,
            stage,
            task,
        })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The largest request, in tokens by its bytes.
    pub(super) fn largest_tokens(&self) -> usize {
        self.stage.largest.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(
    stage: Arc<Stage>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = match request.into_body().collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => {
            return Ok(response(
                StatusCode::BAD_REQUEST,
                "application/json",
                "{}".into(),
            ));
        }
    };
    let tokens = body.len() / BYTES_PER_TOKEN;
    stage.largest.fetch_max(tokens, Ordering::SeqCst);
    if tokens > WINDOW_TOKENS {
        let error = json!({ "error": {
            "message": format!("This model's maximum context length is {WINDOW_TOKENS} tokens. However, your \
                                messages resulted in {tokens} tokens."),
            "type": "invalid_request_error", "code": "context_length_exceeded"
        }});
        return Ok(response(
            StatusCode::BAD_REQUEST,
            "application/json",
            error.to_string(),
        ));
    }
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let has_tools = asked["tools"].is_array();
    let number = if has_tools {
        stage.played.fetch_add(1, Ordering::SeqCst)
    } else {
        stage.played.load(Ordering::SeqCst)
    };
    let turn = if has_tools {
        stage.turns.get(number).cloned()
    } else {
        Some(Turn {
            text: SUMMARY.to_owned(),
            calls: Vec::new(),
        })
    };
    let turn = turn.unwrap_or_else(|| Turn {
        text: "Done.".to_owned(),
        calls: Vec::new(),
    });
    Ok(response(
        StatusCode::OK,
        "text/event-stream",
        stream(&turn, number, tokens),
    ))
}

fn response(status: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    response
}

/// The answer as a stream of chunks.
fn stream(turn: &Turn, number: usize, tokens: usize) -> String {
    let mut chunks = Vec::new();
    let mut delta = |delta: Value, reason: Value| {
        chunks.push(json!({ "object": "chat.completion.chunk", "choices": [
            { "index": 0, "delta": delta, "finish_reason": reason }
        ] }));
    };
    for word in turn.text.split_inclusive(' ') {
        delta(json!({ "content": word }), Value::Null);
    }
    for (index, (name, arguments)) in turn.calls.iter().enumerate() {
        delta(
            json!({ "tool_calls": [{
                "index": index, "id": format!("call_{number}_{index}"), "type": "function",
                "function": { "name": name, "arguments": arguments.to_string() }
            }] }),
            Value::Null,
        );
    }
    let reason = if turn.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    delta(json!({}), json!(reason));
    let written = chunks
        .iter()
        .map(|chunk| chunk.to_string().len())
        .sum::<usize>()
        / 40;
    chunks.push(json!({ "choices": [], "usage": {
        "prompt_tokens": tokens, "completion_tokens": written, "total_tokens": tokens + written
    } }));
    let mut text: String = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect();
    text.push_str("data: [DONE]\n\n");
    text
}
