//! Syntax checks for namespaces, label keys and label values.
//!
//! Source: apimachinery 1.36 `pkg/api/validate/content` and `pkg/util/validation`. The checks are plain code; the
//! regular expressions appear only in the messages.

const LABEL_REGEX: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN_REGEX: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const KEY_REGEX: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const KEY_WORDS: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                         alphanumeric character";

/// Returns the message for a long name. Messages about labels count bytes, other messages count characters; the check
/// is the same.
fn too_long(limit: usize, unit: &str) -> String {
    format!("must be no more than {limit} {unit}")
}

pub(crate) fn is_dns_label(text: &str) -> bool {
    let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    !text.is_empty() && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_dns_subdomain(text: &str) -> bool {
    text.split('.').all(is_dns_label)
}

/// Returns the problems of a DNS label; empty if the label is valid.
pub(crate) fn dns_label_problems(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 63 {
        problems.push(too_long(63, "characters"));
    }
    if !is_dns_label(text) {
        problems.push(if is_dns_subdomain(text) {
            "must not contain dots".to_owned()
        } else {
            format!(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
                 and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
                 '{LABEL_REGEX}')"
            )
        });
    }
    problems
}

/// Returns the problems of a DNS subdomain; empty if the subdomain is valid.
pub(crate) fn dns_subdomain_problems(text: &str) -> Vec<String> {
    subdomain_problems(text, "characters")
}

fn subdomain_problems(text: &str, unit: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 253 {
        problems.push(too_long(253, unit));
    }
    if !is_dns_subdomain(text) {
        problems.push(format!(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '{SUBDOMAIN_REGEX}')"
        ));
    }
    problems
}

fn is_key_name(text: &str) -> bool {
    let inner = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.');
    let edge = |c: Option<u8>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.bytes().all(inner) && edge(text.bytes().next()) && edge(text.bytes().last())
}

/// Returns the problems of a label key, finalizer or annotation key; empty if the key is valid.
pub(crate) fn label_key_problems(key: &str) -> Vec<String> {
    let regex =
        format!("(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{KEY_REGEX}')");
    let (prefix, name) = match key.split_once('/') {
        None => (None, key),
        Some((_, name)) if name.contains('/') => {
            let example = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {KEY_WORDS} {regex} {example}")];
        }
        Some((prefix, name)) => (Some(prefix), name),
    };
    let mut problems = Vec::new();
    match prefix {
        Some("") => problems.push("prefix part must be non-empty".to_owned()),
        Some(prefix) => {
            problems.extend(
                subdomain_problems(prefix, "bytes").iter().map(|problem| format!("prefix part {problem}")),
            );
        }
        None => {}
    }
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        problems.push(format!("name part {}", too_long(63, "bytes")));
    }
    if !is_key_name(name) {
        problems.push(format!("name part {KEY_WORDS} {regex}"));
    }
    problems
}

/// Returns the problems of a label value; empty if the value is valid.
pub(crate) fn label_value_problems(value: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if value.len() > 63 {
        problems.push(too_long(63, "bytes"));
    }
    if !value.is_empty() && !is_key_name(value) {
        problems.push(format!(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
             start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
             validation is '({KEY_REGEX})?')"
        ));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_keys_have_a_name_and_an_optional_prefix() {
        for good in ["a", "A.b_c", "example.com/a"] {
            assert_eq!(label_key_problems(good), Vec::<String>::new(), "{good}");
        }
        for (bad, start) in [
            ("", "name part must be non-empty"),
            ("/a", "prefix part must be non-empty"),
            ("a/", "name part must be non-empty"),
            ("a b", "name part must consist of"),
            ("a/b/c", "a valid label key must consist of"),
            ("A/b", "prefix part a lowercase RFC 1123 subdomain"),
        ] {
            assert!(label_key_problems(bad)[0].starts_with(start), "{bad}");
        }
    }
}
