//! Classification of failed requests.

use std::{
    error::Error as StdError,
    io,
    time::{Duration, SystemTime},
};

use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde::Deserialize;
use url::Url;

use crate::{Quota, RequestFailure, Timeouts, UntrustedCertificate, error::PROXY_REFUSED, tls::untrusted_in};

/// Reads the remaining quota from the headers of GitHub (`x-ratelimit-…`) and GitLab (`ratelimit-…`).
pub(super) fn quota(headers: &HeaderMap) -> Option<Quota> {
    let number = |name: &str| {
        let value =
            headers.get(format!("x-ratelimit-{name}")).or_else(|| headers.get(format!("ratelimit-{name}")));
        value?.to_str().ok()?.trim().parse::<u64>().ok()
    };
    Some(Quota { remaining: number("remaining")?, limit: number("limit"), resets_at: number("reset") })
}

/// Classifies a response without success.
/// Source: GitHub REST, "Rate limits": 403 or 429, with quota 0 for the primary limit, and with `Retry-After` or a
/// message for the secondary limit.
pub(super) fn status(status: u16, headers: &HeaderMap, quota: Option<Quota>, body: &[u8]) -> RequestFailure {
    let message = message(body);
    let retry_after = retry_after(headers);
    let used_up = quota.is_some_and(|quota| quota.remaining == 0);
    let says_so = message.as_ref().is_some_and(|message| message.to_ascii_lowercase().contains("rate limit"));
    match status {
        403 | 429 if used_up => RequestFailure::RateLimited { status, retry_after, secondary: false },
        403 if retry_after.is_some() || says_so => {
            RequestFailure::RateLimited { status, retry_after, secondary: true }
        }
        429 => RequestFailure::RateLimited { status, retry_after, secondary: true },
        401 | 403 | PROXY_REFUSED => RequestFailure::Unauthorized { status, message },
        _ => RequestFailure::Status { status, message },
    }
}

/// Reads the wait time that the host requests, as seconds or as a date. A date in the past means no wait.
/// Source: RFC 9110 §10.2.3.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = httpdate::parse_http_date(text).ok()?;
    Some(at.duration_since(SystemTime::now()).unwrap_or_default())
}

#[derive(Deserialize)]
struct ErrorBody {
    /// Of a registry.
    #[serde(default)]
    errors: Vec<RegistryError>,
    message: Option<serde_json::Value>,
    error: Option<serde_json::Value>,
    reason: Option<serde_json::Value>,
}

/// Source: OCI distribution specification 1.1, "Error codes".
#[derive(Deserialize)]
struct RegistryError {
    code: Option<serde_json::Value>,
    message: Option<serde_json::Value>,
}

impl ErrorBody {
    fn text(self) -> Option<serde_json::Value> {
        let of_registry = || self.errors.into_iter().find_map(|error| error.message.or(error.code));
        self.message.or(self.error).or(self.reason).or_else(of_registry)
    }
}

/// Returns one line of the error message. GitHub, GitLab, Lieutenant and registries send JSON; the text of a web page is
/// ignored.
fn message(body: &[u8]) -> Option<String> {
    let text = match serde_json::from_slice::<ErrorBody>(body) {
        Ok(answer) => match answer.text()? {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        },
        Err(_) => String::from_utf8_lossy(body).into_owned(),
    };
    let line = text.trim().lines().next()?.trim();
    let line: String = line.chars().filter(|c| !c.is_control()).take(200).collect();
    (!line.is_empty() && !line.starts_with('<') && !line.starts_with('{')).then_some(line)
}

/// Classifies a failure below HTTP. Only the innermost cause is kept, because the other causes contain addresses.
pub(super) fn transport(error: &(dyn StdError + 'static), url: &Url, timeouts: Timeouts) -> RequestFailure {
    let chain = CauseChain::of(error);
    let host = url.port_or_known_default().map_or_else(
        || url.host_str().unwrap_or_default().to_owned(),
        |port| format!("{}:{port}", url.host_str().unwrap_or_default()),
    );
    if let Some(untrusted) = chain.untrusted {
        return RequestFailure::Certificate { host, source: Box::new(untrusted) };
    }
    if chain.needs_client_certificate {
        return RequestFailure::ClientCertificateRequired { host };
    }
    let cause = || Box::<dyn StdError + Send + Sync>::from(chain.innermost.clone());
    if chain.tls {
        return RequestFailure::Tls { host, source: cause() };
    }
    // Of the request that asks a proxy for a connection.
    if chain.innermost.contains("proxy authorization required") {
        return RequestFailure::Unauthorized { status: PROXY_REFUSED, message: None };
    }
    if chain.timeout {
        return RequestFailure::TimedOut {
            waited: if chain.connect { timeouts.connect } else { timeouts.idle },
        };
    }
    if chain.unknown_host {
        return RequestFailure::UnknownHost { host, source: cause() };
    }
    if chain.connect || chain.connection_lost {
        return RequestFailure::Connect { host, source: cause() };
    }
    if chain.request {
        return RequestFailure::Truncated { received_bytes: 0, expected_bytes: None };
    }
    RequestFailure::Other(cause())
}

/// Facts from all causes of a failure.
#[derive(Default)]
struct CauseChain {
    untrusted: Option<UntrustedCertificate>,
    needs_client_certificate: bool,
    tls: bool,
    timeout: bool,
    connect: bool,
    unknown_host: bool,
    connection_lost: bool,
    request: bool,
    innermost: String,
}

impl CauseChain {
    fn of(error: &(dyn StdError + 'static)) -> Self {
        let mut chain = Self::default();
        let mut next = Some(error);
        while let Some(error) = next {
            chain.record(error);
            // An `io::Error` hides the wrapped error: its source is the source of the wrapped error.
            let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            next = match wrapped {
                Some(wrapped) => Some(wrapped as &(dyn StdError + 'static)),
                None => error.source(),
            };
            if next.is_none() {
                chain.innermost = error.to_string();
            }
        }
        chain
    }

    fn record(&mut self, error: &(dyn StdError + 'static)) {
        if let Some(error) = error.downcast_ref::<reqwest::Error>() {
            self.timeout |= error.is_timeout();
            self.connect |= error.is_connect();
            self.unknown_host |= error.is_dns();
            self.request |= error.is_request();
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
            self.connection_lost |=
                matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof);
        }
        self.tls |= error.is::<rustls::Error>();
        self.needs_client_certificate |=
            error.downcast_ref::<rustls::Error>().is_some_and(needs_client_certificate);
        if let Some(untrusted) = untrusted_in(error) {
            self.untrusted = Some(untrusted.clone());
        }
    }
}

/// True if the host sent a TLS alert about a missing or untrusted client certificate.
fn needs_client_certificate(error: &rustls::Error) -> bool {
    use rustls::AlertDescription::{BadCertificate, CertificateRequired, CertificateUnknown, UnknownCA};
    let rustls::Error::AlertReceived(alert) = error else { return false };
    matches!(alert, BadCertificate | CertificateRequired | CertificateUnknown | UnknownCA)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn read(code: u16, pairs: &[(&'static str, &str)], body: &str) -> RequestFailure {
        let headers = headers(pairs);
        status(code, &headers, quota(&headers), body.as_bytes())
    }

    #[test]
    fn the_message_of_a_registry_is_kept() {
        let message = |body: &str| match read(403, &[], body) {
            RequestFailure::Unauthorized { message, .. } => message,
            other => panic!("{other:?}"),
        };
        let denied = r#"{"errors":[{"code":"DENIED","message":"quota exceeded: 10GB","detail":null}]}"#;
        assert_eq!(message(denied).as_deref(), Some("quota exceeded: 10GB"));
        assert_eq!(message(r#"{"errors":[{"code":"DENIED"}]}"#).as_deref(), Some("DENIED"));
        assert_eq!(message(r#"{"errors":[]}"#), None);
    }

    #[test]
    fn an_exhausted_quota_differs_from_a_refusal_and_a_burst() {
        let primary =
            read(403, &[("x-ratelimit-remaining", "0")], r#"{"message":"API rate limit exceeded"}"#);
        assert!(matches!(
            primary,
            RequestFailure::RateLimited { status: 403, secondary: false, retry_after: None }
        ));
        let gitlab = read(429, &[("ratelimit-remaining", "0"), ("retry-after", "7")], "");
        let seven = Some(Duration::from_secs(7));
        assert!(
            matches!(gitlab, RequestFailure::RateLimited { secondary: false, retry_after, .. } if retry_after == seven)
        );
        let burst = read(
            403,
            &[("x-ratelimit-remaining", "42")],
            r#"{"message":"You exceeded a secondary rate limit."}"#,
        );
        assert!(matches!(burst, RequestFailure::RateLimited { secondary: true, .. }));
        let refused = read(403, &[], r#"{"message":"Resource not accessible by personal access token"}"#);
        assert!(matches!(refused, RequestFailure::Unauthorized { status: 403, .. }));
    }

    #[test]
    fn retry_after_may_be_a_date() {
        let retry_after = |text: &str| match read(429, &[("retry-after", text)], "") {
            RequestFailure::RateLimited { retry_after, .. } => retry_after,
            other => panic!("{other:?}"),
        };
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        assert!(
            retry_after("Fri, 31 Dec 9999 23:59:59 GMT").is_some_and(|wait| wait > Duration::from_hours(1))
        );
        assert_eq!(retry_after("soon"), None);
    }

    #[test]
    fn the_message_of_a_host_is_one_line_and_no_web_page() {
        let message = |body: &str| message(body.as_bytes());
        assert_eq!(message(r#"{"message":"Not Found"}"#).as_deref(), Some("Not Found"));
        assert_eq!(message(r#"{"error":"insufficient_scope"}"#).as_deref(), Some("insufficient_scope"));
        assert_eq!(message(r#"{"reason":"token is not valid"}"#).as_deref(), Some("token is not valid"));
        assert_eq!(message("bad\u{1b}[31m gateway\nmore").as_deref(), Some("bad[31m gateway"));
        assert_eq!(message("<html>login</html>"), None);
        assert_eq!(message(""), None);
    }
}
