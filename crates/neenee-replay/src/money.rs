//! What requests cost: a provider's prices and the rules of its prompt cache.
//! Deliberately no long-context surcharges and no batch or priority discounts.

use neenee_core::model;

use crate::replay::Row;

/// One model's prices with its provider's prompt cache.
#[derive(Clone, Debug, PartialEq)]
pub struct Tariff {
    /// The model, as in the model table.
    pub model: &'static str,
    /// The provider.
    pub provider: &'static str,
    /// US dollars for a million tokens of input that the cache neither gave nor took.
    pub input: f64,
    /// Of input read from the cache.
    pub read: f64,
    /// Of input written to the cache.
    pub write: f64,
    /// Of output.
    pub output: f64,
    /// The shortest prefix that is cached, in tokens.
    pub least: usize,
    /// Cached prefixes end at multiples of this, in tokens.
    pub block: usize,
    /// How long a prefix stays after it was last used, in ms.
    pub lifetime: i64,
}

const MINUTE: i64 = 60_000;

/// The rules that no model table has: model, least tokens, block, lifetime.
///
/// - Anthropic: at least 1 024 tokens for Sonnet 4.5, exact prefixes, 5 minutes from the last use
///   (<https://docs.claude.com/en/docs/build-with-claude/prompt-caching>).
/// - OpenAI: at least 1 024 tokens, steps of 128, 5 to 10 minutes of inactivity; the shorter is taken
///   (<https://platform.openai.com/docs/guides/prompt-caching>).
/// - Gemini: at least 4 096 tokens for 2.5 Pro; no lifetime is promised for implicit caching, the
///   same 5 minutes are assumed (<https://ai.google.dev/gemini-api/docs/caching>).
/// - DeepSeek: blocks of 64 tokens, kept for "hours to days"; 4 hours are taken
///   (<https://api-docs.deepseek.com/guides/kv_cache>).
const CACHES: &[(&str, usize, usize, i64)] = &[
    ("claude-sonnet-4-5", 1_024, 1, 5 * MINUTE),
    ("gpt-5", 1_024, 128, 5 * MINUTE),
    ("gemini-2.5-pro", 4_096, 1, 5 * MINUTE),
    ("deepseek-chat", 64, 64, 240 * MINUTE),
];

impl Tariff {
    /// One for each of the providers whose caches are known, with the prices of the model table.
    pub fn all() -> Vec<Tariff> {
        let tariff = |&(name, least, block, lifetime): &(&'static str, usize, usize, i64)| {
            let model = model::find(name)?;
            let prices = model.prices?;
            Some(Tariff {
                model: model.name,
                provider: model.provider,
                input: prices.input,
                read: prices.cache_read.unwrap_or(prices.input),
                write: prices.cache_write.unwrap_or(prices.input),
                output: prices.output,
                least,
                block,
                lifetime,
            })
        };
        CACHES.iter().filter_map(tariff).collect()
    }

    /// Whether a cache that was last used `idle` ms ago is cold; not knowing counts as warm.
    pub fn is_cold(&self, idle: Option<i64>) -> bool {
        idle.is_some_and(|idle| idle > self.lifetime)
    }

    /// What one request costs with its answer, in US dollars.
    pub fn cost(&self, row: &Row) -> f64 {
        let read = if self.is_cold(row.idle) {
            0
        } else {
            self.cached(row.prefix)
        };
        self.price(read, row.sent - read, row.output)
    }

    /// What it costs to fetch a result of `tokens` again: itself once more, and one more request
    /// over the whole window, which the request that missed it had just warmed.
    pub fn refetch(&self, row: &Row, tokens: usize) -> f64 {
        let read = self.cached(row.sent);
        self.price(read, row.sent - read + tokens, 0)
    }

    /// How much of a prefix the cache holds.
    fn cached(&self, prefix: usize) -> usize {
        let whole = prefix / self.block * self.block;
        if whole >= self.least { whole } else { 0 }
    }

    fn price(&self, read: usize, rest: usize, output: usize) -> f64 {
        // Below the least there is no cache to write to.
        let written = if read + rest >= self.least {
            self.write
        } else {
            self.input
        };
        (read as f64 * self.read + rest as f64 * written + output as f64 * self.output) / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anthropic() -> Tariff {
        Tariff::all().remove(0)
    }

    fn row(sent: usize, prefix: usize, output: usize, idle: Option<i64>) -> Row {
        Row {
            sent,
            prefix,
            output,
            idle,
            ..Row::default()
        }
    }

    #[track_caller]
    fn check(dollars: f64, expected: f64) {
        assert!(
            (dollars - expected).abs() < 1e-9,
            "{dollars} for {expected}"
        );
    }

    #[test]
    fn all_four_providers_have_prices() {
        let providers: Vec<&str> = Tariff::all().iter().map(|tariff| tariff.provider).collect();
        assert_eq!(providers, ["anthropic", "openai", "google", "deepseek"]);
        for tariff in Tariff::all() {
            assert!(
                tariff.read < tariff.input && tariff.input <= tariff.write,
                "{tariff:?}"
            );
        }
    }

    #[test]
    fn a_warm_prefix_is_read_and_the_rest_written() {
        let tariff = anthropic();
        check(
            tariff.cost(&row(100_000, 90_000, 1_000, Some(1_000))),
            (90_000.0 * 0.3 + 10_000.0 * 3.75 + 1_000.0 * 15.0) / 1e6,
        );
        check(
            tariff.cost(&row(100_000, 90_000, 0, Some(301_000))),
            100_000.0 * 3.75 / 1e6,
        );
        check(tariff.cost(&row(900, 500, 0, None)), 900.0 * 3.0 / 1e6);
    }

    #[test]
    fn blocks_round_a_prefix_down() {
        let openai = Tariff::all().remove(1);
        check(
            openai.cost(&row(2_000, 1_500, 0, None)),
            (1_408.0 * 0.125 + 592.0 * 1.25) / 1e6,
        );
        check(
            openai.cost(&row(2_000, 1_023, 0, None)),
            2_000.0 * 1.25 / 1e6,
        );
    }

    #[test]
    fn fetching_again_costs_the_result_and_one_more_request() {
        let tariff = anthropic();
        check(
            tariff.refetch(&row(50_000, 0, 0, None), 4_000),
            (50_000.0 * 0.3 + 4_000.0 * 3.75) / 1e6,
        );
    }
}
