//! Bodies on their way: boxed, whole, put together again from what was read and what was not.
//! Deliberately never collected here without a limit; what is not looked into flows as it comes.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};

/// Whatever ends a body before its time.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A body of any origin.
pub(crate) type AnyBody = UnsyncBoxBody<Bytes, BoxError>;

/// A body of bytes that are there.
pub(crate) fn whole(bytes: impl Into<Bytes>) -> AnyBody {
    Full::new(bytes.into())
        .map_err(|never| match never {})
        .boxed_unsync()
}

/// A body that flows as it comes.
pub(crate) fn flowing<B>(body: B) -> AnyBody
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    body.map_err(Into::into).boxed_unsync()
}

/// A body that fails at once.
pub(crate) fn broken(error: BoxError) -> AnyBody {
    struct Broken(Option<BoxError>);

    impl Body for Broken {
        type Data = Bytes;
        type Error = BoxError;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
            Poll::Ready(self.0.take().map(Err))
        }
    }
    Broken(Some(error)).boxed_unsync()
}

/// What came of reading a body.
pub(crate) enum Collected {
    /// All of it.
    Whole(Bytes),
    /// It is longer than the limit, or has trailers: the body as it was, from its first byte on.
    Flowing(AnyBody),
}

/// Reads a body up to `limit` bytes.
///
/// # Errors
/// When the sender fails in the middle.
pub(crate) async fn collect<B>(mut body: B, limit: usize) -> Result<Collected, BoxError>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<BoxError>,
{
    let expected = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if expected > limit {
        return Ok(Collected::Flowing(flowing(body)));
    }
    let mut frames: VecDeque<Frame<Bytes>> = VecDeque::new();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(Into::into)?;
        length += frame.data_ref().map_or(0, Bytes::len);
        let stop = length > limit || frame.is_trailers();
        frames.push_back(frame);
        if stop {
            let replay = Replay { frames, rest: body };
            return Ok(Collected::Flowing(flowing(replay)));
        }
    }
    if frames.len() == 1 {
        let only = frames.pop_front().and_then(|frame| frame.into_data().ok());
        return Ok(Collected::Whole(only.unwrap_or_default()));
    }
    let mut bytes = BytesMut::with_capacity(length);
    for data in frames.iter().filter_map(Frame::data_ref) {
        bytes.extend_from_slice(data);
    }
    Ok(Collected::Whole(bytes.freeze()))
}

/// Frames that were read already, then the rest.
struct Replay<B> {
    frames: VecDeque<Frame<Bytes>>,
    rest: B,
}

impl<B> Body for Replay<B>
where
    B: Body<Data = Bytes> + Unpin,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.frames.pop_front() {
            Some(frame) => Poll::Ready(Some(Ok(frame))),
            None => Pin::new(&mut self.rest).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.frames.is_empty() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let held: u64 = self
            .frames
            .iter()
            .filter_map(Frame::data_ref)
            .map(|data| data.len() as u64)
            .sum();
        let rest = self.rest.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower() + held);
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper + held);
        }
        hint
    }
}
