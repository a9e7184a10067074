//! Receives response bodies piece by piece.

use std::time::Duration;

use bytes::Bytes;
use reqwest::{
    Response,
    header::{CONTENT_TYPE, HeaderMap},
};
use tokio::time::{Instant, timeout};

use crate::{Context, Error, Event, RequestFailure, http::sink::BodySink};

/// The reason for an incomplete response.
pub(super) enum ReceiveError {
    /// A failure of the host or the connection.
    Failure(RequestFailure),
    /// A failure of the sink.
    Sink(Error),
}

impl From<RequestFailure> for ReceiveError {
    fn from(failure: RequestFailure) -> Self {
        Self::Failure(failure)
    }
}

/// The minimum transfer rate. At a lower rate, even the smallest release takes minutes.
/// The rate also limits the duration of a download: at most the size limit divided by this rate.
const MIN_BYTES_PER_SECOND: u64 = 1024;

/// Measures the transfer rate in consecutive windows. A window is as long as the idle timeout.
struct RateMonitor {
    window: Duration,
    started_at: Instant,
    received_bytes: u64,
}

impl RateMonitor {
    fn new(window: Duration) -> Self {
        Self { window, started_at: Instant::now(), received_bytes: 0 }
    }

    /// Adds a piece.
    /// # Errors
    /// [`RequestFailure::TooSlow`] at the end of a window with too few bytes.
    fn count(&mut self, piece: &Bytes) -> Result<(), RequestFailure> {
        self.received_bytes += piece.len() as u64;
        let elapsed = self.started_at.elapsed();
        if elapsed < self.window {
            return Ok(());
        }
        let received_bytes = self.received_bytes;
        if received_bytes < elapsed.as_secs().saturating_mul(MIN_BYTES_PER_SECOND) {
            return Err(RequestFailure::TooSlow { received_bytes, elapsed });
        }
        *self = Self::new(self.window);
        Ok(())
    }
}

/// Reads the body piece by piece, up to the limit.
pub(super) async fn receive(
    context: &Context,
    mut response: Response,
    shown: &str,
    limit_bytes: u64,
    sink: &mut dyn BodySink,
) -> Result<(), ReceiveError> {
    let expected_bytes = response.content_length();
    if expected_bytes.is_some_and(|length| length > limit_bytes) {
        return Err(RequestFailure::TooLarge { limit_bytes }.into());
    }
    sink.begin().map_err(ReceiveError::Sink)?;
    let (mut received_bytes, mut pace) = (0, RateMonitor::new(context.settings().timeouts.idle));
    loop {
        let piece = match response.chunk().await {
            Ok(Some(piece)) => piece,
            Ok(None) if expected_bytes.is_none_or(|length| length == received_bytes) => return Ok(()),
            Err(error) if error.is_timeout() => {
                return Err(RequestFailure::TimedOut { waited: context.settings().timeouts.idle }.into());
            }
            Ok(None) | Err(_) => {
                return Err(RequestFailure::Truncated { received_bytes, expected_bytes }.into());
            }
        };
        if received_bytes == 0 && is_web_page(response.headers(), &piece) {
            return Err(RequestFailure::WebPage.into());
        }
        received_bytes += piece.len() as u64;
        if received_bytes > limit_bytes {
            return Err(RequestFailure::TooLarge { limit_bytes }.into());
        }
        let url = shown.to_owned();
        context.emit(&Event::Progress { url, received_bytes, total_bytes: expected_bytes });
        if expected_bytes != Some(received_bytes) {
            pace.count(&piece)?;
        }
        sink.take(piece).map_err(ReceiveError::Sink)?;
    }
}

/// Reads the start of an error response for its message, within the time limit. Read failures are ignored.
pub(super) async fn error_text(mut response: Response, limit: Duration) -> Vec<u8> {
    let mut text = Vec::new();
    let read = async {
        while text.len() < 4096 {
            match response.chunk().await {
                Ok(Some(chunk)) => text.extend_from_slice(&chunk[..chunk.len().min(4096)]),
                _ => break,
            }
        }
    };
    let _ = timeout(limit, read).await;
    text
}

/// The maximum size of comments and declarations before the tag of a web page.
const PROLOGUE_BYTES: usize = 1024;

/// True if a response is a web page. The first piece suffices, because it is longer than a tag.
fn is_web_page(headers: &HeaderMap, start: &[u8]) -> bool {
    let says_so = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.to_ascii_lowercase().starts_with("text/html"));
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let prologue = start.get(..PROLOGUE_BYTES).unwrap_or(start);
    let has = |tag: &str| prologue.windows(tag.len()).any(|at| at.eq_ignore_ascii_case(tag.as_bytes()));
    start.starts_with(b"<") && (says_so || has("<!doctype html") || has("<html"))
}
