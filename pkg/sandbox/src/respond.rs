//! Responses: conversion of a verb's result to the format that the client requested.
//!
//! ```text
//! Accept ─► accept: JSON or YAML, whole or Table or metadata only
//!                     │
//! Answer ─► present ──┴─► Response<Body>     body: one text, many pieces, or a stream
//! ```

mod accept;
mod body;
mod presenter;

pub(crate) use accept::{Accepted, Representation, unknown_media_types};
pub use body::{Body, ConnectionCut};
pub(crate) use presenter::{Presenter, list_metadata};

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::Value;

use crate::status::Status;

pub(crate) fn text(code: u16, text: impl Into<Bytes>) -> Response<Body> {
    response(code, "text/plain; charset=utf-8", Body::from(text.into()))
}

/// Returns a response with one value, in the requested format.
pub(crate) fn value(accepted: &Accepted, code: u16, value: &Value) -> Response<Body> {
    let (content_type, text) = accepted.print(value);
    response(code, content_type, Body::from(Bytes::from(text)))
}

/// Returns an error response.
pub(crate) fn failure(accepted: &Accepted, status: &Status) -> Response<Body> {
    let mut response = value(accepted, status.code, &status.to_value());
    let seconds = status.details.as_ref().and_then(|details| details.retry_after_seconds).unwrap_or_default();
    if seconds > 0 {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Returns the response for unknown paths.
pub(crate) fn page_not_found() -> Response<Body> {
    let mut response = text(404, Bytes::from_static(b"404 page not found\n"));
    response.headers_mut().insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    response
}

pub(crate) fn response(code: u16, content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

/// The maximum number of warning characters per response. Beyond the limit, each warning is truncated. (A header map
/// takes at most 32,768 headers, and clients far fewer.)
const WARNINGS_LIMIT: usize = 4096;
/// The length of truncated warnings, in characters.
const WARNING_LIMIT: usize = 256;

/// Adds warnings to a response as `Warning: 299 - "…"`. If they are too long in total, each is truncated and the last
/// ones are dropped.
/// Source: apimachinery 1.36 `NewWarningHeader`: quotes and backslashes are escaped, control characters are dropped;
/// apiserver 1.36 `WithWarningRecorder`.
pub(crate) fn warn(response: &mut Response<Body>, warnings: &[String]) {
    let whole: usize = warnings.iter().map(|warning| warning.chars().count()).sum();
    let limit = if whole > WARNINGS_LIMIT { WARNING_LIMIT } else { WARNINGS_LIMIT };
    let mut reported = 0;
    for warning in warnings {
        if reported >= WARNINGS_LIMIT {
            return;
        }
        let mut value = String::from("299 - \"");
        reported += warning.chars().take(limit).count();
        for c in warning.chars().take(limit).filter(|c| !c.is_control()) {
            if matches!(c, '"' | '\\') {
                value.push('\\');
            }
            value.push(c);
        }
        value.push('"');
        // A header may contain every character above the control characters, as UTF-8.
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            response.headers_mut().append(header::WARNING, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(warnings: &[String]) -> Vec<usize> {
        let mut response = text(200, "");
        warn(&mut response, warnings);
        let headers = response.headers().get_all(header::WARNING);
        headers.iter().map(|value| value.len() - "299 - \"\"".len()).collect()
    }

    #[test]
    fn warnings_over_the_limit_are_truncated() {
        assert_eq!(reported(&["a".repeat(4000), "b".repeat(96)]), [4000, 96]);
        assert_eq!(reported(&["a".repeat(4000), "b".repeat(97), "c".repeat(3)]), [256, 97, 3]);
        let many: Vec<String> = (0..100_000).map(|number| format!("{number:08}")).collect();
        assert_eq!(reported(&many), vec![8; WARNINGS_LIMIT / 8]);
    }
}
