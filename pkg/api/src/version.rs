use std::{cmp::Ordering, fmt};

/// A semantic version that remembers how it was written: `1.2.0` and `v1.2.0` are equal and print differently.
#[derive(Clone, Debug)]
pub struct Version {
    text: String,
    semver: semver::Version,
}

/// A text that is not a semantic version.
#[derive(Debug, thiserror::Error)]
#[error("`{text}` is not a semantic version")]
pub struct InvalidVersion {
    /// What was written.
    pub text: String,
    /// Where it departs from the form.
    #[source]
    pub source: semver::Error,
}

impl Version {
    /// Reads exactly three numbers without leading zeros, an optional `v` in front, pre-release and build behind.
    /// Source: Kubernetes apimachinery 0.36 (ParseSemantic), which the peer uses for every version.
    pub fn parse(text: &str) -> Result<Self, InvalidVersion> {
        let digits = text.trim().strip_prefix('v').unwrap_or(text.trim());
        match semver::Version::parse(digits) {
            Ok(semver) => Ok(Self { text: text.to_owned(), semver }),
            Err(source) => Err(InvalidVersion { text: text.to_owned(), source }),
        }
    }

    /// Reads one or two numbers too, filling up with zeros (`v1.2` is 1.2.0), as Go module proxies may list them.
    /// Source: blang/semver ParseTolerant, as the peer reads version lists of a Go module proxy.
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

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// `v` and the three numbers, pre-release and build, however it was written.
    pub fn with_v(&self) -> String {
        format!("v{}", self.semver)
    }

    /// The numbers.
    pub fn semver(&self) -> &semver::Version {
        &self.semver
    }

    /// Whether it has a pre-release part.
    pub fn is_prerelease(&self) -> bool {
        !self.semver.pre.is_empty()
    }

    /// Whether two versions are of one release series.
    pub fn same_series(&self, major: u64, minor: u64) -> bool {
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
    /// Precedence of semantic versions; build metadata does not count.
    fn cmp(&self, other: &Self) -> Ordering {
        self.semver.cmp_precedence(&other.semver)
    }
}

/// What a URL or a flag may say where a version is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionOrLatest {
    /// The newest release, whatever it is by then.
    Latest,
    /// This one.
    Pinned(Version),
}

impl VersionOrLatest {
    /// Reads `latest` or a semantic version.
    pub fn parse(text: &str) -> Result<Self, InvalidVersion> {
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
    fn what_is_no_semantic_version_is_refused() {
        for text in ["", "v", "latest", "v1", "v1.2", "v1.02.0", "1.2.3.4", "vv1.2.3", "main", "v1.2.3-"] {
            assert!(Version::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn module_proxies_may_leave_numbers_out() {
        let read = |text| Version::parse_lenient(text).map(|version| version.with_v());
        assert_eq!(read("v1.2").as_deref(), Some("v1.2.0"));
        assert_eq!(read("v1").as_deref(), Some("v1.0.0"));
        assert_eq!(read("v1.02.3").as_deref(), Some("v1.2.3"));
        assert_eq!(read("v1.2.3-rc.0").as_deref(), Some("v1.2.3-rc.0"));
        assert_eq!(read("v1.2-rc.0"), None);
        assert_eq!(read("junk"), None);
    }
}
