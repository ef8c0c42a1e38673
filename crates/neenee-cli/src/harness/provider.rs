//! Which provider a model is asked at, and where its key is.
//! Deliberately by the model's name only where that leaves no doubt; everything else has to be said.

use std::env;

use anyhow::Result;
use neenee_agent::Secret;
use neenee_agent::provider::{Endpoint, Wire};

use crate::cli::{AgentArgs, Api};
use crate::error::Failure;

/// A provider that is known by name.
struct Known {
    wire: Wire,
    base_url: &'static str,
    key: &'static str,
}

const ANTHROPIC: Known = Known {
    wire: Wire::Anthropic,
    base_url: "https://api.anthropic.com/v1",
    key: "ANTHROPIC_API_KEY",
};
const OPENAI: Known = Known {
    wire: Wire::Responses,
    base_url: "https://api.openai.com/v1",
    key: "OPENAI_API_KEY",
};
const GEMINI: Known = Known {
    wire: Wire::Chat,
    base_url: "https://generativelanguage.googleapis.com/v1beta/openai",
    key: "GEMINI_API_KEY",
};
const OPENROUTER: Known = Known {
    wire: Wire::Chat,
    base_url: "https://openrouter.ai/api/v1",
    key: "OPENROUTER_API_KEY",
};

/// Where `model` is asked.
pub(super) fn endpoint(args: &AgentArgs, model: &str) -> Result<Endpoint> {
    let known = known(model);
    let wire = args.api.map(wire_of);
    if let Some(base_url) = &args.base_url {
        // A server of the person's own gets no key that was meant for another one.
        let endpoint = Endpoint::new(wire.unwrap_or(Wire::Chat), base_url);
        return Ok(match key(args, None)? {
            Some(key) => endpoint.with_key(key),
            None => endpoint,
        });
    }
    let Some(known) = known else {
        return Err(Failure::new(format!(
            "failed to choose a provider: the name `{model}` does not tell who serves it"
        ))
        .fix("name its server with --base-url")
        .into());
    };
    let key = key(args, Some(known.key))?.ok_or_else(|| {
        Failure::new(format!("failed to find a key: {} is not set", known.key)).fix(
            "set it, name another variable with --key-env, or a file with --key-file; \
             `neenee run --demo` needs none",
        )
    })?;
    Ok(Endpoint::new(wire.unwrap_or(known.wire), known.base_url).with_key(key))
}

fn known(model: &str) -> Option<&'static Known> {
    let o_series = |name: &str| {
        let rest = name.strip_prefix('o');
        rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    if model.contains('/') {
        Some(&OPENROUTER)
    } else if model.starts_with("claude") {
        Some(&ANTHROPIC)
    } else if model.starts_with("gpt-") || model.starts_with("codex") || o_series(model) {
        Some(&OPENAI)
    } else if model.starts_with("gemini") {
        Some(&GEMINI)
    } else {
        None
    }
}

fn wire_of(api: Api) -> Wire {
    match api {
        Api::Chat => Wire::Chat,
        Api::Responses => Wire::Responses,
        Api::Anthropic => Wire::Anthropic,
    }
}

/// The key that the person names, else the provider's own variable.
fn key(args: &AgentArgs, variable: Option<&str>) -> Result<Option<Secret>> {
    if let Some(path) = &args.key_file {
        let key = Secret::from_file(path).map_err(|error| {
            Failure::new(format!(
                "failed to read the key in {}: {error}",
                path.display()
            ))
        })?;
        return Ok(Some(key).filter(|key| !key.is_empty()));
    }
    let named = args.key_env.as_deref();
    let key: Option<String> = named.or(variable).and_then(|name| env::var(name).ok());
    if let (Some(name), None) = (named, &key) {
        return Err(Failure::new(format!("failed to find a key: {name} is not set")).into());
    }
    Ok(key
        .map(|key| Secret::new(&key))
        .filter(|key| !key.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::known;

    #[test]
    fn names_that_tell_who_serves_them() {
        let key = |model: &str| known(model).map(|known| known.key);
        assert_eq!(key("claude-opus-4-5"), Some("ANTHROPIC_API_KEY"));
        assert_eq!(key("gpt-5"), Some("OPENAI_API_KEY"));
        assert_eq!(key("o4-mini"), Some("OPENAI_API_KEY"));
        assert_eq!(key("gemini-2.5-pro"), Some("GEMINI_API_KEY"));
        assert_eq!(key("anthropic/claude-opus-4-5"), Some("OPENROUTER_API_KEY"));
        assert_eq!(key("olmo"), None);
        assert_eq!(key("qwen3"), None);
    }
}
