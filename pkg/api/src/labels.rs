//! Labels and annotations of the clusterctl contract, which never change because objects on clusters carry them. Labels
//! that users choose.

use std::collections::BTreeMap;

use crate::check_dns_subdomain;

/// Label on every object of a provider; the value is the provider label.
pub const PROVIDER: &str = "cluster.x-k8s.io/provider";
/// Label on every object installed by clusterctl or capstan; the value is empty.
pub const CLUSTERCTL: &str = "clusterctl.cluster.x-k8s.io";

/// Labels that a user chose, by key.
pub type Labels = BTreeMap<String, String>;

/// The chosen labels of each provider, by provider label, and those of `cert-manager`.
pub type LabelsByOwner = BTreeMap<String, Labels>;

/// The maximum length of a value, and of a key without its prefix.
const MAX_BYTES: usize = 63;

/// The label of a Namespace that the API server sets.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// The field manager of every write.
pub const FIELD_MANAGER: &str = "capstan";

/// The label value and the annotation prefix of objects that capstan stores on a cluster.
pub const CAPSTAN_DOMAIN: &str = "capstan.dev";

/// The domains of labels that Cluster API and capstan set and read. Their subdomains are reserved too.
const RESERVED_DOMAINS: [&str; 2] = ["cluster.x-k8s.io", CAPSTAN_DOMAIN];

/// A label that cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum LabelError {
    #[error("expected KEY=VALUE")]
    NoValue,
    #[error(
        "the key needs at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends, and optionally a DNS subdomain with `/` before it"
    )]
    Key,
    #[error(
        "the value needs at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends"
    )]
    Value,
    #[error("`{0}` is a label of Cluster API, Kubernetes or capstan")]
    Reserved(String),
}

/// Parses `KEY=VALUE` by the rules of Kubernetes. The value may be empty.
/// # Errors
/// `Reserved` for a label that Cluster API, capstan or the API server manages.
pub fn parse_label(text: &str) -> Result<(String, String), LabelError> {
    let (key, value) = text.split_once('=').ok_or(LabelError::NoValue)?;
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    if prefix.is_some_and(|prefix| check_dns_subdomain(prefix).is_err()) || !is_label_text(name) {
        return Err(LabelError::Key);
    }
    if !value.is_empty() && !is_label_text(value) {
        return Err(LabelError::Value);
    }
    let domain = prefix.unwrap_or(name);
    let is_in = |reserved: &&str| {
        domain.strip_suffix(*reserved).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    if key == NAMESPACE_NAME || RESERVED_DOMAINS.iter().any(is_in) {
        return Err(LabelError::Reserved(key.to_owned()));
    }
    Ok((key.to_owned(), value.to_owned()))
}

fn is_label_text(text: &str) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= MAX_BYTES
        && is_end(bytes.first())
        && is_end(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_the_form_that_kubernetes_accepts() {
        let longest = "x".repeat(63);
        for (text, key, value) in [
            ("team=a", "team", "a"),
            ("team=", "team", ""),
            ("A_b.c-1=B_b.c-1", "A_b.c-1", "B_b.c-1"),
            ("app.kubernetes.io/part-of=capi", "app.kubernetes.io/part-of", "capi"),
            ("notcluster.x-k8s.io/a=b", "notcluster.x-k8s.io/a", "b"),
            (&format!("{longest}={longest}"), &longest, &longest),
        ] {
            assert_eq!(parse_label(text), Ok((key.to_owned(), value.to_owned())), "{text}");
        }
        let too_long = "x".repeat(64);
        for text in [
            "=a",
            "-a=b",
            "a-=b",
            "a b=c",
            "ä=b",
            "/a=b",
            "A/a=b",
            "a/=b",
            "a/b/c=d",
            &format!("{too_long}=a"),
        ] {
            assert_eq!(parse_label(text), Err(LabelError::Key), "{text}");
        }
        for text in ["a=-b", "a=b.", "a=b c", "a=b=c", "a=ä", "a=b/c", &format!("a={too_long}")] {
            assert_eq!(parse_label(text), Err(LabelError::Value), "{text}");
        }
        for text in ["", "team", "team-"] {
            assert_eq!(parse_label(text), Err(LabelError::NoValue), "{text}");
        }
    }

    #[test]
    fn labels_that_tools_manage_are_refused() {
        for key in [
            PROVIDER,
            CLUSTERCTL,
            "clusterctl.cluster.x-k8s.io/core",
            "cluster.x-k8s.io/v1beta2",
            "topology.cluster.x-k8s.io/owned",
            "capstan.dev/owner-id",
            NAMESPACE_NAME,
        ] {
            assert_eq!(parse_label(&format!("{key}=a")), Err(LabelError::Reserved(key.to_owned())));
        }
    }
}
