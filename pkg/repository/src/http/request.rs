use std::{sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use futures::FutureExt as _;
use octocrab::Octocrab;
use reqwest::{
    Response,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use url::Url;

use super::{classify, shown};
use crate::{BoxFuture, Context, Error, Event, Failure, Quota, RequestError, RetryReason, Secret};

/// A GET and how it is made.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) url: Url,
    pub(crate) accept: Option<&'static str>,
    /// Sent as bearer token to the host of `url`, and no further.
    pub(crate) credential: Option<Secret>,
    pub(crate) api: Api,
}

/// Who makes the request.
#[derive(Clone, Debug)]
pub(crate) enum Api {
    /// The HTTP client as it is.
    None,
    /// The GitHub API at this base, through octocrab.
    GitHub(Url),
}

/// What came back with a status of success.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) bytes: Bytes,
    pub(crate) headers: HeaderMap,
}

impl Request {
    /// A plain GET for a file.
    pub(crate) fn file(url: Url) -> Self {
        Self { url, accept: None, credential: None, api: Api::None }
    }

    /// A failure found in an answer that had arrived well.
    pub(crate) fn failed(&self, failure: Failure) -> Error {
        Error::Request(Arc::new(RequestError {
            url: shown(&self.url),
            failure,
            credential: self.credential.clone(),
            quota: None,
            proxy: None,
            attempts: 1,
        }))
    }
}

struct Failed {
    failure: Failure,
    quota: Option<Quota>,
}

/// Makes a request, again where that can help.
/// Boxed here once: the state of a request in flight is large, and every reader holds one.
/// # Errors
/// [`Error::Request`] with everything that is known; [`Error::Credential`] and the set-up failures of the client.
pub(crate) fn send<'a>(context: &'a Context, request: &'a Request) -> BoxFuture<'a, Result<Answer, Error>> {
    send_now(context, request).boxed()
}

async fn send_now(context: &Context, request: &Request) -> Result<Answer, Error> {
    if let Some(credential) = request.credential.as_ref().filter(|credential| !credential.fits_a_header()) {
        return Err(Error::Credential { credential: credential.clone() });
    }
    context.client()?;
    let url = shown(&request.url);
    let policy = &context.settings().retry;
    let mut waits = policy.waits.iter();
    let mut attempts = 1;
    loop {
        context.emit(&Event::RequestStarted { url: url.clone() });
        let outcome = once(context, request, &url).await;
        context.emit(&Event::RequestEnded { url: url.clone() });
        let Failed { failure, quota } = match outcome {
            Ok(answer) => return Ok(answer),
            Err(failed) => *failed,
        };
        let wait = waits.next().filter(|_| failure.may_pass());
        let Some(after) = wait.and_then(|wait| delay(&failure, *wait, policy.max_retry_after)) else {
            let proxy = context.settings().proxy.for_url(&request.url).map(|proxy| shown(&proxy));
            let credential = request.credential.clone();
            return Err(Error::Request(Arc::new(RequestError {
                url,
                failure,
                credential,
                quota,
                proxy,
                attempts,
            })));
        };
        context.emit(&Event::Retrying { url: url.clone(), why: reason(&failure), after });
        tokio::time::sleep(after).await;
        attempts += 1;
    }
}

/// How long to wait: what the host asks for, if that is bearable, else what the policy says.
fn delay(failure: &Failure, wait: Duration, max_retry_after: Duration) -> Option<Duration> {
    match failure {
        Failure::RateLimited { retry_after: Some(asked), .. } => {
            (*asked <= max_retry_after).then_some(*asked)
        }
        _ => Some(wait),
    }
}

fn reason(failure: &Failure) -> RetryReason {
    match failure {
        Failure::Status { status, .. } | Failure::RateLimited { status, .. } => RetryReason::Status(*status),
        Failure::Truncated { .. } => RetryReason::Truncated,
        _ => RetryReason::Connection,
    }
}

async fn once(context: &Context, request: &Request, shown: &str) -> Result<Answer, Box<Failed>> {
    let early = |failure| Box::new(Failed { failure, quota: None });
    let response = start(context, request).await.map_err(early)?;
    let (status, headers) = (response.status(), response.headers().clone());
    let quota = classify::quota(&headers);
    let late = |failure| Box::new(Failed { failure, quota });
    if !status.is_success() {
        let text = error_text(response).await;
        return Err(late(classify::status(status.as_u16(), &headers, quota, &text)));
    }
    let bytes = body(context, response, shown).await.map_err(late)?;
    if is_web_page(&headers, &bytes) {
        return Err(late(Failure::WebPage));
    }
    Ok(Answer { bytes, headers })
}

async fn start(context: &Context, request: &Request) -> Result<Response, Failure> {
    let client = context.client().map_err(|error| Failure::Other(Box::new(error)))?;
    let mut headers = HeaderMap::new();
    if let Some(accept) = request.accept {
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
    }
    let idle = context.settings().timeouts.idle;
    match &request.api {
        Api::None => {
            if let Some(credential) = &request.credential {
                headers.insert(AUTHORIZATION, bearer(credential)?);
            }
            let sent = client.get(request.url.clone()).headers(headers).send().await;
            sent.map_err(|error| classify::transport(&error, &request.url, context.settings().timeouts))
        }
        Api::GitHub(base) => {
            let octocrab = octocrab(client, base, request.credential.as_ref())?;
            // The client's read timeout starts with the first byte of an answer only where the client is asked directly.
            let sent =
                tokio::time::timeout(idle, octocrab._get_with_headers(request.url.as_str(), Some(headers)));
            match sent.await {
                Ok(Ok(response)) => Ok(Response::from(response.map(reqwest::Body::wrap))),
                Ok(Err(error)) => Err(classify::transport(&error, &request.url, context.settings().timeouts)),
                Err(_) => Err(Failure::TimedOut { waited: idle }),
            }
        }
    }
}

/// Made anew for each request: it keeps a task on the runtime it was made on, which may be gone by the next one.
fn octocrab(client: &reqwest::Client, base: &Url, credential: Option<&Secret>) -> Result<Octocrab, Failure> {
    let other = |error: octocrab::Error| Failure::Other(Box::new(error));
    let mut builder = Octocrab::builder().base_uri(base.as_str()).map_err(other)?;
    if let Some(credential) = credential {
        builder = builder.personal_token(credential.expose().to_owned());
    }
    builder.build_with_reqwest(client.clone()).map_err(other)
}

fn bearer(credential: &Secret) -> Result<HeaderValue, Failure> {
    let text = format!("Bearer {}", credential.expose());
    let mut value = HeaderValue::try_from(text).map_err(|error| Failure::Other(Box::new(error)))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Reads the body piece by piece, never past the limit.
async fn body(context: &Context, mut response: Response, shown: &str) -> Result<Bytes, Failure> {
    let limit_bytes = context.max_file_bytes();
    let expected_bytes = response.content_length();
    if expected_bytes.is_some_and(|length| length > limit_bytes) {
        return Err(Failure::TooLarge { limit_bytes });
    }
    let mut received = BytesMut::new();
    let mut first = None;
    loop {
        let received_bytes = received.len() as u64 + first.as_ref().map_or(0, Bytes::len) as u64;
        let chunk = match response.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) if expected_bytes.is_none_or(|length| length == received_bytes) => break,
            Err(error) if error.is_timeout() => {
                return Err(Failure::TimedOut { waited: context.settings().timeouts.idle });
            }
            Ok(None) | Err(_) => return Err(Failure::Truncated { received_bytes, expected_bytes }),
        };
        let received_bytes = received_bytes + chunk.len() as u64;
        if received_bytes > limit_bytes {
            return Err(Failure::TooLarge { limit_bytes });
        }
        let url = shown.to_owned();
        context.emit(&Event::Progress { url, received_bytes, total_bytes: expected_bytes });
        // Most files come in one piece, which is then not copied.
        match first.take() {
            None if received.is_empty() => first = Some(chunk),
            None => received.extend_from_slice(&chunk),
            Some(before) => {
                received.reserve(before.len() + chunk.len());
                received.extend_from_slice(&before);
                received.extend_from_slice(&chunk);
            }
        }
    }
    Ok(first.unwrap_or_else(|| received.freeze()))
}

/// The start of an answer that is no success, for its message; failures to read it are of no interest.
async fn error_text(mut response: Response) -> Vec<u8> {
    let mut text = Vec::new();
    while text.len() < 4096 {
        match response.chunk().await {
            Ok(Some(chunk)) => text.extend_from_slice(&chunk[..chunk.len().min(4096)]),
            _ => break,
        }
    }
    text
}

fn is_web_page(headers: &HeaderMap, bytes: &[u8]) -> bool {
    let says_so = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.to_ascii_lowercase().starts_with("text/html"));
    let start = bytes.trim_ascii_start();
    let looks_so = ["<!doctype html", "<html"]
        .iter()
        .any(|tag| start.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes())));
    looks_so || (says_so && start.starts_with(b"<"))
}
