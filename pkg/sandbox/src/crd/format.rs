//! Validation of text formats.
//!
//! Source: kube-openapi `pkg/validation/strfmt` as of kube-apiserver 1.36. Differs: e-mail addresses and URIs are
//! checked with a simpler grammar than that of Go's `net/mail` and `net/url`.

use std::{net::IpAddr, sync::LazyLock};

use jiff::civil::Date;
use regex::Regex;

use crate::meta::is_dns_label;

/// True if a text has a format. Accepts any text for unknown formats and for formats that no provider uses (ISBNs,
/// colors, versions of UUIDs and similar).
pub(super) fn matches(format: &str, text: &str) -> bool {
    match format.replace('-', "").as_str() {
        "datetime" => is_date_time(text),
        "date" => is_date(text),
        "duration" => is_duration(text),
        "ipv4" => parse_ip(text).is_some() && text.contains('.'),
        "ipv6" => text.parse::<IpAddr>().is_ok() && text.contains(':'),
        "cidr" => is_cidr(text),
        "mac" => is_mac(text),
        "uri" => is_uri(text),
        "email" => is_email(text),
        "hostname" => {
            text.len() <= 255 && HOSTNAME.is_match(text) && text.split('.').all(|label| label.len() <= 63)
        }
        "k8sshortname" => text.len() <= 63 && is_dns_label(text),
        "k8slongname" => text.len() <= 253 && text.split('.').all(is_dns_label),
        "uuid" => UUID.is_match(text),
        "byte" => BASE64.is_match(text),
        _ => true,
    }
}

macro_rules! expressions {
    ($($name:ident = $text:expr;)*) => {
        $(static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($text).expect("a constant expression"));)*
    };
}

expressions! {
    HOSTNAME = r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.))+([a-zA-Z\p{L}]){2,63})$";
    UUID = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
    BASE64 = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$";
    TIME = "^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$";
    DURATION = r"^[-+]?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$";
    LONG_DURATION = r"([0-9]+)\s*([A-Za-zµ]+)";
    EMAIL = r"^[^\s@<>(),:;\\\x22\[\]]+@[^\s@<>(),:;\\\x22]+$";
    URI = r"^[A-Za-z][A-Za-z0-9+.\-]*:(//(?:[^/?#\s@]*@)?(\[[0-9A-Fa-f:.%]+\]|[^/?#\s\[\]<>\x22:%]*)(:[0-9]*)?([/?#].*)?|[^/].*|/[^/].*|/)$";
}

fn is_date(text: &str) -> bool {
    let shape = text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(i, c)| if matches!(i, 4 | 7) { c == b'-' } else { c.is_ascii_digit() });
    let part = |range: std::ops::Range<usize>| text[range].parse::<i16>().unwrap_or_default();
    let small = |range| i8::try_from(part(range)).unwrap_or_default();
    shape && Date::new(part(0..4), small(5..7), small(8..10)).is_ok()
}

fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    let Some(found) = TIME.captures(time) else { return false };
    is_date(date) && &found[1] <= "23" && &found[2] <= "59" && &found[3] <= "59"
}

/// Accepts a Go duration (`1h30m`) or a text that contains a duration in words (`3 days`).
fn is_duration(text: &str) -> bool {
    const FULL: [&str; 15] =
        ["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk", "nano", "micro", "milli", "sec"];
    const STARTS: [&str; 8] = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
    if DURATION.is_match(text) {
        return true;
    }
    let mut found = false;
    for part in LONG_DURATION.captures_iter(text) {
        if part[1].parse::<i64>().is_err() {
            return false;
        }
        let unit = part[2].to_lowercase();
        found |= FULL.contains(&unit.as_str()) || STARTS.iter().any(|start| unit.starts_with(start));
    }
    found
}

/// Parses an address whose numbers may have leading zeros, as old versions of Go do.
fn parse_ip(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse().ok();
    }
    let part = |part: &str| {
        let trimmed = part.trim_start_matches('0');
        if trimmed.is_empty() && !part.is_empty() { "0".to_owned() } else { trimmed.to_owned() }
    };
    text.split('.').map(part).collect::<Vec<_>>().join(".").parse().ok()
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let Some(address) = parse_ip(address) else { return false };
    let digits = !length.is_empty() && length.bytes().all(|c| c.is_ascii_digit());
    digits && length.parse::<u32>().is_ok_and(|length| length <= if address.is_ipv4() { 32 } else { 128 })
}

fn is_mac(text: &str) -> bool {
    let (separator, width) = match text.find([':', '-', '.']) {
        Some(at) if &text[at..=at] == "." => (".", 4),
        Some(at) => (&text[at..=at], 2),
        None => return false,
    };
    let groups: Vec<&str> = text.split(separator).collect();
    let hex = |group: &&str| group.len() == width && group.bytes().all(|c| c.is_ascii_hexdigit());
    groups.iter().all(hex) && [6, 8, 20].contains(&(groups.len() * width / 2))
}

/// Accepts an absolute URI or an absolute path.
fn is_uri(text: &str) -> bool {
    if text.chars().any(|c| c.is_ascii_control()) {
        return false;
    }
    let path = text.split('?').next().unwrap_or_default();
    let mut escapes = path.split('%').skip(1);
    let escaped = escapes.all(|rest| rest.len() >= 2 && rest.bytes().take(2).all(|c| c.is_ascii_hexdigit()));
    escaped && (text.starts_with('/') || URI.is_match(text))
}

fn is_email(text: &str) -> bool {
    let text = text.trim();
    let address = match (text.find('<'), text.strip_suffix('>')) {
        (Some(start), Some(inner)) => &inner[start + 1..],
        _ => text,
    };
    EMAIL.is_match(address)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn invalid_strings_of_each_format_are_detected() {
        for (format, good, bad) in [
            ("date-time", "2026-01-02T03:04:05Z", "2026-01-02"),
            ("date-time", "2026-01-02t03:04:05.123+01:00", "2026-02-30T00:00:00Z"),
            ("date", "2024-02-29", "2023-02-29"),
            ("duration", "1h30m", "abc"),
            ("duration", "3 days", "3 parsecs"),
            ("ipv4", "010.0.0.1", "10.0.0"),
            ("ipv6", "::1", "10.0.0.1"),
            ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
            ("mac", "01:23:45:67:89:ab", "01:23"),
            ("mac", "0123.4567.89ab", "0123:4567:89ab"),
            ("uri", "http://foobar.com/t?x#y", "foobar.com"),
            ("uri", "mailto:someone@example.com", "./rel"),
            ("uri", "/abs/path", "http://a b/"),
            ("email", "a@b.c", "a.b"),
            ("hostname", "a-b.example.com", "a_b"),
            ("uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "1"),
            ("byte", "aGVsbG8=", "???"),
            ("k8s-short-name", "a-b", "a.b"),
            ("k8s-long-name", "a.b-c", "A"),
        ] {
            assert!(matches(format, good), "{good} is of format {format}");
            assert!(!matches(format, bad), "{bad} is not of format {format}");
        }
    }

    #[test]
    fn an_unknown_format_accepts_every_string() {
        assert!(matches("zork", "anything"));
    }
}
