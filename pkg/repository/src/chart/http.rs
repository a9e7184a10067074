//! Charts of HTTP repositories.

use bytes::Bytes;
use chart::{IndexedVersion, VersionRange, chart_versions};
use futures::FutureExt as _;
use transport::{
    AddressOrigin, Digest, InvalidDigest, RequestPurpose,
    address::redact_url,
    http::{CachePolicy, Request, fetch_cached, fetch_cached_verified},
};
use url::Url;

use super::{ChartSourceError, FetchedChart, OCI, no_version, registry_chart};
use crate::{Error, RepositoryContext, fetch::file_request};

/// The file with the versions of all charts.
const INDEX: &str = "index.yaml";

/// A chart in the index of a repository.
pub(super) struct IndexedChart<'a> {
    pub(super) repository: &'a Url,
    pub(super) chart: &'a str,
    pub(super) named_by: AddressOrigin,
    pub(super) passes_credentials: bool,
}

/// The index of a repository during one run.
#[derive(Clone)]
struct IndexBytes(Bytes);

impl IndexedChart<'_> {
    pub(super) async fn fetch(
        &self,
        range: &VersionRange,
        context: &RepositoryContext,
    ) -> Result<FetchedChart, ChartSourceError> {
        let chosen = self.choose(range, context).await?;
        let Some(address) = chosen.urls.first() else {
            let (chart, version) = (self.chart.to_owned(), chosen.version);
            return Err(ChartSourceError::NoUrl { chart, version, repository: self.shown() });
        };
        let digest = self.digest(&chosen)?;
        if address.starts_with(OCI) {
            let in_registry = registry_chart(address)?;
            let found = Box::pin(in_registry.fetch(&VersionRange::default(), context)).await?;
            check(digest, found.digest, &found.address)?;
            return Ok(FetchedChart { version: Some(chosen.version), ..found });
        }
        let url = resolve(self.repository, address).ok_or_else(|| ChartSourceError::ArchiveUrl {
            url: transport::address::redact_text(address),
            chart: self.chart.to_owned(),
            repository: self.shown(),
        })?;
        let failed = |source| ChartSourceError::Request { address: redact_url(&url), source };
        let request = self.archive_request(&url, context).await?;
        let (bytes, digest) = fetch_checked(context, &request, digest).await.map_err(failed)?;
        Ok(FetchedChart { bytes, digest, version: Some(chosen.version), address: redact_url(&url) })
    }

    async fn choose(
        &self,
        range: &VersionRange,
        context: &RepositoryContext,
    ) -> Result<IndexedVersion, ChartSourceError> {
        let index = self.index(context).await?;
        let versions = chart_versions(&index, self.chart).map_err(|source| ChartSourceError::Index {
            chart: self.chart.to_owned(),
            repository: self.shown(),
            source: Box::new(source),
        })?;
        let chosen = range.choose(&versions, |version| &version.version);
        chosen.cloned().ok_or_else(|| {
            let chart = format!("chart `{}` in `{}`", self.chart, self.shown());
            no_version(chart, range, versions.iter().map(|version| version.version.as_str()))
        })
    }

    /// Returns the index. Fetched once per run.
    async fn index(&self, context: &RepositoryContext) -> Result<Bytes, ChartSourceError> {
        let failed = |source| ChartSourceError::IndexRequest { repository: self.shown(), source };
        let url = resolve(self.repository, INDEX).ok_or_else(|| ChartSourceError::ArchiveUrl {
            url: INDEX.to_owned(),
            chart: self.chart.to_owned(),
            repository: self.shown(),
        })?;
        let request = file_request(context, url, self.named_by).await?;
        let ask = async {
            let answer = fetch_cached(context, &request, CachePolicy::Revalidate).await?;
            Ok::<_, transport::Error>(IndexBytes(answer.bytes))
        };
        let IndexBytes(bytes) =
            context.cached_results().get(request.url.as_str(), ask.boxed()).await.map_err(failed)?;
        Ok(bytes)
    }

    /// Returns the request for an archive. The credential of the repository is for its own host only.
    async fn archive_request(&self, url: &Url, context: &RepositoryContext) -> Result<Request, Error> {
        if url.origin() == self.repository.origin() {
            return file_request(context, url.clone(), self.named_by).await;
        }
        let request = file_request(context, url.clone(), AddressOrigin::FetchedFile).await?;
        if request.credential.is_some() || !self.passes_credentials || url.scheme() != "https" {
            return Ok(request);
        }
        let of_repository =
            context.credential_for(self.repository, RequestPurpose::File(self.named_by)).await?;
        Ok(request.with_credential(of_repository))
    }

    /// Returns the digest of the archive in the index, with or without `sha256:`.
    fn digest(&self, chosen: &IndexedVersion) -> Result<Option<Digest>, ChartSourceError> {
        if chosen.digest.is_empty() {
            return Ok(None);
        }
        let text = chosen.digest.to_ascii_lowercase();
        let digits = text.strip_prefix("sha256:").unwrap_or(&text);
        let digest = format!("sha256:{digits}").parse();
        digest.map(Some).map_err(|_: InvalidDigest| ChartSourceError::IndexedDigest {
            chart: self.chart.to_owned(),
            version: chosen.version.clone(),
            repository: self.shown(),
            source: InvalidDigest { text: chosen.digest.clone() },
        })
    }

    fn shown(&self) -> String {
        redact_url(self.repository).trim_end_matches('/').to_owned()
    }
}

/// Fetches an archive by its URL.
pub(super) async fn fetch_archive(
    url: &Url,
    named_by: AddressOrigin,
    context: &RepositoryContext,
) -> Result<FetchedChart, ChartSourceError> {
    let request = file_request(context, url.clone(), named_by).await?;
    let failed = |source| ChartSourceError::Request { address: redact_url(url), source };
    let (bytes, digest) = fetch_checked(context, &request, None).await.map_err(failed)?;
    Ok(FetchedChart { bytes, digest, version: None, address: redact_url(url) })
}

/// Returns an address that is relative to a repository, with the query of the repository.
/// Source: Helm 3.22 pkg/repo/chartrepo.go (ResolveReferenceURL).
pub(super) fn resolve(repository: &Url, reference: &str) -> Option<Url> {
    match Url::parse(reference) {
        Ok(url) => return matches!(url.scheme(), "http" | "https").then_some(url),
        Err(url::ParseError::RelativeUrlWithoutBase) => {}
        Err(_) => return None,
    }
    let mut base = repository.clone();
    base.set_path(&format!("{}/", repository.path().trim_end_matches('/')));
    let mut url = base.join(reference).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    if repository.query().is_some() {
        url.set_query(repository.query());
    }
    Some(url)
}

fn check(expected: Option<Digest>, found: Digest, place: &str) -> Result<(), ChartSourceError> {
    match expected.filter(|expected| *expected != found) {
        None => Ok(()),
        Some(expected) => {
            let source = transport::Error::Digest { place: place.to_owned(), expected, found };
            Err(ChartSourceError::Request { address: place.to_owned(), source })
        }
    }
}

/// Fetches an archive, and returns it with its digest.
async fn fetch_checked(
    context: &RepositoryContext,
    request: &Request,
    digest: Option<Digest>,
) -> Result<(Bytes, Digest), transport::Error> {
    let request = &Request { keeps_encoding: true, ..request.clone() };
    if let Some(expected) = digest {
        return Ok((fetch_cached_verified(context, request, expected).await?.bytes, expected));
    }
    let bytes = fetch_cached(context, request, CachePolicy::Revalidate).await?.bytes;
    let digest = Digest::of(&bytes);
    Ok((bytes, digest))
}
