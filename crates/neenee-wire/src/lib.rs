//! Formats: recognise, read and splice the bodies and session files of LLM agents.
//! Deliberately not I/O and not policy: bytes in, bytes out; what to prune is `neenee-core`'s.
//!
//! [`read`] turns bytes into a [`Document`]: the window as a stream of views for the planner, and for
//! each result where its content stands. [`Document::splice`] gives the same bytes back with the
//! content of some results replaced. There is no tree in between and nothing is re-serialised, so
//! whatever is not understood is carried verbatim.
#![forbid(unsafe_code)]
#![expect(dead_code, reason = "the vocabulary of codecs that land one by one")]

mod content;
mod document;
mod error;
mod format;
mod insert;
mod json;
mod media;
mod slot;
mod source;
mod splice;
pub mod sse;
mod time;

pub use document::{Document, MessageInfo, Outside, Usage};
pub use error::{ReadError, ReadErrorKind, Warning};
pub use format::Format;
pub use insert::{Delegate, Insertion, InsertionError};
pub use slot::ResultSlot;
pub use splice::{Edit, SpliceError};

use error::Fault;
use source::Source;

/// How many lines of a session file are looked at before the whole of it is.
const DETECT_LINES: usize = 64;

/// The format of an input, by its structure; `None` when it is none of those known here.
pub fn detect(bytes: &[u8]) -> Option<Format> {
    let first = Source::scan(bytes, DETECT_LINES).ok()?;
    Format::sniff(&first).or_else(|| {
        // A session may open with more housekeeping than that.
        first
            .is_lines()
            .then(|| Source::scan(bytes, usize::MAX).ok())
            .flatten()
            .and_then(|all| Format::sniff(&all))
    })
}

/// Reads a request body, a message array or a session file; as `format`, or as what it is recognised
/// to be.
///
/// # Errors
/// When nothing of the input can be understood: it is empty, not UTF-8, not JSON, of no known format,
/// or not of the shape of the format. Lines of a session that are torn or unknown are no error.
pub fn read(bytes: &[u8], format: Option<Format>) -> Result<Document<'_>, ReadError> {
    let mut source = Source::scan(bytes, usize::MAX)
        .map_err(|fault| ReadError::new(bytes, false, format, fault))?;
    let lines = source.is_lines();
    let format = format
        .or_else(|| Format::sniff(&source))
        .ok_or_else(|| ReadError::new(bytes, lines, None, unrecognised()))?;
    let draft = format
        .read(&source)
        .map_err(|fault| ReadError::new(bytes, lines, Some(format), fault))?;
    Ok(Document {
        bytes,
        format,
        warnings: source.take_warnings(),
        draft,
    })
}

fn unrecognised() -> Fault {
    let names: Vec<&str> = Format::all().map(Format::name).collect();
    Fault::new(
        ReadErrorKind::NotRecognised,
        0,
        format!("one of {}", names.join(", ")),
    )
    .hint("name the format if it is one of these all the same")
}
