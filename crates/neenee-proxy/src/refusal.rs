//! Error answers that a second try can help: the window is full, or reasoning does not fit its prefix.
//! Deliberately narrow: any other error is the client's to see, at once and as it is.

use http::StatusCode;
use memchr::memmem;

/// What a provider objects to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The request is longer than the model's window.
    Overflow,
    /// Signed reasoning does not fit the messages before it.
    PrefixMismatch,
}

/// In lower case: how Anthropic, OpenAI, Gemini, OpenRouter, vLLM, llama.cpp and others say that a
/// request is longer than the window.
const OVERFLOW: &[&str] = &[
    "prompt is too long",
    "input is too long",
    "context_length_exceeded",
    "context length",
    "context window",
    "context size",
    "exceeds the maximum number of tokens",
    "exceed context limit",
    "exceeds the limit of",
    "too many tokens",
    "maximum prompt length",
];

/// Statuses that such an answer may have.
pub(crate) fn may_be_helped(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY
    )
}

/// What the body of an error says.
pub(crate) fn recognise(body: &[u8]) -> Option<Refusal> {
    let text = body.to_ascii_lowercase();
    let has = |part: &str| memmem::find(&text, part.as_bytes()).is_some();
    let thinking = has("thinking") || has("reasoning") || has("signature");
    let unfit = has("prefix_mismatch")
        || has("prefix mismatch")
        || has("does not match the prefix")
        || has("invalid `signature`")
        || has("invalid signature")
        || has("block_binding")
        || has("preceding messages");
    if thinking && unfit {
        Some(Refusal::PrefixMismatch)
    } else if OVERFLOW.iter().any(|words| has(words)) {
        Some(Refusal::Overflow)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_apart() {
        let overflow = [
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 215000 tokens > 200000 maximum"}}"#,
            r#"{"error":{"message":"This model's maximum context length is 128000 tokens.","code":"context_length_exceeded"}}"#,
            r#"{"error":{"message":"Your input exceeds the context window of this model."}}"#,
            r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}"#,
        ];
        for body in overflow {
            assert_eq!(
                recognise(body.as_bytes()),
                Some(Refusal::Overflow),
                "{body}"
            );
        }
        let mismatch = r#"{"error":{"message":"messages.3.content.0: Invalid `signature` in `thinking` block"}}"#;
        assert_eq!(
            recognise(mismatch.as_bytes()),
            Some(Refusal::PrefixMismatch)
        );
        let other = r#"{"error":{"message":"messages: roles must alternate"}}"#;
        assert_eq!(recognise(other.as_bytes()), None);
    }
}
