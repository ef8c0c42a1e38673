//! mini-swe-agent's trajectories: messages, commands in fenced blocks, observations as the user's.
//! Deliberately not the responses that are kept beside the messages.
//!
//! Source: trajectories of mini-swe-agent 1 (`trajectory_format` "mini-swe-agent-1") and its default
//! templates for observations; version 2 calls a tool `bash` and answers with messages of a tool.

use std::borrow::Cow;
use std::ops::Range;

use neenee_core::message::Role;

use super::openai_chat::{self, DIALECT};
use super::spoken::{arguments, only_text};
use crate::document::{Draft, ResultItem};
use crate::error::Fault;
use crate::json::{Kind, Text, Value};
use crate::slot::Site;
use crate::source::Source;

pub(super) const DESCRIBE: &str =
    "mini-swe-agent trajectory (JSON); the window is all of its messages";

/// What opens a command in an answer.
const FENCES: &[&str] = &["```bash\n", "```mswea_bash_command\n"];

/// The status that shells give a command that ran out of time.
const TIMED_OUT: i32 = 124;

pub(super) fn sniff(source: &Source<'_>) -> bool {
    source.document_root().is_some_and(|root| {
        let [format, info, messages] = root.fields(["trajectory_format", "info", "messages"]);
        let named = format
            .and_then(Value::decode)
            .is_some_and(|format| format.starts_with("mini-swe-agent"));
        let version = info.and_then(|info| info.get("mini_version"));
        (named || version.is_some()) && messages.is_some_and(Value::is_array)
    })
}

pub(super) fn read<'a>(source: &Source<'a>) -> Result<Draft<'a>, Fault> {
    const HINT: &str = "a trajectory is an object with `info` and `messages`";
    let root = source
        .document_root()
        .ok_or_else(|| Fault::shape(0, "one trajectory").hint(HINT))?;
    let messages = root
        .want_object("an object with `messages`")
        .map_err(|fault| fault.hint(HINT))?
        .get("messages")
        .ok_or_else(|| Fault::shape(root.start(), "a field `messages`").hint(HINT))?
        .want_array("an array of messages")?;
    let mut draft = Draft::default();
    if let Some(config) = root.at(&["info", "config"]) {
        let model = config.at(&["model", "model_name"]).and_then(Value::decode);
        draft.model(model.unwrap_or_default());
        let cwd = config.at(&["environment", "cwd"]).and_then(Value::decode);
        if let Some(cwd) = cwd.filter(|cwd| !cwd.is_empty()) {
            draft.cwd(cwd);
        }
    }
    let mut asked = false;
    for message in messages.items() {
        asked = read_message(&mut draft, message, asked)?;
    }
    Ok(draft)
}

/// Reads a message; whether it ends with a command that waits for its observation.
fn read_message<'a>(
    draft: &mut Draft<'a>,
    message: Value<'_, 'a>,
    asked: bool,
) -> Result<bool, Fault> {
    message.want_object("a message, which is an object")?;
    let [role, content, calls, extra, call_id] =
        message.fields(["role", "content", "tool_calls", "extra", "tool_call_id"]);
    let Some(role) = role else {
        return Err(Fault::shape(
            message.start(),
            "a message with a field `role`",
        ));
    };
    let role = role.want_string("the role of a message, which is a string")?;
    if let Some(extra) = extra {
        draft.outside("responses and records of the host", extra.raw().len());
    }
    let text = content.and_then(only_text);
    let called = calls.is_some_and(|calls| calls.kind() == Kind::Array);
    match (text, &*role.decode()) {
        (Some(text), "assistant") if !called => {
            draft.message(Role::Assistant);
            let decoded = text.decode();
            let command = command(&decoded).map(|command| arguments([("command", command)]));
            draft.text(decoded);
            let Some(command) = command else {
                return Ok(false);
            };
            draft.call(None, Cow::Borrowed("bash"), Cow::Owned(command));
            return Ok(true);
        }
        (Some(text), "user") if asked => {
            if let Some(observed) = observed(&text.decode()) {
                draft.message(Role::Tool);
                put(draft, text, observed, None);
                return Ok(false);
            }
        }
        (Some(text), "tool") => {
            if let Some(observed) = observed(&text.decode()) {
                draft.message(Role::Tool);
                put(draft, text, observed, call_id.and_then(Value::decode));
                return Ok(false);
            }
        }
        // How the run ended; no model sees it.
        (_, "exit") => {
            draft.outside("records of the host", message.raw().len());
            return Ok(false);
        }
        _ => {}
    }
    openai_chat::read_message(draft, message, &DIALECT)?;
    Ok(false)
}

/// The command of an answer. The agent refuses an answer with none or several.
fn command(text: &str) -> Option<&str> {
    let mut blocks = FENCES.iter().flat_map(|fence| {
        text.match_indices(fence).filter_map(move |(at, _)| {
            let body = &text[at + fence.len()..];
            Some(&body[..body.find("\n```")?])
        })
    });
    let command = blocks.next()?;
    blocks.next().is_none().then_some(command)
}

/// An observation's content in its envelope, and the exit status that the envelope tells.
struct Observed {
    content: Range<usize>,
    status: i32,
}

/// `<returncode>0</returncode>`, then `<output>` around all of it, or notes, head and tail of what was too
/// long; or the notice that a command was killed. Nothing else is an observation.
fn observed(text: &str) -> Option<Observed> {
    const KILLED: &str =
        "timed out and has been killed.\nThe output of the command was:\n <output>\n";
    if text.starts_with("The last command <command>") {
        let start = text.find(KILLED)? + KILLED.len();
        let end = text.rfind("\n</output>").filter(|end| *end >= start)?;
        return Some(Observed {
            content: start..end,
            status: TIMED_OUT,
        });
    }
    let (status, rest) = text
        .strip_prefix("<returncode>")?
        .split_once("</returncode>")?;
    let status = status.trim().parse().ok()?;
    let rest = rest.trim_start_matches(['\n', '\r']);
    let whole = text.len() - rest.len()..text.trim_end().len();
    let inner = text.get(whole.clone()).and_then(|rest| {
        let inner = rest.strip_prefix("<output>")?.strip_suffix("</output>")?;
        let lead = usize::from(inner.starts_with('\n'));
        let tail = usize::from(inner.len() > lead && inner.ends_with('\n'));
        let start = whole.start + "<output>".len();
        Some(start + lead..start + inner.len() - tail)
    });
    let content = inner.unwrap_or(whole);
    (content.start <= content.end).then_some(Observed { content, status })
}

fn put<'a>(
    draft: &mut Draft<'a>,
    text: Text<'a>,
    observed: Observed,
    call_id: Option<Cow<'a, str>>,
) {
    let range = text.raw_range(observed.content.clone());
    let content = match text.decode() {
        Cow::Borrowed(text) => Cow::Borrowed(&text[observed.content]),
        Cow::Owned(text) => Cow::Owned(text[observed.content].to_owned()),
    };
    draft.result(
        ResultItem {
            call_id,
            name: Some(Cow::Borrowed("bash")),
            text: content,
            exit_status: Some(observed.status),
            ..ResultItem::default()
        },
        range.clone(),
        Site::within(range, 1),
    );
}
