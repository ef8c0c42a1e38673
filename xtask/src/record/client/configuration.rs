//! What each client is told before it runs: the upstream, no questions, and when to compact.
//! Deliberately the least that makes it run headless; all else is the client's default.

use super::{Client, Installed};

impl Installed<'_> {
    pub(super) fn configure(&self, compacting: bool) -> anyhow::Result<()> {
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
}
