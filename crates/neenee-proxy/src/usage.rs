//! What a provider reports about a request, read from a copy of its answer.
//! Deliberately tolerant and bounded: an answer that is not understood reports nothing.

use serde::Serialize;
use serde_json::Value;

/// Tokens of one request, as the provider counted them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Input that was neither read from a cache nor written to one.
    pub input: u64,
    /// Input read from a cache.
    pub cache_read: u64,
    /// Input written to a cache.
    pub cache_write: u64,
    /// Output.
    pub output: u64,
    /// Input that the provider cleared by itself before it read it.
    pub cleared: u64,
}

impl Usage {
    /// All input.
    pub fn all_input(&self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }

    /// Merges what one event, or a whole answer, says. Whether anything was.
    pub(crate) fn read(&mut self, value: &Value) -> bool {
        let mut found = false;
        for holder in [
            value,
            &value["message"],
            &value["response"],
            &value["context_management"],
            &value["message"]["context_management"],
        ] {
            if let Some(edits) = holder["applied_edits"].as_array() {
                let cleared = edits
                    .iter()
                    .filter_map(|edit| edit["cleared_input_tokens"].as_u64());
                self.cleared = cleared.sum();
                found = true;
            }
            let usage = &holder["usage"];
            if usage.is_object() {
                self.read_usage(usage);
                found = true;
            }
            let usage = &holder["usageMetadata"];
            if usage.is_object() {
                self.read_gemini(usage);
                found = true;
            }
        }
        found
    }

    fn read_usage(&mut self, usage: &Value) {
        let number = |key: &str| usage[key].as_u64();
        // Anthropic counts apart what OpenAI counts within; the later event says more than the earlier.
        if usage.get("cache_read_input_tokens").is_some()
            || usage.get("cache_creation_input_tokens").is_some()
        {
            set(&mut self.input, number("input_tokens"));
            set(&mut self.cache_read, number("cache_read_input_tokens"));
            set(&mut self.cache_write, number("cache_creation_input_tokens"));
        } else if let Some(all) = number("prompt_tokens").or(number("input_tokens")) {
            let details = [
                &usage["prompt_tokens_details"],
                &usage["input_tokens_details"],
            ];
            let cached = details
                .iter()
                .find_map(|details| details["cached_tokens"].as_u64());
            self.cache_read = cached.unwrap_or(self.cache_read).min(all);
            self.input = all - self.cache_read;
        }
        set(
            &mut self.output,
            number("completion_tokens").or(number("output_tokens")),
        );
    }

    fn read_gemini(&mut self, usage: &Value) {
        let number = |key: &str| usage[key].as_u64();
        if let Some(all) = number("promptTokenCount") {
            self.cache_read = number("cachedContentTokenCount").unwrap_or(0).min(all);
            self.input = all - self.cache_read;
        }
        let thoughts = number("thoughtsTokenCount").unwrap_or(0);
        set(
            &mut self.output,
            number("candidatesTokenCount").map(|text| text + thoughts),
        );
    }
}

fn set(target: &mut u64, value: Option<u64>) {
    if let Some(value) = value {
        *target = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_provider_is_read() {
        let mut usage = Usage::default();
        assert!(usage.read(&json!({"type": "message_start", "message": {"usage": {
            "input_tokens": 10, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 90, "output_tokens": 1}}})));
        assert!(usage.read(
            &json!({"type": "message_delta", "usage": {"output_tokens": 55},
            "context_management": {"applied_edits": [{"cleared_input_tokens": 7}]}})
        ));
        let all = Usage {
            input: 10,
            cache_read: 900,
            cache_write: 90,
            output: 55,
            cleared: 7,
        };
        assert_eq!(usage, all);
        assert_eq!(usage.all_input(), 1_000);

        let mut usage = Usage::default();
        usage.read(
            &json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 64}}}),
        );
        assert_eq!((usage.input, usage.cache_read, usage.output), (36, 64, 5));

        let mut usage = Usage::default();
        usage.read(
            &json!({"type": "response.completed", "response": {"usage": {"input_tokens": 100,
            "output_tokens": 6, "input_tokens_details": {"cached_tokens": 10}}}}),
        );
        assert_eq!((usage.input, usage.cache_read, usage.output), (90, 10, 6));

        let mut usage = Usage::default();
        usage.read(
            &json!({"usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 40,
            "candidatesTokenCount": 3, "thoughtsTokenCount": 4}}),
        );
        assert_eq!((usage.input, usage.cache_read, usage.output), (60, 40, 7));
        assert!(!usage.read(&json!({"choices": [1], "usage": null})));
    }
}
