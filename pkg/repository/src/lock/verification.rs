use std::{collections::BTreeMap, path::PathBuf};

use api::{Version, output::LockChange, similar_names};
use bytes::Bytes;
use transport::Digest;

use super::{LockFile, LockedFile, LockedFileOrigin, LockedProvider};
use crate::{Error, File, FileSource};

/// A lock and its policy, applied to every file and chart that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockSettings {
    /// The lock to compare with.
    pub lock: LockFile,
    /// The path of the lock file, for messages.
    pub location: String,
    /// The policy for providers and charts that are not locked.
    pub unlocked_policy: UnlockedPolicy,
    /// A folder with archives of locked charts, which are read before those of hosts.
    pub chart_folder: Option<PathBuf>,
}

/// Policy for providers and charts that are not locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnlockedPolicy {
    /// Read them unchecked.
    Allowed,
    /// Read none of them.
    Refused,
}

/// A requested provider, chart, version or file that differs from the lock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant names its fields")]
pub enum LockMismatch {
    #[error("`{provider}` is not in `{lock}`, and unlocked providers are not allowed")]
    Provider { provider: String, lock: String },
    #[error("`{provider}` is locked at {locked} in `{lock}`, not at {version}")]
    Version { provider: String, version: String, locked: String, lock: String },
    #[error("`{file}` of `{provider}` {version} is not in `{lock}`")]
    File { file: String, provider: String, version: String, lock: String, suggestions: Vec<String> },
    #[error("the kustomization of `{provider}` does not match `{lock}`: {}", reported(differences))]
    Kustomization { provider: String, lock: String, differences: Vec<LockChange> },
    #[error(
        "`{file}` of `{provider}` {version} does not match the lock: `{found_in}` has {found}, `{lock}` has {locked} from \
         the {locked_from}"
    )]
    Content {
        file: String,
        provider: String,
        version: String,
        lock: String,
        found: Digest,
        found_in: FileSource,
        locked: Digest,
        locked_from: LockedFileOrigin,
    },
    #[error("chart `{chart}` is not in `{lock}`, and unlocked charts are not allowed")]
    Chart { chart: String, version: String, lock: String },
    #[error("chart `{chart}` is locked at {} in `{lock}`, not at `{version}`", versions.join(", "))]
    ChartVersion { chart: String, version: String, versions: Vec<String>, lock: String },
    #[error(
        "chart `{chart}` {version} does not match the lock: `{found_in}` has {found}, `{lock}` has {locked}"
    )]
    ChartContent {
        chart: String,
        version: String,
        lock: String,
        found: Digest,
        found_in: String,
        locked: Digest,
    },
}

impl LockSettings {
    /// The entry of a provider. `None` if the provider may be read unlocked.
    /// # Errors
    /// [`LockMismatch::Provider`].
    pub(crate) fn provider(&self, label: &str) -> Result<Option<&LockedProvider>, Box<LockMismatch>> {
        let entry = self.lock.providers.get(label);
        if entry.is_none() && self.unlocked_policy == UnlockedPolicy::Refused {
            let (provider, lock) = (label.to_owned(), self.location.clone());
            return Err(Box::new(LockMismatch::Provider { provider, lock }));
        }
        Ok(entry)
    }

    /// Checks a request before the file is read. Returns the locked file, or `None` if the provider may be read
    /// unlocked.
    /// # Errors
    /// Any [`LockMismatch`] except `Content` and `Kustomization`.
    pub(crate) fn find_file(
        &self,
        label: &str,
        version: &str,
        file: &str,
    ) -> Result<Option<&LockedFile>, Box<LockMismatch>> {
        let Some(entry) = self.provider(label)? else { return Ok(None) };
        let (provider, lock) = (label.to_owned(), self.location.clone());
        if !is_same_version(&entry.version, version) {
            let (version, locked) = (version.to_owned(), entry.version.clone());
            return Err(Box::new(LockMismatch::Version { provider, version, locked, lock }));
        }
        if let Some(locked) = entry.files.get(file) {
            return Ok(Some(locked));
        }
        let near = similar_names(file, entry.files.keys().map(String::as_str));
        let near = near.into_iter().map(str::to_owned).collect();
        let (file, version) = (file.to_owned(), version.to_owned());
        Err(Box::new(LockMismatch::File { file, provider, version, lock, suggestions: near }))
    }

    /// Compares the content of an admitted file with the lock.
    /// # Errors
    /// [`LockMismatch::Content`].
    pub(crate) fn verify(
        &self,
        (label, version, file): (&str, &str, &str),
        locked: &LockedFile,
        found: &File,
    ) -> Result<(), Box<LockMismatch>> {
        let digest = Digest::of(&found.bytes);
        if digest == locked.digest {
            return Ok(());
        }
        Err(Box::new(LockMismatch::Content {
            file: file.to_owned(),
            provider: label.to_owned(),
            version: version.to_owned(),
            lock: self.location.clone(),
            found: digest,
            found_in: found.source.clone(),
            locked: locked.digest,
            locked_from: locked.origin,
        }))
    }
}

impl LockSettings {
    /// Compares the kustomization over the components of a provider with the lock.
    /// # Errors
    /// [`LockMismatch::Kustomization`]; [`LockMismatch::Provider`].
    pub fn verify_kustomization(&self, label: &str, files: &BTreeMap<String, Bytes>) -> Result<(), Error> {
        let Some(entry) = self.provider(label).map_err(Error::LockMismatch)? else { return Ok(()) };
        let digests = files.iter().map(|(name, bytes)| (name.clone(), Digest::of(bytes))).collect();
        let found = LockedProvider { kustomization: digests, ..entry.clone() };
        let differences = found.differences(Some(entry));
        if differences.is_empty() {
            return Ok(());
        }
        let (provider, lock) = (label.to_owned(), self.location.clone());
        Err(Error::LockMismatch(Box::new(LockMismatch::Kustomization { provider, lock, differences })))
    }

    /// Checks if a kustomization that cannot be locked may be used.
    /// # Errors
    /// [`LockMismatch::Kustomization`] if only locked providers may be used.
    pub fn check_unlocked_kustomization(&self, label: &str) -> Result<(), Error> {
        if self.unlocked_policy == UnlockedPolicy::Allowed {
            return Ok(());
        }
        let (provider, lock) = (label.to_owned(), self.location.clone());
        let refused = LockMismatch::Kustomization { provider, lock, differences: Vec::new() };
        Err(Error::LockMismatch(Box::new(refused)))
    }
}

fn reported(differences: &[LockChange]) -> String {
    if differences.is_empty() {
        return "it is not in the lock".to_owned();
    }
    let one = |it: &LockChange| match (&it.locked, &it.found) {
        (None, _) => format!("`{}` was added", it.subject()),
        (_, None) => format!("`{}` was removed", it.subject()),
        _ => format!("`{}` was changed", it.subject()),
    };
    differences.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// True if two versions are equal, with or without `v`.
fn is_same_version(a: &str, b: &str) -> bool {
    let parse = |text| Version::parse(text).ok();
    a == b || parse(a).zip(parse(b)).is_some_and(|(a, b)| a.semver() == b.semver())
}
