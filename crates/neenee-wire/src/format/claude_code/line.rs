//! One line of a session, as far as the tree goes.
//! Deliberately not what the line says: that is read once it is known to be in the window.

use super::NOT_SENT;
use crate::json::Value;

/// A line: what it is, and its place in the tree.
pub(super) struct Line<'t, 'a> {
    pub(super) value: Value<'t, 'a>,
    pub(super) kind: Kind,
    pub(super) uuid: Option<&'a str>,
    pub(super) parent: Option<&'a str>,
    /// The answer that this line is a block of.
    pub(super) message_id: Option<&'a str>,
    pub(super) sidechain: bool,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Assistant,
    /// What the client adds to the conversation by itself: reminders, hook output, files.
    Attachment,
    /// The conversation was compacted here; what follows does not see what is before.
    Boundary,
    /// A sub-agent's message, repeated while it is at work.
    AgentProgress,
    Progress,
    Snapshot,
    /// Anything else: titles, queues, durations.
    Other,
}

impl<'t, 'a> Line<'t, 'a> {
    pub(super) fn new(value: Value<'t, 'a>) -> Line<'t, 'a> {
        let [
            kind,
            subtype,
            uuid,
            parent,
            sidechain,
            message,
            attachment,
            data,
        ] = value.fields([
            "type",
            "subtype",
            "uuid",
            "parentUuid",
            "isSidechain",
            "message",
            "attachment",
            "data",
        ]);
        let is = |field: Option<Value<'_, '_>>, name: &str| field.is_some_and(|f| f.is(name));
        let kind = match kind.and_then(Value::string).map(|kind| kind.raw()) {
            Some("user") => Kind::User,
            Some("assistant") => Kind::Assistant,
            Some("attachment") => {
                let what = attachment.and_then(|attachment| attachment.get("type"));
                if NOT_SENT.iter().any(|name| is(what, name)) {
                    Kind::Other
                } else {
                    Kind::Attachment
                }
            }
            Some("system") if is(subtype, "compact_boundary") => Kind::Boundary,
            Some("progress") if is(data.and_then(|data| data.get("type")), "agent_progress") => {
                Kind::AgentProgress
            }
            Some("progress") => Kind::Progress,
            Some("file-history-snapshot") => Kind::Snapshot,
            _ => Kind::Other,
        };
        let id = |field: Option<Value<'_, 'a>>| field?.string().map(|id| id.raw());
        Line {
            value,
            kind,
            uuid: id(uuid),
            parent: id(parent),
            message_id: match kind {
                Kind::Assistant => id(message.and_then(|message| message.get("id"))),
                _ => None,
            },
            sidechain: sidechain.and_then(Value::bool).unwrap_or(false),
        }
    }

    /// Whether it is something that is said.
    pub(super) fn speaks(&self) -> bool {
        matches!(self.kind, Kind::User | Kind::Assistant)
    }

    /// The ids of the calls that it makes.
    pub(super) fn calls(&self) -> impl Iterator<Item = &'a str> {
        self.ids(Kind::Assistant, "tool_use", "id")
    }

    /// The ids of the calls whose results it brings.
    pub(super) fn answers(&self) -> impl Iterator<Item = &'a str> {
        self.ids(Kind::User, "tool_result", "tool_use_id")
    }

    fn ids(
        &self,
        kind: Kind,
        block_type: &'static str,
        field: &'static str,
    ) -> impl Iterator<Item = &'a str> {
        (self.kind == kind)
            .then(|| self.value.at(&["message", "content"]))
            .flatten()
            .into_iter()
            .flat_map(Value::items)
            .filter(move |block| block.get("type").is_some_and(|kind| kind.is(block_type)))
            .filter_map(move |block| Some(block.get(field)?.string()?.raw()))
    }
}
