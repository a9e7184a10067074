//! Charts in registries.

use chart::{VersionRange, is_version};
use manifest::images::is_tag;
use transport::{
    Digest,
    registry::{Descriptor, FetchedManifest, Index, Manifest, ManifestDocument, Reference, Registry},
};

use super::{ChartSourceError, FetchedChart, OCI, no_version};
use crate::{
    LocationError, RepositoryContext, location::ArtifactReference, oci::artifact::read_inner_manifest,
};

/// The media type of the configuration, which is `Chart.yaml` in JSON.
pub const CHART_CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";

/// The media types of the layer with the archive; the first is the current one.
pub const CHART_ARCHIVES: [&str; 2] =
    ["application/vnd.cncf.helm.chart.content.v1.tar+gzip", "application/tar+gzip"];

/// A chart in a repository of a registry.
#[derive(Clone, Debug)]
pub(super) struct RegistryChart {
    pub(super) registry: String,
    repository: String,
    /// The version of the tag, with `+` instead of `_`.
    tag: Option<String>,
    digest: Option<Digest>,
}

impl RegistryChart {
    pub(super) fn of(reference: &ArtifactReference<'_>) -> Result<Self, LocationError> {
        let ArtifactReference { registry, repository, tag, digest } = *reference;
        if let Some(tag) = tag.filter(|tag| !is_tag(tag)) {
            return Err(LocationError::OciForm { problem: format!("`{tag}` is not a tag") });
        }
        Ok(Self {
            registry: registry.to_owned(),
            repository: repository.to_owned(),
            tag: tag.map(|tag| tag.replace('_', "+")),
            digest,
        })
    }

    /// Returns the name of the chart in a lock.
    pub(super) fn name(&self) -> String {
        format!("{OCI}{}/{}", self.registry, self.repository)
    }

    /// Returns the registry and the repository in it.
    pub(super) fn address(&self) -> (&str, &str) {
        (&self.registry, &self.repository)
    }

    /// True if the reference names a manifest by its digest.
    pub(super) fn is_pinned(&self) -> bool {
        self.digest.is_some()
    }

    /// Returns the version of the tag, which must not differ from the range.
    pub(super) fn tagged_version(&self, range: &VersionRange) -> Result<Option<&str>, ChartSourceError> {
        let wanted = range.as_str();
        match self.tag.as_deref() {
            Some(tag) if !wanted.is_empty() && tag != wanted => Err(ChartSourceError::TagMismatch {
                reference: self.name(),
                version: wanted.to_owned(),
                tag: tag.to_owned(),
            }),
            tag => Ok(tag),
        }
    }

    pub(super) async fn fetch(
        &self,
        range: &VersionRange,
        context: &RepositoryContext,
    ) -> Result<FetchedChart, ChartSourceError> {
        let registry = Registry::new(&self.registry, context);
        let (version, found) = self.manifest(&registry, range).await?;
        let reference = match &version {
            Some(version) if self.digest.is_none() => Reference::of_version(version),
            _ => Reference::Digest(found.digest),
        };
        let address = registry.address(&self.repository, Some(&reference));
        let manifest = self.chart_manifest(&registry, found, &address).await?;
        let layer =
            chart_layer(&manifest).ok_or_else(|| ChartSourceError::NoArchive { address: address.clone() })?;
        let failed = |source| ChartSourceError::Request { address: address.clone(), source };
        let bytes = registry.small_blob(&self.repository, layer).await.map_err(failed)?;
        Ok(FetchedChart { bytes, digest: layer.digest, version, address })
    }

    /// Fetches the manifest of the version. The digest of the reference counts more than the tag, which must not differ.
    async fn manifest(
        &self,
        registry: &Registry,
        range: &VersionRange,
    ) -> Result<(Option<String>, FetchedManifest), ChartSourceError> {
        let exact = self.tagged_version(range)?.or_else(|| range.as_version()).map(str::to_owned);
        if let Some(digest) = self.digest {
            let found = self.pull(registry, &Reference::Digest(digest)).await?;
            if let Some(tag) = &exact {
                self.check_tag(registry, tag, digest).await?;
            }
            return match found {
                Some(found) => Ok((exact, found)),
                None => Err(ChartSourceError::NoVersion {
                    chart: format!("`{}`", self.name()),
                    range: digest.to_string(),
                    newest: Vec::new(),
                    count: 0,
                    has_prereleases_only: false,
                }),
            };
        }
        let version = match exact {
            Some(version) => version,
            None => self.choose(registry, range).await?,
        };
        if let Some(found) = self.pull(registry, &Reference::of_version(&version)).await? {
            return Ok((Some(version), found));
        }
        // The error reports the missing version; the list of versions is optional.
        let versions = self.versions(registry).await.unwrap_or_default();
        let only = VersionRange::parse(&version, false).unwrap_or_default();
        Err(self.no_version(&only, &versions))
    }

    async fn pull(
        &self,
        registry: &Registry,
        reference: &Reference,
    ) -> Result<Option<FetchedManifest>, ChartSourceError> {
        registry.manifest(&self.repository, reference).await.map_err(|source| ChartSourceError::Request {
            address: registry.address(&self.repository, Some(reference)),
            source,
        })
    }

    /// Checks that a tag has a digest, if the registry has the tag.
    async fn check_tag(
        &self,
        registry: &Registry,
        tag: &str,
        expected: Digest,
    ) -> Result<(), ChartSourceError> {
        match self.pull(registry, &Reference::of_version(tag)).await {
            Ok(Some(found)) if found.digest != expected => Err(ChartSourceError::MovedTag {
                reference: self.name(),
                tag: tag.to_owned(),
                expected,
                found: found.digest,
            }),
            Err(error) if !error.is_offline() => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the newest version in the range.
    async fn choose(&self, registry: &Registry, range: &VersionRange) -> Result<String, ChartSourceError> {
        let versions = self.versions(registry).await?;
        let chosen = range.choose(&versions, String::as_str);
        chosen.cloned().ok_or_else(|| self.no_version(range, &versions))
    }

    /// Returns the tags that are versions. As in Helm, a version has three numbers and no `v`; other versions count only
    /// if there are none of these.
    async fn versions(&self, registry: &Registry) -> Result<Vec<String>, ChartSourceError> {
        let failed = |source| ChartSourceError::Request { address: self.name(), source };
        let tags = registry.tags(&self.repository).await.map_err(failed)?;
        let tags = tags.iter().map(|tag| tag.replace('_', "+"));
        let versions: Vec<String> = tags.filter(|tag| is_version(tag)).collect();
        let strict: Vec<String> = versions.iter().filter(|version| is_strict(version)).cloned().collect();
        Ok(if strict.is_empty() { versions } else { strict })
    }

    fn no_version(&self, range: &VersionRange, versions: &[String]) -> ChartSourceError {
        let chart = format!("`{}`", self.name());
        no_version(chart, range, versions.iter().map(String::as_str))
    }

    /// Returns the manifest of the chart, or of the only chart in an index.
    async fn chart_manifest(
        &self,
        registry: &Registry,
        found: FetchedManifest,
        address: &str,
    ) -> Result<Manifest, ChartSourceError> {
        let manifest = match found.document {
            ManifestDocument::Manifest(manifest) => *manifest,
            ManifestDocument::Index(index) => {
                let chosen = only_chart(&index, address)?;
                read_inner_manifest(registry, &self.repository, address, chosen).await?
            }
        };
        if manifest.config.media_type == CHART_CONFIG {
            return Ok(manifest);
        }
        let media_type = manifest.artifact_type.unwrap_or(manifest.config.media_type);
        Err(ChartSourceError::NotAChart { address: address.to_owned(), media_type })
    }
}

fn only_chart<'a>(index: &'a Index, address: &str) -> Result<&'a Descriptor, ChartSourceError> {
    let is_chart = |entry: &&Descriptor| entry.artifact_type.as_deref() == Some(CHART_CONFIG);
    let charts: Vec<&Descriptor> = index.manifests.iter().filter(is_chart).collect();
    match (charts.as_slice(), index.manifests.as_slice()) {
        ([one], _) => Ok(one),
        ([], [one]) => Ok(one),
        _ => Err(ChartSourceError::NotOneChart { address: address.to_owned(), found: charts.len() }),
    }
}

/// Returns the layer with the archive of a chart.
pub fn chart_layer(manifest: &Manifest) -> Option<&Descriptor> {
    manifest.layers.iter().find(|layer| CHART_ARCHIVES.contains(&layer.media_type.as_str()))
}

/// True for a version in the form of semver.org.
fn is_strict(version: &str) -> bool {
    let numbers = version.split(['-', '+']).next().unwrap_or_default();
    let is_number = |part: &str| part == "0" || !part.starts_with('0');
    !version.starts_with('v') && numbers.split('.').count() == 3 && numbers.split('.').all(is_number)
}
