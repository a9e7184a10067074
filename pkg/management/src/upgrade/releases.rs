//! Reads available versions from repositories.

use api::{Metadata, Version, VersionOrLatest};
use futures::{StreamExt, stream};
use provider::{InstalledProvider, ProviderReleases, ReleaseError, read_metadata};

use super::choose::{CandidateReleases, UpgradeCandidate};
use crate::{Sources, UpgradeTarget};

/// The limit of repositories that are read concurrently.
const MAX_REPOSITORIES: usize = 8;

/// Reads the releases of all installed providers, in the given order. Problems of one provider are part of
/// its candidate.
/// `target` names versions whose contract must be read too.
pub(crate) async fn read_candidates(
    sources: &Sources<'_>,
    installed: &[InstalledProvider],
    target: Option<&UpgradeTarget>,
) -> Vec<UpgradeCandidate> {
    let each = installed.iter().map(|installed| async move {
        let releases = read_releases(sources, installed, target).await;
        UpgradeCandidate { installed: installed.clone(), releases }
    });
    stream::iter(each).buffered(MAX_REPOSITORIES).collect().await
}

async fn read_releases(
    sources: &Sources<'_>,
    installed: &InstalledProvider,
    target: Option<&UpgradeTarget>,
) -> Result<CandidateReleases, String> {
    let current = Version::parse(&installed.version).map_err(|error| api::with_causes(&error))?;
    let repository = sources.releases(&installed.id).map_err(|error| api::with_causes(&error))?;
    let versions = read_versions(&repository).await.map_err(|error| api::with_causes(&error))?;
    let mut wanted = vec![current.clone()];
    if let Some(UpgradeTarget::Providers(items)) = target {
        let of_this = items.iter().filter(|item| item.provider == installed.id);
        wanted.extend(of_this.filter_map(|item| Version::parse(&item.version).ok()));
    }
    let mut releases = CandidateReleases { current, versions, metadata: Vec::new(), warnings: Vec::new() };
    read_series(&repository, &mut releases, &wanted).await.map_err(|error| api::with_causes(&error))?;
    Ok(releases)
}

/// Returns the versions of a repository. If the repository cannot list versions, returns the version in its URL.
async fn read_versions(releases: &ProviderReleases) -> Result<Vec<Version>, repository::Error> {
    match releases.versions().await {
        Err(error @ repository::Error::CannotList { .. }) => match releases.repository().default_version() {
            Ok(VersionOrLatest::Pinned(version)) => Ok(vec![version]),
            Ok(VersionOrLatest::Latest) | Err(_) => Err(error),
        },
        listed => listed,
    }
}

/// Reads metadata until the series of every wanted version is known.
/// The order is the newest release, the newest pre-release, then the version itself.
/// Source: clusterctl v1.14 client/cluster/upgrader_info.go; differs: there, only the metadata of the newest
/// pre-release is read.
async fn read_series(
    repository: &ProviderReleases,
    releases: &mut CandidateReleases,
    wanted: &[Version],
) -> Result<(), ReleaseError> {
    let newest = releases.versions.iter().filter(|version| !version.is_prerelease()).max().cloned();
    let newest_of_all = releases.versions.iter().max().cloned();
    let mut read: Vec<Version> = Vec::new();
    for next in newest.into_iter().chain(newest_of_all).chain(wanted.iter().cloned()) {
        let missing: Vec<_> =
            wanted.iter().filter(|version| releases.contract_of(version).is_none()).cloned().collect();
        if !read.is_empty() && missing.is_empty() {
            break;
        }
        if read.iter().any(|version| version.as_str() == next.as_str()) {
            continue;
        }
        match read_version_metadata(repository, &next).await {
            Ok(metadata) => releases.metadata.push(metadata),
            Err(error) if read.is_empty() => return Err(error),
            // A version that is gone from the repository has no metadata. A later check reports its unknown series.
            Err(_) => continue,
        }
        if let Some(first) = read.first() {
            let listed = missing.iter().find(|version| releases.contract_of(version).is_some());
            releases.warnings.extend(listed.map(|version| {
                let id = &repository.provider().id;
                format!(
                    "the metadata of `{id}` {first} does not list {version}; using the metadata of {next}"
                )
            }));
        }
        read.push(next);
    }
    Ok(())
}

async fn read_version_metadata(
    repository: &ProviderReleases,
    version: &Version,
) -> Result<Metadata, ReleaseError> {
    let file = repository.release(version.as_str()).read(Metadata::FILE).await?;
    let id = &repository.provider().id;
    read_metadata(id, &file.source.to_string(), &file.bytes).map_err(|source| ReleaseError::Metadata {
        provider: id.clone(),
        version: version.as_str().to_owned(),
        source: Box::new(source),
    })
}

#[cfg(test)]
mod tests;
