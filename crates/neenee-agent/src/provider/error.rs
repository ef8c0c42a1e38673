//! What goes wrong between us and a provider: a kind to branch on, a message for people.
//! Deliberately never the key: messages of servers are masked before they come here.

use std::fmt;
use std::time::Duration;

/// A request that brought no whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderError {
    /// What to do about it depends on this.
    pub kind: ProviderErrorKind,
    /// What the server or the network said.
    pub message: String,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// How long the server asks to wait.
    pub retry_after: Option<Duration>,
}

/// Kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProviderErrorKind {
    /// The request is larger than the model's window.
    Overflow,
    /// Too many requests or tokens in a span of time (429).
    RateLimited,
    /// The server cannot answer now (408, 409, 5xx, an error in the middle of a stream).
    Unavailable,
    /// No connection, one that broke, or an answer that stopped before its end.
    Connection,
    /// Nothing came for too long.
    Timeout,
    /// The key is missing or not accepted (401, 403).
    Authentication,
    /// The server refuses this request and would refuse it again.
    Refused,
    /// The answer is none of the provider's format.
    Protocol,
    /// The caller cancelled.
    Cancelled,
}

impl ProviderError {
    /// An error of that kind.
    pub fn new(kind: ProviderErrorKind, message: impl Into<String>) -> Self {
        ProviderError {
            kind,
            message: message.into(),
            status: None,
            retry_after: None,
        }
    }

    /// The caller cancelled.
    pub fn cancelled() -> Self {
        Self::new(ProviderErrorKind::Cancelled, "cancelled")
    }

    /// Whether the same request may be answered when it is sent again.
    pub fn is_transient(&self) -> bool {
        matches!(
            self.kind,
            ProviderErrorKind::RateLimited
                | ProviderErrorKind::Unavailable
                | ProviderErrorKind::Connection
                | ProviderErrorKind::Timeout
        )
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ProviderErrorKind::Overflow => f.write_str("the request does not fit the window: ")?,
            ProviderErrorKind::RateLimited => f.write_str("the provider limits the rate: ")?,
            ProviderErrorKind::Unavailable => f.write_str("the provider is not available: ")?,
            ProviderErrorKind::Connection => f.write_str("the connection failed: ")?,
            ProviderErrorKind::Timeout => f.write_str("the provider did not answer in time: ")?,
            ProviderErrorKind::Authentication => f.write_str("the key was not accepted: ")?,
            ProviderErrorKind::Refused => f.write_str("the provider refused the request: ")?,
            ProviderErrorKind::Protocol => f.write_str("the answer could not be read: ")?,
            ProviderErrorKind::Cancelled => {}
        }
        f.write_str(&self.message)?;
        match self.status {
            Some(status) => write!(f, " (status {status})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ProviderError {}
