//! A value on the tape: its kind, its bytes, its fields and items.
//! Deliberately not typed further: what a field means is the codec's.

use std::borrow::Cow;
use std::ops::Range;

use super::{Text, Token};
use crate::error::Fault;

/// A value: a handle on the tape and the bytes it points into. Cheap to copy.
#[derive(Clone, Copy)]
pub(crate) struct Value<'t, 'a> {
    tokens: &'t [Token],
    index: u32,
    text: &'a str,
    base: usize,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl<'t, 'a> Value<'t, 'a> {
    pub(super) fn new(tokens: &'t [Token], index: u32, text: &'a str, base: usize) -> Self {
        Value {
            tokens,
            index,
            text,
            base,
        }
    }

    pub(crate) fn kind(self) -> Kind {
        match self.text.as_bytes()[self.start() - self.base] {
            b'"' => Kind::String,
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b't' | b'f' => Kind::Bool,
            b'n' => Kind::Null,
            _ => Kind::Number,
        }
    }

    pub(crate) fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    pub(crate) fn is_object(self) -> bool {
        self.kind() == Kind::Object
    }

    pub(crate) fn is_array(self) -> bool {
        self.kind() == Kind::Array
    }

    pub(crate) fn is_string(self) -> bool {
        self.kind() == Kind::String
    }

    /// The absolute offset of the first byte.
    pub(crate) fn start(self) -> usize {
        self.token().start as usize
    }

    /// The absolute range, quotes and brackets included.
    pub(crate) fn range(self) -> Range<usize> {
        let token = self.token();
        token.start as usize..token.end as usize
    }

    /// The JSON text, quotes and brackets included.
    pub(crate) fn raw(self) -> &'a str {
        let range = self.range();
        &self.text[range.start - self.base..range.end - self.base]
    }

    /// The string; `None` when the value is another kind.
    pub(crate) fn string(self) -> Option<Text<'a>> {
        let range = self.range();
        let raw = self.raw();
        self.is_string().then(|| {
            Text::new(
                &raw[1..raw.len() - 1],
                range.start + 1,
                self.token().link == 1,
            )
        })
    }

    /// The decoded string; `None` when the value is another kind.
    pub(crate) fn decode(self) -> Option<Cow<'a, str>> {
        Some(self.string()?.decode())
    }

    /// Whether the value is a string that decodes to `text`.
    pub(crate) fn is(self, text: &str) -> bool {
        self.string().is_some_and(|string| string.is(text))
    }

    pub(crate) fn bool(self) -> Option<bool> {
        match self.raw() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The number as an integer; `None` when it is none or does not fit.
    pub(crate) fn i64(self) -> Option<i64> {
        (self.kind() == Kind::Number)
            .then(|| self.raw().parse().ok())
            .flatten()
    }

    /// The number as a count; `None` when it is negative, fractional or does not fit.
    pub(crate) fn u64(self) -> Option<u64> {
        (self.kind() == Kind::Number)
            .then(|| self.raw().parse().ok())
            .flatten()
    }

    /// The number, rounded to what a double holds.
    pub(crate) fn f64(self) -> Option<f64> {
        (self.kind() == Kind::Number)
            .then(|| self.raw().parse().ok())
            .flatten()
    }

    /// The items of an array; none for another kind.
    pub(crate) fn items(self) -> impl Iterator<Item = Value<'t, 'a>> {
        self.children(Kind::Array)
    }

    /// Keys and values of an object, duplicates included, in order; none for another kind.
    pub(crate) fn entries(self) -> impl Iterator<Item = (Text<'a>, Value<'t, 'a>)> {
        let mut children = self.children(Kind::Object);
        std::iter::from_fn(move || {
            let key = children.next()?;
            let value = children.next()?;
            Some((key.string()?, value))
        })
    }

    /// The field of an object; of two with one key the last, as `JSON.parse` has it.
    pub(crate) fn get(self, key: &str) -> Option<Value<'t, 'a>> {
        let [value] = self.fields([key]);
        value
    }

    /// The field at the end of a path of keys.
    pub(crate) fn at(self, path: &[&str]) -> Option<Value<'t, 'a>> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// Several fields in one walk; of two with one key the last. A `null` is a field.
    pub(crate) fn fields<const N: usize>(self, keys: [&str; N]) -> [Option<Value<'t, 'a>>; N] {
        let mut found = [None; N];
        let bytes = self.text.as_bytes();
        let mut children = self.children(Kind::Object);
        while let (Some(name), Some(value)) = (children.next(), children.next()) {
            let token = name.token();
            let raw =
                &bytes[token.start as usize - self.base + 1..token.end as usize - self.base - 1];
            let slot = if token.link == 0 {
                keys.iter().position(|key| key.as_bytes() == raw)
            } else {
                keys.iter().position(|key| name.is(key))
            };
            if let Some(slot) = slot {
                found[slot] = Some(value);
            }
        }
        found
    }

    /// The value itself when it is an object, else a fault that says what was expected here.
    pub(crate) fn want_object(self, expected: &'static str) -> Result<Self, Fault> {
        self.want(Kind::Object, expected)
    }

    /// The value itself when it is an array, else a fault that says what was expected here.
    pub(crate) fn want_array(self, expected: &'static str) -> Result<Self, Fault> {
        self.want(Kind::Array, expected)
    }

    /// The string, else a fault that says what was expected here.
    pub(crate) fn want_string(self, expected: &'static str) -> Result<Text<'a>, Fault> {
        self.string()
            .ok_or_else(|| Fault::shape(self.start(), expected))
    }

    fn want(self, kind: Kind, expected: &'static str) -> Result<Self, Fault> {
        if self.kind() == kind {
            Ok(self)
        } else {
            Err(Fault::shape(self.start(), expected))
        }
    }

    fn children(self, kind: Kind) -> impl Iterator<Item = Value<'t, 'a>> {
        let mut index = self.index + 1;
        let end = if self.kind() == kind {
            self.token().link
        } else {
            0
        };
        std::iter::from_fn(move || {
            (index < end).then(|| {
                let child = Value { index, ..self };
                index = match child.kind() {
                    Kind::Array | Kind::Object => child.token().link,
                    _ => index + 1,
                };
                child
            })
        })
    }

    fn token(self) -> Token {
        self.tokens[self.index as usize]
    }
}
