//! Whether pruning now is worth what it costs: the provider's cache of the prefix, cold or warm.
//! Deliberately a rule over a price table and a clock that is handed in; nothing is measured here.

use neenee_core::model::Prices;

use crate::route::Kind;

/// Requests that a rewritten suffix has to pay for itself within, while the cache is warm. Sessions
/// long enough to be pruned go on for more; a smaller number only makes pruning later.
pub(crate) const PAYBACK_REQUESTS: f64 = 10.0;

/// Minutes, in ms.
const MINUTE: i64 = 60_000;

/// How long a provider keeps a prefix that nobody asks for, in ms. As documented by Anthropic (five
/// minutes, an hour where a request asks for it) and OpenAI (five to ten minutes, up to a day where a
/// request asks for it). Gemini names no time for its implicit cache; five minutes are assumed.
pub(crate) fn lifetime(kind: Kind, asks_for_long: bool) -> i64 {
    match (kind, asks_for_long) {
        (Kind::Messages | Kind::CountTokens, true) => 60 * MINUTE,
        (Kind::Chat | Kind::Responses, true) => 24 * 60 * MINUTE,
        (Kind::Chat | Kind::Responses, false) => 10 * MINUTE,
        _ => 5 * MINUTE,
    }
}

/// What one plan would cost and give, in US dollars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Balance {
    /// What rewriting costs once: the part behind the first edit is no longer read from the cache.
    pub(crate) cost: f64,
    /// What each later request saves: that much less is read from the cache.
    pub(crate) gain: f64,
}

/// The balance of a plan that takes `reclaimed` tokens out, after which `suffix` tokens stand behind
/// its first edit. `None` where a price is not known.
pub(crate) fn balance(
    prices: Option<&Prices>,
    reclaimed: usize,
    suffix: usize,
    long: bool,
) -> Option<Balance> {
    let prices = prices?;
    let read = prices.cache_read?;
    let short_write = prices.cache_write.unwrap_or(prices.input);
    let write = if long {
        prices.cache_write_1h.unwrap_or(short_write)
    } else {
        short_write
    };
    Some(Balance {
        cost: suffix as f64 * (write - read).max(0.0) / 1e6,
        gain: reclaimed as f64 * read / 1e6,
    })
}

impl Balance {
    /// Whether it pays within the requests that are counted on.
    pub(crate) fn pays(&self) -> bool {
        self.gain * PAYBACK_REQUESTS > self.cost
    }
}

/// Whether the cache is warm: `None` where nobody knows when the conversation was heard of last.
pub(crate) fn warm(idle: Option<i64>, lifetime: i64) -> Option<bool> {
    idle.map(|idle| idle < lifetime)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICES: Prices = Prices {
        input: 5.0,
        output: 25.0,
        cache_read: Some(0.5),
        cache_write: Some(6.25),
        cache_write_1h: Some(10.0),
    };

    #[test]
    fn a_large_reclaim_near_the_end_pays_and_a_small_one_far_back_does_not() {
        let near = balance(Some(&PRICES), 40_000, 20_000, false).unwrap();
        assert!((near.cost - 20_000.0 * 5.75 / 1e6).abs() < 1e-9);
        assert!((near.gain - 0.02).abs() < 1e-9);
        assert!(near.pays());
        let far = balance(Some(&PRICES), 3_000, 90_000, false).unwrap();
        assert!(!far.pays());
        let hour = balance(Some(&PRICES), 40_000, 20_000, true).unwrap();
        assert!(hour.cost > near.cost);
        assert_eq!(balance(None, 1, 1, false), None);
    }

    #[test]
    fn caches_cool_down() {
        let life = lifetime(Kind::Messages, false);
        assert_eq!(warm(Some(life - 1), life), Some(true));
        assert_eq!(warm(Some(life), life), Some(false));
        assert_eq!(warm(None, life), None);
        assert!(lifetime(Kind::Messages, true) > life);
    }
}
