//! What can be wrong with an input, and where.
//! Deliberately not about files: the caller knows the name and puts it before these fragments.

use std::borrow::Cow;
use std::fmt;

use crate::format::Format;
use crate::json::{self, Place};

/// Why an input could not be read. Displays as a fragment that reads after "failed to read FILE: ".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    kind: ReadErrorKind,
    format: Option<Format>,
    offset: usize,
    place: Place,
    expected: Cow<'static, str>,
    hint: Option<Cow<'static, str>>,
}

/// The kinds of [`ReadError`], to branch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// Nothing but white space.
    Empty,
    /// Well-formed, but no format that is known here.
    NotRecognised,
    /// Not JSON.
    Json,
    /// Not UTF-8.
    Utf8,
    /// JSON, but not of the format's shape.
    Shape,
    /// Nested deeper than is read.
    TooDeep,
    /// Larger than the 4 GiB that offsets reach.
    TooLarge,
}

impl ReadError {
    /// The kind, to branch on.
    pub fn kind(&self) -> ReadErrorKind {
        self.kind
    }

    /// The format that was being read, once it was known.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// The byte at which it was noticed, counted from 0.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The line at which it was noticed, counted from 1.
    pub fn line(&self) -> usize {
        self.place.line
    }

    /// The column in that line, in bytes, counted from 1.
    pub fn column(&self) -> usize {
        self.place.column
    }

    /// The JSON path of the value, as `messages[3].content`; empty at the root of a body or line.
    pub fn path(&self) -> &str {
        &self.place.path
    }

    /// What was expected there.
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// What to do about it, where that can be said.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Works the place out. `lines` tells whether each line is a root of its own.
    pub(crate) fn new(bytes: &[u8], lines: bool, format: Option<Format>, fault: Fault) -> Self {
        let at = fault.at.min(bytes.len());
        let root = if lines {
            memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1)
        } else {
            0
        };
        ReadError {
            kind: fault.kind,
            format,
            offset: at,
            place: json::locate(bytes, root, at),
            expected: fault.expected,
            hint: fault.hint,
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ReadErrorKind::Empty | ReadErrorKind::NotRecognised | ReadErrorKind::TooLarge => {}
            _ => {
                write!(f, "line {}, column {}", self.place.line, self.place.column)?;
                if !self.place.path.is_empty() {
                    write!(f, ", at {}", self.place.path)?;
                }
                f.write_str(": ")?;
            }
        }
        match self.kind {
            ReadErrorKind::Empty => f.write_str("empty input: ")?,
            ReadErrorKind::NotRecognised => f.write_str("format not recognised: ")?,
            ReadErrorKind::Json => f.write_str("malformed JSON: ")?,
            ReadErrorKind::Utf8 => f.write_str("not UTF-8: ")?,
            ReadErrorKind::Shape => {
                if let Some(format) = self.format {
                    write!(f, "not {}: ", format.name())?;
                }
            }
            ReadErrorKind::TooDeep => f.write_str("nested too deep: ")?,
            ReadErrorKind::TooLarge => f.write_str("too large: ")?,
        }
        write!(f, "expected {}", self.expected)?;
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadError {}

/// A fault as codecs raise it: the byte and what was expected there. The place is worked out once it
/// is known that nobody can go on.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    kind: ReadErrorKind,
    at: usize,
    expected: Cow<'static, str>,
    hint: Option<Cow<'static, str>>,
}

impl Fault {
    pub(crate) fn new(
        kind: ReadErrorKind,
        at: usize,
        expected: impl Into<Cow<'static, str>>,
    ) -> Fault {
        Fault {
            kind,
            at,
            expected: expected.into(),
            hint: None,
        }
    }

    /// Malformed JSON at `at`; names what is there instead.
    pub(crate) fn json(bytes: &[u8], at: usize, expected: &'static str) -> Fault {
        let found = match bytes.get(at) {
            None => Cow::Borrowed("the input ends here"),
            Some(byte @ 0x21..0x7f) => Cow::Owned(format!("found `{}`", char::from(*byte))),
            Some(byte) => Cow::Owned(format!("found byte 0x{byte:02x}")),
        };
        Fault::new(ReadErrorKind::Json, at, expected).hint(found)
    }

    /// A value that is not of the format's shape.
    pub(crate) fn shape(at: usize, expected: impl Into<Cow<'static, str>>) -> Fault {
        Fault::new(ReadErrorKind::Shape, at, expected)
    }

    /// Adds what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Fault {
        self.hint = Some(hint.into());
        self
    }
}

/// Something in an input that was carried verbatim without being understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The line, counted from 1.
    pub line: usize,
    /// The first byte that is not understood, counted from 0.
    pub offset: usize,
    /// What it is, a lowercase fragment.
    pub what: &'static str,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}, carried as it is", self.line, self.what)
    }
}
