//! The four clients: their configuration, their headless command lines, their session files.
//! Deliberately only what a recording needs; what was observed of each is in `examples/README.md`.

use super::Place;
use super::home::{self, HOME, Home, PROJECT};
use anyhow::{Context as _, bail};
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

    fn configure(&self, compacting: bool) -> anyhow::Result<()> {
        let upstream = &self.upstream;
        // Codex and opencode have no command for it when they run headless: they do it by themselves.
        let limit = if compacting { 25_000 } else { 1_000_000 };
        let context = if compacting { 30_000 } else { 400_000 };
        match self.client {
            // Without this it compacts by itself when the window is nearly full.
            Client::ClaudeCode => self.home.write(
                ".claude.json",
                r#"{"hasCompletedOnboarding": true, "autoCompactEnabled": false}"#,
            ),
            Client::Codex => self.home.write(
                ".codex/config.toml",
                &format!(
                    "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\nmodel_auto_compact_token_limit = {limit}\napproval_policy = \"never\"\n\
                     sandbox_mode = \"danger-full-access\"\n\n[model_providers.scripted]\nname = \"scripted\"\n\
                     base_url = \"{upstream}/v1\"\nenv_key = \"SCRIPTED_KEY\"\nwire_api = \"responses\"\n"
                ),
            ),
            Client::Gemini => self.home.write(
                ".gemini/settings.json",
                r#"{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}}"#,
            ),
            Client::Opencode => self.home.write(
                ".config/opencode/opencode.json",
                &format!(
                    r#"{{"autoupdate": false, "share": "disabled",
 "permission": {{"edit": "allow", "bash": "allow", "webfetch": "allow"}},
 "provider": {{"scripted": {{"npm": "@ai-sdk/openai-compatible", "name": "scripted",
  "options": {{"baseURL": "{upstream}/v1", "apiKey": "none"}},
  "models": {{"m1": {{"name": "m1", "attachment": true, "modalities": {{"input": ["text", "image"], "output": ["text"]}},
   "limit": {{"context": {context}, "output": 8000}}}}}}}}}}}}"#
                ),
            ),
        }
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

    /// Puts a session where the client finds it, and gives its id.
    ///
    /// # Errors
    /// When the file names no session, or the client does not import it.
    pub(crate) fn take_in(&self, session: &str) -> anyhow::Result<String> {
        let id = session_id(self.client, session)?;
        match self.client {
            Client::ClaudeCode => {
                // Its path with other characters as hyphens names the folder of a project.
                let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
                let project: String = PROJECT.chars().map(plain).collect();
                self.home
                    .write(&format!(".claude/projects/{project}/{id}.jsonl"), session)?;
            }
            Client::Codex => self.home.write(
                &format!(".codex/sessions/2026/12/01/rollout-2026-12-01T00-00-00-{id}.jsonl"),
                session,
            )?,
            Client::Gemini => {
                self.home.write(
                    ".gemini/projects.json",
                    &format!(r#"{{"projects": {{"{PROJECT}": "shop"}}}}"#),
                )?;
                self.home.write(".gemini/tmp/shop/.project_root", PROJECT)?;
                let short = id.get(..8).unwrap_or(&id);
                self.home.write(
                    &format!(".gemini/tmp/shop/chats/session-2026-12-01T00-00-{short}.jsonl"),
                    session,
                )?;
            }
            Client::Opencode => {
                self.home.write("session.json", session)?;
                let mut import = self.command();
                import.args(["import", &format!("{HOME}/session.json")]);
                home::run(import)?;
            }
        }
        Ok(id)
    }

    /// The version it says it has.
    pub(crate) fn version(&self) -> anyhow::Result<String> {
        let mut command = self.command();
        command.arg("--version");
        Ok(home::run(command)?.trim().to_owned())
    }

    /// The session that the client wrote, as it can be read back: a file, or what it exports.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn session(&self) -> anyhow::Result<Vec<u8>> {
        let path = match self.client {
            Client::ClaudeCode => self.home.newest(".claude/projects", |path| {
                path.ends_with(".jsonl") && !path.contains("/subagents/")
            })?,
            Client::Codex => self
                .home
                .newest(".codex/sessions", |path| path.ends_with(".jsonl"))?,
            Client::Gemini => self
                .home
                .newest(".gemini/tmp", |path| path.contains("/chats/session-"))?,
            Client::Opencode => return self.export(),
        };
        std::fs::read(&path).with_context(|| format!("failed to read {}", path.display()))
    }

    /// Files of sub-agents, which Claude Code keeps beside the session.
    pub(crate) fn side_chain(&self) -> Option<Vec<u8>> {
        let path = self.home.newest(".claude/projects", |path| {
            path.contains("/subagents/") && path.ends_with(".jsonl")
        });
        std::fs::read(path.ok()?).ok()
    }

    fn export(&self) -> anyhow::Result<Vec<u8>> {
        let mut list = self.command();
        list.args(["session", "list", "--format", "json"]);
        let listed = home::run(list)?;
        let sessions: serde_json::Value = serde_json::from_str(&listed)
            .context("failed to read the list of opencode's sessions")?;
        let Some(id) = sessions[0]["id"].as_str() else {
            bail!("failed to find opencode's session: {listed}");
        };
        let mut export = self.command();
        export.args(["export", id]);
        Ok(home::run(export)?.into_bytes())
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

/// The id by which the client is asked for the session.
fn session_id(client: Client, session: &str) -> anyhow::Result<String> {
    let pointers: &[&str] = match client {
        Client::ClaudeCode | Client::Gemini => &["/sessionId"],
        Client::Codex => &["/payload/id"],
        Client::Opencode => &["/info/id"],
    };
    let documents = serde_json::Deserializer::from_str(session).into_iter::<serde_json::Value>();
    for document in documents.map_while(Result::ok) {
        for pointer in pointers {
            if let Some(id) = document.pointer(pointer).and_then(|id| id.as_str()) {
                return Ok(id.to_owned());
            }
        }
    }
    bail!(
        "failed to find the id of the session: expected it at {}",
        pointers.join(" or ")
    )
}
