//! Sending of requests, with retries.

use std::{sync::atomic::Ordering, time::Duration};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderMap, HeaderValue, Method, Request, Response, header};
use http_body_util::{BodyExt as _, Collected};
use kube::client::Body;
use tokio::time::{Instant, timeout};

use super::{
    MAX_CONFIRMATION_AGE, Server, WriteGuard,
    call::ApiCall,
    redact::redact,
    response::{RequestContext, warning},
    shared::NumberedConnection,
};
use crate::{ApiError, Event, NetworkError, RequestEffect, retry::RetryState};

impl Server {
    /// Sends a request until it succeeds, fails permanently, or the time is over. The request must be repeatable.
    /// The future is boxed, so that crates above do not compile the path of a request again.
    pub(crate) fn send<'a>(&'a self, call: &'a ApiCall) -> BoxFuture<'a, Result<Bytes, ApiError>> {
        Box::pin(async move {
            let mut tries = self.retry_state();
            loop {
                match self.send_once(call).await {
                    Ok(bytes) => return Ok(bytes),
                    Err(error) => self.pause(&mut tries, &call.action, error).await?,
                }
            }
        })
    }

    pub(super) fn retry_state(&self) -> RetryState {
        RetryState::new(self.events().clone())
    }

    /// Pauses before another try, if there is one.
    pub(super) async fn pause(
        &self,
        tries: &mut RetryState,
        action: &str,
        error: ApiError,
    ) -> Result<(), ApiError> {
        let never_answered = !self.shared.has_answered.load(Ordering::Relaxed);
        match error {
            ApiError::Unreachable { unsent: true, .. }
            | ApiError::Unreachable { source: NetworkError::TimedOut { .. }, .. }
                if never_answered =>
            {
                Err(error)
            }
            error => {
                let left = self.retry_until.map(|until| tries.elapsed() + time_left(until));
                let give_up_after = left.map_or(self.retry_for, |left| left.min(self.retry_for));
                tries.pause(action, error, give_up_after).await
            }
        }
    }

    /// Sends a request once.
    pub(crate) fn send_once<'a>(&'a self, call: &'a ApiCall) -> BoxFuture<'a, Result<Bytes, ApiError>> {
        Box::pin(async move {
            // Requests that wait for the lease may hold all permits.
            let permit = async {
                self.shared.permits.acquire().await.expect("invariant: nobody closes the semaphore")
            };
            let _permit = if call.effect == RequestEffect::Lease { None } else { Some(permit.await) };
            self.with_fresh_credentials(call, |line| self.exchange(call, line)).await
        })
    }

    /// Runs an attempt, and repeats it once on a new connection if the server rejects the credentials.
    pub(super) async fn with_fresh_credentials<T, F>(
        &self,
        call: &ApiCall,
        attempt: impl Fn(NumberedConnection) -> F,
    ) -> Result<T, ApiError>
    where
        F: Future<Output = Result<T, ApiError>>,
    {
        let line = self.shared.current_connection();
        match attempt(line.clone()).await {
            Err(error) if error.code() == Some(401) => {
                let newer = self.shared.reconnect(&line).await.map_err(|error| ApiError::Credentials {
                    action: call.action.clone(),
                    source: Box::new(error),
                })?;
                attempt(newer).await
            }
            outcome => outcome,
        }
    }

    async fn exchange(&self, call: &ApiCall, line: NumberedConnection) -> Result<Bytes, ApiError> {
        let limit = call.timeout(self.shared.settings.request_timeout);
        if call.effect != RequestEffect::Lease {
            self.shared.throttle.wait().await;
        }
        if call.effect == RequestEffect::Write {
            self.check_write_allowed(call).await?;
        }
        let answer = timeout(limit, async {
            let response = self.open(call, &line).await?;
            collect(request_context(call, &line), response.into_body()).await
        });
        answer.await.unwrap_or_else(|_| Err(request_context(call, &line).timed_out(limit)))
    }

    /// Checks the leases before every request that writes, each time it is sent. This is the only such place.
    pub(super) async fn check_write_allowed(&self, call: &ApiCall) -> Result<(), ApiError> {
        match self.write_guard {
            WriteGuard::Refused => Err(ApiError::NoLease { action: call.action.clone() }),
            WriteGuard::Unguarded | WriteGuard::Leased(_) => {
                self.try_confirm_leases(&call.action, MAX_CONFIRMATION_AGE).await
            }
        }
    }

    /// Sends a request and returns a successful response without its body.
    pub(super) async fn open(
        &self,
        call: &ApiCall,
        line: &NumberedConnection,
    ) -> Result<Response<Body>, ApiError> {
        let response = self.request(call, line).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        let context = request_context(call, line);
        let (code, headers) = (response.status().as_u16(), response.headers().clone());
        let error = context.refusal(code, &headers, &collect(context, response.into_body()).await?);
        if let (429, Some(time)) = (code, error.retry_after()) {
            self.shared.throttle.pause_for(time);
        }
        Err(redact(error, call))
    }

    async fn request(&self, call: &ApiCall, line: &NumberedConnection) -> Result<Response<Body>, ApiError> {
        let context = request_context(call, line);
        let mut request =
            Request::builder().method(&call.method).uri(call.target()).header(header::ACCEPT, call.accept);
        if let Some(body) = &call.body {
            request = request.header(header::CONTENT_TYPE, body.content_type);
        }
        let body = call.body.as_ref().map_or_else(Body::empty, |body| body.bytes.clone().into());
        let request = request.body(body).map_err(|error| context.network_error(&error))?;
        let response = self.transmit(call, request, line).await?;
        if call.method != Method::GET {
            self.report_warnings(call, response.headers());
        }
        Ok(response)
    }

    /// Sends a request with the headers of a connection.
    pub(super) async fn transmit(
        &self,
        call: &ApiCall,
        mut request: Request<Body>,
        line: &NumberedConnection,
    ) -> Result<Response<Body>, ApiError> {
        let shown = format!("{} {}", call.method, request.uri());
        self.events().send(&Event::Requested { request: shown, effect: call.effect });
        self.shared.requests.fetch_add(1, Ordering::Relaxed);
        request.headers_mut().extend(line.connection.headers.clone());
        if call.is_stream {
            // Servers from 1.37 on compress events one by one, which the client does not decompress.
            let identity = HeaderValue::from_static("identity");
            request.headers_mut().insert(header::ACCEPT_ENCODING, identity);
        }
        let response = line
            .connection
            .clients
            .for_effect(call.effect)
            .send(request)
            .await
            .map_err(|error| request_context(call, line).network_error(&error))?;
        self.shared.has_answered.store(true, Ordering::Relaxed);
        self.shared.record_date(response.headers());
        Ok(response)
    }

    /// Reports warnings. Warnings of reads are left out: they can only concern the requested version, which is not the
    /// user's choice.
    fn report_warnings(&self, call: &ApiCall, headers: &HeaderMap) {
        for value in headers.get_all(header::WARNING) {
            let text = value.to_str().ok().and_then(warning);
            if let Some(text) = text.filter(|text| self.shared.is_new_warning(text)) {
                self.events().send(&Event::Warning { text, action: call.action.clone() });
            }
        }
    }
}

fn time_left(then: std::time::Instant) -> Duration {
    Instant::from(then).saturating_duration_since(Instant::now())
}

pub(super) async fn collect(context: RequestContext<'_>, body: Body) -> Result<Bytes, ApiError> {
    body.collect().await.map(Collected::to_bytes).map_err(|error| context.network_error(&error))
}

/// Returns the action and the server of a request.
pub(super) fn request_context<'a>(call: &'a ApiCall, line: &'a NumberedConnection) -> RequestContext<'a> {
    RequestContext { action: &call.action, server: &line.connection.route }
}
