//! What there is to see at `/_neenee/`: a page, the same as JSON, originals, metrics, health.
//! Deliberately read-only, self-contained and behind a token wherever others can reach it.

mod access;
mod json;

use std::sync::Arc;

use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, LOCATION,
    REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;

use crate::body::{AnyBody, whole};
use crate::shared::Shared;
use access::Access;

/// Everything under this path is the proxy's own.
const ROOT: &str = "/_neenee";

const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

/// Nothing from elsewhere, nothing inline: what tools said is shown as text and runs nowhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Whether a path is the proxy's own.
pub(crate) fn is_ours(path: &str) -> bool {
    path.strip_prefix(ROOT)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Answers a request for one of the proxy's own paths.
pub(crate) async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Response<AnyBody> {
    let path = request.uri().path().to_owned();
    let path = path[ROOT.len()..].to_owned();
    if path == "/health" {
        return plain(StatusCode::OK, JSON, "{\"status\":\"ok\"}");
    }
    let current = shared.current();
    let token = current.settings.token.as_deref();
    match access::check(token, request.uri(), request.headers()) {
        Access::Granted => {}
        Access::GrantedByQuery(cookie) => return enter(&cookie),
        Access::Denied(message) => return plain(StatusCode::UNAUTHORIZED, TEXT, message),
        Access::Elsewhere => {
            return plain(
                StatusCode::FORBIDDEN,
                TEXT,
                "this page answers to localhost alone\n",
            );
        }
    }
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, TEXT, "only GET\n");
        response
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    // The state of a conversation may be held while a request is planned.
    let found = tokio::task::spawn_blocking(move || find(&shared, &path)).await;
    found.unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, TEXT, "failed\n"))
}

fn find(shared: &Shared, path: &str) -> Response<AnyBody> {
    match path {
        "" => redirect(),
        "/" => plain(StatusCode::OK, HTML, include_str!("page/page.html")),
        "/page.js" => plain(
            StatusCode::OK,
            "text/javascript; charset=utf-8",
            include_str!("page/page.js"),
        ),
        "/page.css" => plain(
            StatusCode::OK,
            "text/css; charset=utf-8",
            include_str!("page/page.css"),
        ),
        "/metrics" => {
            let (conversations, bytes) = shared.memory.size();
            let text = shared.metrics.text(conversations, bytes);
            plain(
                StatusCode::OK,
                "text/plain; version=0.0.4; charset=utf-8",
                text,
            )
        }
        "/api/conversations" => found(json::conversations(shared)),
        _ => match path.strip_prefix("/api/conversations/") {
            Some(rest) => match rest.split_once("/originals/") {
                None => found(json::conversation(shared, rest)),
                Some((id, key)) => match json::original(shared, id, key) {
                    Ok(Some(text)) => plain(StatusCode::OK, TEXT, text),
                    Ok(None) => nothing(),
                    Err(error) => plain(
                        StatusCode::INTERNAL_SERVER_ERROR,
                        TEXT,
                        format!("failed to {error}\n"),
                    ),
                },
            },
            None => nothing(),
        },
    }
}

fn found(body: Option<String>) -> Response<AnyBody> {
    body.map_or_else(nothing, |body| plain(StatusCode::OK, JSON, body))
}

fn nothing() -> Response<AnyBody> {
    plain(StatusCode::NOT_FOUND, TEXT, "not found\n")
}

fn redirect() -> Response<AnyBody> {
    let mut response = plain(StatusCode::PERMANENT_REDIRECT, TEXT, "");
    response
        .headers_mut()
        .insert(LOCATION, HeaderValue::from_static("/_neenee/"));
    response
}

/// Keeps the token in a cookie, and takes it out of the address.
fn enter(cookie: &HeaderValue) -> Response<AnyBody> {
    let mut response = plain(StatusCode::SEE_OTHER, TEXT, "");
    let headers = response.headers_mut();
    headers.insert(LOCATION, HeaderValue::from_static("/_neenee/"));
    headers.insert(SET_COOKIE, cookie.clone());
    response
}

fn plain(
    status: StatusCode,
    kind: &'static str,
    body: impl Into<bytes::Bytes>,
) -> Response<AnyBody> {
    let mut response = Response::new(whole(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
