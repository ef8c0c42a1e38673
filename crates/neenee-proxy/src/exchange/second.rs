//! The second try of a request that was refused for its length, or for reasoning that does not fit.
//! Deliberately one, and only while the client has seen nothing; what is no help is the client's to see.

use http::Response;
use http::header::CONTENT_LENGTH;
use hyper::body::Incoming;

use super::inspect::{Inspected, Ready};
use crate::body::{AnyBody, Collected, broken, collect, flowing, whole};
use crate::client::SendError;
use crate::coding::Coding;
use crate::limits;
use crate::metrics::add;
use crate::project::{Attempt, Ticket};
use crate::refusal::{self, Refusal};
use crate::route::Kind;

/// The answer for the client: the first one, or that of a second try.
pub(super) async fn answer(
    inspected: &Inspected<'_>,
    first: Ready,
    response: Response<Incoming>,
) -> Result<(Response<AnyBody>, Option<Ticket>), SendError> {
    let ticket = first.ticket.clone();
    if !refusal::may_be_helped(response.status()) || inspected.job.kind == Kind::CountTokens {
        return Ok((response.map(flowing), ticket));
    }
    let (mut parts, body) = response.into_parts();
    let bytes = match collect(body, limits::ERROR_BODY).await {
        Ok(Collected::Whole(bytes)) => bytes,
        Ok(Collected::Flowing(body)) => return Ok((Response::from_parts(parts, body), ticket)),
        // It broke off; so does what the client gets.
        Err(error) => {
            return Ok((Response::from_parts(parts, broken(error)), ticket));
        }
    };
    let plain = Coding::of(&parts.headers)
        .and_then(|coding| coding.decode(&bytes, limits::ERROR_BODY * 4).ok());
    let refusal = refusal::recognise(plain.as_deref().unwrap_or(&bytes));
    let attempt = match refusal {
        Some(Refusal::PrefixMismatch) if first.edited => Attempt::Original,
        Some(Refusal::Overflow) => Attempt::Harder,
        _ => {
            return Ok((Response::from_parts(parts, whole(bytes)), ticket));
        }
    };
    let number = inspected.number;
    let next = inspected.ready(attempt).await;
    // The same again would be answered the same.
    if next.body != first.body {
        let what = match attempt {
            Attempt::Original => "its reasoning did not fit: sent once more as it came",
            _ => {
                add(&inspected.shared.metrics.overflow_retries, 1);
                "the window was full: sent once more, pruned harder"
            }
        };
        inspected
            .shared
            .log
            .line(&format!("request {number}: {what}"));
        let request = next.head.request(whole(next.body.clone()));
        let second = inspected.shared.client.send(request).await;
        if let Ok(second) = second
            && (second.status().is_success() || attempt == Attempt::Original)
        {
            return Ok((second.map(flowing), ticket));
        }
    }
    if parts.headers.contains_key(CONTENT_LENGTH) {
        parts.headers.insert(CONTENT_LENGTH, bytes.len().into());
    }
    Ok((Response::from_parts(parts, whole(bytes)), ticket))
}
