//! Session files: where each client keeps them, out of its home and into it.
//! Deliberately no codec: of a session only the id is looked at.

use super::{Client, Installed};
use crate::record::home::{self, HOME, PROJECT};
use anyhow::{Context as _, bail};

impl Installed<'_> {
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
