//! Format checks of names and other texts, with the error messages of the real server, and the name formats of kinds.
//!
//! Source: apimachinery 1.36 `pkg/util/validation` and `pkg/api/validate/content`. Each function returns the list of
//! problems; the list is empty for valid texts.

use std::net::IpAddr;

pub(super) use crate::meta::{
    dns_label_problems as dns_label, dns_subdomain_problems as dns_subdomain,
    label_value_problems as label_value,
};
use crate::{
    kinds::ResourceType,
    meta::{is_dns_label, label_key_problems},
};

/// The name format of new objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// Lower-case letters, digits, `-` and `.`; at most 253 characters.
    DnsSubdomain,
    /// Lower-case letters, digits and `-`; at most 63 characters.
    DnsLabel,
    /// A DNS label that starts with a letter.
    Dns1035Label,
    /// Any segment of a URL path.
    PathSegment,
    /// No restriction.
    Any,
}

impl NameRule {
    /// Returns the problems of a name. A prefix (`generateName`) may end in `-`.
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

/// Replaces a trailing dash by a letter, because a generated name continues after the dash.
fn mask_trailing_dash(name: &str) -> String {
    match name.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => format!("{rest}a"),
        _ => name.to_owned(),
    }
}

fn is_lower_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// Checks a DNS label that starts with a letter, such as `my-name`.
pub(super) fn dns_1035_label(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 63 {
        problems.push(too_many_characters(63));
    }
    if !is_dns_label(text) || text.starts_with(|c: char| c.is_ascii_digit()) {
        problems.push(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
             validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
                .to_owned(),
        );
    }
    problems
}

/// Checks a segment of a URL path.
pub(super) fn path_segment(text: &str, prefix: bool) -> Vec<String> {
    if !prefix && (text == "." || text == "..") {
        return vec![format!("may not be '{text}'")];
    }
    let contained = ["/", "%"].into_iter().filter(|illegal| text.contains(illegal));
    contained.map(|illegal| format!("may not contain '{illegal}'")).collect()
}

/// Checks a label key, such as `example.com/MyName`.
pub(super) fn qualified_name(text: &str) -> Vec<String> {
    let problems = label_key_problems(text).into_iter();
    problems.map(|problem| problem.replacen("a valid label key", "a qualified name", 1)).collect()
}

fn too_many_characters(most: usize) -> String {
    format!("must be no more than {most} characters")
}

pub(super) fn config_map_key(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 253 {
        problems.push(too_many_characters(253));
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

/// Checks the name of an environment variable.
pub(super) fn variable_name(text: &str) -> Vec<String> {
    if text.is_empty() || !text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'=') {
        return vec![
            "a valid environment variable name must consist only of printable ASCII characters other than '='"
                .to_owned(),
        ];
    }
    Vec::new()
}

pub(super) fn port_number(port: i64) -> Vec<String> {
    if (1..=65535).contains(&port) {
        Vec::new()
    } else {
        vec!["must be between 1 and 65535, inclusive".to_owned()]
    }
}

pub(super) fn port_name(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 15 {
        problems.push(too_many_characters(15));
    }
    if !text.bytes().all(|byte| is_lower_alphanumeric(byte) || byte == b'-') {
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

pub(super) fn ip_address(text: &str) -> Vec<String> {
    if text.parse::<IpAddr>().is_ok() {
        return Vec::new();
    }
    vec!["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)".to_owned()]
}

/// The name format of new objects of this kind.
pub(crate) fn name_rule(resource: &ResourceType) -> NameRule {
    match (&*resource.group, &*resource.plural) {
        ("" | "apps", "namespaces" | "services" | "statefulsets") => NameRule::DnsLabel,
        ("rbac.authorization.k8s.io", _) | ("apiregistration.k8s.io", "apiservices") => NameRule::PathSegment,
        ("certificates.k8s.io", "clustertrustbundles") | ("networking.k8s.io", "ipaddresses") => {
            NameRule::Any
        }
        _ => NameRule::DnsSubdomain,
    }
}

/// True if an update may omit `resourceVersion`.
///
/// Source: `AllowUnconditionalUpdate` of the strategies of kube-apiserver 1.36.
pub(crate) fn allows_unconditional_update(resource: &ResourceType) -> bool {
    let plural = &*resource.plural;
    let versioned = match &*resource.group {
        "admissionregistration.k8s.io"
        | "apiextensions.k8s.io"
        | "apiregistration.k8s.io"
        | "coordination.k8s.io" => true,
        "certificates.k8s.io" => matches!(plural, "clustertrustbundles" | "podcertificaterequests"),
        "node.k8s.io" => plural == "runtimeclasses",
        "policy" => plural == "poddisruptionbudgets",
        "storage.k8s.io" => {
            matches!(plural, "csidrivers" | "csinodes" | "csistoragecapacities" | "volumeattachments")
        }
        _ => false,
    };
    !versioned
}

/// True if a PUT of a missing object creates the object.
///
/// Source: `AllowCreateOnUpdate` of the strategies of kube-apiserver 1.36.
pub(crate) fn allows_create_on_update(resource: &ResourceType) -> bool {
    matches!(
        (&*resource.group, &*resource.plural),
        ("coordination.k8s.io" | "rbac.authorization.k8s.io", _)
            | ("" | "events.k8s.io", "endpoints" | "events" | "limitranges" | "services")
            | ("node.k8s.io", "runtimeclasses")
    )
}
