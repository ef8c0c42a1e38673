//! Messages as JSON lines, for `restore` of sessions that are no file of another program.
//! Deliberately plain: roles, parts, texts; payloads of images as base64.

use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use neenee_core::message::{Media, Message, Part, Role};
use serde_json::{Value, json};

/// One line of JSON for each message.
pub(crate) fn lines(messages: &[Message]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for one in messages {
        serde_json::to_writer(&mut bytes, &message(one)).context("failed to write JSON")?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

fn message(message: &Message) -> Value {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    json!({ "role": role, "parts": message.parts.iter().map(part).collect::<Vec<_>>() })
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({ "text": text }),
        Part::Reasoning(reasoning) => {
            json!({ "reasoning": reasoning.text, "signature": reasoning.signature })
        }
        Part::Call(call) => {
            json!({ "call": call.name, "id": call.id, "arguments": call.arguments })
        }
        Part::Result(result) => json!({
            "result": result.text,
            "call_id": result.call_id,
            "failed": result.failed,
            "tier": result.degraded.map_or_else(|| "kept".to_owned(), |record| record.tier.to_string()),
            "media": result.media.iter().map(media).collect::<Vec<_>>(),
            "children": result.children.iter().map(message).collect::<Vec<_>>(),
        }),
        Part::Media(one) => media(one),
        // Kept as the text that it is, since nobody here knows what it means.
        Part::Opaque(json) => json!({ "opaque": json }),
    }
}

fn media(media: &Media) -> Value {
    json!({
        "media": media.kind.to_string(),
        "bytes": media.bytes,
        "base64": STANDARD.encode(&media.payload),
    })
}
