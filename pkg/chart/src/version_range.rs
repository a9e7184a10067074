//! The choice of one version of a chart.
//!
//! Source: Helm 3.22 pkg/repo/index.go (Get), pkg/registry/util.go, Masterminds/semver 3.5.

use std::cmp::Ordering;

/// The versions of which the newest is used: a range, one version, or any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionRange {
    text: String,
}

/// A text that is neither a version nor a range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is neither a version nor a range of versions: {reason}")]
pub struct VersionRangeError {
    /// The text that was rejected.
    pub text: String,
    /// The reason in the words of Masterminds/semver.
    pub reason: String,
}

impl VersionRange {
    /// Reads a version or a range such as `>=1.2 <2`. An empty text allows every release, and with `devel` every
    /// pre-release too.
    ///
    /// # Errors
    /// The reason, as Helm words it.
    pub fn parse(text: &str, devel: bool) -> Result<Self, VersionRangeError> {
        let text = match text.trim() {
            "" if devel => ">0.0.0-0",
            text => text,
        };
        if !text.is_empty() {
            template::check_constraint(text)
                .map_err(|reason| VersionRangeError { text: text.to_owned(), reason })?;
        }
        Ok(Self { text: text.to_owned() })
    }

    /// Returns the range that contains only the version with this spelling.
    pub fn exact(version: &str) -> Self {
        Self { text: version.to_owned() }
    }

    /// The text; empty if every release is allowed.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the version, if this is one version such as `1.2.3` or `v1.2`.
    pub fn as_version(&self) -> Option<&str> {
        template::is_version(&self.text).then_some(self.text.as_str())
    }

    /// Returns the version with the same spelling, or else the newest version in the range. Texts that are not versions
    /// are skipped. Of versions that differ only in build metadata, the first is used.
    pub fn choose<'v, T>(&self, versions: &'v [T], text: impl Fn(&T) -> &str) -> Option<&'v T> {
        let exact = versions.iter().find(|version| !self.text.is_empty() && text(version) == self.text);
        if exact.is_some() {
            return exact;
        }
        let constraint = if self.text.is_empty() { "*" } else { &self.text };
        let allowed = versions.iter().filter(|version| template::version_matches(constraint, text(version)));
        allowed.reduce(|newest, version| {
            let order = template::compare_versions(text(version), text(newest));
            if order == Some(Ordering::Greater) { version } else { newest }
        })
    }
}

/// Sorts versions from the newest to the oldest. Texts that are not versions come last.
pub fn sort_newest_first<T>(versions: &mut [T], text: impl Fn(&T) -> &str) {
    versions.sort_by(|left, right| {
        let (left, right) = (text(left), text(right));
        template::compare_versions(right, left)
            .unwrap_or_else(|| template::is_version(right).cmp(&template::is_version(left)))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose<'v>(range: &str, devel: bool, versions: &'v [&'v str]) -> Option<&'v str> {
        VersionRange::parse(range, devel).unwrap().choose(versions, |version| version).copied()
    }

    #[test]
    fn the_newest_version_in_the_range_is_used() {
        let versions = ["1.0.0", "1.10.0", "1.9.0", "2.0.0-rc.1", "v1.11.0", "other"];
        assert_eq!(choose("", false, &versions), Some("v1.11.0"));
        assert_eq!(choose("", true, &versions), Some("2.0.0-rc.1"));
        assert_eq!(choose("~1.9", false, &versions), Some("1.9.0"));
        assert_eq!(choose("1.x", false, &versions), Some("v1.11.0"));
        assert_eq!(choose("1.11.0", false, &versions), Some("v1.11.0"));
        assert_eq!(choose(">=2", false, &versions), None);
        assert_eq!(choose(">=2-0", false, &versions), Some("2.0.0-rc.1"));
        assert_eq!(choose("2.0.0-rc.1", false, &versions), Some("2.0.0-rc.1"));
    }

    #[test]
    fn the_exact_spelling_is_preferred() {
        let versions = ["1.0.0+b", "v1.0.0", "1.0.0", "1.0.0+a"];
        assert_eq!(choose("1.0.0", false, &versions), Some("1.0.0"));
        assert_eq!(choose("1.0.0+a", false, &versions), Some("1.0.0+a"));
        assert_eq!(choose("1.0", false, &versions), Some("1.0.0+b"));
    }

    #[test]
    fn a_text_that_is_no_range_is_an_error() {
        let error = VersionRange::parse("latest", false).unwrap_err();
        assert_eq!(error.reason, "improper constraint: \"latest\"");
    }

    #[test]
    fn versions_are_sorted_newest_first() {
        let mut versions = ["x", "1.9.0", "1.10.0", "1.10.0-rc.1"];
        sort_newest_first(&mut versions, |version| version);
        assert_eq!(versions, ["1.10.0", "1.10.0-rc.1", "1.9.0", "x"]);
    }
}
