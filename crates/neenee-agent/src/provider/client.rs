//! The HTTP client: sends a request, reads the stream, turns every failure into a kind.
//! Deliberately one attempt and no log of bodies or headers: retries belong to the round, keys to nobody.

use std::error::Error;
use std::future::Future;
use std::time::{Duration, SystemTime};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Response, StatusCode};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio_util::sync::CancellationToken;

use super::error::{ProviderError, ProviderErrorKind};
use super::request::{Endpoint, Request, Wire};
use super::{Decoder, Reply, StreamEvent, anthropic, chat, overflow, responses, retry};

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// The longest silence: models think for minutes before their first word, and say nothing then.
const SILENCE: Duration = Duration::from_secs(600);
/// The largest error body read, in bytes.
const MAX_ERROR_BYTES: usize = 1 << 20;

/// One provider, and the connections to it.
#[derive(Clone, Debug)]
pub struct Provider {
    endpoint: Endpoint,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    silence: Duration,
}

impl Provider {
    /// A client of that endpoint. Certificates are checked against those of the operating system.
    ///
    /// # Errors
    /// When the system has no certificates and the endpoint needs them.
    pub fn new(endpoint: Endpoint) -> Result<Self, ProviderError> {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let builder = HttpsConnectorBuilder::new();
        let builder = match builder.with_native_roots() {
            Ok(builder) => builder,
            // A machine without certificates can still talk to a server of its own.
            Err(_) if endpoint.base_url.starts_with("http://") => {
                HttpsConnectorBuilder::new().with_tls_config(no_roots())
            }
            Err(error) => return Err(tls(&error.to_string())),
        };
        let connector = builder.https_or_http().enable_http1().wrap_connector(http);
        Ok(Provider {
            endpoint,
            client: Client::builder(TokioExecutor::new()).build(connector),
            silence: SILENCE,
        })
    }

    /// The same with another longest silence, before the first byte and between any two.
    #[must_use]
    pub fn with_silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// Where it sends to.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Sends one request and reads its answer; `each` gets every piece as it arrives. Dropping the
    /// future or cancelling ends the connection.
    ///
    /// # Errors
    /// Everything that leaves no whole answer; see [`ProviderErrorKind`].
    pub async fn send(
        &self,
        request: &Request<'_>,
        cancel: &CancellationToken,
        each: &mut (dyn FnMut(StreamEvent) + Send),
    ) -> Result<Reply, ProviderError> {
        let request = self.request(request)?;
        let response = self
            .patiently(cancel, self.client.request(request))
            .await?
            .map_err(|error| connection(&error))?;
        if response.status() != StatusCode::OK {
            return Err(self.refusal(response, cancel).await);
        }
        let mut decoder = Decoder::new(self.endpoint.wire, fastrand::u64(..) >> 16);
        let mut body = response.into_body();
        while !decoder.ended() {
            let Some(frame) = self.patiently(cancel, body.frame()).await? else {
                break;
            };
            let frame = frame.map_err(|error| connection(&error))?;
            if let Some(bytes) = frame.data_ref() {
                decoder
                    .push(bytes, each)
                    .map_err(|error| self.masked(error))?;
            }
        }
        decoder.finish()
    }

    fn request(&self, request: &Request<'_>) -> Result<hyper::Request<Full<Bytes>>, ProviderError> {
        let endpoint = &self.endpoint;
        let unwritable = |error: &dyn std::fmt::Display| {
            ProviderError::new(ProviderErrorKind::Refused, error.to_string())
        };
        let (body, betas) = match endpoint.wire {
            Wire::Chat => (chat::body(request, endpoint), Vec::new()),
            Wire::Responses => (responses::body(request), Vec::new()),
            Wire::Anthropic => match anthropic::body(request) {
                Ok((body, betas)) => (Ok(body), betas),
                Err(error) => (Err(error), Vec::new()),
            },
        };
        let body = body.map_err(|error| unwritable(&error))?;
        let base = endpoint.base_url.trim_end_matches('/');
        let mut request = hyper::Request::builder()
            .method(Method::POST)
            .uri(format!("{base}/{}", endpoint.wire.path()))
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| unwritable(&error))?;
        self.headers(request.headers_mut(), &betas)?;
        Ok(request)
    }

    fn headers(
        &self,
        headers: &mut HeaderMap,
        betas: &[&'static str],
    ) -> Result<(), ProviderError> {
        let endpoint = &self.endpoint;
        let refused =
            |what: &str| ProviderError::new(ProviderErrorKind::Refused, format!("expected {what}"));
        let json = HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
        headers.insert(
            header::ACCEPT,
            HeaderValue::from_static("text/event-stream"),
        );
        headers.insert(
            header::USER_AGENT,
            HeaderValue::from_static(concat!("neenee/", env!("CARGO_PKG_VERSION"))),
        );
        if endpoint.wire == Wire::Anthropic {
            headers.insert(
                "anthropic-version",
                HeaderValue::from_static(anthropic::VERSION),
            );
        }
        for (name, value) in &endpoint.headers {
            let name = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| refused("the name of a header, found another text"))?;
            let value = HeaderValue::from_str(value)
                .map_err(|_| refused("the value of a header, found another text"))?;
            headers.insert(name, value);
        }
        for beta in betas {
            headers.append("anthropic-beta", HeaderValue::from_static(beta));
        }
        if let Some(key) = &endpoint.key {
            let (name, text) = match endpoint.wire {
                Wire::Anthropic => ("x-api-key", key.reveal().to_owned()),
                Wire::Chat | Wire::Responses => {
                    ("authorization", format!("Bearer {}", key.reveal()))
                }
            };
            let mut value = HeaderValue::from_str(&text)
                .map_err(|_| refused("a key that fits into a header"))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(())
    }

    /// The error of an answer that is none.
    async fn refusal(
        &self,
        response: Response<Incoming>,
        cancel: &CancellationToken,
    ) -> ProviderError {
        let status = response.status().as_u16();
        let retry_after = {
            let text = |name: &str| response.headers().get(name)?.to_str().ok();
            retry::retry_after(
                text("retry-after-ms"),
                text("retry-after"),
                SystemTime::now(),
            )
        };
        let mut body = response.into_body();
        let mut bytes = Vec::new();
        while bytes.len() < MAX_ERROR_BYTES {
            match self.patiently(cancel, body.frame()).await {
                Ok(Some(Ok(frame))) => bytes.extend_from_slice(frame.data_ref().map_or(&[], |b| b)),
                // The status says enough where the body breaks off.
                Ok(_) => break,
                Err(error) if error.kind == ProviderErrorKind::Cancelled => return error,
                Err(_) => break,
            }
        }
        let mut error = overflow::of_status(status, &bytes);
        error.retry_after = retry_after;
        self.masked(error)
    }

    fn masked(&self, mut error: ProviderError) -> ProviderError {
        if let Some(key) = &self.endpoint.key {
            error.message = key.mask(&error.message);
        }
        error
    }

    /// Waits for a future, but neither beyond a cancellation nor for ever.
    async fn patiently<F: Future>(
        &self,
        cancel: &CancellationToken,
        future: F,
    ) -> Result<F::Output, ProviderError> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ProviderError::cancelled()),
            output = tokio::time::timeout(self.silence, future) => output.map_err(|_| {
                let seconds = self.silence.as_secs();
                ProviderError::new(
                    ProviderErrorKind::Timeout,
                    format!("nothing came for {seconds} s"),
                )
            }),
        }
    }
}

/// TLS that trusts nobody, for endpoints that need none.
fn no_roots() -> rustls::ClientConfig {
    rustls::ClientConfig::builder()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth()
}

fn tls(message: &str) -> ProviderError {
    ProviderError::new(
        ProviderErrorKind::Connection,
        format!("no certificates to check servers against: {message}"),
    )
}

/// The error with its causes, each once.
fn connection(error: &dyn Error) -> ProviderError {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
        source = cause.source();
    }
    ProviderError::new(ProviderErrorKind::Connection, message)
}
