//! A request whose body is a conversation: read, projected aside, sent on smaller or as it came.
//! Deliberately patient with nothing: too large, unknown packing, no room or a fault mean "as it came".

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderName, USER_AGENT};
use http::{Request, Response};
use hyper::body::Incoming;
use tokio::sync::OwnedSemaphorePermit;

use super::{Head, second};
use crate::body::{AnyBody, Collected, collect, flowing, whole};
use crate::client::SendError;
use crate::coding::Coding;
use crate::fault::Fault;
use crate::headers::add_to_list;
use crate::limits;
use crate::metrics::add;
use crate::project::{Attempt, Job, Projected, Ticket, project};
use crate::route::Route;
use crate::shared::Shared;

/// Headers by which known clients name a conversation: Claude Code, Codex, opencode.
const SESSION_HEADERS: [&str; 6] = [
    "x-claude-code-session-id",
    "session-id",
    "session_id",
    "thread-id",
    "x-session-id",
    "x-session-affinity",
];

/// A longer name of a session or client is not kept.
const NAME: usize = 128;

/// A request that was read whole.
pub(super) struct Inspected<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) head: Head,
    /// As the client sent it.
    pub(super) original: Bytes,
    pub(super) coding: Coding,
    pub(super) job: Job,
    pub(super) number: u64,
    /// The room that its body takes.
    _room: OwnedSemaphorePermit,
}

/// A request ready to be sent.
pub(super) struct Ready {
    pub(super) head: Head,
    pub(super) body: Bytes,
    /// Whether it differs from what the client sent.
    pub(super) edited: bool,
    pub(super) ticket: Option<Ticket>,
}

/// Sends a request that may hold a conversation.
pub(super) async fn forward(
    shared: &Arc<Shared>,
    route: &Route,
    request: Request<Incoming>,
    number: u64,
) -> Result<(Response<AnyBody>, Option<Ticket>), SendError> {
    let (parts, body) = request.into_parts();
    let head = Head {
        method: parts.method,
        target: parts.uri,
        headers: parts.headers,
    };
    let room = Arc::clone(&shared.room).try_acquire_many_owned(room(&body, &head.headers));
    let collected = match room {
        Ok(room) => (collect(body, limits::INSPECTED_BODY).await, Some(room)),
        Err(_) => (Ok(Collected::Flowing(flowing(body))), None),
    };
    let (original, room) = match collected {
        (Ok(Collected::Whole(original)), Some(room)) => (original, room),
        (Ok(Collected::Whole(original)), None) => {
            let sent = shared.client.send(head.request(whole(original))).await?;
            return Ok((sent.map(flowing), None));
        }
        (Ok(Collected::Flowing(body)), _) => {
            add(&shared.metrics.uninspected, 1);
            shared.log.line(&format!(
                "request {number}: passed through as it came: too large to be looked into, or no room for it"
            ));
            let sent = shared.client.send(head.request(body)).await?;
            return Ok((sent.map(flowing), None));
        }
        // Whoever sent half of a body is not there for an answer.
        (Err(_), _) => {
            let status = http::StatusCode::BAD_REQUEST;
            let message = "failed to read the body of the request";
            return Ok((super::own(status, message, number), None));
        }
    };
    match unpack(&head.headers, &original) {
        Ok((coding, body)) => {
            let inspected = Inspected {
                job: job(shared, route, &head.headers, body),
                shared,
                head,
                original,
                coding,
                number,
                _room: room,
            };
            inspected.send().await
        }
        Err(fault) => {
            note(shared, number, &fault);
            let sent = shared.client.send(head.request(whole(original))).await?;
            Ok((sent.map(flowing), None))
        }
    }
}

impl Inspected<'_> {
    async fn send(self) -> Result<(Response<AnyBody>, Option<Ticket>), SendError> {
        let ready = self.ready(Attempt::First).await;
        let request = ready.head.request(whole(ready.body.clone()));
        let response = self.shared.client.send(request).await?;
        second::answer(&self, ready, response).await
    }

    /// What is to be sent, on this try; the original when anything fails.
    pub(super) async fn ready(&self, attempt: Attempt) -> Ready {
        let started = Instant::now();
        let small = self.coding == Coding::Identity && self.original.len() <= limits::QUICK_BODY;
        let job = Job {
            attempt,
            quick: small && attempt == Attempt::First,
            ..self.job.clone()
        };
        let coding = self.coding;
        let shared = Arc::clone(self.shared);
        let work = move |job: &Job| {
            let mut projected = project(&shared, job)?;
            if let Some(body) = projected.body.take() {
                projected.body = Some(coding.encode(body).map_err(|_| Fault::Coding)?);
            }
            Ok(projected)
        };
        let here = || catch_unwind(AssertUnwindSafe(|| work(&job))).unwrap_or(Err(Fault::Panic));
        let projected = if job.quick { here() } else { Err(Fault::Slow) };
        let projected = match projected {
            Err(Fault::Slow) => {
                let job = Job {
                    quick: false,
                    ..job
                };
                tokio::task::spawn_blocking(move || work(&job))
                    .await
                    .unwrap_or(Err(Fault::Panic))
            }
            done => done,
        };
        self.shared.metrics.projected(started.elapsed());
        let projected = projected.unwrap_or_else(|fault| Projected {
            fault: Some(fault),
            ..Projected::default()
        });
        if let Some(fault) = &projected.fault {
            note(self.shared, self.number, fault);
        }
        let mut head = self.head.clone();
        let edited = projected.body.is_some();
        let body = projected
            .body
            .map_or_else(|| self.original.clone(), Bytes::from);
        if edited {
            add(&self.shared.metrics.edited, 1);
            for beta in projected.betas {
                add_to_list(&mut head.headers, "anthropic-beta", beta);
            }
        }
        // Its own length, also where the client sent it in chunks.
        head.headers.insert(CONTENT_LENGTH, body.len().into());
        Ready {
            head,
            body,
            edited,
            ticket: projected.ticket,
        }
    }
}

/// What a request is reckoned to hold, in KiB: its body, that unpacked, and the new one.
fn room(body: &Incoming, headers: &HeaderMap) -> u32 {
    let told = http_body::Body::size_hint(body).upper();
    let told = told.map_or(limits::UNTOLD_BODY, |bytes| {
        usize::try_from(bytes).unwrap_or(usize::MAX)
    });
    let packed = headers.contains_key(CONTENT_ENCODING);
    let unpacked = told.saturating_mul(if packed { limits::PACKED } else { 1 });
    let kib = (unpacked.min(limits::INSPECTED_BODY) >> 10) * 3 + 1;
    u32::try_from(kib).unwrap_or(u32::MAX)
}

fn job(shared: &Shared, route: &Route, headers: &HeaderMap, body: Bytes) -> Job {
    let text = |name: &HeaderName| {
        let value = headers.get(name)?.to_str().ok()?;
        (!value.is_empty() && value.len() <= NAME).then(|| value.to_owned())
    };
    Job {
        current: shared.current(),
        kind: route.kind,
        upstream: route.upstream.clone(),
        model: route.model.clone(),
        body,
        session: SESSION_HEADERS
            .iter()
            .find_map(|name| text(&HeaderName::from_static(name))),
        client: text(&USER_AGENT)
            .and_then(|agent| agent.split_whitespace().next().map(str::to_owned)),
        attempt: Attempt::First,
        quick: false,
    }
}

fn unpack(headers: &HeaderMap, original: &Bytes) -> Result<(Coding, Bytes), Fault> {
    if !headers.contains_key(CONTENT_ENCODING) {
        return Ok((Coding::Identity, original.clone()));
    }
    let coding = Coding::of(headers).ok_or(Fault::Coding)?;
    if coding == Coding::Identity {
        return Ok((coding, original.clone()));
    }
    match coding.decode(original, limits::DECODED_BODY) {
        Ok(body) => Ok((coding, body.into())),
        Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => Err(Fault::Bomb),
        Err(_) => Err(Fault::Coding),
    }
}

/// A fault is counted and said; the request goes on.
fn note(shared: &Shared, number: u64, fault: &Fault) {
    shared.metrics.fault(fault);
    shared.log.line(&format!(
        "request {number}: passed through as it came: failed to {fault}"
    ));
}
