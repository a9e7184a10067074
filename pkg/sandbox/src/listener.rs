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
    respond::{self, Accepted, Body, Cut},
    server::{forbidden, logged},
    status::Status,
};

/// How long a client may take to say hello.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// The limits of what clients may hold.
#[derive(Clone, Copy, Debug)]
struct ClientLimits {
    /// Clients beyond this number wait until another one leaves.
    connections: usize,
    /// The time for the headers of a request, and for the first request of a connection.
    headers: Duration,
}

/// Below the 1,024 files that many systems allow. A kubectl that rests keeps its connection for 90 seconds.
const CLIENT_LIMITS: ClientLimits = ClientLimits { connections: 500, headers: Duration::from_mins(2) };
/// How long requests under way may take once the listener is told to stop.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// A sandbox that listens; dropped, it stops.
#[derive(Debug)]
pub struct Listener {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

/// Why it does not listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The port.
    #[error("cannot listen on port {port} of the loopback interface")]
    Bind {
        /// 0 stands for any.
        port: u16,
        /// Why.
        source: io::Error,
    },
    /// The certificates.
    #[error(transparent)]
    Identity(#[from] IdentityError),
}

impl Listener {
    /// Listens on this port of the loopback interface, or on one of the kernel's choice for 0. Every request must show
    /// the identity's token but the ones that probe (`/livez`, `/readyz`, `/healthz`, `/version`).
    ///
    /// # Errors
    /// When the port is taken or the identity cannot be used.
    pub async fn bind<S>(service: S, identity: &Identity, port: u16) -> Result<Self, ListenError>
    where
        S: Service<Request<Incoming>, Response = Response<Body>, Error = Cut> + Clone + Send + Sync + 'static,
        S::Future: Send,
    {
        Self::bind_within(CLIENT_LIMITS, service, identity, port).await
    }

    async fn bind_within<S>(
        limits: ClientLimits,
        service: S,
        identity: &Identity,
        port: u16,
    ) -> Result<Self, ListenError>
    where
        S: Service<Request<Incoming>, Response = Response<Body>, Error = Cut> + Clone + Send + Sync + 'static,
        S::Future: Send,
    {
        let acceptor = TlsAcceptor::from(identity.server_config()?);
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        let listener = bound.map_err(|source| ListenError::Bind { port, source })?;
        let address = listener.local_addr().map_err(|source| ListenError::Bind { port, source })?;
        let (stop, stopping) = watch::channel(false);
        let guarded = Guarded { service, token: Sha256::digest(identity.token()).into() };
        let accepting = tokio::spawn(accept(listener, acceptor, guarded, limits, stopping));
        Ok(Self { address, stop, accepting })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of it.
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Stops listening, lets requests under way end for half a second, and cuts what is left: watches.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        // It panics only when a connection's task could not be made; there is nothing to wait for then.
        let _ = (&mut self.accepting).await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

async fn accept<S>(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    service: Guarded<S>,
    limits: ClientLimits,
    mut stopping: watch::Receiver<bool>,
) where
    S: Service<Request<Incoming>, Response = Response<Body>, Error = Cut> + Clone + Send + Sync + 'static,
    S::Future: Send,
{
    let mut connections = tokio::task::JoinSet::new();
    let others = stopping.clone();
    loop {
        tokio::select! {
            () = told(&mut stopping) => break,
            accepted = listener.accept(), if connections.len() < limits.connections => {
                // A client that is gone before it was taken, or no file descriptor left: the next one may do better.
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

/// Waits until the listener is to stop. The guard of the value would not travel between threads, so it ends here.
async fn told(stopping: &mut watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stop| *stop).await;
}

/// One connection from hello to goodbye.
async fn serve<S>(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    service: Guarded<S>,
    limits: ClientLimits,
    mut stopping: watch::Receiver<bool>,
) where
    S: Service<Request<Incoming>, Response = Response<Body>, Error = Cut> + Clone + Send + Sync + 'static,
    S::Future: Send,
{
    let _ = stream.set_nodelay(true);
    let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await else {
        return;
    };
    let (cut, started) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let one_connection = hyper::service::service_fn({
        let (cut, started) = (Arc::clone(&cut), Arc::clone(&started));
        move |request| {
            started.notify_one();
            answer(service.clone(), request, Arc::clone(&cut))
        }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(limits.headers);
    // The time of the headers starts once the protocol is known, so a client that says nothing needs another limit.
    let silent = async {
        if tokio::time::timeout(limits.headers, started.notified()).await.is_ok() {
            std::future::pending::<Infallible>().await;
        }
    };
    let connection = builder.serve_connection(TokioIo::new(stream), one_connection);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // The other side went away, or spoke something else: nobody is left to tell.
        _ = connection.as_mut() => return,
        () = cut.notified() => return,
        () = silent => return,
        _ = stopping.wait_for(|stop| *stop) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// A cut must take the whole connection, whatever the protocol: it is dropped without a goodbye.
async fn answer<S>(
    mut service: Guarded<S>,
    request: Request<Incoming>,
    cut: Arc<Notify>,
) -> Result<Response<Body>, Cut>
where
    S: Service<Request<Incoming>, Response = Response<Body>, Error = Cut>,
{
    let answer = service.call(request).await;
    if answer.is_err() {
        cut.notify_one();
        std::future::pending::<Infallible>().await;
    }
    answer
}

/// Asks for the token first.
#[derive(Clone)]
struct Guarded<S> {
    service: S,
    /// The digest of the token: how long a comparison takes tells nothing about what it is made of.
    token: [u8; 32],
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caller {
    User,
    /// Somebody with a token nobody gave out.
    Stranger,
    /// Somebody without a token, who may do nothing but ask how the server is.
    Anonymous,
}

impl<S> Guarded<S> {
    async fn call(&mut self, request: Request<Incoming>) -> Result<Response<Body>, Cut>
    where
        S: Service<Request<Incoming>, Response = Response<Body>, Error = Cut>,
    {
        let open = ["/livez", "/readyz", "/healthz", "/version"].contains(&request.uri().path());
        let status = match self.caller(request.headers()) {
            Caller::Stranger => Status::new(401, "Unauthorized", "Unauthorized"),
            Caller::Anonymous if !open => forbidden(&logged(&request.into_parts().0), "system:anonymous"),
            Caller::User | Caller::Anonymous => return self.service.call(request).await,
        };
        Ok(respond::failure(&Accepted::default(), &status))
    }

    /// Source: kube-apiserver 1.36: what is no bearer token is nothing.
    fn caller(&self, headers: &HeaderMap) -> Caller {
        let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = shown
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        match token {
            None => Caller::Anonymous,
            Some((_, token)) if token.trim().is_empty() => Caller::Anonymous,
            Some((_, token)) if *Sha256::digest(token.trim()) == self.token => Caller::User,
            Some(_) => Caller::Stranger,
        }
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the sandbox cut the connection, as a fault asks for")
    }
}

impl std::error::Error for Cut {}

#[cfg(test)]
mod tests;
