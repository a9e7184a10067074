//! The lock file: the reviewed version of each provider with the digest of every file, and the reviewed charts.
//!
//! ```text
//! capstan.lock ─► parse ─► Lock ─► LockSettings ─┬► WithOverrides::read: admit ─► read ─► verify ─► File
//!                  ▲        │                     └► ChartSource::fetch: choose ─► read ─► verify ─► FetchedChart
//!                  │        │ differences (locked entry, new entry)
//!                  └ render ┘
//! ```
//!
//! This module is pure: callers read and write the lock file.

mod difference;
mod text;
mod verification;

use std::{collections::BTreeMap, fmt};

pub use text::LockError;
pub use verification::{LockMismatch, LockSettings, UnlockedPolicy};

use chart::{VersionRange, sort_newest_first};
use transport::Digest;

use crate::File;

/// Locked providers by label, including `cert-manager`, and locked charts. The repository of a provider may differ from
/// the locked url, because only content is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockFile {
    /// Locked providers, by label.
    pub providers: BTreeMap<String, LockedProvider>,
    /// Digests of the archives of charts, by version, by [`ChartSource::name`](crate::ChartSource::name).
    pub charts: BTreeMap<String, BTreeMap<String, Digest>>,
}

/// One locked release, with every file of it that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedProvider {
    /// The version, spelled as its tag or folder.
    pub version: String,
    /// The provider url at the time of locking, without credentials. Informational.
    pub url: String,
    /// Locked files, by name.
    pub files: BTreeMap<String, LockedFile>,
    /// Image digests, by reference after image overrides. `None` if the digest is unknown.
    pub images: BTreeMap<String, Option<Digest>>,
    /// Digests of the files of the kustomization over the components, by path relative to its folder.
    pub kustomization: BTreeMap<String, Digest>,
}

/// One locked file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockedFile {
    /// The digest of the content.
    pub digest: Digest,
    /// The origin of the file at the time of locking.
    pub origin: LockedFileOrigin,
}

/// The origin of a locked file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LockedFileOrigin {
    /// The provider repository.
    Repository,
    /// The overrides folder.
    Override,
}

impl LockFile {
    /// The name of the lock file, in the folder of the configuration file.
    pub const FILE: &'static str = "capstan.lock";

    /// True if nothing is locked.
    pub fn is_empty(&self) -> bool {
        self.providers.is_empty() && self.charts.is_empty()
    }

    /// Returns the newest locked version of a chart in a range. Without a range, a pre-release counts too, because it was
    /// reviewed.
    pub fn locked_chart(&self, chart: &str, range: &VersionRange) -> Option<(&str, Digest)> {
        let versions = self.charts.get(chart)?.iter();
        let mut versions: Vec<(&str, Digest)> =
            versions.map(|(version, it)| (version.as_str(), *it)).collect();
        if range.as_str().is_empty() {
            sort_newest_first(&mut versions, |(version, _)| version);
            return versions.first().copied();
        }
        range.choose(&versions, |(version, _)| version).copied()
    }
}

impl LockedFile {
    /// Creates the lock entry of a file.
    pub fn of(file: &File) -> Self {
        let origin =
            if file.source.is_override() { LockedFileOrigin::Override } else { LockedFileOrigin::Repository };
        Self { digest: Digest::of(&file.bytes), origin }
    }
}

impl LockedFileOrigin {
    fn as_str(self) -> &'static str {
        match self {
            Self::Repository => "repository",
            Self::Override => "override",
        }
    }
}

impl fmt::Display for LockedFileOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests;
