//! Answers: objects, refusals, and pages of proxies.

use std::{
    error::Error,
    io,
    time::{Duration, SystemTime},
};

use http::{HeaderMap, StatusCode, header};
use manifest::{Map, Object, Value};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{ApiError, NetworkError, StatusCause, connect::CONNECT_TIMEOUT};

/// The number of characters of an invalid answer in a message.
const EXCERPT_CHARS: usize = 80;

/// The maximum of characters of a plain error text.
const MESSAGE_CHARS: usize = 500;
/// The maximum of characters of a message in a `Status`: rejections of large objects are long.
const STATUS_CHARS: usize = 16 * 1024;
/// The maximum of causes of a rejection.
const MAX_CAUSES: usize = 100;
const CREDENTIALS_REJECTED: &str = "the server rejected the credentials (wrong or expired)";

/// The action and the server of a request, for error messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestContext<'a> {
    pub(super) action: &'a str,
    pub(super) server: &'a str,
}

/// The relevant fields of a `Status` of a Kubernetes API server.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Refusal {
    kind: Option<String>,
    code: Option<u16>,
    reason: Option<String>,
    message: Option<String>,
    details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Details {
    causes: Option<Vec<RefusalCause>>,
    retry_after_seconds: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RefusalCause {
    field: Option<String>,
    message: Option<String>,
}

/// Parses an object.
pub(super) fn object(request: RequestContext<'_>, bytes: &[u8]) -> Result<Object, ApiError> {
    json::<Map<String, Value>>(request, bytes).map(Object::from_map)
}

/// Parses a successful answer.
pub(super) fn json<T: DeserializeOwned>(request: RequestContext<'_>, bytes: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(bytes).map_err(|error| {
        // An answer that looks like an object may be a Secret, and is not shown.
        let foreign = !bytes.trim_ascii_start().starts_with(b"{");
        let beginning =
            if foreign { format!("; the answer begins with {}", excerpt(bytes)) } else { String::new() };
        request.invalid_answer(200, format!("{error}{beginning}"))
    })
}

impl RequestContext<'_> {
    /// Parses an unsuccessful answer.
    pub(super) fn refusal(self, code: u16, headers: &HeaderMap, bytes: &[u8]) -> ApiError {
        let media =
            headers.get(header::CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or_default();
        let media = media.split(';').next().unwrap_or_default().trim();
        let refusal = match serde_json::from_slice::<Refusal>(bytes) {
            Ok(refusal) if refusal.kind.as_deref() == Some("Status") => refusal,
            // The server answers in plain text if no kind applies, or if it is overloaded.
            _ if matches!(media, "text/plain" | "") => plain_refusal(code, bytes),
            _ => {
                let problem = format!("status {code}, `{media}`, the answer begins with {}", excerpt(bytes));
                return self.invalid_answer(code, problem);
            }
        };
        self.status(refusal, code, retry_after(headers))
    }

    /// Parses an error event of a watch.
    pub(super) fn watch_error(self, event: Value) -> ApiError {
        match serde_json::from_value::<Refusal>(event) {
            Ok(refusal) => self.status(refusal, 500, None),
            Err(error) => self.invalid_answer(200, error.to_string()),
        }
    }

    fn status(self, refusal: Refusal, code: u16, retry_after: Option<Duration>) -> ApiError {
        let details = refusal.details.unwrap_or_default();
        let cut = |text: String| text.chars().take(STATUS_CHARS).collect::<String>();
        let causes =
            details.causes.unwrap_or_default().into_iter().take(MAX_CAUSES).map(|cause| StatusCause {
                field: cut(cause.field.unwrap_or_default()),
                message: cut(cause.message.unwrap_or_default()),
            });
        let request = details.retry_after_seconds.filter(|seconds| *seconds > 0).map(Duration::from_secs);
        let reason = refusal.reason.unwrap_or_default();
        let code = refusal.code.filter(|code| *code > 0).unwrap_or(code);
        let message = match refusal.message {
            // The server's own text for this error is not helpful.
            Some(message) if code == 401 && message == "Unauthorized" => CREDENTIALS_REJECTED.to_owned(),
            Some(message) if !message.is_empty() => cut(message),
            _ => format!("status {code} {reason}"),
        };
        ApiError::Status {
            action: self.action.to_owned(),
            code,
            message,
            reason,
            causes: causes.collect(),
            retry_after: retry_after.or(request),
        }
    }

    /// Returns the error of an unexpected answer.
    pub(super) fn invalid_answer(self, code: u16, problem: String) -> ApiError {
        let (action, server) = (self.action.to_owned(), self.server.to_owned());
        ApiError::InvalidAnswer { action, server, code, problem }
    }

    /// Returns the error of a missing answer with a known reason.
    pub(super) fn unreachable(self, unsent: bool, source: NetworkError) -> ApiError {
        let (action, server) = (self.action.to_owned(), self.server.to_owned());
        ApiError::Unreachable { action, server, unsent, source }
    }

    /// Returns the error of a timeout; the request may have taken effect.
    pub(super) fn timed_out(self, after: Duration) -> ApiError {
        self.unreachable(false, NetworkError::TimedOut { after })
    }

    /// Returns the error of a missing answer, with the reason from another error.
    pub(super) fn network_error(self, error: &(dyn Error + 'static)) -> ApiError {
        let chain = || std::iter::successors(Some(error), |error| inner(*error));
        let connecting = chain()
            .filter_map(|error| error.downcast_ref::<hyper_util::client::legacy::Error>())
            .any(hyper_util::client::legacy::Error::is_connect);
        let https = !self.server.starts_with("http://");
        let protocol = chain().any(|error| is_of_other_protocol(error, https));
        let protocol = protocol.then_some(NetworkError::Protocol { https });
        let why = protocol.or_else(|| chain().find_map(cause)).unwrap_or_else(|| NetworkError::Connection {
            problem: chain().last().map_or_else(String::new, ToString::to_string),
        });
        self.unreachable(connecting, why)
    }
}

/// Returns the cause of an error, also inside `io::Error`, whose `source` skips the wrapped error.
fn inner<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

/// True for the first bytes of a TLS server after HTTP, or of an HTTP server after TLS.
fn is_of_other_protocol(error: &(dyn Error + 'static), https: bool) -> bool {
    if https {
        return matches!(error.downcast_ref(), Some(rustls::Error::InvalidMessage(_)));
    }
    // The type only says that parsing failed.
    error.to_string() == "invalid HTTP version parsed"
}

fn cause(error: &(dyn Error + 'static)) -> Option<NetworkError> {
    if let Some(rustls::Error::InvalidCertificate(problem)) = error.downcast_ref() {
        return Some(NetworkError::Certificate { problem: certificate_problem(problem) });
    }
    // The type is private to the connector.
    if error.to_string() == "dns error" {
        return Some(NetworkError::UnknownHost);
    }
    let error: &io::Error = error.downcast_ref()?;
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Some(NetworkError::Refused),
        // The system may time out earlier, and then has its own error text.
        io::ErrorKind::TimedOut if error.raw_os_error().is_none() => {
            Some(NetworkError::TimedOut { after: CONNECT_TIMEOUT })
        }
        _ => None,
    }
}

fn certificate_problem(problem: &rustls::CertificateError) -> String {
    use rustls::CertificateError as Problem;
    match problem {
        Problem::UnknownIssuer => {
            "its issuer is not trusted; the kubeconfig names another certificate authority".into()
        }
        Problem::Expired | Problem::ExpiredContext { .. } => format!("it has expired ({problem})"),
        Problem::NotValidForName | Problem::NotValidForNameContext { .. } => {
            format!("it was issued for another host ({problem})")
        }
        other => other.to_string(),
    }
}

fn plain_refusal(code: u16, bytes: &[u8]) -> Refusal {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim();
    let reason = StatusCode::from_u16(code).ok().and_then(|code| code.canonical_reason()).unwrap_or_default();
    let message = (!text.is_empty()).then(|| text.chars().take(MESSAGE_CHARS).collect());
    Refusal { reason: Some(reason.replace(' ', "")), message, ..Refusal::default() }
}

/// Returns the wait that a server requests: a number of seconds, or a date. A date in the past means no wait.
/// Source: RFC 9110 §10.2.3.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = httpdate::parse_http_date(text).ok()?;
    Some(at.duration_since(SystemTime::now()).unwrap_or_default())
}

/// Returns the first words of a body, on one line.
fn excerpt(bytes: &[u8]) -> String {
    // Enough bytes for the maximum of characters.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(EXCERPT_CHARS * 4)]);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = line.chars().filter(|c| !c.is_control()).take(EXCERPT_CHARS).collect();
    if shown.is_empty() { "nothing".to_owned() } else { format!("`{shown}`") }
}

/// Returns the text of a warning header: `299 - "text"`.
/// Source: RFC 7234 §5.5; Kubernetes only sends code 299.
pub(super) fn warning(value: &str) -> Option<String> {
    let quoted = value.trim().strip_prefix("299 ")?.split_once('"')?.1;
    let mut text = String::new();
    let mut chars = quoted.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => return Some(text),
            '\\' => text.extend(chars.next()),
            c => text.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let request =
            |text: &str| retry_after(&HeaderMap::from_iter([(header::RETRY_AFTER, text.parse().unwrap())]));
        assert_eq!(request("7"), Some(Duration::from_secs(7)));
        assert_eq!(request("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        assert!(request("Fri, 31 Dec 9999 23:59:59 GMT").is_some_and(|wait| wait > Duration::from_hours(1)));
        assert_eq!(request("soon"), None);
    }
}
