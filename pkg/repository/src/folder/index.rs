use std::collections::BTreeMap;

use api::Version;
use serde::Deserialize;
use transport::Digest;

/// The versions of a web folder, with the files of each version if listed.
///
/// ```json
/// {"versions": {"v1.2.3": {"files": {"metadata.yaml": "sha256:…"}}}}
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderIndex {
    /// Versions, spelled like their folders, with files and digests. `None` if the files are not listed.
    versions: BTreeMap<String, Option<BTreeMap<String, Digest>>>,
}

/// A text that is not a valid index of a web folder.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant names its fields")]
pub enum InvalidFolderIndex {
    #[error(
        "it must be {{\"versions\": {{\"v1.2.3\": {{\"files\": {{\"metadata.yaml\": \"sha256:...\"}}}}}}}}"
    )]
    Format(#[source] serde_json::Error),
    #[error("`{file}` of `{version}` has no digest of the form sha256:...")]
    Digest { version: String, file: String },
}

#[derive(Deserialize)]
struct FolderIndexDocument {
    versions: BTreeMap<String, FolderIndexRelease>,
}

#[derive(Deserialize)]
struct FolderIndexRelease {
    files: Option<BTreeMap<String, String>>,
}

impl FolderIndex {
    /// Parses an index. Unknown fields are ignored for forward compatibility.
    /// # Errors
    /// Fails if the text is not a valid index.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidFolderIndex> {
        let written: FolderIndexDocument =
            serde_json::from_slice(text).map_err(InvalidFolderIndex::Format)?;
        let mut versions = BTreeMap::new();
        for (version, release) in written.versions {
            let files = release.files.map(|files| digests(&version, files)).transpose()?;
            versions.insert(version, files);
        }
        Ok(Self { versions })
    }

    /// All version names, including names that are not semantic versions.
    pub(super) fn names(&self) -> Vec<String> {
        self.versions.keys().cloned().collect()
    }

    /// All semantic versions, oldest first.
    pub(super) fn versions(&self) -> Vec<Version> {
        let mut versions: Vec<Version> =
            self.versions.keys().filter_map(|name| Version::parse(name).ok()).collect();
        versions.sort();
        versions
    }

    /// The folder name of a version: version `v1.2.3` may be in folder `1.2.3`.
    pub(super) fn stored_version(&self, version: &str) -> Option<&str> {
        if let Some((exact, _)) = self.versions.get_key_value(version) {
            return Some(exact);
        }
        let wanted = Version::parse(version).ok()?;
        let is_same =
            |name: &&String| Version::parse(name).is_ok_and(|known| known.semver() == wanted.semver());
        self.versions.keys().find(is_same).map(String::as_str)
    }

    /// The files of a version, sorted. `None` if they are not listed.
    pub(super) fn files(&self, version: &str) -> Option<Vec<String>> {
        let files = self.versions.get(self.stored_version(version)?)?.as_ref()?;
        Some(files.keys().cloned().collect())
    }

    /// The digest of a file, if listed. `version` is spelled as in the index.
    pub(super) fn digest(&self, version: &str, file: &str) -> Option<&Digest> {
        self.versions.get(version)?.as_ref()?.get(file)
    }
}

fn digests(
    version: &str,
    files: BTreeMap<String, String>,
) -> Result<BTreeMap<String, Digest>, InvalidFolderIndex> {
    let digest = |(file, text): (String, String)| match text.parse() {
        Ok(digest) => Ok((file, digest)),
        Err(_) => Err(InvalidFolderIndex::Digest { version: version.to_owned(), file }),
    };
    files.into_iter().map(digest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_may_have_more_fields() {
        let more = br#"{"made": "by hand", "versions": {"1.0.0": {"signed": true}, "notes": {}}}"#;
        let more = FolderIndex::parse(more).unwrap();
        assert_eq!(
            (more.versions().len(), more.stored_version("v1.0.0"), more.files("1.0.0")),
            (1, Some("1.0.0"), None)
        );
    }

    #[test]
    fn an_invalid_index_is_reported_with_its_problem() {
        for text in ["", "[]", "{}", r#"{"versions": []}"#, r#"{"versions": {"v1.0.0": {"files": ["a"]}}}"#] {
            assert!(
                matches!(FolderIndex::parse(text.as_bytes()), Err(InvalidFolderIndex::Format(_))),
                "{text}"
            );
        }
        let bad = br#"{"versions": {"v1.0.0": {"files": {"a": "md5:1"}}}}"#;
        let error = FolderIndex::parse(bad).unwrap_err();
        assert!(
            matches!(&error, InvalidFolderIndex::Digest { file, version } if file == "a" && version == "v1.0.0"),
            "{error:?}"
        );
    }
}
