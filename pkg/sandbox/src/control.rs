//! Control endpoints of a listening sandbox below `/sandbox/`. No API server has these endpoints.
//!
//! | method | path | |
//! |---|---|---|
//! | POST | `/sandbox/stop` | stops serving after the answer |
//! | GET | `/sandbox/requests?since=N` | returns the audit log after request N |
//! | GET, PUT, DELETE | `/sandbox/faults` | returns, replaces or removes the faults, in command-line syntax |
//!
//! The endpoints are no part of the API, never appear in the audit log, and are exempt from faults.

use std::{net::SocketAddr, sync::Arc};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Method, Request, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use rustls::{RootCertStore, pki_types::ServerName};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{net::TcpStream, sync::watch};
use tower_service::Service;

use crate::{
    Fault, Identity, Sandbox, audit, identity,
    respond::{Body, ConnectionCut},
};

/// The maximum body size; more than any list of faults needs.
const BODY_LIMIT: usize = 1 << 20;

/// A sandbox with the control endpoints.
#[derive(Clone, Debug)]
pub struct ControlService {
    sandbox: Sandbox,
    stop: Arc<watch::Sender<bool>>,
}

impl ControlService {
    /// Adds the control endpoints to a sandbox.
    pub fn new(sandbox: Sandbox) -> Self {
        Self { sandbox, stop: Arc::new(watch::Sender::new(false)) }
    }

    /// Waits until a client has called the stop endpoint.
    pub async fn wait_for_stop(&self) {
        // `self` holds the sender, so the wait always succeeds.
        let _ = self.stop.subscribe().wait_for(|stop| *stop).await;
    }

    async fn handle(self, request: Request<Incoming>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        match (&parts.method, parts.uri.path()) {
            (&Method::POST, "/sandbox/stop") => {
                self.stop.send_replace(true);
                answer(StatusCode::OK, &json!({"stopping": true}))
            }
            (&Method::GET, "/sandbox/requests") => self.requests(&parts.uri),
            (&Method::GET, "/sandbox/faults") => self.faults(),
            (&Method::DELETE, "/sandbox/faults") => {
                self.sandbox.faults().replace(Vec::new());
                self.faults()
            }
            (&Method::PUT, "/sandbox/faults") => match read_faults(body).await {
                Ok(faults) => {
                    self.sandbox.faults().replace(faults);
                    self.faults()
                }
                Err(why) => answer(StatusCode::BAD_REQUEST, &json!({"error": why})),
            },
            (_, path) => answer(StatusCode::NOT_FOUND, &json!({"error": format!("`{path}` does not exist")})),
        }
    }

    fn requests(&self, uri: &Uri) -> Response<Body> {
        let mut query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        let since = query.find(|(name, _)| name == "since").map_or_else(|| "0".into(), |(_, value)| value);
        let Ok(number) = since.parse() else {
            let why = format!("`since={since}` is not a request number");
            return answer(StatusCode::BAD_REQUEST, &json!({"error": why}));
        };
        let audit = self.sandbox.audit();
        let requests = AuditPage { answered: audit.answered(), requests: audit.since(number) };
        answer(StatusCode::OK, &json!(requests))
    }

    fn faults(&self) -> Response<Body> {
        let faults: Vec<_> = self.sandbox.faults().list().iter().map(ToString::to_string).collect();
        answer(StatusCode::OK, &json!({"faults": faults}))
    }
}

impl Service<Request<Incoming>> for ControlService {
    type Response = Response<Body>;
    type Error = ConnectionCut;
    type Future = BoxFuture<'static, Result<Response<Body>, ConnectionCut>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), ConnectionCut>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        if request.uri().path().starts_with("/sandbox/") {
            let control = self.clone();
            Box::pin(async move { Ok(control.handle(request).await) })
        } else {
            Box::pin(self.sandbox.call(request))
        }
    }
}

async fn read_faults(body: Incoming) -> Result<Vec<Fault>, String> {
    let read = Limited::new(body, BODY_LIMIT).collect().await.map_err(|error| error.to_string())?;
    let texts: Vec<String> = serde_json::from_slice(&read.to_bytes())
        .map_err(|error| format!("the body must be a JSON list of faults: {error}"))?;
    texts.iter().map(|text| Fault::parse(text).map_err(|why| format!("`{text}`: {why}"))).collect()
}

fn answer(status: StatusCode, value: &Value) -> Response<Body> {
    let mut response = Response::new(Body::from(Bytes::from(format!("{value}\n"))));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    response
}

/// A failure to call a control endpoint of a sandbox.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The URL is not the URL of a sandbox.
    #[error("`{0}` is not a sandbox address")]
    InvalidUrl(String),
    /// The sandbox cannot be reached.
    #[error("cannot reach the sandbox at {0}")]
    Connect(SocketAddr, #[source] std::io::Error),
    /// The certificate authority of the sandbox cannot be used.
    #[error("cannot use the sandbox's certificate authority")]
    CertificateAuthority(#[source] rustls::Error),
    /// The connection failed.
    #[error("the sandbox did not answer")]
    Connection(#[source] hyper::Error),
    /// The sandbox answered with an error status.
    #[error("the sandbox returned status {0}")]
    ErrorStatus(StatusCode),
    /// The answer has an unexpected format, for example because the version of the sandbox differs.
    #[error("cannot parse the answer of the sandbox")]
    InvalidResponse(#[source] serde_json::Error),
}

/// A part of the audit log of a listening sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditPage {
    /// The number of requests answered since the start.
    pub answered: u64,
    /// The requested part of the kept requests, oldest first.
    pub requests: Vec<audit::AuditEntry>,
}

/// Requests a stop of the listening sandbox at the URL `server`. Returns when the sandbox has received the request, not
/// when the sandbox has stopped.
///
/// # Errors
/// Fails if the sandbox cannot be reached or rejects the identity.
pub async fn stop(server: &str, identity: &Identity) -> Result<(), ControlError> {
    send(server, identity, Method::POST, "/sandbox/stop").await.map(drop)
}

/// Returns the requests that the listening sandbox at the URL `server` answered after request number `since`.
///
/// # Errors
/// Fails if the sandbox cannot be reached, rejects the identity or returns an unknown format.
pub async fn requests(server: &str, identity: &Identity, since: u64) -> Result<AuditPage, ControlError> {
    let answer = send(server, identity, Method::GET, &format!("/sandbox/requests?since={since}")).await?;
    let read = answer.into_body().collect().await.map_err(ControlError::Connection)?;
    serde_json::from_slice(&read.to_bytes()).map_err(ControlError::InvalidResponse)
}

async fn send(
    server: &str,
    identity: &Identity,
    method: Method,
    path: &str,
) -> Result<Response<Incoming>, ControlError> {
    let address = server.strip_prefix("https://").and_then(|address| address.parse::<SocketAddr>().ok());
    let address = address.ok_or_else(|| ControlError::InvalidUrl(server.to_owned()))?;
    let connect = |error| ControlError::Connect(address, error);
    let stream = TcpStream::connect(address).await.map_err(connect)?;
    let mut roots = RootCertStore::empty();
    roots.add(identity.authority_der()).map_err(ControlError::CertificateAuthority)?;
    let connector = identity::connector(roots).map_err(ControlError::CertificateAuthority)?;
    let name = ServerName::from(address.ip());
    let stream = connector.connect(name, stream).await.map_err(connect)?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(ControlError::Connection)?;
    // The task ends with the answer or when the server stops. `send_request` reports errors of the connection.
    tokio::spawn(connection);
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, address.to_string())
        .header(header::AUTHORIZATION, format!("Bearer {}", identity.token()))
        .body(Empty::<Bytes>::new())
        .map_err(|_| ControlError::InvalidUrl(server.to_owned()))?;
    let response = sender.send_request(request).await.map_err(ControlError::Connection)?;
    if response.status().is_success() {
        Ok(response)
    } else {
        Err(ControlError::ErrorStatus(response.status()))
    }
}
