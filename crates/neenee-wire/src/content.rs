//! The content of a result: a string, an array of blocks, or nothing, and how each is replaced.
//! Deliberately not a message's content: only results are ever replaced, the rest is just read.
//!
//! New content keeps a valid shape. A string stays a string. An array stays an array of blocks: the
//! first text block takes the new text, the other text and media blocks go, and what they carried
//! besides (a cache marker, fields that nobody knows) moves to the block that stays; blocks of unknown
//! types stay where they are. So no block is left empty, which Anthropic refuses, no marker is lost,
//! and what is read back is exactly what was written.

use std::borrow::Cow;
use std::ops::Range;

use neenee_core::message::Media;
use neenee_core::model::{ImageRule, Traits};

use crate::error::Fault;
use crate::json::{Kind, Text, Value};
use crate::slot::Site;

/// How a format spells blocks, and what the model counts for pictures in them.
pub(crate) struct Dialect {
    /// The `type`s of text blocks, the first of which a new block gets; their text is in `text`.
    pub(crate) text_types: &'static [&'static str],
    /// The fields of a media block that go with its payload.
    pub(crate) media_fields: &'static [&'static str],
    /// What a block weighs; `None` when it is no media of this format.
    pub(crate) media: fn(Value<'_, '_>, ImageRule) -> Option<Media>,
    /// The rule for pictures: the model's, else that of the format's own models.
    pub(crate) images: ImageRule,
}

impl Dialect {
    /// The dialect as the model of that name counts pictures.
    pub(crate) fn of_model(self, name: Option<&str>) -> Dialect {
        let images = name.map_or(self.images, |name| Traits::of(name).image);
        Dialect { images, ..self }
    }

    /// What a block weighs; `None` when it is no media of this format.
    pub(crate) fn media(&self, block: Value<'_, '_>) -> Option<Media> {
        (self.media)(block, self.images)
    }
}

/// The content of one result.
pub(crate) struct Body<'a> {
    /// The text, several text blocks joined by a newline.
    pub(crate) text: Cow<'a, str>,
    pub(crate) media: Vec<Media>,
    /// Blocks of unknown types, as JSON; they weigh and they stay.
    pub(crate) unknown: Vec<&'a str>,
    /// The content in the input; empty where there is none.
    pub(crate) range: Range<usize>,
    pub(crate) site: Site,
}

/// What is left of a further block whose extra fields the first one has already, with other values.
const REST: &str = "…";

impl<'a> Body<'a> {
    /// Reads the field `key` of `owner`, the object that a result is.
    pub(crate) fn of_field(
        owner: Value<'_, 'a>,
        key: &str,
        dialect: &Dialect,
    ) -> Result<Body<'a>, Fault> {
        match owner.get(key) {
            Some(content) => Body::of_value(content, dialect),
            None => Ok(Body::nothing(
                owner.start()..owner.start(),
                Site::new_field(owner, key),
            )),
        }
    }

    /// Reads a string, an array of blocks or `null`.
    pub(crate) fn of_value(content: Value<'_, 'a>, dialect: &Dialect) -> Result<Body<'a>, Fault> {
        match content.kind() {
            Kind::String => {
                let text = content.want_string("a string")?;
                Ok(Body {
                    text: text.decode(),
                    media: Vec::new(),
                    unknown: Vec::new(),
                    range: content.range(),
                    site: Site::string(text),
                })
            }
            Kind::Null => Ok(Body::nothing(content.range(), Site::value(content, "", ""))),
            Kind::Array => Ok(blocks(content, dialect)),
            _ => Err(Fault::shape(
                content.start(),
                "the content of a result: a string, an array of blocks or null",
            )),
        }
    }

    fn nothing(range: Range<usize>, site: Site) -> Body<'a> {
        Body {
            text: Cow::Borrowed(""),
            media: Vec::new(),
            unknown: Vec::new(),
            range,
            site,
        }
    }
}

/// A block as a splice sees it.
struct Block<'t, 'a> {
    value: Value<'t, 'a>,
    class: Class<'a>,
}

enum Class<'a> {
    Text(Text<'a>),
    Media(Media),
    Unknown,
}

fn blocks<'a>(content: Value<'_, 'a>, dialect: &Dialect) -> Body<'a> {
    let blocks: Vec<Block<'_, 'a>> = content
        .items()
        .map(|value| Block {
            value,
            class: classify(value, dialect),
        })
        .collect();
    let mut text = Cow::Borrowed("");
    let mut media = Vec::new();
    let mut unknown = Vec::new();
    let mut texts = 0;
    for block in &blocks {
        match &block.class {
            Class::Text(part) => {
                if texts == 0 {
                    text = part.decode();
                } else {
                    let joined = text.to_mut();
                    joined.push('\n');
                    joined.push_str(&part.decode());
                }
                texts += 1;
            }
            Class::Media(part) => media.push(part.clone()),
            Class::Unknown => unknown.push(block.value.raw()),
        }
    }
    Body {
        text,
        media,
        unknown,
        range: content.range(),
        site: site(content, &blocks, dialect),
    }
}

fn classify<'a>(value: Value<'_, 'a>, dialect: &Dialect) -> Class<'a> {
    if let Some(text) = value.string() {
        return Class::Text(text);
    }
    let [kind, text] = value.fields(["type", "text"]);
    let kind_is = |names: &[&str]| kind.is_some_and(|kind| names.iter().any(|name| kind.is(name)));
    match text.and_then(Value::string) {
        Some(text) if kind_is(dialect.text_types) => Class::Text(text),
        _ => dialect.media(value).map_or(Class::Unknown, Class::Media),
    }
}

fn site(content: Value<'_, '_>, blocks: &[Block<'_, '_>], dialect: &Dialect) -> Site {
    let open = format!("{{\"type\":\"{}\",\"text\":", dialect.text_types[0]);
    let stays = blocks
        .iter()
        .position(|block| matches!(block.class, Class::Text(_)))
        .or_else(|| {
            blocks
                .iter()
                .position(|block| matches!(block.class, Class::Media(_)))
        });
    let Some(stays) = stays else {
        // Nothing to write into: a block of our own comes first.
        return if blocks.is_empty() {
            Site::value(content, &format!("[{open}"), "}]")
        } else {
            let at = content.start() + 1;
            let mut site = Site::within(at..at, 1);
            site.before = Cow::Owned(format!("{open}\""));
            site.after = Cow::Borrowed("\"},");
            site
        };
    };

    let mut extra = Extra::of(&blocks[stays], dialect);
    let mut also = Vec::new();
    for (nth, block) in blocks.iter().enumerate() {
        if nth == stays || matches!(block.class, Class::Unknown) {
            continue;
        }
        let range = block.value.range();
        let own = Extra::of(block, dialect);
        if extra.take(&own) {
            // A block before the one that stays goes with the comma after it, one behind it with the
            // comma before it.
            also.push((
                if nth < stays {
                    range.start..blocks[nth + 1].value.start()
                } else {
                    blocks[nth - 1].value.range().end..range.end
                },
                String::new(),
            ));
        } else {
            also.push(match &block.class {
                Class::Text(text) => (text.range(), REST.to_owned()),
                _ => (range, format!("{open}\"{REST}\"{}}}", own.joined(0))),
            });
        }
    }

    let mut site = match &blocks[stays].class {
        // A bare string in an array has no fields, and could take none.
        Class::Text(text) => {
            let mut site = Site::string(*text);
            if !extra.joined(extra.own).is_empty() && blocks[stays].value.is_object() {
                let range = text.range();
                site.write = range.start - 1..range.end + 1;
                site.before = Cow::Borrowed("\"");
                site.after = Cow::Owned(format!("\"{}", extra.joined(extra.own)));
            }
            site
        }
        _ => Site::value(
            blocks[stays].value,
            &open,
            &format!("{}}}", extra.joined(0)),
        ),
    };
    site.also = also;
    site
}

/// Fields of a block besides those that make it text or media.
struct Extra<'a> {
    fields: Vec<(&'a str, &'a str)>,
    /// How many of them are the block's own.
    own: usize,
}

impl<'a> Extra<'a> {
    fn of(block: &Block<'_, 'a>, dialect: &Dialect) -> Extra<'a> {
        let text = matches!(block.class, Class::Text(_));
        let goes = |key: &Text<'_>| {
            key.is("type")
                || if text {
                    key.is("text")
                } else {
                    dialect.media_fields.iter().any(|field| key.is(field))
                }
        };
        let fields: Vec<_> = block
            .value
            .entries()
            .filter(|(key, _)| !goes(key))
            .map(|(key, value)| (key.raw(), value.raw()))
            .collect();
        Extra {
            own: fields.len(),
            fields,
        }
    }

    /// Takes the fields of another block over, unless one is here with another value. A cache marker
    /// is here once: two on blocks that become one mark the same place.
    fn take(&mut self, other: &Extra<'a>) -> bool {
        let here = |key: &str| self.fields.iter().find(|(name, _)| *name == key);
        let clash = other.fields.iter().any(|(key, value)| {
            *key != "cache_control" && here(key).is_some_and(|(_, here)| here != value)
        });
        if clash {
            return false;
        }
        let new: Vec<_> = other
            .fields
            .iter()
            .filter(|(key, _)| here(key).is_none())
            .copied()
            .collect();
        self.fields.extend(new);
        true
    }

    /// The fields from the `nth` on, each behind a comma.
    fn joined(&self, nth: usize) -> String {
        self.fields[nth..]
            .iter()
            .map(|(key, value)| format!(",\"{key}\":{value}"))
            .collect()
    }
}
