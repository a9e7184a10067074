//! The rules of Kubernetes for the names of objects.
//!
//! Source: k8s.io/apimachinery 0.37 pkg/api/validation.

use api::{check_dns_label, check_dns_subdomain};

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
    and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
    start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SERVICE: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
    alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
    validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/// Returns the finding of Helm for a name that an object of a kind cannot have.
pub(super) fn problem(kind: &str, name: &str) -> Option<String> {
    let problems: Vec<String> = match kind.to_lowercase().as_str() {
        "certificatesigningrequest" => Vec::new(),
        "role" | "clusterrole" | "rolebinding" | "clusterrolebinding" => path_segment(name),
        "namespace" => limited(name, 63, LABEL, |name| check_dns_label(name).is_ok()),
        "service" => limited(name, 63, SERVICE, |name| {
            name.starts_with(|first: char| first.is_ascii_lowercase()) && check_dns_label(name).is_ok()
        }),
        _ => limited(name, 253, SUBDOMAIN, |name| check_dns_subdomain(name).is_ok()),
    };
    let invalid = |problem: &String| format!("metadata.name: Invalid value: {name:?}: {problem}");
    let problems: Vec<String> = problems.iter().map(invalid).collect();
    let text = match problems.as_slice() {
        [] => return None,
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    Some(format!("object name does not conform to Kubernetes naming requirements: {name:?}: {text}"))
}

/// Checks the length, and the form of the first part that has a valid length.
fn limited(name: &str, limit: usize, form: &str, is_valid: fn(&str) -> bool) -> Vec<String> {
    let too_long = (name.len() > limit).then(|| format!("must be no more than {limit} characters"));
    // The checks of the form refuse long names too, so that only a part with a valid length tells about the form.
    let part = name.get(..limit).unwrap_or(name).trim_end_matches(['-', '.']);
    let is_wrong = if too_long.is_some() { !is_valid(part) } else { !is_valid(name) };
    too_long.into_iter().chain(is_wrong.then(|| form.to_owned())).collect()
}

fn path_segment(name: &str) -> Vec<String> {
    if matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    let contained = ["/", "%"].into_iter().filter(|character| name.contains(character));
    contained.map(|character| format!("may not contain '{character}'")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_rule_for_names() {
        for (kind, name) in
            [("Pod", "a.b-1"), ("Role", "system:a_B"), ("Service", "a-1"), ("Namespace", "1a")]
        {
            assert_eq!(problem(kind, name), None, "{kind} {name}");
        }
        for (kind, name, reason) in [
            ("Pod", "A", "subdomain"),
            ("Role", "a/b", "may not contain '/'"),
            ("Service", "1a", "DNS-1035"),
            ("Namespace", "a.b", "RFC 1123 label"),
            ("Service", &"a".repeat(64), "must be no more than 63 characters"),
        ] {
            let problem = problem(kind, name).unwrap_or_default();
            assert!(problem.contains(reason), "{kind} {name}: {problem}");
        }
    }
}
