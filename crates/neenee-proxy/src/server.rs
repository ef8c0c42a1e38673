//! Connections from clients: accepted, served in HTTP/1.1 or 2, drained at the end.
//! Deliberately no TLS: the proxy stands beside its clients.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::exchange;
use crate::limits;
use crate::shared::Shared;

/// How long accepting rests after it failed, as when no file descriptor is left.
const ACCEPT_REST: Duration = Duration::from_millis(100);

/// Serves until `shutdown`, then lets running streams end.
pub(crate) async fn serve(
    shared: Arc<Shared>,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let builder = Arc::new(builder());
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(limits::CONNECTIONS));
    tokio::pin!(shutdown);
    loop {
        let accepted = async {
            // The semaphore is never closed.
            let permit = Arc::clone(&room).acquire_owned().await.ok();
            (listener.accept().await, permit)
        };
        let (accepted, permit) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut shutdown => break,
        };
        match accepted {
            Ok((stream, _)) => spawn(&shared, &builder, &graceful, stream, permit),
            Err(_) => tokio::time::sleep(ACCEPT_REST).await,
        }
    }
    drop(listener);
    // Whoever still runs after that is cut off.
    let _ = tokio::time::timeout(limits::DRAIN, graceful.shutdown()).await;
    Ok(())
}

fn spawn(
    shared: &Arc<Shared>,
    builder: &Arc<auto::Builder<TokioExecutor>>,
    graceful: &GracefulShutdown,
    stream: TcpStream,
    permit: Option<OwnedSemaphorePermit>,
) {
    // Events of a stream are small, and each is awaited.
    let _ = stream.set_nodelay(true);
    let shared = Arc::clone(shared);
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, std::convert::Infallible>(exchange::handle(shared, request).await) }
    });
    let connection = builder
        .serve_connection_with_upgrades(TokioIo::new(stream), service)
        .into_owned();
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        // That a client went away or spoke no HTTP is its affair.
        let _ = connection.await;
        drop(permit);
    });
}

fn builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::HEAD_TIMEOUT)
        .max_headers(limits::HEADER_COUNT)
        .max_buf_size(limits::HEAD_BYTES);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits::STREAMS)
        .max_header_list_size(limits::HEAD_BYTES as u32);
    builder
}
