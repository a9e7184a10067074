//! Deprecated API versions of Kubernetes.
//!
//! Source: k8s.io/apiserver 0.37 pkg/endpoints/deprecation, k8s.io/api 0.37.

use std::fmt::Write as _;

use crate::capabilities::KubeVersion;

/// The deprecated API versions of built-in kinds.
const DEPRECATED: &str = include_str!("deprecated_apis.txt");

/// Returns the warning of Kubernetes for an object, if its API version is deprecated in a version of Kubernetes.
pub(super) fn warning(api_version: &str, kind: &str, cluster: &KubeVersion) -> Option<String> {
    let row = DEPRECATED.lines().find_map(|line| {
        let mut words = line.splitn(5, ' ');
        (words.next() == Some(api_version) && words.next() == Some(kind)).then_some(words)
    });
    let mut words = row?;
    let deprecated = words.next()?;
    let minor = |text: &str| text.split_once('.').and_then(|(_, minor)| minor.parse::<u64>().ok());
    if cluster.major == "1" && cluster.minor.parse::<u64>().ok()? < minor(deprecated)? {
        return None;
    }
    let mut warning = format!("{api_version} {kind} is deprecated in v{deprecated}+");
    if let Some(removed) = words.next().filter(|removed| *removed != "-") {
        let _ = write!(warning, ", unavailable in v{removed}+");
    }
    if let Some(replacement) = words.next() {
        let _ = write!(warning, "; use {replacement}");
    }
    Some(warning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deprecated_version_is_reported_from_its_release_on() {
        let warning = |version: &str| {
            warning("batch/v1beta1", "CronJob", &KubeVersion::parse(version).unwrap()).unwrap_or_default()
        };
        assert_eq!(warning("1.20"), "");
        assert_eq!(
            warning("1.21"),
            "batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob"
        );
    }
}
