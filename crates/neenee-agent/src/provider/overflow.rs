//! Which errors say that a request does not fit the model's window, as each provider words it.
//! Deliberately not a limit on rates: "too many tokens per minute" is another trouble with another cure.

use serde_json::Value;

use super::error::{ProviderError, ProviderErrorKind};

/// Values of `code` or `type` that mean it.
const CODES: &[&str] = &[
    "context_length_exceeded",   // OpenAI, both APIs; Azure; Groq; Together
    "exceed_context_size_error", // llama.cpp
    "model_max_prompt_tokens_exceeded",
    "request_too_large", // Anthropic, with status 413
    "context_window_exceeded",
];

/// Pieces of messages that mean it, in lower case; all pieces of a row must be there.
const WORDS: &[&[&str]] = &[
    // OpenAI: "This model's maximum context length is 128000 tokens. However, your messages resulted in …";
    // vLLM, DeepSeek and OpenRouter word it alike: "… However, you requested …", "… your request has …".
    &["maximum context length", "token"],
    // vLLM since 0.13: "You passed 33000 input tokens and requested 16 output tokens. However, the model's
    // context length is only 32768 tokens".
    &["context length is only"],
    // vLLM: "The decoder prompt (length 5000) is longer than the maximum model length of 4096."
    &["longer than the maximum model length"],
    // OpenAI Responses: "Your input exceeds the context window of this model."
    &["exceeds the context window"],
    // Anthropic: "prompt is too long: 208310 tokens > 200000 maximum".
    &["prompt is too long"],
    // Anthropic: "input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000".
    &["exceed context limit"],
    // Gemini: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    &["input token count", "exceeds the maximum number of tokens"],
    // llama.cpp: "the request exceeds the available context size".
    &["exceeds the available context size"],
    // Ollama: "the input length exceeds the context length", "prompt too long; exceeded max context length".
    &["exceeds the context length"],
    &["exceeded max context length"],
    // LM Studio, and Ollama's runner before 0.12.
    &["number of tokens to keep from the initial prompt is greater than the context length"],
    // llama-cpp-python: "Requested tokens (516) exceed context window of 512".
    &["exceed context window of"],
    // Bedrock: "Input is too long for requested model."
    &["input is too long for requested model"],
    // xAI: "This model's maximum prompt length is 131072 but the request contains …".
    &["maximum prompt length is"],
    // Mistral: "Prompt contains 40000 tokens … too large for model with 32768 maximum context length".
    &["too large for model with", "maximum context length"],
    // TGI: "`inputs` tokens + `max_new_tokens` must be <= 4096".
    &["`inputs` tokens + `max_new_tokens` must be"],
    // Groq: "Please reduce the length of the messages or completion."
    &["reduce the length of the messages"],
    // GitHub Copilot: "prompt token count of 130000 exceeds the limit of 128000".
    &["prompt token count of", "exceeds the limit of"],
];

/// Whether these words or this code say that the request does not fit.
pub fn is_overflow(code: &str, message: &str) -> bool {
    if CODES.contains(&code) {
        return true;
    }
    let message = message.to_lowercase();
    // Rates are told in the same vocabulary: "Request too large for gpt-5 on tokens per min (TPM)".
    if message.contains("per min") || code.contains("rate_limit") {
        return false;
    }
    WORDS
        .iter()
        .any(|row| row.iter().all(|piece| message.contains(piece)))
}

/// What an error body says, whatever its shape.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// `code`, else `type`, else `status`.
    pub(crate) code: String,
    pub(crate) message: String,
}

/// Reads `{"error": {…}}`, `{"error": "…"}`, `[{"error": {…}}]`, `{"message": …}` and plain text.
pub(crate) fn told(body: &[u8]) -> Told {
    /// Longest message that is handed on, in chars: some servers answer with a whole page.
    const LONGEST: usize = 600;
    let text = String::from_utf8_lossy(body);
    let mut told = match serde_json::from_str::<Value>(&text) {
        Ok(Value::Array(list)) => list.first().map(of_value).unwrap_or_default(),
        Ok(value) => of_value(&value),
        Err(_) => Told::default(),
    };
    if told.message.is_empty() {
        told.message = text.trim().to_owned();
    }
    if let Some((cut, _)) = told.message.char_indices().nth(LONGEST) {
        told.message.truncate(cut);
        told.message.push('…');
    }
    told
}

pub(crate) fn of_value(value: &Value) -> Told {
    let error = match &value["error"] {
        Value::Null => value,
        error => error,
    };
    if let Some(message) = error.as_str() {
        return Told {
            code: String::new(),
            message: message.to_owned(),
        };
    }
    let text = |key: &str| error[key].as_str().filter(|text| !text.is_empty());
    // OpenRouter hands the error of the provider behind it on in `metadata.raw`.
    let raw = error["metadata"]["raw"].as_str();
    let message = text("message").or_else(|| text("detail")).unwrap_or("");
    Told {
        code: text("code")
            .or_else(|| text("type"))
            .or_else(|| text("status"))
            .unwrap_or("")
            .to_owned(),
        message: match raw {
            Some(raw) => format!("{message}: {raw}"),
            None => message.to_owned(),
        },
    }
}

/// The error of a response with this status and body.
pub(crate) fn of_status(status: u16, body: &[u8]) -> ProviderError {
    let told = told(body);
    let kind = match status {
        // A limit of rates is no overflow, whatever else its message says.
        429 => ProviderErrorKind::RateLimited,
        _ if is_overflow(&told.code, &told.message) => ProviderErrorKind::Overflow,
        413 => ProviderErrorKind::Overflow,
        401 | 403 => ProviderErrorKind::Authentication,
        408 | 409 | 425 | 500..=599 => ProviderErrorKind::Unavailable,
        _ => ProviderErrorKind::Refused,
    };
    ProviderError {
        kind,
        message: told.message,
        status: Some(status),
        retry_after: None,
    }
}

/// The error that a stream carries after it began with status 200.
pub(crate) fn of_stream(value: &Value) -> ProviderError {
    let told = of_value(value);
    let kind = if is_overflow(&told.code, &told.message) {
        ProviderErrorKind::Overflow
    } else {
        match told.code.as_str() {
            "rate_limit_error" | "rate_limit_exceeded" => ProviderErrorKind::RateLimited,
            "authentication_error" | "permission_error" => ProviderErrorKind::Authentication,
            "invalid_request_error" | "not_found_error" | "invalid_prompt" => {
                ProviderErrorKind::Refused
            }
            // overloaded_error, api_error, server_error, and whatever a gateway makes of them.
            _ => ProviderErrorKind::Unavailable,
        }
    };
    ProviderError::new(kind, told.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: u16, body: &str, kind: ProviderErrorKind) {
        let error = of_status(status, body.as_bytes());
        assert_eq!(error.kind, kind, "{body}");
        assert!(!error.message.is_empty(), "{body}");
    }

    #[test]
    fn overflow_as_each_provider_words_it() {
        use ProviderErrorKind::Overflow;
        // OpenAI Chat Completions, and Responses.
        check(
            400,
            r#"{"error":{"message":"This model's maximum context length is 4097 tokens. However, your messages resulted in 6988 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            Overflow,
        );
        check(
            400,
            r#"{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}"#,
            Overflow,
        );
        // Anthropic: too long, too long with the answer, too many bytes.
        check(
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"},"request_id":"req_1"}"#,
            Overflow,
        );
        check(
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000, decrease input length or `max_tokens` and try again"}}"#,
            Overflow,
        );
        check(
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
            Overflow,
        );
        // Gemini, alone and through its compatible endpoint, which answers with an array.
        check(
            400,
            r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
            Overflow,
        );
        check(
            400,
            r#"[{"error":{"code":400,"message":"The input token count exceeds the maximum number of tokens allowed 1048576.","status":"INVALID_ARGUMENT"}}]"#,
            Overflow,
        );
        // vLLM through its versions.
        check(
            400,
            r#"{"object":"error","message":"This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}"#,
            Overflow,
        );
        check(
            400,
            r#"{"error":{"message":"This model's maximum context length is 2048 tokens. However, your request has 8 input tokens plus 2045 'max_tokens'. Please reduce one or the other. (parameter=input_tokens, max_tokens, value=(8, 2045))","type":"BadRequestError","param":"input_tokens, max_tokens","code":400}}"#,
            Overflow,
        );
        check(
            400,
            r#"{"error":{"message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096.","type":"BadRequestError","code":400}}"#,
            Overflow,
        );
        // llama.cpp, which answered with 500 before it did with 400.
        check(
            500,
            r#"{"error":{"code":500,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":1407,"n_ctx":256}}"#,
            Overflow,
        );
        check(
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}"#,
            Overflow,
        );
        // Ollama, native and compatible.
        check(
            400,
            r#"{"error":"the input length exceeds the context length"}"#,
            Overflow,
        );
        check(
            400,
            r#"{"error":{"message":"prompt too long; exceeded max context length by 4 tokens","type":"invalid_request_error","param":null,"code":null}}"#,
            Overflow,
        );
        // OpenRouter hands on what the provider behind it said.
        check(
            400,
            r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 3 tokens > 2 maximum\"}}","provider_name":"Anthropic"}}}"#,
            Overflow,
        );
    }

    #[test]
    fn other_troubles_are_no_overflow() {
        use ProviderErrorKind::{Authentication, RateLimited, Refused, Unavailable};
        check(
            429,
            r#"{"error":{"message":"Request too large for gpt-4o in organization x on tokens per min (TPM): Limit 30000, Requested 40000.","type":"tokens","code":"rate_limit_exceeded"}}"#,
            RateLimited,
        );
        check(
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed the rate limit of 40,000 input tokens per minute."}}"#,
            RateLimited,
        );
        check(
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Unavailable,
        );
        check(502, "<html>Bad gateway</html>", Unavailable);
        check(
            401,
            r#"{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}"#,
            Authentication,
        );
        check(
            400,
            r#"{"error":{"message":"Invalid value: 'x'","type":"invalid_request_error","code":null}}"#,
            Refused,
        );
        check(
            400,
            r#"{"error":{"message":"max_tokens: 300000 > 64000, which is the maximum allowed number of output tokens","type":"invalid_request_error"}}"#,
            Refused,
        );
    }
}
