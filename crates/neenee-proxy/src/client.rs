//! Connections to upstreams: HTTP/1.1 and 2, TLS by rustls, pooled.
//! Deliberately follows no redirect, keeps no cookie and repeats nothing: an answer is the client's.

use std::sync::Arc;

use http::{Request, Response, Version};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};

use crate::body::AnyBody;
use crate::limits;

/// Why an upstream gave no answer.
pub(crate) type SendError = hyper_util::client::legacy::Error;

/// The clients of all upstreams.
#[derive(Clone, Debug)]
pub(crate) struct Upstreamer {
    any: Client<HttpsConnector<HttpConnector>, AnyBody>,
    /// A WebSocket begins as a request of HTTP/1.1.
    upgrading: Client<HttpsConnector<HttpConnector>, AnyBody>,
}

impl Upstreamer {
    /// Reads the certificates that this machine trusts. Without any, plain HTTP still works.
    pub(crate) fn new() -> Result<Self, rustls::Error> {
        let mut roots = RootCertStore::empty();
        // Some entries of a system's store are no certificates; the others count.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        #[expect(
            deprecated,
            reason = "ring has no post-quantum key exchange, and needs no C++ toolchain to build"
        )]
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(limits::CONNECT_TIMEOUT));
        let https = HttpsConnectorBuilder::new()
            .with_tls_config(tls.clone())
            .https_or_http()
            .enable_all_versions()
            .wrap_connector(tcp.clone());
        let https1 = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let mut builder = Client::builder(TokioExecutor::new());
        builder
            .pool_idle_timeout(limits::POOL_IDLE)
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new());
        Ok(Upstreamer {
            any: builder.build(https),
            upgrading: builder.build(https1),
        })
    }

    /// Sends a request; the answer comes once its head is there.
    pub(crate) async fn send(
        &self,
        mut request: Request<AnyBody>,
    ) -> Result<Response<Incoming>, SendError> {
        // The version is each connection's own.
        *request.version_mut() = Version::HTTP_11;
        self.any.request(request).await
    }

    /// The same on a connection that may change its protocol.
    pub(crate) async fn send_upgrade(
        &self,
        mut request: Request<AnyBody>,
    ) -> Result<Response<Incoming>, SendError> {
        *request.version_mut() = Version::HTTP_11;
        self.upgrading.request(request).await
    }
}
