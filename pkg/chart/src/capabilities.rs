//! The cluster that a chart is rendered for.

/// The API versions that Helm knows without a server.
const KNOWN: &str = include_str!("api_versions.txt");

/// `.Capabilities`: the version of Kubernetes and the API versions that the cluster serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The version of Kubernetes.
    pub kube_version: KubeVersion,
    /// The API versions, such as `apps/v1` and `monitoring.coreos.com/v1/ServiceMonitor`.
    pub api_versions: Vec<String>,
}

impl Default for Capabilities {
    /// The capabilities that Helm 3.22 assumes without a server.
    fn default() -> Self {
        let known = KNOWN.lines().filter(|line| !line.starts_with('#'));
        Self { kube_version: KubeVersion::default(), api_versions: known.map(str::to_owned).collect() }
    }
}

impl Capabilities {
    /// Creates the capabilities of a cluster that serves further API versions. An empty version stands for the default.
    ///
    /// # Errors
    /// A text that is not a version of Kubernetes.
    pub fn new(kube_version: &str, api_versions: &[String]) -> Result<Self, KubeVersionError> {
        let mut capabilities = Self::default();
        if !kube_version.is_empty() {
            capabilities.kube_version = KubeVersion::parse(kube_version)?;
        }
        capabilities.api_versions.extend_from_slice(api_versions);
        Ok(capabilities)
    }
}

/// A version of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeVersion {
    /// The version with a `v`.
    pub version: String,
    /// The major version.
    pub major: String,
    /// The minor version.
    pub minor: String,
}

impl Default for KubeVersion {
    /// The version of the client library of Helm 3.22.0.
    fn default() -> Self {
        Self { version: "v1.37.0".to_owned(), major: "1".to_owned(), minor: "37".to_owned() }
    }
}

/// A text that is not a version of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid kube version '{text}': {reason}")]
pub struct KubeVersionError {
    /// The text as given.
    pub text: String,
    /// The reason in Kubernetes' words.
    pub reason: String,
}

impl KubeVersion {
    /// Reads a version: two or more numbers with dots between them, and anything behind. Only the numbers count.
    ///
    /// # Errors
    /// The reason in Kubernetes' words.
    pub fn parse(text: &str) -> Result<Self, KubeVersionError> {
        let error = |reason: String| KubeVersionError { text: text.to_owned(), reason };
        let start = text.trim_start();
        let start = start.strip_prefix('v').unwrap_or(start);
        let end = start.find(|character: char| !character.is_ascii_digit() && character != '.');
        let numbers = start[..end.unwrap_or(start.len())].trim_end_matches('.');
        // A number must follow each dot; what is behind is not part of the version.
        let numbers = numbers.find("..").map_or(numbers, |at| &numbers[..at]);
        if numbers.is_empty() || numbers.starts_with('.') {
            return Err(error(format!("could not parse {text:?} as version")));
        }
        let parts: Vec<&str> = numbers.split('.').collect();
        if parts.len() < 2 {
            return Err(error(format!("illegal version string {text:?}")));
        }
        if parts[0].starts_with('0') && parts[0] != "0" {
            return Err(error(format!("illegal zero-prefixed version component {:?} in {text:?}", parts[0])));
        }
        let parse = |part: &&str| {
            part.parse::<u64>()
                .map_err(|_| error(format!("illegal non-numeric version component {part:?} in {text:?}")))
        };
        let parts = parts.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let version = parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(".");
        Ok(Self { version: format!("v{version}"), major: parts[0].to_string(), minor: parts[1].to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_kubernetes_does() {
        let version =
            |text: &str| KubeVersion::parse(text).map(|version| version.version).unwrap_or_default();
        assert_eq!(version("1.36.0"), "v1.36.0");
        assert_eq!(version("v1.28"), "v1.28");
        assert_eq!(version("1.28.3-eks-abc"), "v1.28.3");
        for text in ["1", "x", "", "01.2", "v"] {
            assert!(KubeVersion::parse(text).is_err(), "{text}");
        }
    }
}
