//! Notices a model that asks for the same thing again and again and gets the same answer.
//! Deliberately only tells it: how often to try is the model's business, and the person can stop it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use neenee_core::touch::argument_key;

/// The same call with the same answer so often is a loop.
const LOOP: usize = 3;

/// What was asked in this round since anything was changed.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    /// By name and arguments: what was answered, and how often in a row.
    seen: HashMap<(String, u64), (u64, usize)>,
}

impl Repeats {
    /// Takes note of an answer; the notice to add to it once it is part of a loop.
    pub(crate) fn note(&mut self, name: &str, arguments: &str, answer: &str) -> Option<String> {
        let mut hasher = DefaultHasher::new();
        answer.hash(&mut hasher);
        let answer = hasher.finish();
        let key = (name.to_owned(), argument_key(name, arguments));
        let (last, times) = self.seen.entry(key).or_insert((answer, 0));
        if *last == answer {
            *times += 1;
        } else {
            (*last, *times) = (answer, 1);
        }
        (*times >= LOOP).then(|| {
            format!(
                "[notice: this call has been made {times} times in this round and the answer is the same each \
                 time; use it, or do something else]"
            )
        })
    }

    /// Something was changed, or what was answered has left the window: asking again makes sense.
    pub(crate) fn forget(&mut self) {
        self.seen.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_told_and_a_change_ends_it() {
        let mut repeats = Repeats::default();
        let ask = |repeats: &mut Repeats, answer| {
            // The order of the arguments makes no other call.
            let one = repeats.note("read", r#"{"path":"a","limit":2}"#, answer);
            assert_eq!(one, None);
            repeats.note("read", r#"{"limit": 2, "path": "a"}"#, answer)
        };
        assert_eq!(ask(&mut repeats, "x"), None);
        let told = repeats.note("read", r#"{"path":"a","limit":2}"#, "x");
        assert!(told.unwrap().contains("3 times"));
        assert_eq!(repeats.note("read", r#"{"path":"a","limit":2}"#, "y"), None);
        repeats.forget();
        assert_eq!(ask(&mut repeats, "y"), None);
    }
}
