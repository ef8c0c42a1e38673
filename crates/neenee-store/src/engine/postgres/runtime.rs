//! The threads that talk to the server, and the wait for what they say.
//! Deliberately no `Runtime::block_on`: that panics where the caller is inside another runtime.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread::Thread;

use tokio::runtime::{Builder, Handle};

/// One worker thread. It moves bytes and renews leases; the callers' threads do the rest.
pub(super) struct Runtime(Option<tokio::runtime::Runtime>);

impl Runtime {
    pub(super) fn start() -> std::io::Result<Self> {
        Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("neenee-store")
            .enable_io()
            .enable_time()
            .build()
            .map(|runtime| Runtime(Some(runtime)))
    }

    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(handle) = self.handle() {
            handle.spawn(task);
        }
    }

    /// Runs `future` to its end on this thread, which blocks meanwhile.
    pub(super) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        // Timers and sockets that the future makes belong to our runtime.
        let _inside = self.handle().map(Handle::enter);
        let waker = Arc::new(Parked(std::thread::current())).into();
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future);
        loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(value) => return value,
                Poll::Pending => std::thread::park(),
            }
        }
    }

    fn handle(&self) -> Option<&Handle> {
        self.0.as_ref().map(tokio::runtime::Runtime::handle)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // Dropping it where another runtime runs would panic.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

struct Parked(Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Runtime;

    #[test]
    fn it_waits_inside_another_runtime_too() {
        let other = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        let found = other.block_on(async {
            let ours = Runtime::start().expect("a runtime");
            ours.wait(async {
                tokio::time::sleep(Duration::from_millis(5)).await;
                7
            })
        });
        assert_eq!(found, 7);
    }
}
