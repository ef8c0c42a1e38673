//! Replays of small sessions made by hand: every measure and every policy, one by one.
//! Deliberately no recorded sessions; those are for measuring, not for tests.

mod measures;
mod needs;
mod policies;
mod reports;
mod segments;

use neenee_replay::{Ground, Marks, Params, Recording, Run, Terms, policy, replay};
use serde_json::{Value, json};

/// A session in the making, as the body of a chat request.
#[derive(Default)]
pub(crate) struct Made {
    messages: Vec<Value>,
    calls: usize,
}

impl Made {
    pub(crate) fn new() -> Self {
        Made::default().user("Please look after the project.")
    }

    pub(crate) fn user(mut self, text: &str) -> Self {
        self.messages.push(json!({"role": "user", "content": text}));
        self
    }

    pub(crate) fn say(mut self, text: &str) -> Self {
        self.messages
            .push(json!({"role": "assistant", "content": text}));
        self
    }

    /// An answer that makes one call, and its result.
    pub(crate) fn call(mut self, tool: &str, arguments: &Value, result: &str) -> Self {
        let id = format!("call_{}", self.calls);
        self.calls += 1;
        self.messages.push(
            json!({"role": "assistant", "content": null, "tool_calls": [{
                "id": id, "type": "function",
                "function": {"name": tool, "arguments": arguments.to_string()},
            }]}),
        );
        self.messages
            .push(json!({"role": "tool", "tool_call_id": id, "content": result}));
        self
    }

    pub(crate) fn read(self, path: &str, text: &str) -> Self {
        self.call("Read", &json!({"file_path": path}), text)
    }

    pub(crate) fn edit(self, path: &str, old: &str, new: &str) -> Self {
        let arguments = json!({"file_path": path, "old_string": old, "new_string": new});
        self.call(
            "Edit",
            &arguments,
            &format!("The file {path} has been updated."),
        )
    }

    pub(crate) fn bash(self, command: &str, text: &str) -> Self {
        self.call("Bash", &json!({"command": command}), text)
    }

    pub(crate) fn body(&self) -> Vec<u8> {
        json!({"model": "gpt-5", "messages": self.messages})
            .to_string()
            .into_bytes()
    }

    /// Looks at the recording of it.
    pub(crate) fn recorded<T>(&self, look: impl FnOnce(&Recording<'_>) -> T) -> T {
        let body = self.body();
        let document = neenee_wire::read(&body, None).unwrap();
        look(&Recording::new(
            &document,
            &Ground::new(10_000),
            &mut Marks::default(),
        ))
    }

    /// Replays it; everything counts, whatever the window holds.
    #[track_caller]
    pub(crate) fn replay(&self, policy: &str, set: &[&str], window: usize) -> Run {
        let body = self.body();
        let document = neenee_wire::read(&body, None).unwrap();
        let ground = Ground::new(window);
        let recording = Recording::new(&document, &ground, &mut Marks::default());
        let params = Params::parse(set).unwrap();
        let mut policy = policy::build(policy, &params, &ground, &recording).unwrap();
        let mut terms = Terms::new(&ground);
        terms.trigger_tokens = 0;
        replay(&recording, &mut *policy, &terms)
    }
}

/// `count` lines of code that stand nowhere else.
pub(crate) fn code(name: &str, count: usize) -> String {
    let line = |number| format!("    let {name}_value_{number} = compute({number}, \"{name}\");\n");
    (0..count).map(line).collect()
}

/// One of the lines of [`code`].
pub(crate) fn line_of(name: &str, number: usize) -> String {
    format!("let {name}_value_{number} = compute({number}, \"{name}\");")
}

pub(crate) fn missed(run: &Run) -> usize {
    run.rows.iter().map(|row| row.missed).sum()
}

pub(crate) fn needed(run: &Run) -> usize {
    run.rows.iter().map(|row| row.needed).sum()
}
