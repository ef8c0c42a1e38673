//! Which call a result answers, within one conversation.
//! Deliberately tolerant: what does not pair is carried as it came.

use rustc_hash::FxHashMap;

/// Running number of a call.
pub(crate) type CallIndex = u32;

/// Calls that wait for their result.
#[derive(Debug, Default)]
pub(crate) struct OpenCalls {
    /// Local models reuse ids, so each id holds a stack: the nearest earlier call is answered first.
    by_id: FxHashMap<Box<str>, Vec<CallIndex>>,
    /// The calls of the latest turn, for formats without ids.
    turn: Vec<(CallIndex, Box<str>)>,
    answered: bool,
}

impl OpenCalls {
    /// An assistant message begins. A message right after another one, with no answer between,
    /// is the same turn.
    pub(crate) fn assistant(&mut self) {
        if self.answered {
            self.turn.clear();
            self.answered = false;
        }
    }

    /// A call was made.
    pub(crate) fn open(&mut self, id: Option<&str>, name: &str, call: CallIndex) {
        match id {
            Some(id) => match self.by_id.get_mut(id) {
                Some(stack) => stack.push(call),
                None => {
                    self.by_id.insert(id.into(), vec![call]);
                }
            },
            None => self.turn.push((call, name.into())),
        }
    }

    /// The call that a result answers, which is then no longer open. Without ids, the first open
    /// call of the turn with the result's name, or simply the first when the result has no name.
    pub(crate) fn answer(&mut self, id: Option<&str>, name: Option<&str>) -> Option<CallIndex> {
        self.answered = true;
        if let Some(call) = id.and_then(|id| self.by_id.get_mut(id)).and_then(Vec::pop) {
            return Some(call);
        }
        let at = self
            .turn
            .iter()
            .position(|(_, called)| name.is_none_or(|name| **called == *name))?;
        Some(self.turn.remove(at).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_earlier_call_with_the_id_is_answered() {
        let mut open = OpenCalls::default();
        open.open(Some("1"), "a", 0);
        open.open(Some("1"), "b", 1);
        assert_eq!(open.answer(Some("1"), None), Some(1));
        assert_eq!(open.answer(Some("1"), None), Some(0));
        assert_eq!(open.answer(Some("1"), None), None);
        assert_eq!(open.answer(Some("2"), None), None);
    }

    #[test]
    fn without_ids_names_and_order_of_the_turn_decide() {
        let mut open = OpenCalls::default();
        open.assistant();
        open.open(None, "read", 0);
        open.open(None, "grep", 1);
        open.open(None, "read", 2);
        assert_eq!(open.answer(None, Some("grep")), Some(1));
        assert_eq!(open.answer(None, Some("read")), Some(0));
        assert_eq!(open.answer(None, None), Some(2));
        open.assistant();
        open.open(None, "read", 3);
        open.answer(None, Some("grep"));
        open.assistant();
        assert_eq!(open.answer(None, Some("read")), None);
    }
}
