//! A progress bar for work that takes long, and nothing for work that does not.
//! Deliberately only on a terminal: a log wants no bars.

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that is done sooner needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows how much of the bytes is done, once that takes over a second.
#[derive(Debug)]
pub(crate) struct Progress {
    begun: Instant,
    total: u64,
    allowed: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Work over `total` bytes. `quiet` never shows anything.
    pub(crate) fn new(total: u64, quiet: bool) -> Self {
        Progress {
            begun: Instant::now(),
            total,
            allowed: !quiet && io::stderr().is_terminal(),
            bar: None,
        }
    }

    /// `done` bytes are done.
    pub(crate) fn tick(&mut self, done: u64) {
        if !self.allowed || self.begun.elapsed() < PATIENCE {
            return;
        }
        let total = self.total;
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template(
                "{spinner} {elapsed} [{bar:30}] {decimal_bytes}/{decimal_total_bytes}",
            );
            // invariant: the template is a constant that the library accepts; a test builds it.
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        bar.set_position(done.min(total));
        bar.tick();
    }

    /// Makes room for lines on stderr.
    pub(crate) fn suspend(&self, tell: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(tell),
            None => tell(),
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_template_is_accepted() {
        let template = "{spinner} {elapsed} [{bar:30}] {decimal_bytes}/{decimal_total_bytes}";
        assert!(indicatif::ProgressStyle::with_template(template).is_ok());
    }
}
