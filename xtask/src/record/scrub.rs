//! Taking out of a recording what is not ours to publish or would tell of this machine.
//! Deliberately by replacing whole JSON strings in the bytes: nothing else moves or is spelled anew.

use anyhow::bail;
use serde_json::Value;
use std::collections::BTreeSet;

/// What stands where a client's own prose stood: its instructions and descriptions of its tools.
const LEFT_OUT: &str = "(left out: text of the client's makers)";

/// Prose shorter than this, in bytes, is a label rather than a text.
const PROSE: usize = 60;

/// Replaces the client's prose and this machine's names in a JSON document or JSON lines.
///
/// # Errors
/// When the bytes are not JSON, or still tell of this machine afterwards.
pub(super) fn scrub(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut texts = BTreeSet::new();
    for value in serde_json::Deserializer::from_slice(bytes).into_iter::<Value>() {
        collect(&value?, Place::Elsewhere, &mut texts);
    }
    let mut text = String::from_utf8(bytes.to_vec())?;
    for prose in texts {
        // All four clients escape as serde_json does: only what JSON demands.
        let quoted = Value::String(prose).to_string();
        if !text.contains(&quoted) {
            bail!("failed to replace a text that is spelled in an unusual way: {quoted:.80}");
        }
        text = text.replace(&quoted, &format!("\"{LEFT_OUT}\""));
    }
    for (name, stands_for) in machine() {
        text = text.replace(&name, &stands_for);
    }
    if let Some(found) = tells(&text) {
        bail!("the recording tells of this machine: …{found}…");
    }
    Ok(text.into_bytes())
}

/// Where in a document a string stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In instructions of the client, of which every text is its makers'.
    Instructions,
    /// Among the tools, of which descriptions are.
    Tools,
    Elsewhere,
}

fn collect(value: &Value, place: Place, texts: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            let role = members.get("role").and_then(Value::as_str);
            let place = match role {
                Some("system" | "developer") => Place::Instructions,
                _ => place,
            };
            for (key, member) in members {
                let place = match (key.as_str(), place) {
                    (_, Place::Instructions) => place,
                    (
                        "system" | "instructions" | "systemInstruction" | "base_instructions"
                        | "host_skills" | "addedLines",
                        _,
                    ) => Place::Instructions,
                    ("content", _) if members.get("type") == Some(&"skill_listing".into()) => {
                        Place::Instructions
                    }
                    ("tools", _) => Place::Tools,
                    ("description", Place::Tools) if member.is_string() => Place::Instructions,
                    // The grammar of a custom tool is prose of its makers too.
                    ("definition", Place::Tools) => Place::Instructions,
                    _ => place,
                };
                collect(member, place, texts);
            }
        }
        Value::Array(members) => {
            for member in members {
                collect(member, place, texts);
            }
        }
        Value::String(text) => {
            let ours = place != Place::Instructions && !text.starts_with("<system-reminder>");
            if !ours && text.len() >= PROSE {
                texts.insert(text.clone());
            }
        }
        _ => {}
    }
}

/// Names of this machine with what is written for them.
fn machine() -> Vec<(String, String)> {
    // Codex names its first agent like the home of a machine's first user; written in two parts, as
    // this file must not hold that name either.
    let agent = |name: &str| format!(r#"\"agent_name\":\"/{name}\""#);
    let mut names = vec![(agent("root"), agent("main"))];
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    if !kernel.trim().is_empty() {
        names.push((kernel.trim().to_owned(), "6.1.0".to_owned()));
    }
    names
}

/// The surroundings of the first word that should not be there.
fn tells(text: &str) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    let root = crate::workspace_root();
    words.push(root.to_string_lossy().into_owned());
    words.extend(std::env::var("HOME").ok().filter(|home| home.len() > 3));
    // A short host name is inside of too many words; it is looked for as a whole one.
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    words.push(format!("@{}", host.trim()));
    words.push("/node_modules/".to_owned());
    words.into_iter().find_map(|word| {
        // `</root>` is a tag, not a folder.
        let mut found = text.match_indices(&word);
        let (start, _) = found.find(|(start, _)| !text[..*start].ends_with('<'))?;
        let from = text[..start]
            .char_indices()
            .rev()
            .nth(40)
            .map_or(0, |(place, _)| place);
        Some(text[from..].chars().take(120).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_prose_of_the_client_goes_and_nothing_else_moves() {
        let prose = "You are an agent with \"quotes\"\nand lines, and this text is long enough to be prose.";
        let reminder = format!("<system-reminder>\n{prose}\n</system-reminder>");
        let body = |system: &str, tool: &str, reminder: &str| {
            format!(
                "{{ \"system\":[{{\"text\":{system}}}],\"n\":2.50,\n \"tools\": [{{\"name\":\"Read\",\"description\":{tool},\
                 \"input_schema\":{{\"properties\":{{\"description\":{{\"type\":\"string\"}}}}}}}}],\
                 \"messages\":[{{\"role\":\"user\",\"content\":[{{\"text\":{reminder}}},{{\"text\":{}}}]}}]}}\n",
                Value::from(format!("ours: {prose}"))
            )
        };
        let quoted = Value::from(prose).to_string();
        let before = body(&quoted, &quoted, &Value::from(reminder).to_string());
        let left_out = format!("\"{LEFT_OUT}\"");
        let after = scrub(before.as_bytes()).expect("it is JSON");
        let after = String::from_utf8(after).expect("it is UTF-8");
        assert_eq!(after, body(&left_out, &left_out, &left_out));
    }

    #[test]
    fn a_recording_that_tells_of_this_machine_is_refused() {
        let home = crate::workspace_root().display();
        let error = scrub(format!("{{\"cwd\":\"{home}/x\"}}").as_bytes()).expect_err("it tells");
        assert!(
            error.to_string().contains("tells of this machine"),
            "{error}"
        );
    }
}
