//! Requests: method, path and body, and how they are sent with retries.

use std::{sync::atomic::Ordering, time::Duration};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderMap, HeaderValue, Method, Request, Response, header};
use http_body_util::{BodyExt as _, Collected};
use kube::client::Body;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::time::{Instant, timeout};

use super::{
    MAX_CONFIRMATION_AGE, Server, WriteGuard,
    redact::redact,
    response::{RequestContext, warning},
    shared::NumberedConnection,
};
use crate::{ApiError, ApiKind, Event, NetworkError, ObjectKey, RequestEffect, retry::RetryState};

/// Characters of a path segment, or of a query value, that need no encoding.
const URL_SAFE: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':');

pub(super) const JSON: &str = "application/json";
/// The size above which a small control plane needs more time for a body.
const LARGE_BYTES: usize = 256 * 1024;
/// The time limit of requests for a lease. A renewal must be retried soon, because the lease expires.
const LEASE_TIMEOUT: Duration = Duration::from_secs(10);

/// A request that can be sent repeatedly.
#[derive(Clone)]
pub(crate) struct ApiCall {
    /// The action for messages, such as `apply Deployment ns/name`.
    pub(crate) action: String,
    pub(super) method: Method,
    pub(super) path: String,
    query: String,
    pub(super) accept: &'static str,
    pub(super) body: Option<Payload>,
    /// True if the answer is a stream.
    pub(super) is_stream: bool,
    /// True if the body has secrets that must not be shown.
    pub(super) is_secret: bool,
    /// The effect on the cluster.
    pub(super) effect: RequestEffect,
}

/// The mode of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteMode {
    /// The server stores the result.
    #[default]
    Real,
    /// The server returns the result without storing it.
    DryRun,
}

#[derive(Clone)]
pub(super) struct Payload {
    pub(super) content_type: &'static str,
    pub(super) bytes: Bytes,
}

impl ApiCall {
    pub(crate) fn new(method: Method, action: impl Into<String>, path: impl Into<String>) -> Self {
        let effect = if method == Method::GET { RequestEffect::None } else { RequestEffect::Write };
        Self {
            action: action.into(),
            method,
            path: path.into(),
            query: String::new(),
            accept: JSON,
            body: None,
            is_stream: false,
            is_secret: false,
            effect,
        }
    }

    pub(crate) fn get(action: impl Into<String>, path: impl Into<String>) -> Self {
        Self::new(Method::GET, action, path)
    }

    /// Adds a parameter; an empty value adds nothing.
    pub(crate) fn with(mut self, key: &str, value: &str) -> Self {
        if !value.is_empty() {
            let separator = if self.query.is_empty() { '?' } else { '&' };
            self.query.push(separator);
            self.query.push_str(key);
            self.query.push('=');
            self.query.extend(utf8_percent_encode(value, URL_SAFE));
        }
        self
    }

    pub(crate) fn accept(mut self, accept: &'static str) -> Self {
        self.accept = accept;
        self
    }

    pub(crate) fn body(mut self, content_type: &'static str, bytes: Vec<u8>) -> Self {
        self.body = Some(Payload { content_type, bytes: bytes.into() });
        self
    }

    /// Marks a request as a read, whatever its method.
    pub(crate) fn read_only(mut self) -> Self {
        self.effect = RequestEffect::None;
        self
    }

    /// Marks a request for the lease itself.
    pub(crate) fn for_lease(mut self) -> Self {
        self.effect = RequestEffect::Lease;
        self
    }

    /// Marks a write as stored or as a dry run.
    pub(super) fn in_mode(self, mode: WriteMode) -> Self {
        match mode {
            WriteMode::Real => self,
            WriteMode::DryRun => self.with("dryRun", "All").read_only(),
        }
    }

    pub(super) fn streaming(mut self) -> Self {
        self.is_stream = true;
        self
    }

    /// Notes if the body is a Secret.
    pub(super) fn for_kind(mut self, kind: &ApiKind) -> Self {
        self.is_secret = kind.group.is_empty() && kind.kind == "Secret";
        self
    }

    /// Returns path and query.
    pub(super) fn target(&self) -> String {
        format!("{}{}", self.path, self.query)
    }

    pub(super) fn is_large(&self) -> bool {
        self.body.as_ref().is_some_and(|body| body.bytes.len() > LARGE_BYTES)
    }

    /// Returns the time limit of one try.
    pub(super) fn timeout(&self, usual: Duration) -> Duration {
        match self.effect {
            RequestEffect::Lease => usual.min(LEASE_TIMEOUT),
            _ if self.is_large() => usual * 4,
            _ => usual,
        }
    }
}

/// Returns the path of an object in one version of its kind. An empty name stands for all objects of the kind, an empty
/// namespace for all namespaces.
pub(crate) fn path(kind: &ApiKind, version: &str, namespace: &str, name: &str) -> String {
    let mut path = String::new();
    let mut push = |part: &str| {
        path.push('/');
        path.extend(utf8_percent_encode(part, URL_SAFE));
    };
    if kind.group.is_empty() {
        push("api");
    } else {
        push("apis");
        push(&kind.group);
    }
    push(version);
    if kind.namespaced && !namespace.is_empty() {
        push("namespaces");
        push(namespace);
    }
    push(&kind.plural);
    if !name.is_empty() {
        push(name);
    }
    path
}

/// Describes an action on an object.
pub(crate) fn action(verb: &str, kind: &ApiKind, namespace: &str, name: &str) -> String {
    let key = ObjectKey {
        group: kind.group.clone(),
        kind: kind.kind.clone(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    format!("{verb} {key}")
}

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
        self.wait_to_send(call).await?;
        let answer = timeout(limit, async {
            let response = self.open(call, &line).await?;
            collect(request_context(call, &line), response.into_body()).await
        });
        answer.await.unwrap_or_else(|_| Err(request_context(call, &line).timed_out(limit)))
    }

    /// Waits until a request may be sent, each time it is sent. This is the only place that checks the leases.
    ///
    /// Requests that read wait for former holders of the leases as well: what they write after a read would be missing in
    /// every decision that is based on it.
    pub(super) async fn wait_to_send(&self, call: &ApiCall) -> Result<(), ApiError> {
        if call.effect == RequestEffect::Lease {
            return Ok(());
        }
        self.shared.throttle.wait().await;
        if let WriteGuard::Leased(leases) = &self.write_guard {
            for lease in leases {
                lease.wait_for_former_holder().await;
            }
        }
        if call.effect != RequestEffect::Write {
            return Ok(());
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(group: &str, plural: &str, namespaced: bool) -> ApiKind {
        let (group, plural) = (group.to_owned(), plural.to_owned());
        ApiKind { group, version: "v1".into(), kind: "Thing".into(), plural, namespaced, verbs: Vec::new() }
    }

    #[test]
    fn paths_follow_the_kubernetes_api() {
        let (pods, roles, things) =
            (kind("", "pods", true), kind("rbac.x.io", "clusterroles", false), kind("x.io", "things", true));
        for (kind, namespace, name, expected) in [
            (&pods, "a", "b", "/api/v1/namespaces/a/pods/b"),
            (&pods, "a", "", "/api/v1/namespaces/a/pods"),
            (&pods, "", "", "/api/v1/pods"),
            (&roles, "", "system:node", "/apis/rbac.x.io/v1/clusterroles/system:node"),
            (&roles, "a", "x", "/apis/rbac.x.io/v1/clusterroles/x"),
            (&things, "a", "b/../c?d", "/apis/x.io/v1/namespaces/a/things/b%2F..%2Fc%3Fd"),
        ] {
            assert_eq!(path(kind, "v1", namespace, name), expected);
        }
    }

    #[test]
    fn parameters_are_escaped_and_empty_ones_omitted() {
        let call = ApiCall::get("x", "/api")
            .with("a", "")
            .with("labelSelector", "a=b,c in (d e)")
            .with("limit", "5");
        assert_eq!(call.target(), "/api?labelSelector=a%3Db%2Cc%20in%20%28d%20e%29&limit=5");
    }
}
