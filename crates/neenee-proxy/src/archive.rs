//! Where originals and projections are kept, so that nothing leaves a window before it is durable.
//! Deliberately a small trait: a database fits behind it as well as the file that stands here.

mod file;

pub use file::FileArchive;

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

/// Where one conversation stands after a message: a hash of all messages up to it, instructions and
/// tool schemas aside. Two conversations that begin the same share nodes as far as they are the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Node(pub [u8; 16]);

/// Which result: a hash of its call's id and of what it says, and how many results like it came before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ResultKey(pub [u8; 16]);

/// One durable step from a window to a smaller one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Projection {
    /// The conversation's id.
    pub conversation: String,
    /// The message that holds the newest result of it: whoever sends that message sends all of them.
    pub node: Node,
    /// When, in ms since the epoch (UTC).
    pub at: i64,
    /// The model's name, as the request had it.
    pub model: String,
    /// What led to it; a stable name.
    pub trigger: String,
    /// Whether the provider was told to drop reasoning that no longer fits.
    pub drops_reasoning: bool,
    /// The results that changed.
    pub results: Vec<DegradedResult>,
}

impl Projection {
    /// The trigger of a projection without results: the provider refused edited history, so that the
    /// ones before it no longer hold and no further one may touch what was sent.
    pub const REFUSED: &'static str = "refused";
}

/// A result in its degraded form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DegradedResult {
    /// Which one.
    pub key: ResultKey,
    /// The id of its call, where the format has ids.
    pub call_id: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// Tool and salient argument, as placeholders show them.
    pub label: String,
    /// Why; a stable name in kebab case.
    pub reason: String,
    /// Whether its head and tail are left; else it was cleared.
    pub truncated: bool,
    /// Lines of the original, where known.
    pub lines: Option<usize>,
    /// Chars (Unicode scalars) of the original; `None` for a result that was only cut to a cap, which
    /// counts as whole.
    pub original_chars: Option<usize>,
    /// Chars before and after.
    pub chars: (usize, usize),
    /// Estimated tokens before and after.
    pub tokens: (usize, usize),
    /// What is sent instead, each time.
    pub text: String,
}

/// The content that a degraded result had, as the client sent it: the bytes of a JSON value.
#[derive(Clone, Copy, Debug)]
pub struct Original<'a> {
    /// Which result.
    pub key: ResultKey,
    /// The bytes.
    pub content: &'a [u8],
}

/// Keeps originals and projections. Calls may block on disks and networks; they are made from threads
/// that may.
pub trait Archive: Send + Sync + fmt::Debug {
    /// Keeps a projection with the originals of its results. Once this returns, both are durable.
    ///
    /// # Errors
    /// When they are not; nothing of the projection may be used then.
    fn record(
        &self,
        projection: &Projection,
        originals: &[Original<'_>],
    ) -> Result<(), ArchiveError>;

    /// The projections that a conversation with these nodes has been through, oldest first.
    ///
    /// # Errors
    /// When they cannot be read.
    fn restore(&self, nodes: &[Node]) -> Result<Vec<Projection>, ArchiveError>;

    /// What a result of a conversation said; `None` when it is not kept.
    ///
    /// # Errors
    /// When it cannot be read, or is not what was written.
    fn original(&self, conversation: &str, key: ResultKey)
    -> Result<Option<Vec<u8>>, ArchiveError>;
}

/// Why something is not kept or not found again. Reads after "failed to".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The disk or the network.
    #[error("reach the archive")]
    Io(#[from] io::Error),
    /// What is there is not what was written.
    #[error("read the archive: {0}")]
    Damaged(String),
}

macro_rules! hexadecimal {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl From<$name> for String {
            fn from(hash: $name) -> String {
                hash.to_string()
            }
        }

        impl TryFrom<String> for $name {
            type Error = &'static str;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                parse(&text)
                    .map($name)
                    .ok_or("expected 32 hexadecimal digits")
            }
        }
    };
}

hexadecimal!(Node);
hexadecimal!(ResultKey);

fn parse(text: &str) -> Option<[u8; 16]> {
    let digits = text.as_bytes();
    if digits.len() != 32 {
        return None;
    }
    let mut hash = [0; 16];
    for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16);
        *byte = (digit(0)? * 16 + digit(1)?) as u8;
    }
    Some(hash)
}
