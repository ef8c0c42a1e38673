//! What a proxy is told: where requests go, when and how they are pruned, who may look.
//! Deliberately plain data: whoever starts a proxy reads files and flags, and makes this of them.

use http::Uri;
use neenee_core::model::RewriteRule;
use neenee_core::pressure::{CompactionPolicy, PruneOptions};
use neenee_core::touch::ToolTable;

/// Everything that can be chosen.
#[derive(Clone, Debug)]
pub struct ProxySettings {
    /// Where requests go.
    pub upstreams: Upstreams,
    /// When pruning engages.
    pub policy: CompactionPolicy,
    /// What a plan depends on. The rewrite rule in it is not used: see [`ProxySettings::rewrite`].
    pub options: PruneOptions,
    /// What calls touch.
    pub tools: ToolTable,
    /// The model to assume instead of the one that a request names.
    pub model: Option<String>,
    /// The window to assume instead of the model's, in tokens of input.
    pub window: Option<usize>,
    /// How signed reasoning is dealt with; `None` leaves it to the model.
    pub rewrite: Option<RewriteRule>,
    /// Whether the provider's cache decides about pruning below the threshold.
    pub cache_aware: bool,
    /// Fraction of the window over which pruning engages while the conversation's cache is cold.
    pub cold_prune_utilization: f64,
    /// What the conversations may take, in bytes of memory, estimated. Those that were idle longest go
    /// first; the archive brings them back.
    pub memory_bytes: usize,
    /// What a visitor of the page has to know; `None` asks for nothing, which is for loopback alone.
    pub token: Option<String>,
}

/// The design's default of [`ProxySettings::cold_prune_utilization`].
pub const COLD_PRUNE_UTILIZATION: f64 = 0.40;

/// The default of [`ProxySettings::memory_bytes`].
pub const MEMORY_BYTES: usize = 256 << 20;

impl Default for ProxySettings {
    fn default() -> Self {
        ProxySettings {
            upstreams: Upstreams::default(),
            policy: CompactionPolicy::default(),
            options: PruneOptions::default(),
            tools: ToolTable::builtin(),
            model: None,
            window: None,
            rewrite: None,
            cache_aware: true,
            cold_prune_utilization: COLD_PRUNE_UTILIZATION,
            memory_bytes: MEMORY_BYTES,
            token: None,
        }
    }
}

/// The upstreams by name. The three providers are always there; others are reached by their name as
/// the first part of a path, `/NAME/v1/…`, and so are the three.
#[derive(Clone, Debug)]
pub struct Upstreams {
    all: Vec<Upstream>,
}

/// Where requests of one kind go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Its name: letters, digits, `-` and `_`.
    pub name: String,
    /// `https://host[:port][/path]`, without what requests bring along (`/v1`).
    pub base: Uri,
}

/// Why an upstream is not one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// The name has no letters, or others than it may.
    #[error("name an upstream `{0}`: expected letters, digits, `-` and `_`")]
    Name(String),
    /// The address is no address.
    #[error("use `{0}` as an upstream: expected http://HOST or https://HOST")]
    Base(String),
}

/// The name of the upstream for OpenAI's paths.
pub const OPENAI: &str = "openai";
/// The name of the upstream for Anthropic's paths.
pub const ANTHROPIC: &str = "anthropic";
/// The name of the upstream for Gemini's paths.
pub const GEMINI: &str = "gemini";

impl Default for Upstreams {
    fn default() -> Self {
        let public = |name: &str, host: &'static str| Upstream {
            name: name.to_owned(),
            base: Uri::from_static(host),
        };
        Upstreams {
            all: vec![
                public(OPENAI, "https://api.openai.com"),
                public(ANTHROPIC, "https://api.anthropic.com"),
                public(GEMINI, "https://generativelanguage.googleapis.com"),
            ],
        }
    }
}

impl Upstreams {
    /// Adds an upstream, or puts it in the place of the one with its name. A `/v1` at the end of `base`
    /// is dropped, since requests bring it.
    ///
    /// # Errors
    /// When the name has other signs than letters, digits, `-` and `_`, or the address is not an HTTP one.
    pub fn set(&mut self, name: &str, base: &str) -> Result<(), UpstreamError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        // `v1` would hide the paths of the providers.
        if name.is_empty()
            || !name.chars().all(plain)
            || name.starts_with("v1")
            || name == "_neenee"
        {
            return Err(UpstreamError::Name(name.to_owned()));
        }
        let trimmed = base.trim().trim_end_matches('/');
        let trimmed = trimmed.strip_suffix("/v1").unwrap_or(trimmed);
        let base: Uri = trimmed
            .parse()
            .ok()
            .filter(|uri: &Uri| {
                uri.host().is_some_and(|host| !host.is_empty())
                    && matches!(uri.scheme_str(), Some("http" | "https"))
                    && uri.query().is_none()
                    && uri.authority().is_some_and(|it| !it.as_str().contains('@'))
            })
            .ok_or_else(|| UpstreamError::Base(base.to_owned()))?;
        let name = name.to_owned();
        match self.all.iter_mut().find(|known| known.name == name) {
            Some(known) => known.base = base,
            None => self.all.push(Upstream { name, base }),
        }
        Ok(())
    }

    /// The upstream of that name.
    pub fn get(&self, name: &str) -> Option<&Upstream> {
        self.all.iter().find(|known| known.name == name)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Upstream> {
        self.all.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_is_an_http_address_without_secrets() {
        let mut upstreams = Upstreams::default();
        upstreams
            .set("router", "https://openrouter.ai/api/v1/")
            .unwrap();
        assert_eq!(
            upstreams.get("router").unwrap().base,
            "https://openrouter.ai/api"
        );
        upstreams.set(OPENAI, "http://127.0.0.1:8000").unwrap();
        assert_eq!(upstreams.get(OPENAI).unwrap().base, "http://127.0.0.1:8000");
        assert_eq!(upstreams.iter().count(), 4);
        for (name, base) in [
            ("", "https://a"),
            ("a/b", "https://a"),
            ("v1", "https://a"),
            ("_neenee", "https://a"),
            ("a", "a.example"),
            ("a", "ftp://a.example"),
            ("a", "https://user:word@a.example"),
            ("a", "https://a.example/?key=1"),
            ("a", ""),
        ] {
            upstreams.set(name, base).unwrap_err();
        }
    }
}
