//! Where the content of a result stands in the bytes, and how new content is put there.
//! Deliberately knows no format: a codec says which ranges, the splice does the rest.

use std::borrow::Cow;
use std::ops::Range;

use crate::json::{Text, Value};

/// The place of one result.
#[derive(Clone, Debug)]
pub struct ResultSlot {
    pub(crate) message: usize,
    pub(crate) range: Range<usize>,
    pub(crate) site: Site,
}

impl ResultSlot {
    /// The ordinal of the message that holds it, in the order of [`crate::Document::messages`].
    pub fn message(&self) -> usize {
        self.message
    }

    /// The bytes of its content in the input, quotes and brackets included.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}

/// How new content is written: one range takes it, others are set to fixed text or removed.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// Replaced by `before`, the content escaped `levels` times, `after`. Empty to insert.
    pub(crate) write: Range<usize>,
    pub(crate) before: Cow<'static, str>,
    pub(crate) after: Cow<'static, str>,
    /// How many JSON strings the content stands in: 1 in most formats, 2 for JSON inside a string.
    pub(crate) levels: u8,
    /// Other ranges that are replaced at the same time, by what; by nothing to remove them.
    pub(crate) also: Vec<(Range<usize>, String)>,
    /// Further places that take the content: copies of which the client sends more than one.
    pub(crate) copies: Vec<Site>,
}

impl Site {
    /// The content takes the place of a whole JSON string.
    pub(crate) fn string(text: Text<'_>) -> Site {
        Site::within(text.range(), 1)
    }

    /// The content takes the place of `range`, which lies inside of `levels` nested JSON strings.
    pub(crate) fn within(range: Range<usize>, levels: u8) -> Site {
        Site {
            write: range,
            before: Cow::Borrowed(""),
            after: Cow::Borrowed(""),
            levels,
            also: Vec::new(),
            copies: Vec::new(),
        }
    }

    /// A JSON string of the content takes the place of a whole value of another kind, between
    /// `before` and `after`: `{"output":` and `}` make it an object.
    pub(crate) fn value(value: Value<'_, '_>, before: &str, after: &str) -> Site {
        Site {
            write: value.range(),
            before: Cow::Owned(format!("{before}\"")),
            after: Cow::Owned(format!("\"{after}")),
            levels: 1,
            also: Vec::new(),
            copies: Vec::new(),
        }
    }

    /// The content becomes a new first field of `object`, which has at least one field.
    pub(crate) fn new_field(object: Value<'_, '_>, key: &str) -> Site {
        let at = object.start() + 1;
        Site {
            write: at..at,
            before: Cow::Owned(format!("\"{key}\":\"")),
            after: Cow::Borrowed("\","),
            levels: 1,
            also: Vec::new(),
            copies: Vec::new(),
        }
    }
}
