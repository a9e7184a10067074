use api::{Metadata, ReleaseSeries, Version};

use crate::{Error, Repository};

/// The number of releases to try, newest first.
/// Source: clusterctl v1.14 client/repository/repository_versions.go.
const CANDIDATES: usize = 5;

/// Finds the newest release that supports a contract.
///
/// Releases come before pre-releases, then higher versions before lower ones. The first of the top five releases with a
/// metadata file is the candidate. If its metadata lists series for `contract`, the newest of these series with a
/// release is selected. The result is then the newest release of that series. `parse` reads the series from a metadata
/// file. If `parse` returns `None`, the candidate is the result.
///
/// Source: clusterctl v1.14 client/repository/repository_versions.go. Differs: releases without metadata are skipped on
/// every host, not only if a GitHub tag has no release. Differs: a series listed before its first release is skipped,
/// while clusterctl fails. The version keeps the spelling of its tag or folder.
/// # Errors
/// [`Error::NoVersions`]; [`Error::EmptySeries`] if no series of the contract has a release. If no candidate has
/// metadata, the failure of the newest candidate. Any other read failure is returned immediately.
pub async fn latest_version(
    repository: &dyn Repository,
    contract: &str,
    parse: &(dyn Fn(&[u8]) -> Option<Metadata> + Sync),
) -> Result<Version, Error> {
    let mut versions = repository.versions().await?;
    versions.sort_by(|a, b| (b.is_prerelease().cmp(&a.is_prerelease())).then_with(|| a.cmp(b)).reverse());
    let (version, metadata) = first_with_metadata(repository, &versions).await?;
    let mut series = parse(&metadata).map(|metadata| metadata.release_series).unwrap_or_default();
    series.retain(|series| series.contract.as_str() == contract);
    series.sort_by_key(|series| std::cmp::Reverse((series.major, series.minor)));
    let Some(newest) = series.first() else { return Ok(version) };
    let released =
        |series: &&ReleaseSeries| versions.iter().any(|v| v.is_same_series(series.major, series.minor));
    let Some(ReleaseSeries { major, minor, .. }) = series.iter().find(released) else {
        let (place, listed_by) = (repository.display_address(), version.to_string());
        return Err(Error::EmptySeries { place, major: newest.major, minor: newest.minor, listed_by });
    };
    if version.is_same_series(*major, *minor) {
        return Ok(version);
    }
    let of_series: Vec<Version> =
        versions.iter().filter(|v| v.is_same_series(*major, *minor)).cloned().collect();
    first_with_metadata(repository, &of_series).await.map(|(version, _)| version)
}

async fn first_with_metadata(
    repository: &dyn Repository,
    versions: &[Version],
) -> Result<(Version, bytes::Bytes), Error> {
    let mut first_missing = None;
    for version in versions.iter().take(CANDIDATES) {
        match repository.read(version.as_str(), Metadata::FILE).await {
            Ok(file) => return Ok((version.clone(), file.bytes)),
            // Without a connection, the newest cached release is the newest release.
            Err(error) if error.is_not_found() || error.is_offline() => {
                first_missing.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    Err(first_missing
        .unwrap_or_else(|| Error::NoVersions { place: repository.display_address(), ignored: Vec::new() }))
}

#[cfg(test)]
#[path = "latest/tests.rs"]
mod tests;
