//! Addresses in `Chart.yaml`.

use std::sync::LazyLock;

use regex::Regex;

static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
    const ATOM: &str = r"[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+";
    const LABEL: &str = r"[\p{L}\p{N}](?:[\p{L}\p{N}_~-]*[\p{L}\p{N}])?";
    Regex::new(&format!(r"^{ATOM}(?:\.{ATOM})*@{LABEL}(?:\.{LABEL})+\.?$"))
        .expect("invariant: a valid pattern")
});

static URL: LazyLock<Regex> = LazyLock::new(|| {
    const LABEL: &str = r"[\p{L}\p{N}_](?:[\p{L}\p{N}_-]*[\p{L}\p{N}_])?";
    Regex::new(&format!(
        r"^(?:(?:ftp|tcp|udp|wss?|https?)://)?(?:\S+(?::\S*)?@)?(?:localhost|\[[0-9a-fA-F:.]+\]|{LABEL}(?:\.{LABEL})+)(?::\d{{1,5}})?(?:[/?#]\S*)?$"
    ))
    .expect("invariant: a valid pattern")
});

/// True for an email address with a domain.
pub(super) fn is_email(text: &str) -> bool {
    EMAIL.is_match(text)
}

/// True for a URL of a host, with or without its scheme.
pub(super) fn is_url(text: &str) -> bool {
    (4..2083).contains(&text.chars().count()) && URL.is_match(text)
}

/// True for a text with a scheme that an HTTP client can request.
pub(super) fn is_request_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    let host = rest.strip_prefix("//").map(|rest| rest.split(['/', '?']).next().unwrap_or_default());
    let is_host = |host: &str| !host.contains([' ', '<', '>', '"', '\\', '^', '`', '{', '|', '}']);
    is_scheme
        && !text.chars().any(|c| c.is_ascii_control())
        && host.is_none_or(is_host)
        && has_valid_escapes(rest)
}

/// True if two hexadecimal digits follow every `%`.
fn has_valid_escapes(text: &str) -> bool {
    let escapes = text.split('%').skip(1);
    let is_digit = |byte: &u8| byte.is_ascii_hexdigit();
    escapes.map(str::as_bytes).all(|escape| escape.len() >= 2 && escape[..2].iter().all(is_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_judged_as_helm_judges_them() {
        for good in ["a@b.example", "a.b+c@sub.example.org"] {
            assert!(is_email(good), "{good}");
        }
        for bad in ["a", "a@b", "a b@c.org", "@c.org", "a@c..org"] {
            assert!(!is_email(bad), "{bad}");
        }
        for good in ["https://example.org/a?b#c", "example.org", "http://localhost:80", "http://1.2.3.4/"] {
            assert!(is_url(good), "{good}");
        }
        for bad in ["web", "https://", "https://a b.org", "example"] {
            assert!(!is_url(bad), "{bad}");
        }
        for good in ["https://example.org/a", "mailto:x", "git://h/p", "https://"] {
            assert!(is_request_url(good), "{good}");
        }
        for bad in ["example.org/a", "/path", "", "https://a b/", "1x://a", "https://a/%zz"] {
            assert!(!is_request_url(bad), "{bad}");
        }
    }
}
