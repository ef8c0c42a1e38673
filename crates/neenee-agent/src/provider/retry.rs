//! How long to wait before a request is sent again, and when to stop.
//! Deliberately no clock and no request: whoever sends waits, and brings the chance that jitter takes.

use std::time::{Duration, SystemTime};

use super::error::ProviderError;

/// When a transient failure is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts in all, the first one included.
    pub attempts: usize,
    /// The wait before the second attempt, doubled for each further one.
    pub base: Duration,
    /// The longest wait of our own.
    pub cap: Duration,
    /// The longest wait that a server may ask for; one that asks for more is not waited for.
    pub longest_asked: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy {
            attempts: 6,
            base: Duration::from_millis(500),
            cap: Duration::from_secs(30),
            longest_asked: Duration::from_secs(120),
        }
    }
}

impl RetryPolicy {
    /// The wait after attempt number `attempt` (from 1) failed with `error`; `None` gives up. `chance`
    /// is between 0 and 1: waits are spread over the upper half of the span, so that clients
    /// which failed together do not come back together.
    pub fn wait(&self, attempt: usize, error: &ProviderError, chance: f64) -> Option<Duration> {
        if attempt >= self.attempts || !error.is_transient() {
            return None;
        }
        let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
        let span = self
            .base
            .saturating_mul(2_u32.saturating_pow(doublings.min(16)))
            .min(self.cap);
        let ours = span.mul_f64(0.5 + 0.5 * chance.clamp(0.0, 1.0));
        match error.retry_after {
            Some(asked) if asked > self.longest_asked => None,
            Some(asked) => Some(asked.max(ours)),
            None => Some(ours),
        }
    }
}

/// What `retry-after-ms` and `Retry-After` ask for: milliseconds, seconds, or a date after `now`.
pub fn retry_after(ms: Option<&str>, header: Option<&str>, now: SystemTime) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).ok();
    if let Some(wait) = ms.and_then(number).and_then(|ms| seconds(ms / 1_000.0)) {
        return Some(wait);
    }
    let header = header?;
    if let Some(wait) = number(header) {
        return seconds(wait);
    }
    let date = httpdate::parse_http_date(header.trim()).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::error::ProviderErrorKind;
    use super::*;

    #[test]
    fn waits_grow_are_spread_and_end() {
        let policy = RetryPolicy::default();
        let error = ProviderError::new(ProviderErrorKind::Unavailable, "busy");
        let ms = |attempt, chance| policy.wait(attempt, &error, chance).unwrap().as_millis();
        assert_eq!((ms(1, 0.0), ms(1, 1.0)), (250, 500));
        assert_eq!((ms(2, 0.0), ms(2, 1.0)), (500, 1_000));
        assert_eq!(policy.wait(6, &error, 0.5), None);
        let patient = RetryPolicy {
            attempts: usize::MAX,
            ..policy
        };
        assert_eq!(patient.wait(80, &error, 1.0), Some(patient.cap));
        let fatal = ProviderError::new(ProviderErrorKind::Refused, "no");
        assert_eq!(policy.wait(1, &fatal, 0.0), None);
    }

    #[test]
    fn a_server_that_asks_for_time_gets_it_within_reason() {
        let policy = RetryPolicy::default();
        let mut error = ProviderError::new(ProviderErrorKind::RateLimited, "slow");
        error.retry_after = Some(Duration::from_secs(7));
        assert_eq!(policy.wait(1, &error, 0.0), Some(Duration::from_secs(7)));
        error.retry_after = Some(Duration::from_secs(3_600));
        assert_eq!(policy.wait(1, &error, 0.0), None);
    }

    #[test]
    fn the_header_in_its_three_forms() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:30 GMT").unwrap();
        let after = |ms, header| retry_after(ms, header, now);
        assert_eq!(after(None, Some("2")), Some(Duration::from_secs(2)));
        assert_eq!(
            after(Some("1500"), Some("9")),
            Some(Duration::from_millis(1_500))
        );
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(after(None, Some(date)), Some(Duration::from_secs(7)));
        assert_eq!(after(None, Some("-3")), None);
        assert_eq!(after(None, Some("soon")), None);
        assert_eq!(after(None, None), None);
    }
}
