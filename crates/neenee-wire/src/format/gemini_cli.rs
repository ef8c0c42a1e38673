//! Gemini CLI's own chats: a header, messages and updates as lines, or one object in older versions.
//! Deliberately not the request that a resume sends: system prompt and tools are not in the file.
//!
//! Source: the files that the client writes (0.20 to 0.61), and what it sent when it resumed them.

mod records;

use std::borrow::Cow;
use std::collections::HashMap;

use neenee_core::message::Role;
use neenee_core::model::Traits;

use super::gemini::parts::{Parts, RULE, Response};
use crate::document::{Draft, Usage};
use crate::error::Fault;
use crate::json::Value;
use crate::slot::Site;
use crate::source::Source;
use crate::time;

pub(super) const DESCRIBE: &str =
    "Gemini CLI session (JSONL or JSON in chats/); the window is its messages as last updated";

pub(super) fn sniff(source: &Source<'_>) -> bool {
    source.values().next().is_some_and(|first| {
        let [session, project] = first.fields(["sessionId", "projectHash"]);
        session.is_some_and(Value::is_string) && project.is_some_and(Value::is_string)
    })
}

pub(super) fn read<'a>(source: &Source<'a>) -> Result<Draft<'a>, Fault> {
    let records = records::of(source)?;
    let mut draft = Draft::default();
    for (what, bytes) in records.outside {
        draft.outside(what, bytes);
    }
    let model = |message: &Value<'_, 'a>| message.get("model")?.decode();
    if let Some(model) = records.messages.iter().rev().find_map(model) {
        draft.model(model);
    }
    let rule = draft
        .named_model()
        .map_or(RULE, |name| Traits::of(name).image);
    let mut parts = Parts::new(rule);
    // The client sends a response from its call's record and again from the user line behind it.
    let mut copies = copies(&records.messages, rule)?;
    for message in records.messages {
        let kind = message
            .get("type")
            .and_then(Value::decode)
            .unwrap_or_default();
        match &*kind {
            "gemini" => read_answer(&mut draft, &mut parts, &mut copies, rule, message)?,
            "user" => {
                draft.message(Role::User);
                stamp(&mut draft, message);
                for part in content(message) {
                    let id = response_id(part);
                    // A copy is spliced with the first one, and counted once.
                    if id.is_none_or(|id| !copies.contains_key(&id)) {
                        parts.read(&mut draft, part)?;
                    }
                }
            }
            // Notes for the person: `info`, `warning`, `error`.
            _ => draft.outside("notes of the client", message.raw().len()),
        }
    }
    Ok(draft)
}

/// What the client recorded of an answer: text, thoughts, calls and what came back from them.
fn read_answer<'a>(
    draft: &mut Draft<'a>,
    parts: &mut Parts<'a>,
    copies: &mut HashMap<Cow<'a, str>, Vec<Site>>,
    rule: neenee_core::model::ImageRule,
    message: Value<'_, 'a>,
) -> Result<(), Fault> {
    draft.message(Role::Assistant);
    stamp(draft, message);
    let [tokens, thoughts, calls] = message.fields(["tokens", "thoughts", "toolCalls"]);
    if let Some(info) = draft.info() {
        info.usage = tokens.map(read_usage);
    }
    if let Some(thoughts) = thoughts {
        draft.outside("thoughts, which are not sent again", thoughts.raw().len());
    }
    for part in content(message) {
        parts.read(draft, part)?;
    }
    let calls: Vec<Value<'_, 'a>> = calls.into_iter().flat_map(Value::items).collect();
    for call in &calls {
        parts.call(draft, *call)?;
        if let Some(display) = call.get("resultDisplay") {
            draft.outside("host's copies of results", display.raw().len());
        }
    }
    let mut began = false;
    for call in calls {
        let [status, result] = call.fields(["status", "result"]);
        let failed = status.map(|status| !status.is("success"));
        for part in result.into_iter().flat_map(Value::items) {
            if !began {
                draft.message(Role::Tool);
                began = true;
            }
            match part.get("functionResponse") {
                Some(response) => {
                    let mut found = Response::read(response, rule)?;
                    if let Some(id) = &found.id
                        && let Some(sites) = copies.get_mut(id)
                    {
                        found.site.copies = std::mem::take(sites);
                    }
                    parts.answer(draft, found, failed);
                }
                None => parts.read(draft, part)?,
            }
        }
    }
    Ok(())
}

/// The places of the responses in user lines whose call's record holds them too, by id.
fn copies<'a>(
    messages: &[Value<'_, 'a>],
    rule: neenee_core::model::ImageRule,
) -> Result<HashMap<Cow<'a, str>, Vec<Site>>, Fault> {
    let mut copies = HashMap::new();
    let recorded = messages
        .iter()
        .filter_map(|message| message.get("toolCalls"));
    let results = recorded
        .flat_map(Value::items)
        .filter_map(|call| call.get("result"));
    for part in results.flat_map(Value::items) {
        copies.extend(response_id(part).map(|id| (id, Vec::new())));
    }
    let users = messages
        .iter()
        .filter(|message| message.get("type").is_some_and(|kind| kind.is("user")));
    for part in users.flat_map(|message| content(*message)) {
        if let Some(id) = response_id(part)
            && let Some(sites) = copies.get_mut(&id)
            && let Some(response) = part.get("functionResponse")
        {
            sites.push(Response::read(response, rule)?.site);
        }
    }
    Ok(copies)
}

fn response_id<'a>(part: Value<'_, 'a>) -> Option<Cow<'a, str>> {
    part.at(&["functionResponse", "id"])?.decode()
}

/// The parts of a message; of a message that is a string, that.
fn content<'t, 'a>(message: Value<'t, 'a>) -> impl Iterator<Item = Value<'t, 'a>> {
    let content = message.get("content");
    let alone = content.filter(|content| !content.is_array());
    let alone = alone.filter(|content| content.is_object() || content.is_string());
    let several = content.filter(|content| content.is_array());
    alone
        .into_iter()
        .chain(several.into_iter().flat_map(Value::items))
}

fn stamp(draft: &mut Draft<'_>, message: Value<'_, '_>) {
    let time = message.get("timestamp").and_then(Value::decode);
    if let Some(info) = draft.info() {
        info.timestamp = time.and_then(|time| time::parse(&time));
    }
}

fn read_usage(tokens: Value<'_, '_>) -> Usage {
    let [input, cached, output, thoughts] = tokens
        .fields(["input", "cached", "output", "thoughts"])
        .map(|count| count.and_then(Value::u64));
    Usage {
        input: input.map(|input| input.saturating_sub(cached.unwrap_or(0))),
        cache_read: cached,
        cache_write: None,
        output: output.map(|output| output + thoughts.unwrap_or(0)),
    }
}
