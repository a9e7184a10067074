use std::{cmp::Ordering, fmt};

/// A semantic version that keeps its spelling: `1.2.0` and `v1.2.0` are equal but print differently.
#[derive(Clone, Debug)]
pub struct Version {
    text: String,
    semver: semver::Version,
}

/// Text that is not a semantic version.
#[derive(Debug, thiserror::Error)]
#[error("`{text}` is not a semantic version")]
pub struct VersionError {
    /// The rejected text.
    pub text: String,
    /// The syntax error.
    #[source]
    pub source: semver::Error,
}

impl Version {
    /// Parses three numbers without leading zeros, with an optional `v` prefix, pre-release and build
    /// metadata.
    /// Source: Kubernetes apimachinery 0.36 (ParseSemantic), which clusterctl uses for every version.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        let digits = text.trim().strip_prefix('v').unwrap_or(text.trim());
        match semver::Version::parse(digits) {
            Ok(semver) => Ok(Self { text: text.to_owned(), semver }),
            Err(source) => Err(VersionError { text: text.to_owned(), source }),
        }
    }

    /// Parses versions with missing numbers too and fills them with zeros (`v1.2` is 1.2.0). Go module
    /// proxies may list such versions.
    /// Source: blang/semver ParseTolerant, which clusterctl uses for version lists of a Go module proxy.
    pub fn parse_lenient(text: &str) -> Option<Self> {
        let digits = text.trim().strip_prefix('v').unwrap_or(text.trim());
        let (numbers, rest) = digits.split_at(digits.find(['-', '+']).unwrap_or(digits.len()));
        let mut parts: Vec<&str> = numbers.split('.').map(strip_leading_zeros).collect();
        if parts.len() < 3 && !rest.is_empty() {
            return None;
        }
        parts.resize(parts.len().max(3), "0");
        let semver = semver::Version::parse(&format!("{}{rest}", parts.join("."))).ok()?;
        Some(Self { text: text.to_owned(), semver })
    }

    /// Returns the version as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the version with a `v` prefix, independent of its spelling.
    pub fn with_v(&self) -> String {
        format!("v{}", self.semver)
    }

    /// Returns the parsed version.
    pub fn semver(&self) -> &semver::Version {
        &self.semver
    }

    /// True if the version has a pre-release part.
    pub fn is_prerelease(&self) -> bool {
        !self.semver.pre.is_empty()
    }

    /// True if the version belongs to the release series with this major and minor number.
    pub fn is_same_series(&self, major: u64, minor: u64) -> bool {
        self.semver.major == major && self.semver.minor == minor
    }
}

fn strip_leading_zeros(number: &str) -> &str {
    let stripped = number.trim_start_matches('0');
    if stripped.is_empty() && !number.is_empty() { "0" } else { stripped }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    /// Compares by the precedence of semantic versions; build metadata does not count.
    fn cmp(&self, other: &Self) -> Ordering {
        self.semver.cmp_precedence(&other.semver)
    }
}

/// A version, or the word `latest`, in a URL or a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionOrLatest {
    /// The newest release at the time of use.
    Latest,
    /// A fixed version.
    Pinned(Version),
}

impl VersionOrLatest {
    /// Parses `latest` or a semantic version.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        if text == "latest" { Ok(Self::Latest) } else { Version::parse(text).map(Self::Pinned) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_keeps_its_spelling_and_compares_by_number() {
        let plain = Version::parse("1.10.0").unwrap();
        let with_v = Version::parse("v1.10.0").unwrap();
        assert_eq!(plain, with_v);
        assert_eq!((plain.as_str(), plain.with_v().as_str()), ("1.10.0", "v1.10.0"));
        assert!(Version::parse("v1.9.0").unwrap() < plain);
        assert!(Version::parse("v1.10.0-rc.1").unwrap() < plain);
    }

    #[test]
    fn invalid_semantic_versions_are_refused() {
        for text in ["", "v", "latest", "v1", "v1.2", "v1.02.0", "1.2.3.4", "vv1.2.3", "main", "v1.2.3-"] {
            assert!(Version::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn module_proxy_versions_may_omit_numbers() {
        let read = |text| Version::parse_lenient(text).map(|version| version.with_v());
        assert_eq!(read("v1.2").as_deref(), Some("v1.2.0"));
        assert_eq!(read("v1").as_deref(), Some("v1.0.0"));
        assert_eq!(read("v1.02.3").as_deref(), Some("v1.2.3"));
        assert_eq!(read("v1.2.3-rc.0").as_deref(), Some("v1.2.3-rc.0"));
        assert_eq!(read("v1.2-rc.0"), None);
        assert_eq!(read("junk"), None);
    }
}
