//! Forms of names and other texts, with the words the real server has for what does not fit.
//!
//! Source: apimachinery 1.36 `pkg/util/validation` and `pkg/api/validate/content`. Each function gives the list of what
//! is wrong, empty when nothing is.

use std::net::IpAddr;

/// How a new object may be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// Lower-case letters, digits, `-` and `.`, at most 253.
    DnsSubdomain,
    /// Lower-case letters, digits and `-`, at most 63.
    DnsLabel,
    /// The same, and a letter comes first.
    Dns1035Label,
    /// Anything that fits between two slashes of a path.
    PathSegment,
    /// Nothing is asked of it.
    Any,
}

impl NameRule {
    /// What is wrong with a name. A prefix (`generateName`) may end in `-`.
    pub(crate) fn problems(self, name: &str, prefix: bool) -> Vec<String> {
        let trimmed = if prefix { mask_trailing_dash(name) } else { name.to_owned() };
        match self {
            Self::DnsSubdomain => dns_subdomain(&trimmed),
            Self::DnsLabel => dns_label(&trimmed),
            Self::Dns1035Label => dns_1035_label(&trimmed),
            Self::PathSegment => path_segment(name, prefix),
            Self::Any => Vec::new(),
        }
    }
}

/// A prefix ends well when a letter follows its dash.
fn mask_trailing_dash(name: &str) -> String {
    match name.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => format!("{rest}a"),
        _ => name.to_owned(),
    }
}

/// Keys and values of labels are measured in bytes, all other names in characters; what is meant is the same.
fn too_long(most: usize, unit: &str) -> String {
    format!("must be no more than {most} {unit}")
}

fn edges(text: &str, good: impl Fn(u8) -> bool) -> bool {
    text.bytes().next().is_some_and(&good) && text.bytes().next_back().is_some_and(&good)
}

fn lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn is_label(text: &str) -> bool {
    edges(text, lower) && text.bytes().all(|byte| lower(byte) || byte == b'-')
}

/// `my-name`
pub(super) fn dns_label(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 63 {
        problems.push(too_long(63, "characters"));
    }
    if text.contains('.') && text.split('.').all(is_label) {
        problems.push("must not contain dots".to_owned());
    } else if !is_label(text) {
        problems.push(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
             and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
             '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
                .to_owned(),
        );
    }
    problems
}

/// `example.com`
pub(super) fn dns_subdomain(text: &str) -> Vec<String> {
    subdomain(text, "characters")
}

fn subdomain(text: &str, unit: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 253 {
        problems.push(too_long(253, unit));
    }
    if !text.split('.').all(is_label) {
        problems.push(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and \
             must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
                .to_owned(),
        );
    }
    problems
}

/// `*.example.com`
pub(super) fn wildcard_dns_subdomain(text: &str) -> Vec<String> {
    if text.strip_prefix("*.").is_some_and(|rest| rest.split('.').all(is_label)) {
        return Vec::new();
    }
    vec![
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist \
         of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. \
         '*.example.com', regex used for validation is \
         '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
            .to_owned(),
    ]
}

/// `my-name`, not starting with a digit
pub(super) fn dns_1035_label(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 63 {
        problems.push(too_long(63, "characters"));
    }
    if !is_label(text) || text.starts_with(|c: char| c.is_ascii_digit()) {
        problems.push(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
             validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
                .to_owned(),
        );
    }
    problems
}

/// What may be a segment of a path.
pub(super) fn path_segment(text: &str, prefix: bool) -> Vec<String> {
    if !prefix && (text == "." || text == "..") {
        return vec![format!("may not be '{text}'")];
    }
    let contained = ["/", "%"].into_iter().filter(|illegal| text.contains(illegal));
    contained.map(|illegal| format!("may not contain '{illegal}'")).collect()
}

fn is_qualified_part(text: &str) -> bool {
    edges(text, |byte| byte.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// `example.com/MyName`: the keys of labels.
pub(super) fn qualified_name(text: &str) -> Vec<String> {
    const WORDS: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                         alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
                         validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let mut problems = Vec::new();
    let name = match text.split_once('/') {
        None => text,
        Some((_, rest)) if rest.contains('/') => {
            return vec![format!(
                "a qualified name {WORDS} with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')"
            )];
        }
        Some(("", name)) => {
            problems.push("prefix part must be non-empty".to_owned());
            name
        }
        Some((prefix, name)) => {
            problems.extend(
                subdomain(prefix, "bytes").into_iter().map(|problem| format!("prefix part {problem}")),
            );
            name
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        problems.push(format!("name part {}", too_long(63, "bytes")));
    }
    if !is_qualified_part(name) {
        problems.push(format!("name part {WORDS}"));
    }
    problems
}

/// The values of labels.
pub(super) fn label_value(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 63 {
        problems.push(too_long(63, "bytes"));
    }
    if !text.is_empty() && !is_qualified_part(text) {
        problems.push(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
             start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used \
             for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
                .to_owned(),
        );
    }
    problems
}

/// The keys of config maps and secrets.
pub(super) fn config_map_key(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 253 {
        problems.push(too_long(253, "characters"));
    }
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
        problems.push(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
             'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
                .to_owned(),
        );
    }
    if text == "." || text == ".." {
        problems.push(format!("must not be '{text}'"));
    } else if text.starts_with("..") {
        problems.push("must not start with '..'".to_owned());
    }
    problems
}

/// The names of environment variables.
pub(super) fn variable_name(text: &str) -> Vec<String> {
    if text.is_empty() || !text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'=') {
        return vec![
            "a valid environment variable name must consist only of printable ASCII characters other than '='"
                .to_owned(),
        ];
    }
    Vec::new()
}

/// A port by number.
pub(super) fn port_number(port: i64) -> Vec<String> {
    if (1..=65535).contains(&port) {
        Vec::new()
    } else {
        vec!["must be between 1 and 65535, inclusive".to_owned()]
    }
}

/// A port by name.
pub(super) fn port_name(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 15 {
        problems.push(too_long(15, "characters"));
    }
    if !text.bytes().all(|byte| lower(byte) || byte == b'-') {
        problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !text.bytes().any(|byte| byte.is_ascii_lowercase()) {
        problems.push("must contain at least one letter (a-z)".to_owned());
    }
    if text.contains("--") {
        problems.push("must not contain consecutive hyphens".to_owned());
    }
    if text.starts_with('-') || text.ends_with('-') {
        problems.push("must not begin or end with a hyphen".to_owned());
    }
    problems
}

/// An IP address.
pub(super) fn ip_address(text: &str) -> Vec<String> {
    if text.parse::<IpAddr>().is_ok() {
        return Vec::new();
    }
    vec!["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)".to_owned()]
}

/// A network as address and length of its prefix.
pub(super) fn cidr(text: &str) -> Vec<String> {
    let valid = text.split_once('/').is_some_and(|(address, length)| {
        let most = match address.parse::<IpAddr>() {
            Ok(IpAddr::V4(_)) => 32,
            Ok(IpAddr::V6(_)) => 128,
            Err(_) => return false,
        };
        length.parse::<u8>().is_ok_and(|length| length <= most)
    });
    if valid {
        return Vec::new();
    }
    vec!["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)".to_owned()]
}
