//! Deduplicate and purge errors: of equal calls the newest result stays, old errors go.
//! Deliberately whatever the window holds: there is no trigger.
//!
//! Source: <https://github.com/Tarquinen/opencode-dynamic-context-pruning>: same tool and parameters keep
//! the most recent output; errors are purged after 4 turns. There it is the inputs of failed calls that
//! go and the message that stays; here, where calls are never changed, it is the result.
//! Parameters: `error_turns`.

use std::collections::VecDeque;

use neenee_core::message::Tier;
use neenee_core::pressure::view::View;
use neenee_core::touch::argument_key;
use rustc_hash::FxHashMap;

use super::{Entry, Policy};
use crate::params::{ParamError, Reading};
use crate::window::{Edit, Window};

pub(super) const ENTRY: Entry = Entry {
    name: "dedupe-purge-errors",
    about: "clears results of calls that were made again, and errors after 4 turns",
    build: |params, _, _| Ok(Box::new(Dedupe::new(params)?)),
};

const DUPLICATE: &str =
    "[Output removed to save context - information superseded or no longer needed]";
const ERROR: &str = "[Error removed: the call failed]";

struct Dedupe {
    error_turns: usize,
    newest: FxHashMap<u64, usize>,
    errors: VecDeque<usize>,
    seen: usize,
}

impl Dedupe {
    fn new(params: &Reading<'_>) -> Result<Self, ParamError> {
        Ok(Dedupe {
            error_turns: params.count("error_turns", 4)?,
            newest: FxHashMap::default(),
            errors: VecDeque::new(),
            seen: 0,
        })
    }
}

impl Policy for Dedupe {
    fn project(&mut self, window: &Window<'_, '_>) -> Vec<Edit> {
        let mut edits = Vec::new();
        for at in self.seen..window.held().len() {
            let found = window.found(at);
            if found.is_error {
                self.errors.push_back(at);
            }
            let call = found.call.and_then(|call| window.views().get(call));
            if let Some(View::Call(call)) = call {
                let key = argument_key(call.name, call.arguments);
                if let Some(older) = self.newest.insert(key, at) {
                    edits.push(Edit::clear(older, DUPLICATE, "duplicate"));
                }
            }
        }
        self.seen = window.held().len();
        while let Some(&at) = self.errors.front() {
            if window.found(at).turn + self.error_turns > window.turn() {
                break;
            }
            self.errors.pop_front();
            if window.held()[at].tier != Tier::Cleared {
                edits.push(Edit::clear(at, ERROR, "error"));
            }
        }
        edits
    }
}
