//! JSON as ranges: one validating pass over the bytes leaves a flat tape of tokens to walk.
//! Deliberately not a tree and not a writer: values are spans of the caller's bytes, nothing is re-serialised.
//!
//! A token is where a value starts and ends, and where the next one is; twelve bytes, so that a body
//! of text costs a few per cent of its size. Walking the tape skips a value in one step whatever its
//! size, which is what lets a codec look at a message twice (whose is it? then what does it say?)
//! without reading its bytes twice. Offsets are absolute in the input, also for one line of many.

mod locate;
mod scan;
mod text;
mod value;

pub(crate) use locate::{Place, locate};
pub(crate) use scan::{has_control, skip_space};
pub(crate) use text::{Text, encode};
pub(crate) use value::{Kind, Value};

use crate::error::Fault;

/// One value or key: its span, opening quote or bracket to one past the closing one.
#[derive(Clone, Copy, Debug)]
struct Token {
    start: u32,
    end: u32,
    /// For a container the index of the token after all of its content; for a string 1 when it
    /// holds an escape; else 0.
    link: u32,
}

/// The tokens of every value scanned so far, in the order of the bytes.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    tokens: Vec<Token>,
}

impl Tape {
    /// An empty tape with room for what `bytes` bytes of conversation usually need.
    pub(crate) fn with_room_for(bytes: usize) -> Tape {
        Tape {
            tokens: Vec::with_capacity(bytes / 128 + 16),
        }
    }

    /// Scans the value that starts at or after `at` (white space is skipped) and returns the index of
    /// its token and the offset one past it. On a fault the tape is as it was.
    pub(crate) fn scan(&mut self, bytes: &[u8], at: usize) -> Result<(u32, usize), Fault> {
        let controls = has_control(&bytes[at.min(bytes.len())..]);
        self.scan_one_of_many(bytes, at, controls)
    }

    /// As [`Tape::scan`], for a value among many in `bytes`: `controls` tells whether there are control
    /// characters in them (line breaks are some), which is asked once for all.
    pub(crate) fn scan_one_of_many(
        &mut self,
        bytes: &[u8],
        at: usize,
        controls: bool,
    ) -> Result<(u32, usize), Fault> {
        let root = self.tokens.len();
        match scan::scan(bytes, at, controls, &mut self.tokens) {
            Ok(end) => Ok((root as u32, end)),
            Err(fault) => {
                self.tokens.truncate(root);
                Err(fault)
            }
        }
    }

    /// The value whose token is `index`, as [`Tape::scan`] returned it. `text` is the part of the
    /// input that holds it, `base` the offset at which that part begins.
    pub(crate) fn value<'t, 'a>(&'t self, index: u32, text: &'a str, base: usize) -> Value<'t, 'a> {
        Value::new(&self.tokens, index, text, base)
    }
}
