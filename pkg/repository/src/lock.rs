//! What was reviewed, and nothing else: the version and the digest of every file of a provider.
//!
//! ```text
//! capstan.lock ─► parse ─► Lock ─► LockSettings ─► WithOverrides::read: admit ─► read ─► verify ─► File
//!                  ▲        │ differences (what is locked, what is there)
//!                  └ render ┘
//! ```
//!
//! All of it is pure: who reads and writes the file is somebody else's question.

mod check;
mod difference;
mod text;

use std::{collections::BTreeMap, fmt};

pub use check::{LockSettings, NotAsLocked, Unlocked};
pub use text::LockError;

use transport::Digest;

use crate::File;

/// Providers by label, `cert-manager` among them. A repository may be read from another place than it was locked from:
/// what counts is the content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    /// By provider label.
    pub providers: BTreeMap<String, LockedProvider>,
}

/// One release, with everything that is read of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedProvider {
    /// The version, as its tag or folder is spelled.
    pub version: String,
    /// The provider url it was locked from, without credentials; for people.
    pub url: String,
    /// By name.
    pub files: BTreeMap<String, LockedFile>,
    /// By reference, image overrides in place; the digest where it is known.
    pub images: BTreeMap<String, Option<Digest>>,
    /// The files of the kustomization over its components, by their path as seen from its folder.
    pub kustomization: BTreeMap<String, Digest>,
}

/// One file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockedFile {
    /// Of its content.
    pub digest: Digest,
    /// Where it was when it was locked.
    pub origin: FileOrigin,
}

/// Which of the two places a file was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileOrigin {
    /// The provider repository.
    Repository,
    /// The overrides folder.
    Override,
}

impl Lock {
    /// Its name beside the configuration file.
    pub const FILE: &'static str = "capstan.lock";
}

impl LockedFile {
    /// What is to be locked of a file that was read.
    pub fn of(file: &File) -> Self {
        let origin = if file.origin.is_override() { FileOrigin::Override } else { FileOrigin::Repository };
        Self { digest: Digest::of(&file.bytes), origin }
    }
}

impl FileOrigin {
    fn as_str(self) -> &'static str {
        match self {
            Self::Repository => "repository",
            Self::Override => "override",
        }
    }
}

impl fmt::Display for FileOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests;
