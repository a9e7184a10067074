//! Addresses: what of them may be shown, whom they name, and escapes in them.

use percent_encoding::percent_decode_str;
use url::{Host, Url};

/// A url as it may be shown: no user name, no password, no values in the query but harmless ones.
pub fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    // Both fail only for urls that cannot have a user.
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

/// Whether a url has something in it that may not be shown, nor written down.
pub fn has_secret(url: &Url) -> bool {
    let has_user = !url.username().is_empty() || url.password().is_some();
    has_user || url.query_pairs().any(|(key, _)| !is_harmless(&key))
}

fn is_harmless(key: &str) -> bool {
    matches!(key, "page" | "per_page" | "ref" | "n" | "last")
}

/// An address as it may be shown: without user name, password and the values of its query. A path stays as it is.
pub fn shown_text(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    if let Ok(url) = Url::parse(url) {
        return shown(&url);
    }
    let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, "?***"));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}{query}")
}

/// Host, and port where it is not that of the scheme. The API of github.com counts as github.com, and where Docker Hub
/// listens as docker.io, which is its name in references.
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

/// Whether a url leads to this machine itself.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.trim_end_matches('.') == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Turns `%41` into `A`; text that is not valid then (broken escape, no UTF-8) stays as it was.
pub fn percent_decode(text: &str) -> String {
    let is_escape = |rest: &str| {
        rest.get(..2).is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
    };
    match percent_decode_str(text).decode_utf8() {
        Ok(decoded) if text.split('%').skip(1).all(is_escape) => decoded.into_owned(),
        _ => text.to_owned(),
    }
}

/// Escapes what may not stand in a path segment of an address; slashes stay.
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
        let shown = shown_text("https://me:pw@host/x.yaml?token=abc&per_page=100");
        assert_eq!(shown, "https://host/x.yaml?token=***&per_page=100");
        assert_eq!(shown_text("not a url"), "not a url");
        assert_eq!(shown_text("https://me:p@w@host:99999/a@b?token=x"), "https://host:99999/a@b?***");
    }

    #[test]
    fn percent_escapes_are_read_and_broken_ones_left_alone() {
        assert_eq!(percent_decode("v1%2B2%20x"), "v1+2 x");
        assert_eq!(percent_decode("100%"), "100%");
        assert_eq!(percent_decode("%zz%41"), "%zz%41");
        assert_eq!(percent_decode("%ff"), "%ff");
        assert_eq!(percent_encode_path("a b/ü?#%.yaml"), "a%20b/%C3%BC%3F%23%25.yaml");
    }
}
