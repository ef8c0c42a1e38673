//! The way of one request: routed, looked into, sent, perhaps sent once more, answered.
//! Deliberately one readable stack; each step that can fail leaves the request as the client sent it.

mod inspect;
mod second;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use http::{Method, Request, Response, StatusCode, Uri};
use hyper::body::Incoming;
use serde_json::json;

use crate::body::{AnyBody, flowing, whole};
use crate::client::SendError;
use crate::headers::{join_cookies, strip_hop_by_hop, upgrade};
use crate::page;
use crate::project::Ticket;
use crate::route::{Kind, Route};
use crate::shared::Shared;
use crate::tap::Tap;
use crate::upgrade;

/// What of a request is the same for each try.
#[derive(Clone, Debug)]
struct Head {
    method: Method,
    target: Uri,
    headers: HeaderMap,
}

impl Head {
    fn request(&self, body: AnyBody) -> Request<AnyBody> {
        let mut request = Request::new(body);
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.target.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }
}

/// Answers one request of a client.
pub(crate) async fn handle(shared: Arc<Shared>, request: Request<Incoming>) -> Response<AnyBody> {
    if page::is_ours(request.uri().path()) {
        return page::answer(shared, request).await;
    }
    let number = shared.number();
    let current = shared.current();
    let route = Route::of(
        &current.settings.upstreams,
        request.method(),
        request.uri(),
        request.headers(),
    );
    let Some(route) = route else {
        shared.metrics.request(Kind::Other);
        let message = "failed to find an upstream for this path";
        return own(StatusCode::NOT_FOUND, message, number);
    };
    shared.metrics.request(route.kind);
    let running = Running::new(&shared);
    let answer = forward(&shared, &route, request, number).await;
    let mut running = running;
    let response = match answer {
        Ok((response, ticket)) => respond(&shared, response, ticket, running),
        Err(error) => {
            running.ended = true;
            shared.metrics.unreachable.fetch_add(1, Ordering::Relaxed);
            let why = reason(&error);
            let upstream = &route.upstream;
            shared.log.line(&format!(
                "request {number}: failed to reach the upstream {upstream}: {why}"
            ));
            own(
                StatusCode::BAD_GATEWAY,
                &format!("failed to reach the upstream {upstream}: {why}"),
                number,
            )
        }
    };
    shared.metrics.status(response.status());
    response
}

async fn forward(
    shared: &Arc<Shared>,
    route: &Route,
    mut request: Request<Incoming>,
    number: u64,
) -> Result<(Response<AnyBody>, Option<Ticket>), SendError> {
    let protocol = upgrade(request.headers());
    let headers = request.headers_mut();
    strip_hop_by_hop(headers);
    // Each connection names its own host.
    headers.remove(HOST);
    join_cookies(headers);
    *request.uri_mut() = route.target.clone();
    if let Some(protocol) = protocol {
        shared.metrics.upgrades.fetch_add(1, Ordering::Relaxed);
        let response = upgrade::pass(shared, request, protocol).await?;
        return Ok((response, None));
    }
    if route.kind != Kind::Other {
        return inspect::forward(shared, route, request, number).await;
    }
    let (parts, body) = request.into_parts();
    let head = Head {
        method: parts.method,
        target: parts.uri,
        headers: parts.headers,
    };
    let response = shared.client.send(head.request(flowing(body))).await?;
    Ok((response.map(flowing), None))
}

/// Hands an answer to the client as it comes, and reads along where it belongs to a conversation.
fn respond(
    shared: &Arc<Shared>,
    response: Response<AnyBody>,
    ticket: Option<Ticket>,
    running: Running,
) -> Response<AnyBody> {
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        let mut running = running;
        running.ended = true;
        return response;
    }
    let (mut parts, body) = response.into_parts();
    strip_hop_by_hop(&mut parts.headers);
    let shared = Arc::clone(shared);
    let success = parts.status.is_success();
    let tap = Tap::new(body, &parts.headers, move |usage, whole| {
        let mut running = running;
        running.ended = whole;
        if let Some(ticket) = ticket.filter(|_| success) {
            let metrics = &shared.metrics;
            metrics.input.fetch_add(usage.input, Ordering::Relaxed);
            metrics
                .cache_read
                .fetch_add(usage.cache_read, Ordering::Relaxed);
            metrics
                .cache_write
                .fetch_add(usage.cache_write, Ordering::Relaxed);
            metrics.output.fetch_add(usage.output, Ordering::Relaxed);
            let mut story = ticket.conversation.story();
            story.answer(ticket.serial, shared.now(), &usage);
        }
    });
    Response::from_parts(parts, flowing(tap))
}

/// A request that is not answered to its end. One that ends before was cancelled.
struct Running {
    shared: Arc<Shared>,
    ended: bool,
}

impl Running {
    fn new(shared: &Arc<Shared>) -> Running {
        shared.metrics.in_flight.fetch_add(1, Ordering::Relaxed);
        Running {
            shared: Arc::clone(shared),
            ended: false,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let metrics = &self.shared.metrics;
        metrics.in_flight.fetch_sub(1, Ordering::Relaxed);
        if !self.ended {
            metrics.cancelled.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// An answer of the proxy's own, where there is none of an upstream.
fn own(status: StatusCode, message: &str, number: u64) -> Response<AnyBody> {
    let error = json!({
        "type": "error",
        "error": { "type": "neenee_proxy", "message": message, "request": number },
    });
    let body = error.to_string();
    let mut response = Response::new(whole(""));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CONTENT_LENGTH, body.len().into());
    *response.body_mut() = whole(body);
    response
}

/// The causes of an error, without addresses of requests.
fn reason(error: &SendError) -> String {
    let mut reason = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !reason.contains(&cause_text) {
            reason.push_str(": ");
            reason.push_str(&cause_text);
        }
        source = cause.source();
    }
    reason
}
