//! Which call a result answers: the nearest earlier one with its id that has none yet.
//! Deliberately the same rule as the planner's, for policies that look at calls themselves.

use neenee_core::pressure::view::View;
use rustc_hash::FxHashMap;

use super::Recording;

impl Recording<'_> {
    /// Finds the call of each result.
    pub(super) fn pair(&mut self) {
        let mut by_id: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        // Calls without an id, of the last answer that made any, the first to be answered last.
        let mut nameless: Vec<usize> = Vec::new();
        let mut results = self.results.iter_mut();
        let mut answered = false;
        for (at, view) in self.views.iter().enumerate() {
            match view {
                View::Call(call) => match call.id {
                    Some(id) => by_id.entry(id).or_default().push(at),
                    None => {
                        if std::mem::take(&mut answered) {
                            nameless.clear();
                        }
                        nameless.insert(0, at);
                    }
                },
                View::Result(result) => {
                    let call = match result.call_id {
                        Some(id) => by_id.get_mut(id).and_then(Vec::pop),
                        None => {
                            answered = true;
                            nameless.pop()
                        }
                    };
                    if let Some(found) = results.next() {
                        found.call = call;
                    }
                }
                _ => {}
            }
        }
    }
}
