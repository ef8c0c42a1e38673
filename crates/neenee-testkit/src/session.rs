//! Sessions made up by rule, of any length: what a coding agent does to a project of many files.
//! Deliberately deterministic: the same specification gives the same session everywhere.

mod encode;
mod text;

pub use encode::{anthropic_body, chat_body};

use neenee_core::message::{Message, Part, Role, ToolCall, ToolResult};
use text::Words;

/// What a made-up session is like.
#[derive(Clone, Copy, Debug)]
pub struct SessionSpec {
    /// Tool results.
    pub results: usize,
    /// Files of the project.
    pub files: usize,
    /// Bytes of the whole, roughly.
    pub bytes: usize,
    /// Where the random numbers start.
    pub seed: u64,
}

impl SessionSpec {
    /// About `tokens` tokens, in the proportions of real sessions: 2 000 results, 300 files and
    /// 4 MB for each million.
    pub fn of_tokens(tokens: usize) -> Self {
        SessionSpec {
            results: (tokens / 500).max(1),
            files: (tokens / 3_333).clamp(5, 300 + tokens / 100_000),
            bytes: tokens * 4,
            seed: 7,
        }
    }

    /// Makes the session: a system message, then rounds of a user's wish, turns of calls with their
    /// results, and an answer.
    pub fn build(&self) -> Vec<Message> {
        Build {
            words: Words::new(self.seed),
            spec: *self,
            made: 0,
            messages: Vec::new(),
        }
        .run()
    }
}

struct Build {
    words: Words,
    spec: SessionSpec,
    made: usize,
    messages: Vec<Message>,
}

impl Build {
    fn run(mut self) -> Vec<Message> {
        let system = self.words.prose(6_000);
        self.say(Role::System, system);
        while self.made < self.spec.results {
            let file = self.words.file(self.spec.files);
            let wish = format!("{} Start with {file}.", self.words.prose(240));
            self.say(Role::User, wish);
            for _ in 0..self.words.below(12) + 4 {
                self.turn();
            }
            let answer = self.words.prose(700);
            self.say(Role::Assistant, answer);
        }
        self.messages
    }

    fn turn(&mut self) {
        let mut calls = vec![Part::Text(self.words.prose(160))];
        let mut results = Vec::new();
        let parallel = 1 + self.words.below(8) / 6;
        for _ in 0..parallel.min(self.spec.results.saturating_sub(self.made)) {
            let id = format!("call_{:06}", self.made);
            self.made += 1;
            let (name, arguments, text, failed) = self.work();
            calls.push(Part::Call(ToolCall {
                id: Some(id.clone()),
                name,
                arguments,
            }));
            results.push(Message {
                role: Role::Tool,
                parts: vec![Part::Result(ToolResult {
                    call_id: Some(id),
                    text,
                    failed: Some(failed),
                    ..ToolResult::default()
                })],
            });
        }
        self.messages.push(Message {
            role: Role::Assistant,
            parts: calls,
        });
        self.messages.append(&mut results);
    }

    /// One call and its answer: tool, arguments, text, whether it failed.
    fn work(&mut self) -> (String, String, String, bool) {
        let file = self.words.file(self.spec.files);
        // What is left for results once calls and prose have theirs; sizes scatter around it.
        let mean = self.spec.bytes * 3 / 4 / self.spec.results.max(1);
        let size = mean / 4 + self.words.below(mean * 3 / 2 + 1);
        let kind = self.words.below(100);
        let tool = |name: &str, arguments: String, text: String, failed: bool| {
            (name.to_owned(), arguments, text, failed)
        };
        match kind {
            0..40 => {
                let from = 1 + self.words.below(400);
                let limit = (size / 40).max(4);
                let text = self.words.numbered_code(from, limit);
                let arguments =
                    format!("{{\"file_path\":\"{file}\",\"offset\":{from},\"limit\":{limit}}}");
                tool("Read", arguments, text, false)
            }
            40..55 => {
                let (old, new) = (self.words.code(size / 10), self.words.code(size / 8));
                let arguments = format!(
                    "{{\"file_path\":\"{file}\",\"old_string\":{},\"new_string\":{}}}",
                    encode::json_string(&old),
                    encode::json_string(&new)
                );
                let failed = self.words.below(12) == 0;
                let text = if failed {
                    "String to replace not found in file.".to_owned()
                } else {
                    format!("The file {file} has been updated.")
                };
                tool("Edit", arguments, text, failed)
            }
            55..85 => {
                let command = self.words.command(&file);
                let arguments = format!("{{\"command\":{}}}", encode::json_string(&command));
                let failed = self.words.below(8) == 0;
                tool("Bash", arguments, self.words.log(size * 3 / 2), failed)
            }
            85..95 => {
                let word = self.words.word().to_owned();
                let text = self.words.matches(&word, size, self.spec.files);
                let arguments = format!("{{\"pattern\":\"{word}\",\"path\":\"src\"}}");
                tool("Grep", arguments, text, false)
            }
            _ => {
                let text = self.words.prose(size);
                let arguments = "{\"url\":\"https://docs.example/page\"}".to_owned();
                tool("WebFetch", arguments, text, false)
            }
        }
    }

    fn say(&mut self, role: Role, text: String) {
        self.messages.push(Message {
            role,
            parts: vec![Part::Text(text)],
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_the_size_that_was_asked_for() {
        let spec = SessionSpec::of_tokens(1_000_000);
        let messages = spec.build();
        let body = anthropic_body(&messages, "claude-sonnet-4-5");
        let results = messages
            .iter()
            .flat_map(|message| &message.parts)
            .filter(|part| matches!(part, Part::Result(_)))
            .count();
        assert_eq!(results, 2_000);
        assert!(
            (3_200_000..5_200_000).contains(&body.len()),
            "{}",
            body.len()
        );
        assert_eq!(body, anthropic_body(&spec.build(), "claude-sonnet-4-5"));
    }
}
