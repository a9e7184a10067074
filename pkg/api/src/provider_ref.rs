use std::fmt;

use crate::{DnsNameError, check_dns_label};

/// A provider as the user types it: `name` or `name:version`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderRef {
    /// Name in lower case.
    pub name: String,
    /// The version as typed, not validated: the repository checks it.
    pub version: Option<String>,
}

/// A provider reference that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum ProviderRefError {
    /// The name before the colon is missing.
    #[error("`{0}` has no provider name; use the form name[:version]")]
    EmptyName(String),
    /// The version after the colon is missing.
    #[error("`{0}` has an empty version; use the form name[:version]")]
    EmptyVersion(String),
    /// More than one colon.
    #[error("`{0}` has several colons; use the form name[:version]")]
    TooManyParts(String),
    /// Kubernetes would reject the name.
    #[error("`{text}` is not a valid provider name")]
    InvalidName {
        /// The rejected reference.
        text: String,
        #[source]
        source: DnsNameError,
    },
}

impl ProviderRef {
    /// Parses `name[:version]`. The name is converted to lower case and must be a DNS-1123 label.
    /// Source: clusterctl v1.14 client/common.go (parseProviderName).
    pub fn parse(text: &str) -> Result<Self, ProviderRefError> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default().to_lowercase();
        let version = parts.next();
        if parts.next().is_some() {
            return Err(ProviderRefError::TooManyParts(text.to_owned()));
        }
        if name.is_empty() {
            return Err(ProviderRefError::EmptyName(text.to_owned()));
        }
        check_dns_label(&name)
            .map_err(|source| ProviderRefError::InvalidName { text: text.to_owned(), source })?;
        match version {
            Some("") => Err(ProviderRefError::EmptyVersion(text.to_owned())),
            version => Ok(Self { name, version: version.map(str::to_owned) }),
        }
    }
}

impl fmt::Display for ProviderRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(f, "{}:{version}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_version_are_split_at_the_colon() {
        let parsed = ProviderRef::parse("AWS:v2.1.0").unwrap();
        assert_eq!((parsed.name.as_str(), parsed.version.as_deref()), ("aws", Some("v2.1.0")));
        assert_eq!(ProviderRef::parse("aws").unwrap().version, None);
    }

    #[test]
    fn invalid_references_are_refused_with_a_reason() {
        assert!(matches!(ProviderRef::parse(":v1"), Err(ProviderRefError::EmptyName(_))));
        assert!(matches!(ProviderRef::parse("aws:"), Err(ProviderRefError::EmptyVersion(_))));
        assert!(matches!(ProviderRef::parse("aws:v1:x"), Err(ProviderRefError::TooManyParts(_))));
        assert!(matches!(ProviderRef::parse("foo.bar"), Err(ProviderRefError::InvalidName { .. })));
    }
}
