//! Dependencies that never change: charts of one version, and files of one commit. They are fetched once.

use bytes::Bytes;
use chart::VersionRange;
use repository::RepositoryContext;
use transport::Refresh;

use super::fetch::{FetchedFiles, chart_source};
use super::settings::Source;
use crate::compile::sha256;
use crate::results::files;

/// The maximum size of the files of a dependency.
const MAX_BYTES: u64 = 256 << 20;
/// The number of digits of the hash of a commit.
const HASH_DIGITS: usize = 40;

/// The place of a dependency in the store.
pub(super) struct PinnedDependency<'a> {
    context: &'a RepositoryContext,
    key: String,
}

impl<'a> PinnedDependency<'a> {
    /// Returns the place of a dependency. None if its files may change.
    pub(super) fn of(source: &Source, context: &'a RepositoryContext) -> Option<Self> {
        let is_pinned = match source {
            Source::Chart { repository, name, version } => {
                let range = VersionRange::parse(version, false);
                range.is_ok_and(|range| range.as_version().is_some_and(is_complete))
                    && !chart_source(repository, name).is_ok_and(|chart| chart.is_locked(context))
            }
            Source::Git { reference, .. } => {
                reference.len() == HASH_DIGITS && reference.bytes().all(|byte| byte.is_ascii_hexdigit())
            }
            Source::Http { .. } | Source::Artifact { .. } => false,
        };
        // An address may have a password, which must not be in a name.
        is_pinned
            .then(|| Self { context, key: format!("catalog dependency {}", sha256(&format!("{source:?}"))) })
    }

    /// Reads the files of an earlier fetch.
    pub(super) fn read(&self) -> Option<FetchedFiles> {
        if self.context.settings().refresh == Refresh::Everything {
            return None;
        }
        let bytes = self.context.store()?.read_named(&self.key, MAX_BYTES).ok().flatten()?;
        let (names, mut contents): (Vec<(String, usize)>, _) = files::split(&bytes)?;
        let read = |(name, length): (String, usize)| Some((name, contents.next(length)?.to_vec()));
        names.into_iter().map(read).collect::<Option<_>>().map(FetchedFiles::Tree)
    }

    /// Keeps files for later runs, if the store can be written.
    pub(super) fn keep(&self, fetched: &FetchedFiles) {
        let (Some(store), FetchedFiles::Tree(tree)) = (self.context.store(), fetched) else { return };
        let names: Vec<(&str, usize)> = tree.iter().map(|(name, content)| (&**name, content.len())).collect();
        let bytes = files::join(&names, tree.iter().map(|(_, content)| &**content));
        if bytes.len() as u64 <= MAX_BYTES
            && let Err(error) = store.write_named(&self.key, Bytes::from(bytes))
        {
            self.context.report_store_error(&error);
        }
    }
}

/// True if a version has three parts. Fewer parts may mean a range.
fn is_complete(version: &str) -> bool {
    let core = version.trim_start_matches('v').split(['-', '+']).next().unwrap_or_default();
    core.split('.').count() == 3
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use repository::{LockFile, LockSettings, ReleaseSettings, UnlockedPolicy};
    use transport::{Digest, Settings};

    use super::*;

    #[test]
    fn only_complete_versions_and_hashes_are_pinned() {
        let context = RepositoryContext::default();
        let chart = |version: &str| Source::Chart {
            repository: "https://charts.example.org".to_owned(),
            name: "web".to_owned(),
            version: version.to_owned(),
        };
        let git = |reference: &str| Source::Git {
            url: "u".to_owned(),
            reference: reference.to_owned(),
            has_submodules: true,
        };
        for source in [chart("1.2.3"), chart("v1.2.3-rc.1+build"), git(&"0a".repeat(20))] {
            assert!(PinnedDependency::of(&source, &context).is_some(), "{source}");
        }
        for source in
            [chart(""), chart("1.2"), chart("^1.2.3"), chart("1.2.x"), git("v1"), git(&"0g".repeat(20))]
        {
            assert!(PinnedDependency::of(&source, &context).is_none(), "{source}");
        }
    }

    #[test]
    fn the_lock_decides_about_the_archive_of_a_locked_chart() {
        let web = "https://charts.example.org/web".to_owned();
        let charts: BTreeMap<_, _> = [(web, [("1.2.3".to_owned(), Digest::of(b"web"))].into())].into();
        let context = |unlocked_policy| {
            let lock = LockSettings {
                lock: LockFile { charts: charts.clone(), ..LockFile::default() },
                location: LockFile::FILE.to_owned(),
                unlocked_policy,
                chart_folder: None,
            };
            let releases = ReleaseSettings { lock: Some(lock.into()), ..ReleaseSettings::default() };
            RepositoryContext::with_release_settings(Settings::default(), releases)
        };
        let is_pinned = |name: &str, context: &RepositoryContext| {
            let (repository, version) = ("https://charts.example.org".to_owned(), "1.2.3".to_owned());
            PinnedDependency::of(&Source::Chart { repository, name: name.to_owned(), version }, context)
                .is_some()
        };
        for (policy, other) in [(UnlockedPolicy::Allowed, true), (UnlockedPolicy::Refused, false)] {
            let context = context(policy);
            assert_eq!([is_pinned("web", &context), is_pinned("other", &context)], [false, other]);
        }
    }
}
