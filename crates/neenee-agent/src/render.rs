//! What a tool result looks like to a model, its envoy's transcript included.
//! Deliberately the one place that knows: what is measured, sent and summarised reads alike.

use std::borrow::Cow;
use std::fmt::Write as _;

use neenee_core::message::{Message, Part, ToolResult};

/// The text that a provider is sent for a result.
pub(crate) fn result(result: &ToolResult) -> Cow<'_, str> {
    if result.children.is_empty() {
        return Cow::Borrowed(&result.text);
    }
    let mut text = result.text.clone();
    text.push_str("\n\n<transcript>\n");
    transcript(&mut text, &result.children);
    text.push_str("</transcript>");
    Cow::Owned(text)
}

/// Messages as plain text, one paragraph for each part.
pub(crate) fn transcript(out: &mut String, messages: &[Message]) {
    for part in messages.iter().flat_map(|message| {
        let role = message.role;
        message.parts.iter().map(move |part| (role, part))
    }) {
        // Writing into a string cannot fail.
        let _ = match part {
            (role, Part::Text(text)) => writeln!(out, "[{}] {text}", name(role)),
            (_, Part::Call(call)) => writeln!(out, "[call] {} {}", call.name, call.arguments),
            (_, Part::Result(child)) => writeln!(out, "[result] {}", result(child)),
            (_, Part::Reasoning(_) | Part::Media(_) | Part::Opaque(_)) => Ok(()),
        };
    }
}

fn name(role: neenee_core::message::Role) -> &'static str {
    use neenee_core::message::Role;
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}
