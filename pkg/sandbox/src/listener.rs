//! The sandbox on a loopback port: TLS, HTTP/1.1 and HTTP/2.

use std::{
    convert::Infallible,
    fmt, io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use http::{HeaderMap, Request, Response, header};
use hyper::body::Incoming;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use sha2::{Digest as _, Sha256};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Notify, watch},
    task::JoinHandle,
};
use tokio_rustls::TlsAcceptor;
use tower_service::Service;

use crate::{
    identity::{Identity, IdentityError},
    respond::{self, Accepted, Body, ConnectionCut},
    server::{audit_entry, forbidden},
    status::Status,
};

/// The time limit of a TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
#[derive(Clone, Copy, Debug)]
struct ClientLimits {
    /// The maximum number of connections. Further clients wait for a free one.
    connections: usize,
    /// The time limit for the headers of a request, and for the first request of a connection.
    headers: Duration,
}

/// Stays below the 1,024 files that many systems allow. An idle kubectl keeps its connection for 90 seconds.
const CLIENT_LIMITS: ClientLimits = ClientLimits { connections: 500, headers: Duration::from_mins(2) };
/// The time limit for running requests after the stop of the listener.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// A listening sandbox. Dropping the value stops the listener.
#[derive(Debug)]
pub struct Listener {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    accept_task: JoinHandle<()>,
}

/// A failure to listen.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("cannot listen on port {port} of the loopback interface")]
    Bind {
        /// The requested port; 0 means any port.
        port: u16,
        source: io::Error,
    },
    #[error(transparent)]
    Identity(#[from] IdentityError),
}

/// A service that a listener can serve on several connections.
pub trait ListenerService:
    Service<Request<Incoming>, Response = Response<Body>, Error = ConnectionCut, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> ListenerService for S where
    S: Service<Request<Incoming>, Response = Response<Body>, Error = ConnectionCut, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

impl Listener {
    /// Listens on a port of the loopback interface. The kernel chooses the port for 0. Every request needs the
    /// identity's token, except probes (`/livez`, `/readyz`, `/healthz`, `/version`).
    ///
    /// # Errors
    /// Fails if the port is taken or the identity is unusable.
    pub async fn bind<S: ListenerService>(
        service: S,
        identity: &Identity,
        port: u16,
    ) -> Result<Self, ListenError> {
        Self::bind_within(CLIENT_LIMITS, service, identity, port).await
    }

    async fn bind_within<S: ListenerService>(
        limits: ClientLimits,
        service: S,
        identity: &Identity,
        port: u16,
    ) -> Result<Self, ListenError> {
        let acceptor = TlsAcceptor::from(identity.server_config()?);
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        let listener = bound.map_err(|source| ListenError::Bind { port, source })?;
        let address = listener.local_addr().map_err(|source| ListenError::Bind { port, source })?;
        let (stop, stopping) = watch::channel(false);
        let guarded = AuthenticatedService { service, token: Sha256::digest(identity.token()).into() };
        let accepting = tokio::spawn(accept(listener, acceptor, guarded, limits, stopping));
        Ok(Self { address, stop, accept_task: accepting })
    }

    /// Returns the address of the listener.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL of the listener.
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Stops listening, grants running requests half a second, and cuts the remaining ones, such as watches.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        // The task panics only if it cannot spawn a connection's task; then nothing remains to wait for.
        let _ = (&mut self.accept_task).await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

async fn accept<S: ListenerService>(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    service: AuthenticatedService<S>,
    limits: ClientLimits,
    mut stopping: watch::Receiver<bool>,
) {
    let mut connections = tokio::task::JoinSet::new();
    let others = stopping.clone();
    loop {
        tokio::select! {
            () = wait_for_stop(&mut stopping) => break,
            accepted = listener.accept(), if connections.len() < limits.connections => {
                // The client left early, or no file descriptor is free: try the next connection.
                let Ok((stream, _)) = accepted else {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    continue;
                };
                connections.spawn(serve(stream, acceptor.clone(), service.clone(), limits, others.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    let drained = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(DRAIN_TIMEOUT, drained).await;
}

/// Waits for the stop signal. The guard of the value is not `Send`, so it is dropped here.
async fn wait_for_stop(stopping: &mut watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stop| *stop).await;
}

async fn serve<S: ListenerService>(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    service: AuthenticatedService<S>,
    limits: ClientLimits,
    mut stopping: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await else {
        return;
    };
    let (cut, started) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let one_connection = hyper::service::service_fn({
        let (cut, started) = (Arc::clone(&cut), Arc::clone(&started));
        move |request| {
            started.notify_one();
            handle(service.clone(), request, Arc::clone(&cut))
        }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(limits.headers);
    // The time limit for headers starts once the protocol is known, so a silent client needs a separate limit.
    let silent = async {
        if tokio::time::timeout(limits.headers, started.notified()).await.is_ok() {
            std::future::pending::<Infallible>().await;
        }
    };
    let connection = builder.serve_connection(TokioIo::new(stream), one_connection);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // The client disconnected or speaks another protocol, so no client can receive an error.
        _ = connection.as_mut() => return,
        () = cut.notified() => return,
        () = silent => return,
        _ = stopping.wait_for(|stop| *stop) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// Answers one request. A cut drops the whole connection without a shutdown message, in every protocol.
async fn handle<S: ListenerService>(
    mut service: AuthenticatedService<S>,
    request: Request<Incoming>,
    cut: Arc<Notify>,
) -> Result<Response<Body>, ConnectionCut> {
    let answer = service.call(request).await;
    if answer.is_err() {
        cut.notify_one();
        std::future::pending::<Infallible>().await;
    }
    answer
}

/// A service that requires the token.
#[derive(Clone)]
struct AuthenticatedService<S> {
    service: S,
    /// The digest of the token. The time of a comparison reveals nothing about the token.
    token: [u8; 32],
}

/// The sender of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caller {
    User,
    /// A sender with an unknown token.
    UnknownToken,
    /// A sender without a token, limited to health checks.
    Anonymous,
}

impl<S: ListenerService> AuthenticatedService<S> {
    async fn call(&mut self, request: Request<Incoming>) -> Result<Response<Body>, ConnectionCut> {
        let open = ["/livez", "/readyz", "/healthz", "/version"].contains(&request.uri().path());
        let status = match self.caller(request.headers()) {
            Caller::UnknownToken => Status::new(401, "Unauthorized", "Unauthorized"),
            Caller::Anonymous if !open => {
                forbidden(&audit_entry(&request.into_parts().0), "system:anonymous")
            }
            Caller::User | Caller::Anonymous => return self.service.call(request).await,
        };
        Ok(respond::failure(&Accepted::default(), &status))
    }

    /// Returns the sender of a request.
    /// Source: kube-apiserver 1.36, which ignores any authorization other than a bearer token.
    fn caller(&self, headers: &HeaderMap) -> Caller {
        let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = shown
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        match token {
            None => Caller::Anonymous,
            Some((_, token)) if token.trim().is_empty() => Caller::Anonymous,
            Some((_, token)) if *Sha256::digest(token.trim()) == self.token => Caller::User,
            Some(_) => Caller::UnknownToken,
        }
    }
}

impl fmt::Display for ConnectionCut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the sandbox closed the connection because of a fault")
    }
}

impl std::error::Error for ConnectionCut {}

#[cfg(test)]
mod tests;
