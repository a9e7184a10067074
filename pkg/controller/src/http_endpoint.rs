//! The HTTP endpoints for metrics and probes.

use std::{convert::Infallible, sync::Arc, time::Duration};

use http::{Request, Response, StatusCode, header::CONTENT_TYPE};
use http_body_util::Full;
use hyper::{
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{net::TcpListener, sync::Semaphore};

use crate::{Metrics, Readiness};

/// The limit of connections at a time.
const MAX_CONNECTIONS: usize = 32;
/// The time limit for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The content type of the text format of Prometheus.
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
const TEXT_TYPE: &str = "text/plain";

/// The content of an endpoint.
#[derive(Clone)]
pub enum Endpoint {
    /// `/metrics`
    Metrics(Arc<Metrics>),
    /// `/healthz` and `/readyz`
    Probes(Arc<Readiness>),
}

impl Endpoint {
    /// Returns the answer for a path.
    pub fn answer(&self, path: &str) -> Response<Full<Bytes>> {
        let (status, kind, body) = match (self, path) {
            (Self::Metrics(metrics), "/metrics") => (StatusCode::OK, METRICS_TYPE, metrics.to_text()),
            (Self::Probes(_), "/healthz") => (StatusCode::OK, TEXT_TYPE, "ok".to_owned()),
            (Self::Probes(readiness), "/readyz") => match &*readiness.missing() {
                [] => (StatusCode::OK, TEXT_TYPE, "ok".to_owned()),
                kinds => {
                    let body = format!("waiting for the first list of {}\n", kinds.join(", "));
                    (StatusCode::SERVICE_UNAVAILABLE, TEXT_TYPE, body)
                }
            },
            _ => (StatusCode::NOT_FOUND, TEXT_TYPE, "not found\n".to_owned()),
        };
        let mut answer = Response::new(Full::new(Bytes::from(body)));
        *answer.status_mut() = status;
        answer.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static(kind));
        answer
    }
}

/// Answers requests to an endpoint until it is dropped.
pub async fn serve(listener: TcpListener, endpoint: Endpoint) -> Infallible {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = tokio::task::JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { continue };
        let Ok((stream, _)) = listener.accept().await else {
            // Such as too many open files.
            tokio::time::sleep(Duration::from_secs(1)).await;
            continue;
        };
        let endpoint = endpoint.clone();
        connections.spawn(async move {
            let _permit = permit;
            let answer = service_fn(move |request: Request<Incoming>| {
                let answer = endpoint.answer(request.uri().path());
                async move { Ok::<_, Infallible>(answer) }
            });
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
            // The peer sees a broken connection itself.
            let _ = server.serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}
