//! Sending of requests, with retries.

use std::{sync::atomic::Ordering, time::Duration};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderMap, Method, Request, Response, header};
use http_body_util::{BodyExt as _, Collected};
use kube::client::Body;
use tokio::time::{Instant, timeout};

use super::{
    FRESH, Server, Writes,
    answer::{Asked, warning},
    call::Call,
    conceal::conceal,
    shared::Line,
};
use crate::{ApiError, Effect, Event, NoAnswer, retry::Tries};

impl Server {
    /// Sends a request until it succeeds, fails permanently, or the time is over. The request must be repeatable.
    /// The future is boxed, so that crates above do not compile the path of a request again.
    pub(crate) fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Bytes, ApiError>> {
        Box::pin(async move {
            let mut tries = self.tries();
            loop {
                match self.once(call).await {
                    Ok(bytes) => return Ok(bytes),
                    Err(error) => self.pause(&mut tries, call, error).await?,
                }
            }
        })
    }

    pub(super) fn tries(&self) -> Tries {
        Tries::new(self.events().clone())
    }

    /// Pauses before another try, if there is one.
    pub(super) async fn pause(
        &self,
        tries: &mut Tries,
        call: &Call,
        error: ApiError,
    ) -> Result<(), ApiError> {
        let never_answered = !self.shared.answered.load(Ordering::Relaxed);
        match error {
            ApiError::Unreachable { unsent: true, .. }
            | ApiError::Unreachable { source: NoAnswer::TimedOut { .. }, .. }
                if never_answered =>
            {
                Err(error)
            }
            error => {
                let left = self.retry_until.map(|until| tries.elapsed() + until_then(until));
                let give_up_after = left.map_or(self.retry_for, |left| left.min(self.retry_for));
                tries.pause(&call.action, error, give_up_after).await
            }
        }
    }

    /// Sends a request once.
    pub(crate) fn once<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Bytes, ApiError>> {
        Box::pin(async move {
            // Requests that wait for the lease may hold all permits.
            let permit = async {
                self.shared.permits.acquire().await.expect("invariant: nobody closes the semaphore")
            };
            let _permit = if call.effect == Effect::Lease { None } else { Some(permit.await) };
            self.renewing(call, |line| self.exchange(call, line)).await
        })
    }

    /// Runs an attempt, and repeats it once on a new connection if the server rejects the credentials.
    pub(super) async fn renewing<T, F>(&self, call: &Call, attempt: impl Fn(Line) -> F) -> Result<T, ApiError>
    where
        F: Future<Output = Result<T, ApiError>>,
    {
        let line = self.shared.line();
        match attempt(line.clone()).await {
            Err(error) if error.code() == Some(401) => {
                let newer = self.shared.newer_than(&line).await.map_err(|error| ApiError::Credentials {
                    action: call.action.clone(),
                    source: Box::new(error),
                })?;
                attempt(newer).await
            }
            outcome => outcome,
        }
    }

    async fn exchange(&self, call: &Call, line: Line) -> Result<Bytes, ApiError> {
        let patience = call.patience(self.shared.settings.request_timeout);
        if call.effect != Effect::Lease {
            self.shared.gate.pass().await;
        }
        if call.effect == Effect::Write {
            self.may_write(call).await?;
        }
        let answer = timeout(patience, async {
            let response = self.open(call, &line).await?;
            collect(asked(call, &line), response).await
        });
        answer.await.unwrap_or_else(|_| Err(asked(call, &line).timed_out(patience)))
    }

    /// Checks the leases before every request that writes, each time it is sent. This is the only such place.
    async fn may_write(&self, call: &Call) -> Result<(), ApiError> {
        match self.writes {
            Writes::Refused => Err(ApiError::NoLease { action: call.action.clone() }),
            Writes::Unguarded | Writes::Under(_) => self.confirm_leases(&call.action, FRESH).await,
        }
    }

    /// Sends a request and returns a successful response without its body.
    pub(super) async fn open(&self, call: &Call, line: &Line) -> Result<Response<Body>, ApiError> {
        let response = self.request(call, line).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        let asked = asked(call, line);
        let (code, headers) = (response.status().as_u16(), response.headers().clone());
        let error = asked.refusal(code, &headers, &collect(asked, response).await?);
        if let (429, Some(time)) = (code, error.retry_after()) {
            self.shared.gate.close_for(time);
        }
        Err(conceal(error, call))
    }

    async fn request(&self, call: &Call, line: &Line) -> Result<Response<Body>, ApiError> {
        let asked = asked(call, line);
        let target = call.target();
        let request = format!("{} {target}", call.method);
        self.events().send(&Event::Requested { request, effect: call.effect });
        self.shared.requests.fetch_add(1, Ordering::Relaxed);
        let mut request =
            Request::builder().method(&call.method).uri(target).header(header::ACCEPT, call.accept);
        if let Some(headers) = request.headers_mut() {
            headers.extend(line.connected.headers.clone());
        }
        if call.is_stream {
            // Servers from 1.37 on compress events one by one, which the client does not decompress.
            request = request.header(header::ACCEPT_ENCODING, "identity");
        }
        if let Some(body) = &call.body {
            request = request.header(header::CONTENT_TYPE, body.content_type);
        }
        let body = call.body.as_ref().map_or_else(Body::empty, |body| body.bytes.clone().into());
        let request = request.body(body).map_err(|error| asked.lost(&error))?;
        let response =
            line.connected.clients.of(call.effect).send(request).await.map_err(|error| asked.lost(&error))?;
        self.shared.answered.store(true, Ordering::Relaxed);
        self.shared.note_date(response.headers());
        if call.method != Method::GET {
            self.warn(call, response.headers());
        }
        Ok(response)
    }

    /// Reports warnings. Warnings of reads are left out: they can only concern the requested version, which is not the
    /// user's choice.
    fn warn(&self, call: &Call, headers: &HeaderMap) {
        for value in headers.get_all(header::WARNING) {
            let text = value.to_str().ok().and_then(warning);
            if let Some(text) = text.filter(|text| self.shared.is_new_warning(text)) {
                self.events().send(&Event::Warning { text, action: call.action.clone() });
            }
        }
    }
}

fn until_then(then: std::time::Instant) -> Duration {
    Instant::from(then).saturating_duration_since(Instant::now())
}

async fn collect(asked: Asked<'_>, response: Response<Body>) -> Result<Bytes, ApiError> {
    let body = response.into_body().collect().await;
    body.map(Collected::to_bytes).map_err(|error| asked.lost(&error))
}

/// Returns the action and the server of a request.
pub(super) fn asked<'a>(call: &'a Call, line: &'a Line) -> Asked<'a> {
    Asked { action: &call.action, server: &line.connected.route }
}
