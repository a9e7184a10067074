/// A name that Kubernetes would reject, and the violated rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a valid DNS-1123 {form}: {rule}")]
pub struct DnsNameError {
    /// The rejected name.
    pub name: String,
    /// `label` or `subdomain`.
    pub form: &'static str,
    /// The form or the maximum length of a valid name.
    pub rule: &'static str,
}

const LABEL_RULE: &str = "lower case letters, digits and `-`, with a letter or digit at both ends";
const SUBDOMAIN_RULE: &str =
    "lower case letters, digits, `-` and `.`, with a letter or digit at both ends of each part";

/// Checks a DNS-1123 label: at most 63 characters, no dots (namespaces, provider names on the command line).
pub fn check_dns_label(name: &str) -> Result<(), DnsNameError> {
    let refuse = |rule| Err(DnsNameError { name: name.to_owned(), form: "label", rule });
    if name.len() > 63 {
        return refuse("at most 63 characters");
    }
    if is_label(name) { Ok(()) } else { refuse(LABEL_RULE) }
}

/// Checks a DNS-1123 subdomain: labels joined by dots, at most 253 characters (object names).
pub fn check_dns_subdomain(name: &str) -> Result<(), DnsNameError> {
    let refuse = |rule| Err(DnsNameError { name: name.to_owned(), form: "subdomain", rule });
    if name.len() > 253 {
        return refuse("at most 253 characters");
    }
    if name.split('.').all(is_label) { Ok(()) } else { refuse(SUBDOMAIN_RULE) }
}

/// Checks the characters of one label. The caller checks the length: Kubernetes does not limit labels of a subdomain.
fn is_label(text: &str) -> bool {
    let inner = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-';
    let bytes = text.as_bytes();
    matches!((bytes.first(), bytes.last()), (Some(first), Some(last)) if *first != b'-' && *last != b'-')
        && bytes.iter().all(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_no_dots_and_at_most_63_characters() {
        for good in ["a", "a-b", "1a", &"x".repeat(63)] {
            assert_eq!(check_dns_label(good), Ok(()), "{good}");
        }
        for bad in ["", "A", "a.b", "-a", "a-", "a_b", "ä", &"x".repeat(64)] {
            assert!(check_dns_label(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn subdomains_join_labels_with_dots() {
        for good in ["a", "a.b", "a-1.b2", &"x".repeat(100)] {
            assert_eq!(check_dns_subdomain(good), Ok(()), "{good}");
        }
        for bad in ["", ".", "a..b", "a.-b", "A.b", &"x".repeat(254)] {
            assert!(check_dns_subdomain(bad).is_err(), "{bad}");
        }
    }
}
