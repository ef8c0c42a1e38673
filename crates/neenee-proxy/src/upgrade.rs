//! A connection that changes its protocol: a WebSocket passed through.
//! Deliberately not looked into: what flows then is between client and provider.

use std::sync::Arc;

use http::{HeaderValue, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;

use crate::body::{AnyBody, flowing, whole};
use crate::headers::strip_hop_by_hop;
use crate::shared::Shared;

/// Sends the request on and ties both connections together when the upstream agrees. `request` has
/// the upstream's address and no header of the client's connection.
pub(crate) async fn pass(
    shared: &Arc<Shared>,
    mut request: Request<Incoming>,
    protocol: HeaderValue,
) -> Result<Response<AnyBody>, crate::client::SendError> {
    let client = hyper::upgrade::on(&mut request);
    let (mut parts, _) = request.into_parts();
    parts
        .headers
        .insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    parts.headers.insert(header::UPGRADE, protocol);
    let request = Request::from_parts(parts, whole(""));
    let mut response = shared.client.send_upgrade(request).await?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        let (mut parts, body) = response.into_parts();
        strip_hop_by_hop(&mut parts.headers);
        return Ok(Response::from_parts(parts, flowing(body)));
    }
    let upstream = hyper::upgrade::on(&mut response);
    tokio::spawn(async move {
        let (Ok(client), Ok(upstream)) = tokio::join!(client, upstream) else {
            return;
        };
        let (mut client, mut upstream) = (TokioIo::new(client), TokioIo::new(upstream));
        // Either end may go at any time; the other is told by the end of its connection.
        let _ = copy_bidirectional(&mut client, &mut upstream).await;
    });
    // `Connection` and `Upgrade` are part of this answer.
    let (parts, _) = response.into_parts();
    Ok(Response::from_parts(parts, whole("")))
}
