//! A client of `kube` over a server, for the watches of `kube-runtime`.

use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use http::{HeaderMap, Request, Response, Uri, request::Parts};
use http_body_util::BodyExt as _;
use kube::client::Body;
use tokio::time::timeout;
use tower::BoxError;

use super::{
    Server,
    call::{ApiCall, collect, request_context},
    response::retry_after,
    shared::NumberedConnection,
};
use crate::ApiError;

/// The pause after an answer 429 that names none.
const DEFAULT_PAUSE: Duration = Duration::from_secs(1);

/// A request of the client. It can be sent again.
struct ForwardedRequest {
    call: ApiCall,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
}

impl Server {
    /// Returns a client of `kube` over the connection of this handle: with its credentials, proxies, pauses and leases.
    /// The client does not retry; its callers do.
    pub fn client(&self) -> kube::Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let server = server.clone();
            async move { server.forward(request).await }.boxed()
        });
        kube::Client::new(service, "default")
    }

    async fn forward(&self, request: Request<Body>) -> Result<Response<Body>, BoxError> {
        let (Parts { method, uri, headers, .. }, body) = request.into_parts();
        let is_watch =
            uri.query().into_iter().flat_map(|query| query.split('&')).any(|one| one == "watch=true");
        let call = ApiCall::new(method, format!("request {}", uri.path()), uri.path());
        let call = if is_watch { call.streaming() } else { call };
        let request = ForwardedRequest { call, uri, headers, body: body.collect().await?.to_bytes() };
        self.wait_to_send(&request.call).await?;
        let answer =
            self.with_fresh_credentials(&request.call, |line| self.forward_once(&request, line)).await;
        answer.map_err(BoxError::from)
    }

    /// Sends a request once. Only an answer 401 is an error, because it needs new credentials.
    async fn forward_once(
        &self,
        request: &ForwardedRequest,
        line: NumberedConnection,
    ) -> Result<Response<Body>, ApiError> {
        let context = request_context(&request.call, &line);
        let limit = request.call.timeout(self.shared.settings.request_timeout);
        let answer = timeout(limit, async {
            let mut sent = Request::builder().method(&request.call.method).uri(&request.uri);
            if let Some(headers) = sent.headers_mut() {
                headers.clone_from(&request.headers);
            }
            let sent =
                sent.body(request.body.clone().into()).map_err(|error| context.network_error(&error))?;
            let answer = self.transmit(&request.call, sent, &line).await?;
            if request.call.is_stream && answer.status().is_success() {
                return Ok(answer);
            }
            let (parts, body) = answer.into_parts();
            let headers = parts.headers.clone();
            let bytes = collect(context, body).await?;
            match parts.status.as_u16() {
                401 => return Err(context.refusal(401, &headers, &bytes)),
                429 => self.shared.throttle.pause_for(retry_after(&headers).unwrap_or(DEFAULT_PAUSE)),
                _ => {}
            }
            Ok(Response::from_parts(parts, bytes.into()))
        });
        answer.await.unwrap_or_else(|_| Err(context.timed_out(limit)))
    }
}
