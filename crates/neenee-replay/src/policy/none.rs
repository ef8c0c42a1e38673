//! No policy: everything is sent again and again.
//! Deliberately also past the window, where a real client would fail or compact.

use super::{Entry, Policy};
use crate::window::{Edit, Window};

pub(super) const ENTRY: Entry = Entry {
    name: "none",
    about: "sends everything",
    build: |_, _, _| Ok(Box::new(Nothing)),
};

struct Nothing;

impl Policy for Nothing {
    fn project(&mut self, _: &Window<'_, '_>) -> Vec<Edit> {
        Vec::new()
    }
}
