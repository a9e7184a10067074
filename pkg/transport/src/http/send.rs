//! Sends requests, with retries after temporary failures.

use std::{io, slice, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{
    FutureExt as _,
    future::{self, BoxFuture},
};
use http_body::Frame;
use http_body_util::StreamBody;
use reqwest::{
    Body, Method, Response, StatusCode,
    header::{AUTHORIZATION, CONTENT_LENGTH, WWW_AUTHENTICATE},
};
use url::Url;

use super::{
    classify,
    receive::{ReceiveError, error_text, receive},
    redirect::Hop,
    request::{Request, RequestBody, ResponseHead},
};
use crate::{
    Context, Credential, Error, Event, Quota, RequestError, RequestFailure, RetryReason,
    address::redact_url,
    disk::SharedFile,
    http::sink::{BodySink, MemorySink},
};

/// The number of bytes that are read from a file and sent at once.
const PIECE_BYTES: usize = 64 * 1024;

/// Sends a request and returns the body of the response. The size limit of a file applies.
/// # Errors
/// Errors of [`receive_into`].
pub fn send<'a>(context: &'a Context, request: &'a Request) -> BoxFuture<'a, Result<Bytes, Error>> {
    async move {
        let mut sink = MemorySink::default();
        receive_into(context, request, &mut sink, context.max_file_bytes()).await?;
        Ok(sink.finish())
    }
    .boxed()
}

/// Sends a request and passes the response to the sink piece by piece, up to `limit_bytes`.
///
/// The future is boxed here, because the state of a request is large and every reader holds one.
/// # Errors
/// [`Error::Offline`] if connections are forbidden; [`Error::Request`] with all known facts; [`Error::Credential`],
/// setup errors of the client, and errors of the sink.
pub fn receive_into<'a>(
    context: &'a Context,
    request: &'a Request,
    sink: &'a mut dyn BodySink,
    limit_bytes: u64,
) -> BoxFuture<'a, Result<ResponseHead, Error>> {
    send_with_retries(context, request, sink, limit_bytes).boxed()
}

struct FailedAttempt {
    failure: RequestFailure,
    /// The address that failed, and the credential sent to it.
    url: Url,
    credential: Option<Credential>,
    quota: Option<Quota>,
    challenge: Option<String>,
}

/// The outcome of an attempt without a usable response.
enum AttemptError {
    Failed(Box<FailedAttempt>),
    Sink(Error),
}

async fn send_with_retries(
    context: &Context,
    request: &Request,
    sink: &mut dyn BodySink,
    limit_bytes: u64,
) -> Result<ResponseHead, Error> {
    let url = redact_url(&request.url);
    context.check_network(&url)?;
    if let Some(credential) = request.credential.as_ref().filter(|credential| credential.header().is_none()) {
        return Err(Error::Credential { credential: credential.clone() });
    }
    context.client(&request.url, request.keeps_encoding)?;
    let mut waits = context.settings().retry.waits.iter();
    let mut attempts = 1;
    loop {
        context.emit(&Event::RequestStarted { url: url.clone() });
        let outcome = send_once(context, request, &url, sink, limit_bytes).await;
        context.emit(&Event::RequestEnded { url: url.clone() });
        let FailedAttempt { failure, url: answered, credential, quota, challenge } = match outcome {
            Ok(head) => return Ok(head),
            Err(AttemptError::Sink(error)) => return Err(error),
            Err(AttemptError::Failed(failed)) => *failed,
        };
        let may_retry = !request.is_single_use && wait_for_retry(context, &url, &failure, &mut waits).await;
        if !may_retry {
            let proxy = context.proxy(&answered).map(|proxy| redact_url(&proxy));
            let is_other = answered.origin() != request.url.origin();
            return Err(Error::Request(Arc::new(RequestError {
                action: request.action,
                url,
                failure,
                credential,
                redirected_to: is_other.then(|| answered.origin().ascii_serialization()),
                quota,
                proxy,
                challenge,
                attempts,
            })));
        }
        attempts += 1;
    }
}

/// Waits before the next attempt. False if the failure is not temporary, or no attempt is left.
pub(crate) async fn wait_for_retry(
    context: &Context,
    url: &str,
    failure: &RequestFailure,
    waits: &mut slice::Iter<'_, Duration>,
) -> bool {
    let wait = waits.next().filter(|_| failure.is_temporary());
    let max_retry_after = context.settings().retry.max_retry_after;
    let Some(after) = wait.and_then(|wait| delay(failure, *wait, max_retry_after)) else { return false };
    context.emit(&Event::Retrying { url: url.to_owned(), reason: retry_reason(failure), after });
    tokio::time::sleep(after).await;
    true
}

/// Returns the wait time before a retry. None if the host requests a longer wait than the limit.
fn delay(failure: &RequestFailure, wait: Duration, max_retry_after: Duration) -> Option<Duration> {
    match failure {
        RequestFailure::RateLimited { retry_after: Some(delay), .. } => {
            (*delay <= max_retry_after).then_some(*delay)
        }
        _ => Some(wait),
    }
}

fn retry_reason(failure: &RequestFailure) -> RetryReason {
    match failure {
        RequestFailure::Status { status, .. } | RequestFailure::RateLimited { status, .. } => {
            RetryReason::Status(*status)
        }
        RequestFailure::Truncated { .. } => RetryReason::Truncated,
        _ => RetryReason::Connection,
    }
}

async fn send_once(
    context: &Context,
    request: &Request,
    shown: &str,
    sink: &mut dyn BodySink,
    limit_bytes: u64,
) -> Result<ResponseHead, AttemptError> {
    let mut hop = Hop::first(request);
    let response = follow_redirects(context, request, &mut hop).await;
    let failed = |failure, quota, challenge| {
        let (url, credential) = (hop.url.clone(), hop.credential.cloned());
        AttemptError::Failed(Box::new(FailedAttempt { failure, url, credential, quota, challenge }))
    };
    let response = response.map_err(|failure| failed(failure, None, None))?;
    let (status, headers) = (response.status(), response.headers().clone());
    let quota = classify::quota(&headers);
    if status == StatusCode::NOT_MODIFIED && request.is_conditional() {
        return Ok(ResponseHead { status, headers });
    }
    // The headers of a response to HEAD describe a body that does not follow.
    if status.is_success() && request.method == Method::HEAD {
        return Ok(ResponseHead { status, headers });
    }
    if !status.is_success() {
        let challenge =
            headers.get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let text = error_text(response, context.settings().timeouts.idle).await;
        return Err(failed(classify::status(status.as_u16(), &headers, quota, &text), quota, challenge));
    }
    match receive(context, response, shown, limit_bytes, sink).await {
        Ok(()) => Ok(ResponseHead { status, headers }),
        Err(ReceiveError::Failure(failure)) => Err(failed(failure, quota, None)),
        Err(ReceiveError::Sink(error)) => Err(AttemptError::Sink(error)),
    }
}

/// Sends the request and follows redirects until a response is final. `hop` becomes the last request.
async fn follow_redirects<'r>(
    context: &Context,
    request: &'r Request,
    hop: &mut Hop<'r>,
) -> Result<Response, RequestFailure> {
    loop {
        let response = send_hop(context, request, hop).await?;
        match hop.next(&response)? {
            Some(next) => *hop = next,
            None => return Ok(response),
        }
    }
}

async fn send_hop(context: &Context, request: &Request, hop: &Hop<'_>) -> Result<Response, RequestFailure> {
    let client = context
        .client(&hop.url, request.keeps_encoding)
        .map_err(|error| RequestFailure::Other(Box::new(error)))?;
    let mut headers = request.headers.clone();
    if let Some(value) = hop.credential.and_then(Credential::header) {
        headers.insert(AUTHORIZATION, value);
    }
    let mut builder = client.request(hop.method.clone(), hop.url.clone()).headers(headers);
    builder = match &request.body {
        _ if !hop.has_body => builder,
        RequestBody::None => builder,
        RequestBody::Bytes(bytes) => builder.body(bytes.clone()),
        RequestBody::Part { file, offset, size_bytes } => {
            let pieces = pieces_of(file.clone(), *offset, *size_bytes);
            builder.header(CONTENT_LENGTH, *size_bytes).body(pieces)
        }
    };
    let timeouts = context.settings().timeouts;
    builder.send().await.map_err(|error| classify::transport(&error, &hop.url, timeouts))
}

/// Returns a part of a file as a body that is read piece by piece.
fn pieces_of(file: SharedFile, offset: u64, size_bytes: u64) -> Body {
    let end = offset + size_bytes;
    let pieces = futures::stream::try_unfold(offset, move |offset| {
        let next = || {
            let wanted = usize::try_from(end - offset).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
            let mut piece = vec![0; wanted];
            file.read_at(offset, &mut piece)?;
            Ok::<_, io::Error>(
                (wanted > 0).then(|| (Frame::data(Bytes::from(piece)), offset + wanted as u64)),
            )
        };
        future::ready(next())
    });
    Body::wrap(StreamBody::new(pieces))
}
