//! The four clients: how they are found, and their headless command lines.
//! Deliberately only what a recording needs.

mod configuration;
mod session;

use super::Place;
use super::home::{self, Home};
use anyhow::Context as _;
use neenee_testkit::upstream::Wire;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A client that can be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
}

impl Client {
    pub(crate) const ALL: [Self; 4] = [Self::ClaudeCode, Self::Codex, Self::Gemini, Self::Opencode];

    /// The folder of its recordings.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini-cli",
            Self::Opencode => "opencode",
        }
    }

    /// What it speaks.
    pub(crate) fn wire(self) -> Wire {
        match self {
            Self::ClaudeCode => Wire::Anthropic,
            Self::Codex => Wire::Responses,
            Self::Gemini => Wire::Gemini,
            Self::Opencode => Wire::Chat,
        }
    }

    /// The name of a recorded request body, which other clients of the same API send too.
    pub(crate) fn request_file(self) -> &'static str {
        match self {
            Self::ClaudeCode => "anthropic-request.json",
            Self::Codex => "responses-request.json",
            Self::Gemini => "gemini-request.json",
            Self::Opencode => "chat-request.json",
        }
    }

    fn binary(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }
}

/// A client that is installed and pointed at an upstream.
pub(crate) struct Installed<'a> {
    pub(crate) client: Client,
    binary: PathBuf,
    upstream: String,
    home: &'a Home,
}

impl<'a> Installed<'a> {
    /// Finds the binary and writes the client's configuration into the home; `compacting` when the
    /// session shall outgrow its window.
    ///
    /// # Errors
    /// When there is no such binary: neither given nor below the npm prefix.
    pub(crate) fn set_up(
        client: Client,
        place: &Place,
        upstream: &str,
        home: &'a Home,
        compacting: bool,
    ) -> anyhow::Result<Self> {
        let found = match &place.bin {
            Some(path) => path.clone(),
            None => place
                .npm_prefix
                .join("node_modules/.bin")
                .join(client.binary()),
        };
        // The clients run in another folder than this one.
        let binary = found.canonicalize().with_context(|| {
            format!(
                "failed to find {}: install it with npm and name its prefix by --npm-prefix",
                found.display()
            )
        })?;
        let installed = Self {
            client,
            binary,
            upstream: upstream.to_owned(),
            home,
        };
        installed.configure(compacting)?;
        Ok(installed)
    }

    /// Asks in a new session, or goes on with the newest one.
    ///
    /// # Errors
    /// When the client fails; with what it said.
    pub(crate) fn ask(&self, prompt: &str, go_on: bool) -> anyhow::Result<String> {
        let which: &[&str] = match self.client {
            _ if !go_on => &[],
            Client::ClaudeCode | Client::Opencode => &["--continue"],
            Client::Codex => &["resume", "--last"],
            Client::Gemini => &["--resume", "latest"],
        };
        self.prompt(which, prompt)
    }

    /// Asks in the session of that id.
    ///
    /// # Errors
    /// When the client fails; with what it said.
    pub(crate) fn ask_in(&self, id: &str, prompt: &str) -> anyhow::Result<String> {
        match self.client {
            Client::ClaudeCode | Client::Gemini => self.prompt(&["--resume", id], prompt),
            Client::Codex => self.prompt(&["resume", id], prompt),
            Client::Opencode => self.prompt(&["--session", id], prompt),
        }
    }

    fn prompt(&self, which: &[&str], prompt: &str) -> anyhow::Result<String> {
        let mut command = self.command();
        match self.client {
            Client::ClaudeCode => command
                .args(which)
                .args(["-p", prompt, "--model", "claude-sonnet-4-5"])
                .args(["--allowedTools", "Read,Bash,Edit,Write,Agent,TaskCreate"]),
            Client::Codex => command
                .arg("exec")
                .args(which)
                .args(["--skip-git-repo-check", prompt]),
            Client::Gemini => command
                .args(["-m", "gemini-2.5-pro", "--yolo", "--skip-trust"])
                .args(which)
                .args(["-p", prompt]),
            // It quotes an argument that holds spaces, and joins all by spaces.
            Client::Opencode => command
                .arg("run")
                .args(which)
                .args(["-m", "scripted/m1"])
                .args(prompt.split(' ')),
        };
        home::run(command)
    }

    /// The version it says it has.
    pub(crate) fn version(&self) -> anyhow::Result<String> {
        let mut command = self.command();
        command.arg("--version");
        Ok(home::run(command)?.trim().to_owned())
    }

    /// The client with the environment that points it at the upstream.
    pub(crate) fn command(&self) -> Command {
        let script = self.binary.extension().is_some_and(|ending| ending == "js");
        let mut command = if script {
            let mut node = home::command(Path::new("node"));
            node.arg(&self.binary);
            node
        } else {
            home::command(&self.binary)
        };
        match self.client {
            Client::ClaudeCode => command
                .env("ANTHROPIC_BASE_URL", &self.upstream)
                .env("ANTHROPIC_API_KEY", "none")
                .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
                .env("DISABLE_AUTOUPDATER", "1")
                .env("DISABLE_AUTO_COMPACT", "1"),
            Client::Codex => command.env("SCRIPTED_KEY", "none"),
            Client::Gemini => command
                .env("GOOGLE_GEMINI_BASE_URL", &self.upstream)
                .env("GEMINI_API_KEY", "none"),
            Client::Opencode => command.env("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        };
        command
    }
}
