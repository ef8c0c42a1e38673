//! A call that stands in an answer's text, as elements named like the tool and its arguments.
//! Deliberately not XML: the agents look for their own tags and take what is between as it is.

use std::borrow::Cow;

use crate::format::spoken::arguments;
use crate::json::{Kind, Value};

/// The tools that both agents offer in this form.
const TOOLS: &[&str] = &[
    "access_mcp_resource",
    "apply_diff",
    "ask_followup_question",
    "attempt_completion",
    "browser_action",
    "codebase_search",
    "condense",
    "execute_command",
    "fetch_instructions",
    "generate_image",
    "insert_content",
    "list_code_definition_names",
    "list_files",
    "load_mcp_documentation",
    "new_rule",
    "new_task",
    "plan_mode_respond",
    "read_file",
    "replace_in_file",
    "report_bug",
    "run_slash_command",
    "search_and_replace",
    "search_files",
    "switch_mode",
    "update_todo_list",
    "use_mcp_tool",
    "web_fetch",
    "write_to_file",
];

/// A call in the text. The agents take one for each answer.
pub(super) struct Spoken<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) arguments: String,
}

/// The call in an answer's text; an answer that calls by blocks speaks none.
pub(super) fn of<'a>(content: Value<'_, 'a>) -> Option<Spoken<'a>> {
    if content.kind() == Kind::String {
        return of_text(&content.decode()?);
    }
    let is = |block: Value<'_, '_>, name: &str| block.get("type").is_some_and(|own| own.is(name));
    if content.items().any(|block| is(block, "tool_use")) {
        return None;
    }
    content
        .items()
        .filter(|block| is(*block, "text"))
        .find_map(|block| of_text(&block.get("text")?.decode()?))
}

fn of_text<'a>(text: &str) -> Option<Spoken<'a>> {
    let (name, body) = text.match_indices('<').find_map(|(at, _)| {
        let (name, rest) = text[at + 1..].split_once('>')?;
        let name = TOOLS.iter().find(|tool| **tool == name)?;
        // An answer that was cut off has no end.
        let end = rest.find(&*format!("</{name}>")).unwrap_or(rest.len());
        Some((*name, &rest[..end]))
    })?;
    Some(Spoken {
        name: Cow::Borrowed(name),
        arguments: match name {
            "read_file" => reads(body),
            _ => arguments(elements(body)),
        },
    })
}

/// `<path>` of one file, or `<file>`s with a path and a range of lines each.
fn reads(body: &str) -> String {
    let mut files = elements(body);
    if let Some((_, args)) = files.iter().find(|(name, _)| *name == "args") {
        files = elements(args);
    }
    let files: Vec<String> = files
        .iter()
        .filter(|(name, _)| *name == "file")
        .map(|(_, file)| {
            let parts = elements(file);
            let of = |name| parts.iter().find(move |(own, _)| *own == name);
            let path = of("path").map(|(_, path)| ("path", *path));
            let (start, end) = of("line_range")
                .and_then(|(_, range)| range.split_once('-'))
                .unzip();
            let lines = [
                start.map(|n| ("start_line", n)),
                end.map(|n| ("end_line", n)),
            ];
            arguments(path.into_iter().chain(lines.into_iter().flatten()))
        })
        .collect();
    if files.is_empty() {
        return arguments(elements(body));
    }
    format!("{{\"files\":[{}]}}", files.join(","))
}

/// The elements on the first level, with what is between their tags.
fn elements(body: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = body;
    while let Some((name, after)) = rest
        .split_once('<')
        .and_then(|(_, rest)| rest.split_once('>'))
    {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.is_empty() || !name.bytes().all(is_name) {
            // No tag of theirs: a `<` in what is between some.
            rest = &rest[rest.find('<').map_or(rest.len(), |at| at + 1)..];
            continue;
        }
        let close = format!("</{name}>");
        let (value, next) = after.split_once(&*close).unwrap_or((after, ""));
        found.push((name, value.trim_matches('\n')));
        rest = next;
    }
    found
}
