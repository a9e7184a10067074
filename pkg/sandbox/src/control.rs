//! Addresses of our own on a listening sandbox, below `/sandbox/`: what no API server has and whoever runs one needs.
//!
//! | method | address | |
//! |---|---|---|
//! | POST | `/sandbox/stop` | stop serving; answered before it happens |
//! | GET | `/sandbox/requests?since=N` | the audit log after request N |
//! | GET, PUT, DELETE | `/sandbox/faults` | the faults: all, replaced by a list in the form of the command line, none |
//!
//! They are no part of the API, are never in the audit log, and no fault strikes them.

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
    Fault, Identity, Sandbox, audit,
    respond::{Body, Cut},
    tls,
};

/// More text than any list of faults has.
const BODY_LIMIT: usize = 1 << 20;

/// A sandbox with those addresses in front of it.
#[derive(Clone, Debug)]
pub struct Control {
    sandbox: Sandbox,
    stop: Arc<watch::Sender<bool>>,
}

impl Control {
    /// Puts them in front of a sandbox.
    pub fn new(sandbox: Sandbox) -> Self {
        Self { sandbox, stop: Arc::new(watch::Sender::new(false)) }
    }

    /// Ends when somebody has asked it to stop.
    pub async fn stopped(&self) {
        // The sender is in `self`, so the wait ends with a value.
        let _ = self.stop.subscribe().wait_for(|stop| *stop).await;
    }

    async fn answer(self, request: Request<Incoming>) -> Response<Body> {
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
            (_, path) => answer(StatusCode::NOT_FOUND, &json!({"error": format!("there is no `{path}`")})),
        }
    }

    fn requests(&self, uri: &Uri) -> Response<Body> {
        let mut query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        let since = query.find(|(name, _)| name == "since").map_or_else(|| "0".into(), |(_, value)| value);
        let Ok(number) = since.parse() else {
            let why = format!("`since={since}` is no number of a request");
            return answer(StatusCode::BAD_REQUEST, &json!({"error": why}));
        };
        let audit = self.sandbox.audit();
        let requests = Requests { answered: audit.answered(), requests: audit.since(number) };
        answer(StatusCode::OK, &json!(requests))
    }

    fn faults(&self) -> Response<Body> {
        let faults: Vec<_> = self.sandbox.faults().list().iter().map(ToString::to_string).collect();
        answer(StatusCode::OK, &json!({"faults": faults}))
    }
}

impl Service<Request<Incoming>> for Control {
    type Response = Response<Body>;
    type Error = Cut;
    type Future = BoxFuture<'static, Result<Response<Body>, Cut>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Cut>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        if request.uri().path().starts_with("/sandbox/") {
            let control = self.clone();
            Box::pin(async move { Ok(control.answer(request).await) })
        } else {
            Box::pin(self.sandbox.call(request))
        }
    }
}

async fn read_faults(body: Incoming) -> Result<Vec<Fault>, String> {
    let read = Limited::new(body, BODY_LIMIT).collect().await.map_err(|error| error.to_string())?;
    let texts: Vec<String> = serde_json::from_slice(&read.to_bytes())
        .map_err(|error| format!("the body is to be a JSON list of faults: {error}"))?;
    texts.iter().map(|text| Fault::parse(text).map_err(|why| format!("`{text}`: {why}"))).collect()
}

fn answer(status: StatusCode, value: &Value) -> Response<Body> {
    let mut response = Response::new(Body::from(Bytes::from(format!("{value}\n"))));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    response
}

/// Why a running sandbox could not be told something.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// Its URL is none of ours.
    #[error("`{0}` is no address of a sandbox")]
    Address(String),
    /// It cannot be reached.
    #[error("cannot reach the sandbox at {0}")]
    Connect(SocketAddr, #[source] std::io::Error),
    /// Its certificate is not the one it had.
    #[error("cannot use the sandbox's certificate authority")]
    Authority(#[source] rustls::Error),
    /// The connection broke.
    #[error("the sandbox did not answer")]
    Exchange(#[source] hyper::Error),
    /// It answered, but not what was asked for.
    #[error("the sandbox answers {0}")]
    Answer(StatusCode),
    /// It answered in another form: its version is another one.
    #[error("cannot read what the sandbox answers")]
    Form(#[source] serde_json::Error),
}

/// A part of the audit log of a listening sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requests {
    /// How many it has answered since its start.
    pub answered: u64,
    /// Those that were asked for and are still kept, oldest first.
    pub requests: Vec<audit::Request>,
}

/// Tells a listening sandbox to stop; `server` is its URL. It has heard it when this returns, and is not gone yet.
///
/// # Errors
/// When it cannot be reached, or is another one that does not know the identity.
pub async fn stop(server: &str, identity: &Identity) -> Result<(), ControlError> {
    ask(server, identity, Method::POST, "/sandbox/stop").await.map(drop)
}

/// What a listening sandbox was asked after the request of this number; `server` is its URL.
///
/// # Errors
/// When it cannot be reached, or is another one that does not know the identity.
pub async fn requests(server: &str, identity: &Identity, since: u64) -> Result<Requests, ControlError> {
    let answer = ask(server, identity, Method::GET, &format!("/sandbox/requests?since={since}")).await?;
    let read = answer.into_body().collect().await.map_err(ControlError::Exchange)?;
    serde_json::from_slice(&read.to_bytes()).map_err(ControlError::Form)
}

async fn ask(
    server: &str,
    identity: &Identity,
    method: Method,
    path: &str,
) -> Result<Response<Incoming>, ControlError> {
    let address = server.strip_prefix("https://").and_then(|address| address.parse::<SocketAddr>().ok());
    let address = address.ok_or_else(|| ControlError::Address(server.to_owned()))?;
    let connect = |error| ControlError::Connect(address, error);
    let stream = TcpStream::connect(address).await.map_err(connect)?;
    let mut roots = RootCertStore::empty();
    roots.add(identity.authority_der()).map_err(ControlError::Authority)?;
    let connector = tls::connector(roots).map_err(ControlError::Authority)?;
    let name = ServerName::from(address.ip());
    let stream = connector.connect(name, stream).await.map_err(connect)?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(ControlError::Exchange)?;
    // It ends with the answer, or with a server that stops; what it failed at is told to who waits for the answer.
    tokio::spawn(connection);
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, address.to_string())
        .header(header::AUTHORIZATION, format!("Bearer {}", identity.token()))
        .body(Empty::<Bytes>::new())
        .map_err(|_| ControlError::Address(server.to_owned()))?;
    let response = sender.send_request(request).await.map_err(ControlError::Exchange)?;
    if response.status().is_success() { Ok(response) } else { Err(ControlError::Answer(response.status())) }
}
