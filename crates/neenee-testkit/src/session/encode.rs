//! Request bodies of made-up sessions, written plainly.
//! Deliberately not a codec: it only writes, and only what the generator makes.

use neenee_core::message::{Message, Part, Role, ToolResult};

/// The session as the body of a request to Anthropic's Messages API.
pub fn anthropic_body(messages: &[Message], model: &str) -> Vec<u8> {
    let mut out = format!(
        "{{\"model\":{},\"max_tokens\":4096,\"system\":",
        json_string(model)
    );
    let (system, rest) = split_system(messages);
    out.push_str(&json_string(system));
    out.push_str(",\"messages\":[");
    let mut previous = None;
    for message in rest {
        // Results go into user messages, and neighbours of one role are one message there.
        let role = match message.role {
            Role::Assistant => "assistant",
            _ => "user",
        };
        if previous == Some(role) {
            out.truncate(out.len() - 2);
            out.push(',');
        } else {
            if previous.is_some() {
                out.push(',');
            }
            out.push_str(&format!("{{\"role\":\"{role}\",\"content\":["));
        }
        previous = Some(role);
        for (index, part) in message.parts.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            anthropic_part(part, &mut out);
        }
        out.push_str("]}");
    }
    out.push_str("]}");
    out.into_bytes()
}

/// The session as the body of a request to OpenAI's Chat Completions API.
pub fn chat_body(messages: &[Message], model: &str) -> Vec<u8> {
    let mut out = format!("{{\"model\":{},\"messages\":[", json_string(model));
    for (index, message) in messages.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        let texts: String = message.parts.iter().map(text_of).collect();
        match (message.role, result_of(message)) {
            (_, Some(result)) => out.push_str(&format!(
                "{{\"role\":\"tool\",\"tool_call_id\":{},\"content\":{}}}",
                json_string(result.call_id.as_deref().unwrap_or("")),
                json_string(&result.text)
            )),
            (Role::Assistant, None) => {
                let calls: Vec<String> = message.parts.iter().filter_map(chat_call).collect();
                out.push_str(&format!(
                    "{{\"role\":\"assistant\",\"content\":{}",
                    json_string(&texts)
                ));
                if !calls.is_empty() {
                    out.push_str(&format!(",\"tool_calls\":[{}]", calls.join(",")));
                }
                out.push('}');
            }
            (role, None) => {
                let role = if role == Role::System {
                    "system"
                } else {
                    "user"
                };
                out.push_str(&format!(
                    "{{\"role\":\"{role}\",\"content\":{}}}",
                    json_string(&texts)
                ));
            }
        }
    }
    out.push_str("]}");
    out.into_bytes()
}

/// `text` as a JSON string.
pub(super) fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn anthropic_part(part: &Part, out: &mut String) {
    match part {
        Part::Call(call) => out.push_str(&format!(
            "{{\"type\":\"tool_use\",\"id\":{},\"name\":{},\"input\":{}}}",
            json_string(call.id.as_deref().unwrap_or("")),
            json_string(&call.name),
            call.arguments
        )),
        Part::Result(result) => {
            let error = if result.failed == Some(true) {
                ",\"is_error\":true"
            } else {
                ""
            };
            out.push_str(&format!(
                "{{\"type\":\"tool_result\",\"tool_use_id\":{},\"content\":{}{error}}}",
                json_string(result.call_id.as_deref().unwrap_or("")),
                json_string(&result.text)
            ));
        }
        other => out.push_str(&format!(
            "{{\"type\":\"text\",\"text\":{}}}",
            json_string(text_of(other))
        )),
    }
}

fn chat_call(part: &Part) -> Option<String> {
    match part {
        Part::Call(call) => Some(format!(
            "{{\"id\":{},\"type\":\"function\",\"function\":{{\"name\":{},\"arguments\":{}}}}}",
            json_string(call.id.as_deref().unwrap_or("")),
            json_string(&call.name),
            json_string(&call.arguments)
        )),
        _ => None,
    }
}

fn text_of(part: &Part) -> &str {
    match part {
        Part::Text(text) => text,
        _ => "",
    }
}

fn result_of(message: &Message) -> Option<&ToolResult> {
    match message.parts.first() {
        Some(Part::Result(result)) => Some(result),
        _ => None,
    }
}

fn split_system(messages: &[Message]) -> (&str, &[Message]) {
    match messages.split_first() {
        Some((first, rest)) if first.role == Role::System => {
            (first.parts.first().map_or("", text_of), rest)
        }
        _ => ("", messages),
    }
}
