//! Charts that are artifacts in a registry. A bundle has the same artifacts, so that their signatures stay valid.

use transport::{
    AddressOrigin, Digest,
    registry::{FetchedManifest, ManifestDocument, Reference, Registry},
};

use super::{ChartLocation, ChartSource, ChartSourceError, chart_layer};
use crate::RepositoryContext;

/// The artifact of a chart.
#[derive(Clone, Debug)]
pub struct PublishedChart {
    /// The host of the registry.
    pub registry: String,
    /// The repository in the registry.
    pub repository: String,
    /// The manifest of the version.
    pub manifest: FetchedManifest,
}

/// Finds the artifact with this archive under the tag of a version. None for a chart that is not in a registry, for another
/// archive, and if the registry cannot be asked in offline mode.
/// # Errors
/// Any failure of a request.
pub async fn find_published_chart(
    name: &str,
    version: &str,
    archive: Digest,
    context: &RepositoryContext,
) -> Result<Option<PublishedChart>, ChartSourceError> {
    let source = ChartSource::of_url(name, AddressOrigin::User)?;
    let ChartLocation::Registry(chart) = &source.location else { return Ok(None) };
    let (registry, repository) = chart.address();
    let reference = Reference::of_version(version);
    let found = match Registry::new(registry, context).manifest(repository, &reference).await {
        Err(transport::Error::Offline { .. } | transport::Error::DamagedOffline { .. }) => None,
        found => found
            .map_err(|source| ChartSourceError::Request { address: format!("{name}:{version}"), source })?,
    };
    let has_archive = |found: &FetchedManifest| match &found.document {
        ManifestDocument::Manifest(manifest) => {
            chart_layer(manifest).is_some_and(|layer| layer.digest == archive)
        }
        ManifestDocument::Index(_) => false,
    };
    Ok(found.filter(has_archive).map(|manifest| PublishedChart {
        registry: registry.to_owned(),
        repository: repository.to_owned(),
        manifest,
    }))
}
