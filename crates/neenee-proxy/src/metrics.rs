//! Counters of everything that happens, and their text for Prometheus.
//! Deliberately a handful of atomics: no labels that a request could make up.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::StatusCode;

use crate::fault::Fault;
use crate::route::Kind;

/// Upper bounds of the histogram of projection times, in microseconds.
const BOUNDS: [u64; 12] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 15_000, 25_000, 50_000, 100_000, 250_000,
];

/// Everything that is counted.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    requests: [AtomicU64; Kind::ALL.len()],
    statuses: [AtomicU64; 5],
    faults: [AtomicU64; Fault::CAUSES.len()],
    buckets: [AtomicU64; BOUNDS.len() + 1],
    projection_micros: AtomicU64,
    pub(crate) in_flight: AtomicU64,
    pub(crate) cancelled: AtomicU64,
    pub(crate) upgrades: AtomicU64,
    pub(crate) unreachable: AtomicU64,
    pub(crate) uninspected: AtomicU64,
    pub(crate) edited: AtomicU64,
    pub(crate) prunes: AtomicU64,
    pub(crate) truncated: AtomicU64,
    pub(crate) cleared: AtomicU64,
    pub(crate) delegated: AtomicU64,
    pub(crate) tokens_in: AtomicU64,
    pub(crate) tokens_out: AtomicU64,
    pub(crate) overflow_retries: AtomicU64,
    pub(crate) mismatch_retries: AtomicU64,
    pub(crate) imitations: AtomicU64,
    pub(crate) input: AtomicU64,
    pub(crate) cache_read: AtomicU64,
    pub(crate) cache_write: AtomicU64,
    pub(crate) output: AtomicU64,
}

/// Adds to a counter.
pub(crate) fn add(counter: &AtomicU64, amount: usize) {
    counter.fetch_add(amount as u64, Ordering::Relaxed);
}

impl Metrics {
    pub(crate) fn request(&self, kind: Kind) {
        add(&self.requests[kind as usize], 1);
    }

    pub(crate) fn status(&self, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).clamp(1, 5) - 1;
        add(&self.statuses[class], 1);
    }

    pub(crate) fn fault(&self, fault: &Fault) {
        add(&self.faults[fault.cause()], 1);
    }

    pub(crate) fn projected(&self, time: Duration) {
        let micros = time.as_micros() as u64;
        let bucket = BOUNDS.partition_point(|&bound| bound < micros);
        add(&self.buckets[bucket], 1);
        self.projection_micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// How many faults there were.
    pub(crate) fn faults(&self) -> u64 {
        self.faults.iter().map(get).sum()
    }

    /// In Prometheus' text format 0.0.4.
    pub(crate) fn text(&self, conversations: usize, bytes: usize) -> String {
        let mut text = Text(String::new());
        text.family(
            "neenee_requests_total",
            "counter",
            "Requests, by what they ask for.",
        );
        for kind in Kind::ALL {
            let label = format!("{{kind=\"{}\"}}", kind.name());
            text.sample(&label, get(&self.requests[kind as usize]));
        }
        text.family(
            "neenee_answers_total",
            "counter",
            "Answers, by class of their status.",
        );
        for (index, count) in self.statuses.iter().enumerate() {
            text.sample(&format!("{{class=\"{}xx\"}}", index + 1), get(count));
        }
        text.family(
            "neenee_faults_total",
            "counter",
            "Requests forwarded as they came because something failed, by cause.",
        );
        for (cause, count) in Fault::CAUSES.iter().zip(&self.faults) {
            text.sample(&format!("{{cause=\"{cause}\"}}"), get(count));
        }
        self.histogram(&mut text);
        for (name, help, counter) in [
            (
                "cancelled_total",
                "Answers whose client went away.",
                &self.cancelled,
            ),
            (
                "upgrades_total",
                "Connections that changed their protocol.",
                &self.upgrades,
            ),
            (
                "unreachable_total",
                "Requests whose upstream gave no answer.",
                &self.unreachable,
            ),
            (
                "uninspected_total",
                "Conversations too large to be looked into.",
                &self.uninspected,
            ),
            (
                "edited_requests_total",
                "Requests that went on smaller than they came.",
                &self.edited,
            ),
            ("prunes_total", "Projections that were made.", &self.prunes),
            (
                "truncated_results_total",
                "Results cut to head and tail.",
                &self.truncated,
            ),
            ("cleared_results_total", "Results cleared.", &self.cleared),
            (
                "delegated_total",
                "Conversations whose provider was asked to clear.",
                &self.delegated,
            ),
            (
                "tokens_received_total",
                "Estimated tokens as clients sent them.",
                &self.tokens_in,
            ),
            (
                "tokens_forwarded_total",
                "Estimated tokens as they went on.",
                &self.tokens_out,
            ),
            (
                "overflow_retries_total",
                "Second tries after the window was full.",
                &self.overflow_retries,
            ),
            (
                "mismatch_retries_total",
                "Second tries after reasoning did not fit.",
                &self.mismatch_retries,
            ),
            (
                "imitations_total",
                "Calls whose arguments hold a mark of ours.",
                &self.imitations,
            ),
            (
                "input_tokens_total",
                "Input that providers reported, caches aside.",
                &self.input,
            ),
            (
                "cache_read_tokens_total",
                "Input that providers read from caches.",
                &self.cache_read,
            ),
            (
                "cache_write_tokens_total",
                "Input that providers wrote to caches.",
                &self.cache_write,
            ),
            (
                "output_tokens_total",
                "Output that providers reported.",
                &self.output,
            ),
        ] {
            text.family(&format!("neenee_{name}"), "counter", help);
            text.sample("", get(counter));
        }
        for (name, help, value) in [
            (
                "in_flight",
                "Requests that are not answered yet.",
                get(&self.in_flight),
            ),
            (
                "conversations",
                "Conversations in memory.",
                conversations as u64,
            ),
            (
                "conversation_bytes",
                "What they take, estimated.",
                bytes as u64,
            ),
        ] {
            text.family(&format!("neenee_{name}"), "gauge", help);
            text.sample("", value);
        }
        text.0
    }

    fn histogram(&self, text: &mut Text) {
        text.family(
            "neenee_projection_seconds",
            "histogram",
            "Time to look into a request, its durable commit included.",
        );
        let mut sum = 0;
        for (index, bucket) in self.buckets.iter().enumerate() {
            sum += get(bucket);
            let bound = BOUNDS.get(index).map_or("+Inf".to_owned(), |&micros| {
                format!("{}", micros as f64 / 1e6)
            });
            let _ = writeln!(
                text.0,
                "neenee_projection_seconds_bucket{{le=\"{bound}\"}} {sum}"
            );
        }
        let seconds = get(&self.projection_micros) as f64 / 1e6;
        let _ = writeln!(text.0, "neenee_projection_seconds_sum {seconds}");
        let _ = writeln!(text.0, "neenee_projection_seconds_count {sum}");
    }
}

fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// A sample of the family that was begun last.
    fn sample(&mut self, label: &str, value: u64) {
        let name = self
            .0
            .trim_end()
            .rsplit("# TYPE ")
            .next()
            .and_then(|rest| rest.split(' ').next())
            .unwrap_or_default()
            .to_owned();
        let _ = writeln!(self.0, "{name}{label} {value}");
    }
}
