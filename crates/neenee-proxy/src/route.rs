//! Which upstream a request is for, and whether its body is a conversation.
//! Deliberately by path and headers alone: a body is looked into only when its path says what it is.

use http::{HeaderMap, Method, Uri};

use crate::settings::{ANTHROPIC, GEMINI, OPENAI, Upstream, Upstreams};

/// What a request asks for, as far as pruning it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
    /// Anthropic's count of what Messages would take.
    CountTokens,
    /// Gemini `generateContent` and `streamGenerateContent`.
    Gemini,
    /// Anything else; passed through.
    Other,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 6] = [
        Kind::Chat,
        Kind::Responses,
        Kind::Messages,
        Kind::CountTokens,
        Kind::Gemini,
        Kind::Other,
    ];

    /// A stable name for metrics and programs.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Chat => "chat",
            Kind::Responses => "responses",
            Kind::Messages => "messages",
            Kind::CountTokens => "count_tokens",
            Kind::Gemini => "gemini",
            Kind::Other => "other",
        }
    }

    fn of(method: &Method, path: &str) -> Kind {
        if method != Method::POST {
            return Kind::Other;
        }
        let last = path.rsplit('/').next().unwrap_or_default();
        if path.ends_with("/chat/completions") {
            Kind::Chat
        } else if path.ends_with("/messages/count_tokens") {
            Kind::CountTokens
        } else if last == "responses" {
            Kind::Responses
        } else if last == "messages" {
            Kind::Messages
        } else if last.ends_with(":generateContent") || last.ends_with(":streamGenerateContent") {
            Kind::Gemini
        } else {
            Kind::Other
        }
    }
}

/// Where a request goes.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// What its body is.
    pub(crate) kind: Kind,
    /// The full address.
    pub(crate) target: Uri,
    /// The name of the upstream.
    pub(crate) upstream: String,
    /// The model that the path names; Gemini's do.
    pub(crate) model: Option<String>,
}

impl Route {
    /// `None` when the path cannot be put behind the upstream's address.
    pub(crate) fn of(
        upstreams: &Upstreams,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Option<Route> {
        let path = uri.path();
        let named = path
            .strip_prefix('/')
            .and_then(|rest| rest.split_once('/'))
            .and_then(|(name, _)| Some((upstreams.get(name)?, &path[name.len() + 1..])));
        let (upstream, path) = match named {
            Some(named) => named,
            None => (upstreams.get(owner(method, path, headers))?, path),
        };
        let kind = Kind::of(method, path);
        let model = (kind == Kind::Gemini)
            .then(|| path.rsplit('/').next()?.split(':').next())
            .flatten()
            .map(str::to_owned);
        Some(Route {
            kind,
            target: join(upstream, path, uri.query())?,
            upstream: upstream.name.clone(),
            model,
        })
    }
}

/// Whose a path is that names no upstream.
fn owner(method: &Method, path: &str, headers: &HeaderMap) -> &'static str {
    match Kind::of(method, path) {
        Kind::Chat | Kind::Responses => OPENAI,
        Kind::Messages | Kind::CountTokens => ANTHROPIC,
        Kind::Gemini => GEMINI,
        // The same paths exist at several providers (`/v1/models`, `/v1/files`): their headers do not.
        Kind::Other if headers.contains_key("anthropic-version") => ANTHROPIC,
        Kind::Other if headers.contains_key("x-api-key") => ANTHROPIC,
        Kind::Other if path.starts_with("/v1/messages") || path.starts_with("/api/") => ANTHROPIC,
        Kind::Other if headers.contains_key("x-goog-api-key") => GEMINI,
        Kind::Other if path.starts_with("/v1beta") || path.starts_with("/v1alpha") => GEMINI,
        Kind::Other => OPENAI,
    }
}

fn join(upstream: &Upstream, path: &str, query: Option<&str>) -> Option<Uri> {
    let prefix = upstream.base.path().trim_end_matches('/');
    let mut whole = format!("{prefix}{path}");
    if let Some(query) = query {
        whole.push('?');
        whole.push_str(query);
    }
    Uri::builder()
        .scheme(upstream.base.scheme()?.clone())
        .authority(upstream.base.authority()?.clone())
        .path_and_query(whole)
        .build()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(method: &Method, uri: &str, header: Option<&'static str>, kind: Kind, target: &str) {
        let mut upstreams = Upstreams::default();
        upstreams
            .set("router", "https://openrouter.ai/api")
            .unwrap();
        let mut headers = HeaderMap::new();
        if let Some(name) = header {
            headers.insert(name, "1".parse().unwrap());
        }
        let route = Route::of(&upstreams, method, &uri.parse().unwrap(), &headers).unwrap();
        assert_eq!((route.kind, &*route.target.to_string()), (kind, target));
    }

    #[test]
    fn paths_find_their_upstream() {
        let cases = [
            (
                "/v1/chat/completions",
                Kind::Chat,
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                "/v1/responses",
                Kind::Responses,
                "https://api.openai.com/v1/responses",
            ),
            (
                "/v1/messages?beta=true",
                Kind::Messages,
                "https://api.anthropic.com/v1/messages?beta=true",
            ),
            (
                "/v1/messages/count_tokens",
                Kind::CountTokens,
                "https://api.anthropic.com/v1/messages/count_tokens",
            ),
            (
                "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
                Kind::Gemini,
                "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
            ),
            (
                "/v1/responses/r_1/cancel",
                Kind::Other,
                "https://api.openai.com/v1/responses/r_1/cancel",
            ),
            (
                "/router/v1/chat/completions",
                Kind::Chat,
                "https://openrouter.ai/api/v1/chat/completions",
            ),
            (
                "/anthropic/v1/models",
                Kind::Other,
                "https://api.anthropic.com/v1/models",
            ),
            (
                "/openai/v1/messages",
                Kind::Messages,
                "https://api.openai.com/v1/messages",
            ),
        ];
        for (uri, kind, target) in cases {
            check(&Method::POST, uri, None, kind, target);
        }
        check(
            &Method::GET,
            "/v1/models",
            None,
            Kind::Other,
            "https://api.openai.com/v1/models",
        );
        check(
            &Method::GET,
            "/v1/responses",
            None,
            Kind::Other,
            "https://api.openai.com/v1/responses",
        );
        let anthropic = Some("anthropic-version");
        check(
            &Method::GET,
            "/v1/models",
            anthropic,
            Kind::Other,
            "https://api.anthropic.com/v1/models",
        );
        let gemini = Some("x-goog-api-key");
        check(
            &Method::POST,
            "/upload/v1beta/files",
            gemini,
            Kind::Other,
            "https://generativelanguage.googleapis.com/upload/v1beta/files",
        );
    }
}
