//! Where times come from.
//! Deliberately injected, and never used to order anything: clocks jump, sequence numbers do not.

use jiff::Timestamp;

/// A source of times. Times are shown to people and used for retention; order never depends on
/// them.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

impl<F: Fn() -> Timestamp + Send + Sync> Clock for F {
    fn now(&self) -> Timestamp {
        self()
    }
}
