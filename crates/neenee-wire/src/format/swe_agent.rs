//! SWE-agent's trajectories: the history that its model saw, commands and observations.
//! Deliberately not the `trajectory` beside it, which holds the same once more for a replay.
//!
//! Source: trajectories of SWE-agent 0.7 (commands in the text) and 1.0 (tools).

use std::borrow::Cow;

use neenee_core::message::Role;

use super::openai_chat::{self, DIALECT};
use super::spoken::{arguments, only_text};
use crate::document::{Draft, ResultItem};
use crate::error::Fault;
use crate::json::{Kind, Text, Value};
use crate::slot::Site;
use crate::source::Source;

pub(super) const DESCRIBE: &str = "SWE-agent trajectory (JSON); the window is its history";

/// What the agent puts below an observation.
const OPEN_FILE: &str = "(Open file: ";
const DIRECTORY: &str = "(Current directory: ";

/// Commands of the agent's own, with the argument of the tool that their first word is.
const COMMANDS: &[(&str, &str)] = &[
    ("open", "path"),
    ("create", "filename"),
    ("goto", "line_number"),
    ("scroll_up", ""),
    ("scroll_down", ""),
    ("search_dir", "search_term"),
    ("search_file", "search_term"),
    ("find_file", "file_name"),
    ("submit", ""),
];

/// What the observations so far told.
#[derive(Default)]
struct State<'a> {
    /// The file that the editor has open.
    open: Option<Cow<'a, str>>,
    /// A command waits for its observation.
    asked: bool,
}

pub(super) fn sniff(source: &Source<'_>) -> bool {
    source.document_root().is_some_and(|root| {
        let [history, trajectory, info] = root.fields(["history", "trajectory", "info"]);
        let history = history.and_then(|history| history.items().next());
        history.is_some_and(|message| message.get("role").is_some())
            && (trajectory.is_some_and(Value::is_array) || info.is_some())
    })
}

pub(super) fn read<'a>(source: &Source<'a>) -> Result<Draft<'a>, Fault> {
    const HINT: &str = "a trajectory is an object with `trajectory` and `history`";
    let root = source
        .document_root()
        .ok_or_else(|| Fault::shape(0, "one trajectory").hint(HINT))?;
    root.want_object("an object with `history`")
        .map_err(|fault| fault.hint(HINT))?;
    let [history, trajectory] = root.fields(["history", "trajectory"]);
    let history = history
        .ok_or_else(|| Fault::shape(root.start(), "a field `history`").hint(HINT))?
        .want_array("an array of messages")?;
    let mut draft = Draft::default();
    let model = root.at(&["replay_config", "agent", "model", "name"]);
    draft.model(model.and_then(Value::decode).unwrap_or_default());
    if let Some(trajectory) = trajectory {
        draft.outside("the trajectory's copies", trajectory.raw().len());
    }
    let mut state = State::default();
    for message in history.items() {
        read_message(&mut draft, &mut state, message)?;
    }
    Ok(draft)
}

fn read_message<'a>(
    draft: &mut Draft<'a>,
    state: &mut State<'a>,
    message: Value<'_, 'a>,
) -> Result<(), Fault> {
    message.want_object("a message, which is an object")?;
    let [role, content, action, calls, call_ids, demo] = message.fields([
        "role",
        "content",
        "action",
        "tool_calls",
        "tool_call_ids",
        "is_demo",
    ]);
    let Some(role) = role else {
        return Err(Fault::shape(
            message.start(),
            "a message with a field `role`",
        ));
    };
    let role = role.want_string("the role of a message, which is a string")?;
    let asked = std::mem::take(&mut state.asked);
    let demo = demo.and_then(Value::bool) == Some(true);
    match (content.and_then(only_text), &*role.decode()) {
        (Some(text), "tool") => {
            draft.message(Role::Tool);
            let call_id = call_ids.and_then(|ids| ids.items().next());
            let call_id = call_id.or_else(|| message.get("tool_call_id"));
            put(draft, state, text, call_id.and_then(Value::decode));
            return Ok(());
        }
        (Some(text), "user") if asked && !demo => {
            draft.message(Role::Tool);
            put(draft, state, text, None);
            return Ok(());
        }
        (Some(text), "user") => look_around(draft, state, &text.decode()),
        _ => {}
    }
    openai_chat::read_message(draft, message, &DIALECT)?;
    // Calls of a tool are told by the answer itself.
    let spoken = role.is("assistant") && !calls.is_some_and(|calls| calls.kind() == Kind::Array);
    let action = action.and_then(Value::decode).filter(|_| spoken);
    if let Some(action) = action.filter(|action| !action.trim().is_empty()) {
        let (name, arguments) = command(action.trim(), state.open.as_deref());
        draft.call(None, name, Cow::Owned(arguments));
        state.asked = true;
    }
    Ok(())
}

/// A command as a call: of the agent's own commands by their name, else of a shell.
fn command<'a>(action: &str, open: Option<&str>) -> (Cow<'a, str>, String) {
    let (name, rest) = action
        .split_once([' ', '\n'])
        .map_or((action, ""), |(name, rest)| (name, rest.trim()));
    if name == "edit" {
        // It changes the file that is open, which only the observations name.
        let (lines, text) = rest.split_once('\n').unwrap_or((rest, ""));
        let path = open.map(|path| ("path", path));
        let fields = path.into_iter().chain([("lines", lines), ("text", text)]);
        return (Cow::Borrowed("edit"), arguments(fields));
    }
    let Some((own, key)) = COMMANDS.iter().find(|(own, _)| *own == name) else {
        return (Cow::Borrowed("bash"), arguments([("command", action)]));
    };
    let first = rest.split_whitespace().next().filter(|_| !key.is_empty());
    let first = first.map(|word| (*key, word.trim_matches(['"', '\''])));
    (Cow::Borrowed(own), arguments(first))
}

/// Where the note begins that the agent puts below an observation.
fn note(text: &str) -> Option<usize> {
    let at = text.rfind(OPEN_FILE)?;
    let below = text[at..].contains(DIRECTORY);
    (below && (at == 0 || text.as_bytes()[at - 1] == b'\n')).then_some(at)
}

/// Takes the open file and the directory from the note below an observation.
fn look_around<'a>(draft: &mut Draft<'a>, state: &mut State<'a>, text: &str) {
    let Some(at) = note(text) else { return };
    let told = |mark: &str| {
        let rest = text[at..].split_once(mark)?.1;
        Some(rest.lines().next()?.strip_suffix(')')?.to_owned())
    };
    state.open = told(OPEN_FILE).filter(|path| path != "n/a").map(Cow::Owned);
    if let Some(cwd) = told(DIRECTORY) {
        draft.cwd(Cow::Owned(cwd));
    }
}

/// An observation is a result but for the note below it, which tells where the agent is.
fn put<'a>(
    draft: &mut Draft<'a>,
    state: &mut State<'a>,
    text: Text<'a>,
    call_id: Option<Cow<'a, str>>,
) {
    let decoded = text.decode();
    let at = note(&decoded);
    let end = match at {
        Some(0) | None => at.unwrap_or(decoded.len()),
        Some(at) => at - 1,
    };
    let range = text.raw_range(0..end);
    let mut site = Site::within(range.clone(), 1);
    if at == Some(0) {
        site.after = Cow::Borrowed("\\n");
    }
    look_around(draft, state, &decoded);
    let content = match decoded {
        Cow::Borrowed(text) => Cow::Borrowed(&text[..end]),
        Cow::Owned(mut text) => {
            text.truncate(end);
            Cow::Owned(text)
        }
    };
    draft.result(
        ResultItem {
            call_id,
            text: content,
            ..ResultItem::default()
        },
        range,
        site,
    );
}
