//! Messages as records keep them, and back.
//! Deliberately a form of its own: core's types are free to change, stored bytes are not.

use neenee_core::message::{
    Degraded, Media, MediaKind, Message, Part, Reasoning, Role, Tier, ToolCall, ToolResult,
};
use serde::{Deserialize, Serialize};

use super::body::{Bodies, Body, Collector};
use crate::digest::Digest;

/// How deep envoys may stand inside each other. The schema rule is one; more is handled, not
/// trusted. The JSON reader stops at 128 levels, and an envoy takes five of them.
pub(crate) const MAX_DEPTH: usize = 16;

/// How deep envoys stand inside each other in `message`: 0 without one. Looks no further than one
/// level past [`MAX_DEPTH`], so that hostile input cannot exhaust the stack.
pub(crate) fn depth(message: &Message) -> usize {
    fn below(message: &Message, level: usize) -> usize {
        if level > MAX_DEPTH {
            return level;
        }
        let children = message.parts.iter().filter_map(|part| match part {
            Part::Result(result) => Some(&result.children),
            _ => None,
        });
        children
            .flatten()
            .map(|child| below(child, level + 1))
            .max()
            .unwrap_or(level)
    }
    below(message, 0)
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredMessage {
    pub(crate) role: StoredRole,
    pub(crate) parts: Vec<StoredPart>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredRole {
    System,
    User,
    Assistant,
    Tool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredPart {
    Text(String),
    Reasoning {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    Call {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        name: String,
        arguments: String,
    },
    Result(Box<StoredResult>),
    Media(StoredMedia),
    Opaque(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredResult {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) content: StoredContent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failed: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) exit_status: Option<i32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) children: Vec<StoredMessage>,
}

/// The part of a result that a projection may replace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredContent {
    pub(crate) text: Body,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) media: Vec<StoredMedia>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) degraded: Option<StoredDegraded>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredMedia {
    pub(crate) kind: StoredMediaKind,
    pub(crate) bytes: u64,
    pub(crate) tokens: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) payload: Option<Body>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredMediaKind {
    Image,
    Audio,
    Document,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredDegraded {
    pub(crate) tier: StoredTier,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lines: Option<u64>,
    pub(crate) chars: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredTier {
    Kept,
    Truncated,
    Cleared,
}

impl StoredMessage {
    /// The stored form; large bodies go to `bodies`. The caller has looked at [`depth`].
    pub(crate) fn of(message: &Message, bodies: &mut Collector) -> Self {
        StoredMessage {
            role: match message.role {
                Role::System => StoredRole::System,
                Role::User => StoredRole::User,
                Role::Assistant => StoredRole::Assistant,
                Role::Tool => StoredRole::Tool,
            },
            parts: message
                .parts
                .iter()
                .map(|part| store_part(part, bodies))
                .collect(),
        }
    }

    /// Core's form; `Err` names the first body that `bodies` lacks.
    pub(crate) fn load(&self, bodies: &Bodies) -> Result<Message, Digest> {
        Ok(Message {
            role: match self.role {
                StoredRole::System => Role::System,
                StoredRole::User => Role::User,
                StoredRole::Assistant => Role::Assistant,
                StoredRole::Tool => Role::Tool,
            },
            parts: self
                .parts
                .iter()
                .map(|part| load_part(part, bodies))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Every body that it refers to.
    pub(crate) fn digests(&self, into: &mut Vec<Digest>) {
        for part in &self.parts {
            match part {
                StoredPart::Result(result) => {
                    result.content.digests(into);
                    for child in &result.children {
                        child.digests(into);
                    }
                }
                StoredPart::Media(media) => media.digests(into),
                _ => {}
            }
        }
    }
}

impl StoredContent {
    /// The stored form of what a projection put in, or took out.
    pub(crate) fn of(
        text: &str,
        media: &[Media],
        degraded: Option<Degraded>,
        bodies: &mut Collector,
    ) -> Self {
        StoredContent {
            text: bodies.text(text),
            media: media
                .iter()
                .map(|media| store_media(media, bodies))
                .collect(),
            degraded: degraded.map(|record| StoredDegraded {
                tier: match record.tier {
                    Tier::Kept => StoredTier::Kept,
                    Tier::Truncated => StoredTier::Truncated,
                    Tier::Cleared => StoredTier::Cleared,
                },
                lines: record.lines.map(|lines| lines as u64),
                chars: record.chars as u64,
            }),
        }
    }

    /// The content of `result`.
    pub(crate) fn of_result(result: &ToolResult, bodies: &mut Collector) -> Self {
        Self::of(&result.text, &result.media, result.degraded, bodies)
    }

    /// Core's record of what it was degraded to.
    pub(crate) fn record(&self) -> Option<Degraded> {
        self.degraded.map(|record| Degraded {
            tier: match record.tier {
                StoredTier::Kept => Tier::Kept,
                StoredTier::Truncated => Tier::Truncated,
                StoredTier::Cleared => Tier::Cleared,
            },
            lines: record.lines.map(|lines| lines as usize),
            chars: record.chars as usize,
        })
    }

    /// The media, with payloads; `Err` names the first body that `bodies` lacks.
    pub(crate) fn load_media(&self, bodies: &Bodies) -> Result<Vec<Media>, Digest> {
        self.media
            .iter()
            .map(|media| load_media(media, bodies))
            .collect()
    }

    /// The text; `Err` names the body that `bodies` lacks.
    pub(crate) fn load_text(&self, bodies: &Bodies) -> Result<String, Digest> {
        load_text(&self.text, bodies)
    }

    /// Every body that it refers to.
    pub(crate) fn digests(&self, into: &mut Vec<Digest>) {
        into.extend(self.text.digest());
        for media in &self.media {
            media.digests(into);
        }
    }
}

impl StoredMedia {
    fn digests(&self, into: &mut Vec<Digest>) {
        into.extend(self.payload.as_ref().and_then(Body::digest));
    }
}

fn store_part(part: &Part, bodies: &mut Collector) -> StoredPart {
    match part {
        Part::Text(text) => StoredPart::Text(text.clone()),
        Part::Reasoning(reasoning) => StoredPart::Reasoning {
            text: reasoning.text.clone(),
            signature: reasoning.signature.clone(),
        },
        Part::Call(call) => StoredPart::Call {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        },
        Part::Result(result) => StoredPart::Result(Box::new(StoredResult {
            call_id: result.call_id.clone(),
            name: result.name.clone(),
            content: StoredContent::of_result(result, bodies),
            failed: result.failed,
            exit_status: result.exit_status,
            children: result
                .children
                .iter()
                .map(|child| StoredMessage::of(child, bodies))
                .collect(),
        })),
        Part::Media(media) => StoredPart::Media(store_media(media, bodies)),
        Part::Opaque(json) => StoredPart::Opaque(json.clone()),
    }
}

fn store_media(media: &Media, bodies: &mut Collector) -> StoredMedia {
    StoredMedia {
        kind: match media.kind {
            MediaKind::Image => StoredMediaKind::Image,
            MediaKind::Audio => StoredMediaKind::Audio,
            MediaKind::Document => StoredMediaKind::Document,
            MediaKind::Other => StoredMediaKind::Other,
        },
        bytes: media.bytes,
        tokens: media.tokens as u64,
        payload: (!media.payload.is_empty()).then(|| bodies.bytes(&media.payload)),
    }
}

fn load_part(part: &StoredPart, bodies: &Bodies) -> Result<Part, Digest> {
    Ok(match part {
        StoredPart::Text(text) => Part::Text(text.clone()),
        StoredPart::Reasoning { text, signature } => Part::Reasoning(Reasoning {
            text: text.clone(),
            signature: signature.clone(),
        }),
        StoredPart::Call {
            id,
            name,
            arguments,
        } => Part::Call(ToolCall {
            id: id.clone(),
            name: name.clone(),
            arguments: arguments.clone(),
        }),
        StoredPart::Result(result) => Part::Result(ToolResult {
            call_id: result.call_id.clone(),
            name: result.name.clone(),
            text: result.content.load_text(bodies)?,
            media: result.content.load_media(bodies)?,
            failed: result.failed,
            exit_status: result.exit_status,
            degraded: result.content.record(),
            children: result
                .children
                .iter()
                .map(|child| child.load(bodies))
                .collect::<Result<_, _>>()?,
        }),
        StoredPart::Media(media) => Part::Media(load_media(media, bodies)?),
        StoredPart::Opaque(json) => Part::Opaque(json.clone()),
    })
}

fn load_media(media: &StoredMedia, bodies: &Bodies) -> Result<Media, Digest> {
    let payload = match &media.payload {
        None => Vec::new(),
        Some(body) => bodies.bytes(body).ok_or(missing(body))?,
    };
    Ok(Media {
        kind: match media.kind {
            StoredMediaKind::Image => MediaKind::Image,
            StoredMediaKind::Audio => MediaKind::Audio,
            StoredMediaKind::Document => MediaKind::Document,
            StoredMediaKind::Other => MediaKind::Other,
        },
        bytes: media.bytes,
        tokens: media.tokens as usize,
        payload,
    })
}

fn load_text(body: &Body, bodies: &Bodies) -> Result<String, Digest> {
    bodies.text(body).ok_or(missing(body))
}

fn missing(body: &Body) -> Digest {
    // Small text is always there; the digest of nothing stands for a case that cannot be.
    body.digest().unwrap_or_else(|| Digest::of(b""))
}
