//! Helpers for addresses: redaction, host names and percent escapes.

use percent_encoding::percent_decode_str;
use url::{Host, Url};

/// Returns a URL without user name and password, and with masked query values. Harmless query values stay.
pub fn redact_url(url: &Url) -> String {
    let mut shown = url.clone();
    // Both calls fail only for URLs that cannot have a user.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    if url.query().is_some() {
        let pairs: Vec<_> = url
            .query_pairs()
            .map(|(key, value)| if is_harmless(&key) { (key, value) } else { (key, "***".into()) })
            .collect();
        shown.query_pairs_mut().clear().extend_pairs(pairs);
    }
    shown.into()
}

/// True if a URL contains a user, a password or a query value that must not be shown or stored.
pub fn has_secret(url: &Url) -> bool {
    let has_user = !url.username().is_empty() || url.password().is_some();
    has_user || url.query_pairs().any(|(key, _)| !is_harmless(&key))
}

fn is_harmless(key: &str) -> bool {
    matches!(key, "page" | "per_page" | "ref" | "n" | "last")
}

/// Returns an address without user name and password, and with masked query values. The path stays unchanged.
pub fn redact_text(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    if let Ok(url) = Url::parse(url) {
        return redact_url(&url);
    }
    let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, "?***"));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}{query}")
}

/// Returns the host of a URL, with the port unless it is the default port of the scheme.
/// Aliases of github.com (such as its API host) count as github.com; the registry host of Docker Hub counts as
/// docker.io.
pub fn authority(url: &Url) -> String {
    let host = match url.host_str().unwrap_or_default() {
        "api.github.com" | "www.github.com" => "github.com",
        "registry-1.docker.io" => "docker.io",
        host => host,
    };
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// True if the URL points to this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.trim_end_matches('.') == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Decodes percent escapes. Returns the text unchanged if an escape is broken or the result is not UTF-8.
pub fn percent_decode(text: &str) -> String {
    let is_escape = |rest: &str| {
        rest.get(..2).is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
    };
    match percent_decode_str(text).decode_utf8() {
        Ok(decoded) if text.split('%').skip(1).all(is_escape) => decoded.into_owned(),
        _ => text.to_owned(),
    }
}

/// Escapes characters that are not allowed in the path of an address; slashes stay.
pub fn percent_encode_path(path: &str) -> String {
    let escape = |byte: u8| match byte {
        byte if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte) => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    path.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_url_has_no_password_and_no_query_values() {
        let shown = redact_text("https://me:pw@host/x.yaml?token=abc&per_page=100");
        assert_eq!(shown, "https://host/x.yaml?token=***&per_page=100");
        assert_eq!(redact_text("not a url"), "not a url");
        assert_eq!(redact_text("https://me:p@w@host:99999/a@b?token=x"), "https://host:99999/a@b?***");
    }

    #[test]
    fn percent_escapes_are_decoded_and_invalid_ones_kept() {
        assert_eq!(percent_decode("v1%2B2%20x"), "v1+2 x");
        assert_eq!(percent_decode("100%"), "100%");
        assert_eq!(percent_decode("%zz%41"), "%zz%41");
        assert_eq!(percent_decode("%ff"), "%ff");
        assert_eq!(percent_encode_path("a b/ü?#%.yaml"), "a%20b/%C3%BC%3F%23%25.yaml");
    }
}
