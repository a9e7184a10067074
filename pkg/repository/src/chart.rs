//! Helm charts in HTTP repositories and in registries, as archives in memory.
//!
//! ```text
//! name, --repo ──► ChartSource ─┬─ index.yaml ─► newest version in the range ─► url, digest ─► archive
//! oci://…, url                  ├─ tags ───────► newest version in the range ─► manifest ───► layer
//!                               ├─ url of an archive ───────────────────────────────────────► archive
//!                               └─ lock ───────► newest locked version in it ─► digest ─► folder, cache, or as above
//! ```
//!
//! Source: Helm 3.22 pkg/repo, pkg/downloader, pkg/registry. Differs: the digest in an index is checked, and a password
//! is sent only over encrypted connections.

mod error;
mod folder;
mod http;
mod locked;
mod published;
mod registry;

use bytes::Bytes;
use chart::{VersionRange, sort_newest_first};
use transport::{
    AddressOrigin, Digest, HostSettings, Hosts, RegistryScheme,
    address::{authority, is_loopback, percent_decode, redact_url},
    http::parse_address,
};
use url::Url;

pub use error::ChartSourceError;
pub use folder::{CHART_FOLDER, chart_archive, chart_path, read_stored_chart};
pub use published::{PublishedChart, find_published_chart};
pub use registry::{CHART_ARCHIVES, CHART_CONFIG, chart_layer};

use crate::{RepositoryContext, fetch::parse_http, location::ArtifactReference};
use registry::RegistryChart;

/// The scheme of charts in registries.
const OCI: &str = "oci://";

/// The end of the name of an archive.
const ARCHIVE_SUFFIX: &str = ".tgz";

/// The number of versions that an error lists.
const MAX_SHOWN: usize = 5;

/// The source of one chart.
#[derive(Clone, Debug)]
pub struct ChartSource {
    location: ChartLocation,
    named_by: AddressOrigin,
    /// True if the credential of the repository is also sent to other hosts that its index names.
    passes_credentials: bool,
    /// True if the caller compares the archive with a lock, so that the chart itself need not be locked.
    is_verified_by_caller: bool,
}

#[derive(Clone, Debug)]
enum ChartLocation {
    /// A chart in the index of a repository.
    Indexed { repository: Url, chart: String },
    /// An archive on a web server.
    Archive(Url),
    /// A repository of a registry.
    Registry(RegistryChart),
}

/// An archive with a chart.
#[derive(Clone, Debug)]
pub struct FetchedChart {
    /// The bytes of the archive.
    pub bytes: Bytes,
    /// The chosen version. None for a chart that is named by its address or its digest alone.
    pub version: Option<String>,
    /// The address of the archive, without credentials.
    pub address: String,
    /// The digest of the archive.
    pub digest: Digest,
}

impl ChartSource {
    /// Returns the source of a chart: a name in the repository with a URL, `oci://{registry}/{path}[:{tag}][@{digest}]`,
    /// or the URL of an archive. A repository with the scheme `oci` is the parent of the chart in a registry.
    ///
    /// # Errors
    /// [`ChartSourceError::NoRepository`] for a name without a repository; an invalid URL or reference.
    pub fn parse(
        chart: &str,
        repository: Option<&str>,
        named_by: AddressOrigin,
    ) -> Result<Self, ChartSourceError> {
        let location = match repository.filter(|url| !url.is_empty()) {
            Some(url) if chart.contains("://") => {
                return Err(ChartSourceError::SurplusRepository {
                    chart: chart.to_owned(),
                    url: url.to_owned(),
                });
            }
            Some(url) if url.starts_with(OCI) => {
                ChartLocation::Registry(registry_chart(&format!("{}/{chart}", url.trim_end_matches('/')))?)
            }
            Some(url) => ChartLocation::Indexed { repository: parse_http_url(url)?, chart: chart.to_owned() },
            None if chart.starts_with(OCI) => ChartLocation::Registry(registry_chart(chart)?),
            None if chart.contains("://") => ChartLocation::Archive(parse_http_url(chart)?),
            None => return Err(ChartSourceError::NoRepository { chart: chart.to_owned() }),
        };
        Ok(Self::new(location, named_by))
    }

    /// Returns the source of a chart that is named by one URL, as in a lock: `oci://{registry}/{path}[:{tag}]`, the URL of
    /// a repository followed by the name of the chart, or the URL of an archive, which ends with `.tgz`.
    ///
    /// # Errors
    /// [`ChartSourceError::NoChartName`]; an invalid URL or reference.
    pub fn of_url(text: &str, named_by: AddressOrigin) -> Result<Self, ChartSourceError> {
        if text.starts_with(OCI) {
            return Self::parse(text, None, named_by);
        }
        let mut url = parse_http_url(text)?;
        if url.path().ends_with(ARCHIVE_SUFFIX) {
            return Ok(Self::new(ChartLocation::Archive(url), named_by));
        }
        let path = url.path().trim_end_matches('/').to_owned();
        let (parent, chart) = path.rsplit_once('/').unwrap_or_default();
        if chart.is_empty() {
            return Err(ChartSourceError::NoChartName { url: redact_url(&url) });
        }
        url.set_path(parent);
        let chart = percent_decode(chart);
        Ok(Self::new(ChartLocation::Indexed { repository: url, chart }, named_by))
    }

    fn new(location: ChartLocation, named_by: AddressOrigin) -> Self {
        Self { location, named_by, passes_credentials: false, is_verified_by_caller: false }
    }

    /// True if a text names a chart by a URL rather than by a name or a path.
    pub fn is_url(chart: &str) -> bool {
        [OCI, "http://", "https://"].iter().any(|scheme| chart.starts_with(scheme))
    }

    /// True if the source is the URL of an archive, which has one version at a time.
    pub fn is_archive(&self) -> bool {
        matches!(self.location, ChartLocation::Archive(_))
    }

    /// Sends the credential of the repository also to other hosts that its index names.
    #[must_use]
    pub fn passing_credentials(self, passes_credentials: bool) -> Self {
        Self { passes_credentials, ..self }
    }

    /// Fetches the chart even if a lock lacks it and unlocked charts are refused, because the caller compares the archive
    /// with the lock.
    #[must_use]
    pub fn verified_by_caller(self) -> Self {
        Self { is_verified_by_caller: true, ..self }
    }

    /// Returns the name of the chart in a lock: its URL without version, credentials and query.
    pub fn name(&self) -> String {
        let shown = |url: &Url| {
            let mut url = url.clone();
            url.set_query(None);
            url.set_fragment(None);
            redact_url(&url).trim_end_matches('/').to_owned()
        };
        match &self.location {
            ChartLocation::Indexed { repository, chart } => format!("{}/{chart}", shown(repository)),
            ChartLocation::Archive(url) => shown(url),
            ChartLocation::Registry(chart) => chart.name(),
        }
    }

    /// Returns the host of the repository, as in the settings of hosts.
    pub fn host(&self) -> String {
        match &self.location {
            ChartLocation::Indexed { repository: url, .. } | ChartLocation::Archive(url) => authority(url),
            ChartLocation::Registry(chart) => {
                let url = Url::parse(&format!("https://{}/", chart.registry));
                url.map_or_else(|_| chart.registry.clone(), |url| authority(&url))
            }
        }
    }

    /// True if credentials may be sent: the connection is encrypted, or stays on this machine.
    pub fn is_private(&self, hosts: &Hosts) -> bool {
        match &self.location {
            ChartLocation::Indexed { repository: url, .. } | ChartLocation::Archive(url) => {
                url.scheme() == "https" || is_loopback(url)
            }
            ChartLocation::Registry(chart) => {
                let is_plain = |host: &HostSettings| host.registry_scheme == RegistryScheme::Http;
                let url = Url::parse(&format!("https://{}/", chart.registry));
                !hosts.registry(&chart.registry).is_some_and(is_plain)
                    || url.is_ok_and(|url| is_loopback(&url))
            }
        }
    }

    /// Fetches the archive of the newest version in the range; of a locked chart, the newest locked version in it. An
    /// archive whose digest is known is fetched once and then read from the cache; its digest is checked on every read.
    /// The range does not count for the URL of an archive.
    ///
    /// # Errors
    /// No such chart or version, a digest that differs, content that is not a chart, any failure of a request;
    /// [`LockMismatch`](crate::LockMismatch).
    pub async fn fetch(
        &self,
        range: &VersionRange,
        context: &RepositoryContext,
    ) -> Result<FetchedChart, ChartSourceError> {
        match self.locked(range, context)? {
            Some(locked) => Box::pin(self.fetch_locked(&locked, range, context)).await,
            None => self.fetch_from_host(range, context).await,
        }
    }

    async fn fetch_from_host(
        &self,
        range: &VersionRange,
        context: &RepositoryContext,
    ) -> Result<FetchedChart, ChartSourceError> {
        match &self.location {
            ChartLocation::Indexed { repository, chart } => {
                let indexed = http::IndexedChart {
                    repository,
                    chart,
                    named_by: self.named_by,
                    passes_credentials: self.passes_credentials,
                };
                Box::pin(indexed.fetch(range, context)).await
            }
            ChartLocation::Archive(url) => http::fetch_archive(url, self.named_by, context).await,
            ChartLocation::Registry(chart) => Box::pin(chart.fetch(range, context)).await,
        }
    }
}

fn parse_http_url(text: &str) -> Result<Url, ChartSourceError> {
    let invalid = |source| ChartSourceError::Url { source };
    // The error of another scheme than http should not depend on the form of the rest.
    parse_address(text.trim()).map_err(invalid)?;
    parse_http(text).map_err(|error| match error {
        crate::Error::Transport(source) => invalid(source),
        other => ChartSourceError::Repository(other),
    })
}

fn registry_chart(text: &str) -> Result<RegistryChart, ChartSourceError> {
    let parsed = ArtifactReference::parse(text.trim_start_matches(OCI));
    let invalid = |source| ChartSourceError::Reference { reference: text.to_owned(), source };
    RegistryChart::of(&parsed.map_err(invalid)?).map_err(invalid)
}

/// Returns the error for a range without a version.
fn no_version<'v>(
    chart: String,
    range: &VersionRange,
    versions: impl IntoIterator<Item = &'v str>,
) -> ChartSourceError {
    let mut versions: Vec<&str> = versions.into_iter().collect();
    sort_newest_first(&mut versions, |version| version);
    let has_prereleases_only = range.as_str().is_empty()
        && VersionRange::parse("", true).is_ok_and(|all| all.choose(&versions, |version| version).is_some());
    ChartSourceError::NoVersion {
        chart,
        range: range.as_str().to_owned(),
        count: versions.len(),
        newest: versions.into_iter().take(MAX_SHOWN).map(str::to_owned).collect(),
        has_prereleases_only,
    }
}

#[cfg(test)]
mod tests;
