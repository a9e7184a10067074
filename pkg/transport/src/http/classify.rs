//! Classification of failed requests.

use std::{
    error::Error as StdError,
    io,
    time::{Duration, SystemTime},
};

use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde::Deserialize;
use url::Url;

use crate::{Failure, Quota, Timeouts, UntrustedCertificate, tls::untrusted_in};

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
pub(super) fn status(status: u16, headers: &HeaderMap, quota: Option<Quota>, body: &[u8]) -> Failure {
    let message = message(body);
    let retry_after = retry_after(headers);
    let used_up = quota.is_some_and(|quota| quota.remaining == 0);
    let says_so = message.as_ref().is_some_and(|message| message.to_ascii_lowercase().contains("rate limit"));
    match status {
        403 | 429 if used_up => Failure::RateLimited { status, retry_after, secondary: false },
        403 if retry_after.is_some() || says_so => {
            Failure::RateLimited { status, retry_after, secondary: true }
        }
        429 => Failure::RateLimited { status, retry_after, secondary: true },
        401 | 403 => Failure::Unauthorized { status, message },
        _ => Failure::Status { status, message },
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
struct Said {
    message: Option<serde_json::Value>,
    error: Option<serde_json::Value>,
}

/// Returns one line of the error message. GitHub and GitLab send JSON; the text of a web page is ignored.
fn message(body: &[u8]) -> Option<String> {
    let text = match serde_json::from_slice::<Said>(body) {
        Ok(said) => match said.message.or(said.error)? {
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
pub(super) fn transport(error: &(dyn StdError + 'static), url: &Url, timeouts: Timeouts) -> Failure {
    let chain = Chain::of(error);
    let host = url.port_or_known_default().map_or_else(
        || url.host_str().unwrap_or_default().to_owned(),
        |port| format!("{}:{port}", url.host_str().unwrap_or_default()),
    );
    if let Some(untrusted) = chain.untrusted {
        return Failure::Certificate { host, source: Box::new(untrusted) };
    }
    if chain.wants_certificate {
        return Failure::WantsCertificate { host };
    }
    let cause = || Box::<dyn StdError + Send + Sync>::from(chain.innermost.clone());
    if chain.tls {
        return Failure::Tls { host, source: cause() };
    }
    if chain.timeout {
        return Failure::TimedOut { waited: if chain.connect { timeouts.connect } else { timeouts.idle } };
    }
    if chain.unknown_host {
        return Failure::UnknownHost { host, source: cause() };
    }
    if chain.connect || chain.lost {
        return Failure::Connect { host, source: cause() };
    }
    if chain.request {
        return Failure::Truncated { received_bytes: 0, expected_bytes: None };
    }
    Failure::Other(cause())
}

/// Facts from all causes of a failure.
#[derive(Default)]
struct Chain {
    untrusted: Option<UntrustedCertificate>,
    wants_certificate: bool,
    tls: bool,
    timeout: bool,
    connect: bool,
    unknown_host: bool,
    lost: bool,
    request: bool,
    innermost: String,
}

impl Chain {
    fn of(error: &(dyn StdError + 'static)) -> Self {
        let mut chain = Self::default();
        let mut next = Some(error);
        while let Some(error) = next {
            chain.note(error);
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

    fn note(&mut self, error: &(dyn StdError + 'static)) {
        if let Some(error) = error.downcast_ref::<reqwest::Error>() {
            self.timeout |= error.is_timeout();
            self.connect |= error.is_connect();
            self.unknown_host |= error.is_dns();
            self.request |= error.is_request();
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
            self.lost |=
                matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof);
        }
        self.tls |= error.is::<rustls::Error>();
        self.wants_certificate |= error.downcast_ref::<rustls::Error>().is_some_and(wants_certificate);
        if let Some(untrusted) = untrusted_in(error) {
            self.untrusted = Some(untrusted.clone());
        }
    }
}

/// True if the host sent a TLS alert about a missing or untrusted client certificate.
fn wants_certificate(error: &rustls::Error) -> bool {
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

    fn read(code: u16, pairs: &[(&'static str, &str)], body: &str) -> Failure {
        let headers = headers(pairs);
        status(code, &headers, quota(&headers), body.as_bytes())
    }

    #[test]
    fn a_used_up_quota_is_told_from_a_refusal_and_from_a_burst() {
        let primary =
            read(403, &[("x-ratelimit-remaining", "0")], r#"{"message":"API rate limit exceeded"}"#);
        assert!(matches!(primary, Failure::RateLimited { status: 403, secondary: false, retry_after: None }));
        let gitlab = read(429, &[("ratelimit-remaining", "0"), ("retry-after", "7")], "");
        let seven = Some(Duration::from_secs(7));
        assert!(
            matches!(gitlab, Failure::RateLimited { secondary: false, retry_after, .. } if retry_after == seven)
        );
        let burst = read(
            403,
            &[("x-ratelimit-remaining", "42")],
            r#"{"message":"You exceeded a secondary rate limit."}"#,
        );
        assert!(matches!(burst, Failure::RateLimited { secondary: true, .. }));
        let refused = read(403, &[], r#"{"message":"Resource not accessible by personal access token"}"#);
        assert!(matches!(refused, Failure::Unauthorized { status: 403, .. }));
    }

    #[test]
    fn a_host_may_ask_for_a_wait_by_a_date() {
        let asked = |text: &str| match read(429, &[("retry-after", text)], "") {
            Failure::RateLimited { retry_after, .. } => retry_after,
            other => panic!("{other:?}"),
        };
        assert_eq!(asked("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        assert!(asked("Fri, 31 Dec 9999 23:59:59 GMT").is_some_and(|wait| wait > Duration::from_hours(1)));
        assert_eq!(asked("soon"), None);
    }

    #[test]
    fn the_message_of_a_host_is_one_clean_line_and_never_a_web_page() {
        let said = |body: &str| message(body.as_bytes());
        assert_eq!(said(r#"{"message":"Not Found"}"#).as_deref(), Some("Not Found"));
        assert_eq!(said(r#"{"error":"insufficient_scope"}"#).as_deref(), Some("insufficient_scope"));
        assert_eq!(said("bad\u{1b}[31m gateway\nmore").as_deref(), Some("bad[31m gateway"));
        assert_eq!(said("<html>login</html>"), None);
        assert_eq!(said(""), None);
    }
}
