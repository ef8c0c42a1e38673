//! One event: what is said, called or observed.
//! Deliberately not which events are seen.

use std::borrow::Cow;
use std::collections::HashMap;

use neenee_core::message::Role;

use crate::document::{Draft, ResultItem};
use crate::error::Fault;
use crate::json::Value;
use crate::slot::Site;
use crate::time;

/// Events that are the host's: nothing of them is sent.
const NOT_SENT: &[&str] = &[
    "null",
    "change_agent_state",
    "agent_state_changed",
    "condensation_request",
    "start",
];

pub(super) struct Event<'t, 'a> {
    pub(super) value: Value<'t, 'a>,
    pub(super) id: Option<i64>,
    kind: Kind<'a>,
    pub(super) args: Option<Value<'t, 'a>>,
}

enum Kind<'a> {
    Action(Cow<'a, str>),
    Observation(Cow<'a, str>),
}

/// The ids of the calls so far, by the event that made them: an observation names its cause.
#[derive(Default)]
pub(super) struct Pairs<'a> {
    calls: HashMap<i64, Cow<'a, str>>,
}

impl<'t, 'a> Event<'t, 'a> {
    pub(super) fn new(value: Value<'t, 'a>) -> Result<Self, Fault> {
        let [id, action, observation, args] = value
            .want_object("an event, which is an object")?
            .fields(["id", "action", "observation", "args"]);
        let kind = match (
            action.and_then(Value::decode),
            observation.and_then(Value::decode),
        ) {
            (Some(action), _) => Kind::Action(action),
            (None, Some(observation)) => Kind::Observation(observation),
            (None, None) => {
                return Err(Fault::shape(
                    value.start(),
                    "an event with `action` or `observation`",
                ));
            }
        };
        Ok(Event {
            value,
            id: id.and_then(Value::i64),
            kind,
            args,
        })
    }

    /// Whether it is an action of that name.
    pub(super) fn is(&self, name: &str) -> bool {
        matches!(&self.kind, Kind::Action(action) if action == name)
    }
}

pub(super) fn read_event<'a>(
    draft: &mut Draft<'a>,
    pairs: &mut Pairs<'a>,
    event: &Event<'_, 'a>,
) -> Result<(), Fault> {
    let before = draft.message_count();
    match &event.kind {
        Kind::Action(name) | Kind::Observation(name) if NOT_SENT.contains(&&**name) => {
            draft.outside("records of the host", event.value.raw().len());
        }
        Kind::Action(name) => read_action(draft, pairs, event, name),
        Kind::Observation(name) => read_observation(draft, pairs, event, name)?,
    }
    if draft.message_count() > before {
        let time = event.value.get("timestamp").and_then(Value::decode);
        if let Some(info) = draft.info() {
            info.timestamp = time.and_then(|time| time::parse(&time));
        }
    }
    Ok(())
}

fn read_action<'a>(
    draft: &mut Draft<'a>,
    pairs: &mut Pairs<'a>,
    event: &Event<'_, 'a>,
    name: &str,
) {
    let [source, message, metadata] =
        event
            .value
            .fields(["source", "message", "tool_call_metadata"]);
    let by_user = source.is_some_and(|source| source.is("user"));
    let [content, thought, tools] = event.args.map_or([None; 3], |args| {
        args.fields(["content", "thought", "tools"])
    });
    let said = content.or(message).and_then(Value::decode);
    match name {
        "system" => {
            draft.message(Role::System);
            draft.text(said.unwrap_or_default());
            if let Some(tools) = tools.filter(|tools| !tools.is_null()) {
                draft.opaque(Cow::Borrowed(tools.raw()));
            }
        }
        "message" => {
            draft.message(if by_user { Role::User } else { Role::Assistant });
            draft.text(said.unwrap_or_default());
        }
        // What it finds comes as an observation.
        "recall" => draft.outside("records of the host", event.value.raw().len()),
        _ if by_user => {
            draft.message(Role::User);
            draft.opaque(Cow::Borrowed(event.args.map_or("", Value::raw)));
        }
        _ => {
            draft.message(Role::Assistant);
            // A tool that thinks has its thought for an argument.
            if name != "think" {
                draft.text(thought.and_then(Value::decode).unwrap_or_default());
            }
            let (id, called, arguments) = call(event, name, metadata);
            if let (Some(event), Some(id)) = (event.id, &id) {
                pairs.calls.insert(event, id.clone());
            }
            draft.call(id, called, arguments);
            if let Some(metadata) = metadata {
                draft.outside("copies of responses", metadata.raw().len());
            }
        }
    }
}

/// Id, name and arguments: as the model made the call where that is kept, else as the event has it.
fn call<'a>(
    event: &Event<'_, 'a>,
    name: &str,
    metadata: Option<Value<'_, 'a>>,
) -> (Option<Cow<'a, str>>, Cow<'a, str>, Cow<'a, str>) {
    let id = metadata
        .and_then(|metadata| metadata.get("tool_call_id"))
        .and_then(Value::decode);
    let made = metadata
        .and_then(|metadata| metadata.at(&["model_response", "choices"]))
        .and_then(|choices| choices.items().next())
        .and_then(|choice| choice.at(&["message", "tool_calls"]));
    let made = made.into_iter().flat_map(Value::items).find_map(|call| {
        let own = call.get("id")?.decode();
        let [name, arguments] = call.get("function")?.fields(["name", "arguments"]);
        (own == id).then_some((name?.decode()?, arguments?.decode()?))
    });
    match made {
        Some((name, arguments)) => (id, name, arguments),
        None => {
            let own = event.id.map(|id| Cow::Owned(format!("event-{id}")));
            let arguments = event.args.map_or("", Value::raw);
            (
                id.or(own),
                Cow::Owned(name.to_owned()),
                Cow::Borrowed(arguments),
            )
        }
    }
}

fn read_observation<'a>(
    draft: &mut Draft<'a>,
    pairs: &mut Pairs<'a>,
    event: &Event<'_, 'a>,
    name: &str,
) -> Result<(), Fault> {
    let [cause, content, extras] = event.value.fields(["cause", "content", "extras"]);
    let call_id = cause
        .and_then(Value::i64)
        .and_then(|cause| pairs.calls.remove(&cause));
    let (Some(call_id), Some(content)) = (call_id, content) else {
        // What the host tells by itself, or what the user ran.
        draft.message(Role::User);
        draft.text(content.and_then(Value::decode).unwrap_or_default());
        if let Some(extras) = extras.filter(|_| name == "recall") {
            draft.opaque(Cow::Borrowed(extras.raw()));
        }
        return Ok(());
    };
    let text = content.want_string("the content of an observation, which is a string")?;
    draft.message(Role::Tool);
    let [metadata, exit_code] =
        extras.map_or([None; 2], |extras| extras.fields(["metadata", "exit_code"]));
    let [status, cwd] = metadata.map_or([None; 2], |metadata| {
        metadata.fields(["exit_code", "working_dir"])
    });
    if let Some(cwd) = cwd.and_then(Value::decode).filter(|cwd| !cwd.is_empty()) {
        draft.cwd(cwd);
    }
    if let Some(extras) = extras {
        draft.outside("host's copies of results", extras.raw().len());
    }
    draft.result(
        ResultItem {
            call_id: Some(call_id),
            text: text.decode(),
            failed: (name == "error").then_some(true),
            // -1 stands for a command that is still running.
            exit_status: status
                .or(exit_code)
                .and_then(Value::i64)
                .filter(|status| *status >= 0)
                .and_then(|status| i32::try_from(status).ok()),
            ..ResultItem::default()
        },
        content.range(),
        Site::string(text),
    );
    Ok(())
}
