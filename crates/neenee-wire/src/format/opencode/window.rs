//! Which messages are sent, and in what order.
//! Deliberately not what they say.

use super::Message;
use crate::json::Value;

/// Why a message is not sent.
const COMPACTED: &str = "messages before the last compaction";
const TAKEN_BACK: &str = "messages that were taken back";
const FAILED: &str = "answers that failed";

/// A message that is sent, and how many of its parts.
pub(super) struct Sent {
    pub(super) message: usize,
    pub(super) parts: usize,
}

pub(super) struct Window {
    pub(super) sent: Vec<Sent>,
    /// Messages from here on were taken back.
    end: usize,
}

impl Window {
    /// `info` is the session's. A compaction is sent first, the summary after it; the tail that it
    /// kept, which stands before it in the file, follows; then whatever came later.
    pub(super) fn new(info: Option<Value<'_, '_>>, messages: &[Message<'_, '_>]) -> Window {
        let (end, parts) = end(info, messages);
        let mut window = Window {
            sent: Vec::new(),
            end,
        };
        let mut push = |message: usize| {
            if !failed(&messages[message]) {
                window.sent.push(Sent {
                    message,
                    parts: if message + 1 == end {
                        parts
                    } else {
                        usize::MAX
                    },
                });
            }
        };
        let messages = &messages[..end];
        let Some(summary) = messages.iter().rposition(is_summary) else {
            (0..end).for_each(push);
            return window;
        };
        let asked = messages[..summary]
            .iter()
            .rposition(|message| message.part("compaction").is_some());
        let first = asked.unwrap_or(summary);
        let tail = asked
            .and_then(|asked| messages[asked].part("compaction")?.get("tail_start_id"))
            .and_then(Value::decode)
            .and_then(|id| {
                messages[..first]
                    .iter()
                    .position(|message| message.id().as_ref() == Some(&id))
            })
            .unwrap_or(first);
        (first..=summary).for_each(&mut push);
        (tail..first).for_each(&mut push);
        (summary + 1..end).for_each(push);
        window
    }

    /// The messages that are not sent, and why.
    pub(super) fn outside<'m, 't, 'a>(
        &self,
        messages: &'m [Message<'t, 'a>],
    ) -> Vec<(&'static str, &'m Message<'t, 'a>)> {
        let mut reasons: Vec<_> = (0..messages.len())
            .map(|at| {
                Some(if at >= self.end {
                    TAKEN_BACK
                } else if failed(&messages[at]) {
                    FAILED
                } else {
                    COMPACTED
                })
            })
            .collect();
        for sent in &self.sent {
            reasons[sent.message] = None;
        }
        let pairs = reasons.into_iter().zip(messages);
        pairs
            .filter_map(|(reason, message)| Some((reason?, message)))
            .collect()
    }
}

/// Where the messages end, and the parts of the last of them: a session that was taken back to a
/// message, or to a part of one, goes on from there.
fn end(info: Option<Value<'_, '_>>, messages: &[Message<'_, '_>]) -> (usize, usize) {
    let all = (messages.len(), usize::MAX);
    let Some(revert) = info.and_then(|info| info.get("revert")) else {
        return all;
    };
    let [message, part] = revert.fields(["messageID", "partID"]);
    let Some(id) = message.and_then(Value::decode) else {
        return all;
    };
    let Some(at) = messages
        .iter()
        .position(|message| message.id().as_ref() == Some(&id))
    else {
        return all;
    };
    let part = part.and_then(Value::decode).and_then(|part| {
        messages[at]
            .parts
            .items()
            .position(|own| own.get("id").is_some_and(|id| id.is(&part)))
    });
    match part {
        Some(parts) if parts > 0 => (at + 1, parts),
        _ => (at, usize::MAX),
    }
}

/// The user's messages have a `summary` of another kind.
fn is_summary(message: &Message<'_, '_>) -> bool {
    message.assistant
        && !failed(message)
        && message.info.get("summary").and_then(Value::bool) == Some(true)
}

/// An answer that ended in an error is not sent, unless it was stopped after it had said something.
fn failed(message: &Message<'_, '_>) -> bool {
    let Some(error) = message.info.get("error").filter(|_| message.assistant) else {
        return false;
    };
    let stopped = error
        .get("name")
        .is_some_and(|name| name.is("MessageAbortedError"));
    let silent = message.parts.items().all(|part| {
        let kind = part.get("type");
        kind.is_some_and(|kind| kind.is("step-start") || kind.is("reasoning"))
    });
    !error.is_null() && (!stopped || silent)
}
