//! Neutral operations in the words of the client: its tool names and arguments, by the `tools` it sent.
//! Deliberately not the product's table of what a call touches: this one speaks, that one listens.

use super::turn::Op;
use serde_json::{Value, json};

/// A tool that a request offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offered {
    pub(super) name: String,
    /// Takes free text instead of a JSON object (custom tools of OpenAI Responses).
    pub(super) freeform: bool,
}

/// A call in the words of the client.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) input: Input,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Input {
    Object(Value),
    Text(String),
}

impl Input {
    /// Arguments as formats send them that carry JSON inside of a string.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Object(value) => value.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    pub(super) fn object(&self) -> Value {
        match self {
            Self::Object(value) => value.clone(),
            Self::Text(text) => json!({ "input": text }),
        }
    }
}

/// Speaks one client's dialect.
pub(super) struct Dialect<'a> {
    pub(super) offered: &'a [Offered],
    pub(super) root: &'a str,
}

impl Dialect<'_> {
    /// The call for an operation: the client's own tool where it has one, else a shell command to the
    /// same end. `None` when it offers neither.
    pub(super) fn call(&self, op: &Op) -> Option<Call> {
        match op {
            Op::Read { path, lines } => self.read(path, *lines),
            Op::Image(path) => self.image(path),
            Op::Shell(command) => self.shell(command),
            Op::Edit { path, old, new } => self.edit(path, old, new),
            Op::Write { path, content } => self.write(path, content),
            Op::Search { pattern, path } => self.search(pattern, path),
            Op::Glob(pattern) => self.glob(pattern),
            Op::Plan(steps) => self.plan(steps),
            Op::Agent { title, prompt } => self.agent(title, prompt),
            Op::Tool { name, arguments } => {
                let input = serde_json::from_str(arguments).ok()?;
                self.object(name, || input)
            }
        }
    }

    fn read(&self, path: &str, lines: Option<(u32, u32)>) -> Option<Call> {
        let full = self.full(path);
        let paged = |key: &str| match lines {
            Some((first, count)) => json!({ key: full, "offset": first, "limit": count }),
            None => json!({ key: full }),
        };
        self.object("Read", || paged("file_path"))
            .or_else(|| self.object("read", || paged("filePath")))
            .or_else(|| {
                self.object("read_file", || match lines {
                    Some((first, count)) => json!({
                        "file_path": path, "start_line": first, "end_line": first + count - 1
                    }),
                    None => json!({ "file_path": path }),
                })
            })
            .or_else(|| {
                self.shell(&match lines {
                    Some((first, count)) => {
                        format!("sed -n '{first},{}p' {}", first + count - 1, quoted(path))
                    }
                    None => format!("cat {}", quoted(path)),
                })
            })
    }

    fn image(&self, path: &str) -> Option<Call> {
        self.object("view_image", || json!({ "path": self.full(path) }))
            .or_else(|| self.read(path, None))
    }

    fn shell(&self, command: &str) -> Option<Call> {
        self.object(
            "Bash",
            || json!({ "command": command, "description": "Run a command" }),
        )
        .or_else(|| self.object("bash", || json!({ "command": command })))
        .or_else(|| self.object("exec_command", || json!({ "cmd": command })))
        .or_else(|| self.object("shell_command", || json!({ "command": command })))
        .or_else(|| self.object("shell", || json!({ "command": ["bash", "-lc", command] })))
        .or_else(|| self.object("run_shell_command", || json!({ "command": command })))
    }

    fn edit(&self, path: &str, old: &str, new: &str) -> Option<Call> {
        let full = self.full(path);
        self.object(
            "Edit",
            || json!({ "file_path": full, "old_string": old, "new_string": new }),
        )
        .or_else(|| {
            self.object(
                "edit",
                || json!({ "filePath": full, "oldString": old, "newString": new }),
            )
        })
        .or_else(|| {
            self.object("replace", || {
                json!({
                    "file_path": path, "old_string": old, "new_string": new,
                    "instruction": "Change these lines and nothing else."
                })
            })
        })
        .or_else(|| {
            let body = format!(
                "*** Update File: {path}\n@@\n{}{}",
                signed('-', old),
                signed('+', new)
            );
            self.patch(&body)
        })
    }

    fn write(&self, path: &str, content: &str) -> Option<Call> {
        let full = self.full(path);
        self.object("Write", || json!({ "file_path": full, "content": content }))
            .or_else(|| self.object("write", || json!({ "filePath": full, "content": content })))
            .or_else(|| {
                self.object(
                    "write_file",
                    || json!({ "file_path": path, "content": content }),
                )
            })
            .or_else(|| self.patch(&format!("*** Add File: {path}\n{}", signed('+', content))))
    }

    fn patch(&self, body: &str) -> Option<Call> {
        let patch = format!("*** Begin Patch\n{body}*** End Patch");
        match self.offered.iter().find(|tool| tool.name == "apply_patch") {
            Some(tool) => Some(Call {
                name: tool.name.clone(),
                input: if tool.freeform {
                    Input::Text(patch)
                } else {
                    Input::Object(json!({ "input": patch }))
                },
            }),
            None => self.shell(&format!("apply_patch <<'PATCH'\n{patch}\nPATCH")),
        }
    }

    fn search(&self, pattern: &str, path: &str) -> Option<Call> {
        let full = self.full(path);
        self.object(
            "Grep",
            || json!({ "pattern": pattern, "path": full, "output_mode": "content", "-n": true }),
        )
        .or_else(|| self.object("grep", || json!({ "pattern": pattern, "path": full })))
        .or_else(|| {
            self.object(
                "grep_search",
                || json!({ "pattern": pattern, "dir_path": path }),
            )
        })
        .or_else(|| self.shell(&format!("grep -rnE {} {}", quoted(pattern), quoted(path))))
    }

    fn glob(&self, pattern: &str) -> Option<Call> {
        ["Glob", "glob"]
            .into_iter()
            .find_map(|name| self.object(name, || json!({ "pattern": pattern })))
            .or_else(|| {
                let name = pattern.rsplit('/').next().unwrap_or(pattern);
                self.shell(&format!("find . -name {} | sort", quoted(name)))
            })
    }

    fn plan(&self, steps: &[String]) -> Option<Call> {
        let todos = |status: &str| -> Vec<Value> {
            let item = |step: &String| match status {
                "step" => json!({ "step": step, "status": "pending" }),
                "description" => json!({ "description": step, "status": "pending" }),
                _ => json!({ "content": step, "status": "pending", "priority": "medium",
                             "activeForm": step, "id": step }),
            };
            steps.iter().map(item).collect()
        };
        let all = steps.join("; ");
        self.object("TodoWrite", || json!({ "todos": todos("content") }))
            .or_else(|| self.object("todowrite", || json!({ "todos": todos("content") })))
            .or_else(|| self.object("write_todos", || json!({ "todos": todos("description") })))
            .or_else(|| self.object("update_plan", || json!({ "plan": todos("step") })))
            .or_else(|| {
                self.object(
                    "TaskCreate",
                    || json!({ "subject": steps.first(), "description": all }),
                )
            })
            .or_else(|| self.shell(&format!("echo {}", quoted(&all))))
    }

    fn agent(&self, title: &str, prompt: &str) -> Option<Call> {
        let general = || {
            json!({
                "description": title, "prompt": prompt, "subagent_type": "general-purpose",
                "run_in_background": false
            })
        };
        self.object("Agent", general)
            .or_else(|| self.object("Task", general))
            .or_else(|| {
                self.object("task", || {
                    json!({ "description": title, "prompt": prompt, "subagent_type": "general" })
                })
            })
            .or_else(|| {
                self.object(
                    "invoke_agent",
                    || json!({ "agent_name": "generalist", "prompt": prompt }),
                )
            })
            .or_else(|| self.shell(&format!("echo {}", quoted(title))))
    }

    fn object(&self, name: &str, arguments: impl FnOnce() -> Value) -> Option<Call> {
        let tool = self.offered.iter().find(|tool| tool.name == name)?;
        Some(Call {
            name: tool.name.clone(),
            input: Input::Object(arguments()),
        })
    }

    fn full(&self, path: &str) -> String {
        if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("{}/{path}", self.root.trim_end_matches('/'))
        }
    }
}

fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

fn signed(sign: char, text: &str) -> String {
    text.lines().map(|line| format!("{sign}{line}\n")).collect()
}
