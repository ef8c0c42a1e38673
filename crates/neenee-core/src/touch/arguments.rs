//! The arguments of a call, read as far as they are asked for.
//! Deliberately no tree of the whole: what a `write` carries can be megabytes, and only its path matters.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// What a caller hands over as arguments, whatever it turns out to be.
pub(super) enum Arguments<'a> {
    /// A JSON object.
    Fields(Fields<'a>),
    /// A JSON array: the words of a command.
    List(Vec<Argument<'a>>),
    /// Text of its own: a patch, a command line.
    Text(&'a str),
    /// Nothing, or nothing readable.
    Nothing,
}

impl<'a> Arguments<'a> {
    /// Reads `text`. A JSON string is to be decoded by [`peel_string`] before.
    pub(super) fn read(text: &'a str) -> Self {
        let text = text.trim();
        match text.as_bytes().first() {
            None => Self::Nothing,
            Some(b'{') => serde_json::from_str(text).map_or(Self::Nothing, Self::Fields),
            Some(b'[') => serde_json::from_str(text).map_or(Self::Text(text), Self::List),
            Some(_) if matches!(text, "null" | "true" | "false") => Self::Nothing,
            Some(_) => Self::Text(text),
        }
    }

    pub(super) fn fields(&self) -> Option<&Fields<'a>> {
        match self {
            Self::Fields(fields) => Some(fields),
            _ => None,
        }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.fields()
            .is_some_and(|fields| fields.raw(key).is_some())
    }
}

/// The text inside `text` when that is one JSON string, else `text` as it is.
pub(super) fn peel_string(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim();
    if trimmed.starts_with('"')
        && let Ok(inner) = serde_json::from_str::<Text<'_>>(trimmed)
    {
        return inner.0;
    }
    Cow::Borrowed(text)
}

/// The members of an object, their values unread.
pub(super) struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// The text of a member that is not null.
    pub(super) fn raw(&self, key: &str) -> Option<&'a str> {
        // Of members with one name the last one counts, as in every JSON reader in use.
        let found = self.0.iter().rev().find(|(name, _)| name == key)?;
        Some(found.1.get()).filter(|raw| *raw != "null")
    }

    pub(super) fn get(&self, key: &str) -> Option<Argument<'a>> {
        serde_json::from_str(self.raw(key)?).ok()
    }

    pub(super) fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        let raw = self.raw(key)?;
        if !raw.starts_with('"') {
            return None;
        }
        serde_json::from_str::<Text<'a>>(raw)
            .ok()
            .map(|text| text.0)
    }
}

/// A value that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Argument<'a> {
    Text(Cow<'a, str>),
    Number(i64),
    Flag(bool),
    List(Vec<Argument<'a>>),
    Object(Vec<(Cow<'a, str>, Argument<'a>)>),
    Nothing,
}

impl<'a> Argument<'a> {
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A whole number, also where a model wrote it as text.
    pub(super) fn as_number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Flag(flag) => *flag,
            Self::Text(text) => text.eq_ignore_ascii_case("true"),
            _ => false,
        }
    }

    pub(super) fn member(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => {
                let member = members.iter().rev().find(|(name, _)| name == key)?;
                Some(&member.1).filter(|value| **value != Self::Nothing)
            }
            _ => None,
        }
    }
}

struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(8);
                while let Some(Text(name)) = map.next_key()? {
                    members.push((name, map.next_value()?));
                }
                Ok(Fields(members))
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}

impl<'de> Deserialize<'de> for Argument<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ArgumentVisitor;
        impl<'de> Visitor<'de> for ArgumentVisitor {
            type Value = Argument<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any JSON value")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Argument::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Argument::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
                Ok(Argument::Flag(flag))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Argument::Number(number))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Argument::Number(i64::try_from(number).unwrap_or(i64::MAX)))
            }
            fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
                // Some clients write every number as `20.0`; the cast saturates.
                Ok(Argument::Number(number as i64))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Argument::Nothing)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(value) = seq.next_element()? {
                    list.push(value);
                    if list.len() == MAX_LIST {
                        while seq.next_element::<IgnoredAny>()?.is_some() {}
                        break;
                    }
                }
                Ok(Argument::List(list))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(Text(name)) = map.next_key()? {
                    members.push((name, map.next_value()?));
                }
                Ok(Argument::Object(members))
            }
        }
        deserializer.deserialize_any(ArgumentVisitor)
    }
}

/// More files or words than any call names; what follows is left out.
const MAX_LIST: usize = 512;
