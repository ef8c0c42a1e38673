//! Many files at once: workers take jobs, their results are handed out in the order of the jobs.
//! Deliberately no shared state but the queue; a job that fails is a result like any other.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::Result;

/// How often somebody who waits is told so.
const TICK: Duration = Duration::from_millis(100);

/// What happened.
pub(crate) enum Event<R> {
    /// The job of this index is done, and so are all before it.
    Done(usize, R),
    /// Nothing new; the first number of jobs are done.
    Waiting,
}

/// Runs `work` over all jobs. `tell` is called on this thread, with results in the order of the jobs;
/// when it fails, no further job is begun.
pub(crate) fn in_order<J: Sync, R: Send>(
    jobs: &[J],
    work: impl Fn(&J) -> R + Sync,
    mut tell: impl FnMut(Event<R>) -> Result<()>,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let workers = thread::available_parallelism().map_or(2, NonZero::get);
    thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        for _ in 0..workers.min(jobs.len()) {
            let (send, next, stop, work) = (send.clone(), &next, &stop, &work);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { break };
                    if send.send((index, work(job))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        let mut early: Vec<Option<R>> = jobs.iter().map(|_| None).collect();
        let mut due = 0;
        while due < jobs.len() {
            match receive.recv_timeout(TICK) {
                Ok((index, result)) => early[index] = Some(result),
                Err(RecvTimeoutError::Timeout) => tell(Event::Waiting)?,
                // invariant: workers end early only when told to; a panic in one ends the scope.
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Some(result) = early.get_mut(due).and_then(Option::take) {
                if let Err(error) = tell(Event::Done(due, result)) {
                    stop.store(true, Ordering::Relaxed);
                    return Err(error);
                }
                due += 1;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let jobs: Vec<u64> = (0..20).collect();
        let mut seen = Vec::new();
        let slow_first = |job: &u64| {
            thread::sleep(Duration::from_millis(if *job == 0 { 20 } else { 0 }));
            job * 2
        };
        in_order(&jobs, slow_first, |event| {
            if let Event::Done(index, result) = event {
                seen.push((index, result));
            }
            Ok(())
        })
        .unwrap();
        let expected: Vec<(usize, u64)> = (0..20).map(|job| (job, job as u64 * 2)).collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_listener_that_has_enough_ends_the_work() {
        let jobs = [1, 2, 3];
        let result = in_order(&jobs, |job| *job, |_| anyhow::bail!("enough"));
        assert!(result.is_err());
    }
}
