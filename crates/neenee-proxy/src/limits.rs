//! The limits of the proxy, each with its reason.
//! Deliberately constants and no settings: they hold off accidents and abuse, they are nothing to tune.

use std::time::Duration;

/// Request bodies up to this many bytes are looked into; larger ones pass through as they are.
/// Providers refuse bodies over 32 MB (Anthropic) to 50 MB (OpenAI), attachments included.
pub const INSPECTED_BODY: usize = 64 << 20;

/// Bodies that are held at one time, all requests together, in bytes. A request that would exceed it
/// passes through as it is.
pub const HELD_BODIES: usize = 512 << 20;

/// A body whose length is not told is reckoned to have this many bytes; a long conversation has a few
/// million.
pub const UNTOLD_BODY: usize = 8 << 20;

/// A packed body is reckoned to be this many times as long unpacked. Text of code and logs packs to a
/// fifth or so.
pub const PACKED: usize = 8;

/// A compressed body may grow to this many bytes, which is what an uncompressed one may have.
pub const DECODED_BODY: usize = INSPECTED_BODY;

/// Bodies up to this many bytes are looked into by the thread that serves the connection, which takes a
/// fraction of a millisecond; moving to another thread would take as long.
pub const QUICK_BODY: usize = 64 << 10;

/// What is read of an error answer to tell whether a second try makes sense, in bytes.
pub const ERROR_BODY: usize = 64 << 10;

/// One line of an event stream that is looked at for usage, in bytes; longer ones are skipped.
pub const EVENT_LINE: usize = 256 << 10;

/// What is kept of an answer in one piece to read its usage, in bytes.
pub const WHOLE_ANSWER: usize = 8 << 20;

/// A client has this long to send the head of a request, so that slow ones hold no connection for ever.
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Headers of one request; more are answered with 431.
pub const HEADER_COUNT: usize = 128;

/// Bytes that hyper buffers per connection, and with them the longest head.
pub const HEAD_BYTES: usize = 128 << 10;

/// Connections at one time; further ones wait to be accepted.
pub const CONNECTIONS: usize = 8_192;

/// Streams of one HTTP/2 connection at one time.
pub const STREAMS: u32 = 256;

/// How long connecting to an upstream may take.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Idle connections to upstreams are closed after this long: before the providers' own servers do,
/// which would make the next request on them fail.
pub const POOL_IDLE: Duration = Duration::from_secs(30);

/// How long a shutdown waits for streams that still run.
pub const DRAIN: Duration = Duration::from_secs(30);

/// Decisions that are kept of one conversation for the page.
pub const DECISIONS: usize = 64;

/// Requests that are kept of one conversation for the page's chart.
pub const SAMPLES: usize = 512;
