//! Charts of HTTP repositories.

use bytes::Bytes;
use chart::{IndexedVersion, VersionRange, chart_versions};
use futures::{FutureExt as _, future::BoxFuture};
use transport::{
    AddressOrigin, Context, Digest, Digester, InvalidDigest, RequestPurpose,
    address::redact_url,
    http::{
        BodySink, CachePolicy, Request, RequestSender, ResponseHead, fetch_cached, fetch_cached_with,
        receive_into,
    },
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
        let bytes = fetch_checked(context, &request, digest).await.map_err(failed)?;
        Ok(FetchedChart::new(bytes, Some(chosen.version), redact_url(&url)))
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
    let bytes = fetch_checked(context, &request, None).await.map_err(failed)?;
    Ok(FetchedChart::new(bytes, None, redact_url(url)))
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

/// Fetches an archive. One with a known digest is cached under the digest, so it needs no second request, and an archive
/// that was replaced at its address is never taken for it.
async fn fetch_checked(
    context: &RepositoryContext,
    request: &Request,
    digest: Option<Digest>,
) -> Result<Bytes, transport::Error> {
    let Some(expected) = digest else {
        return Ok(fetch_cached(context, request, CachePolicy::Revalidate).await?.bytes);
    };
    let mut name = request.url.clone();
    name.set_fragment(Some(&expected.to_string()));
    let sender = CheckingSender { context, expected };
    let answer = fetch_cached_with(context, &sender, &name, request, CachePolicy::Immutable).await?;
    let found = Digest::of(&answer.bytes);
    if found == expected {
        return Ok(answer.bytes);
    }
    Err(transport::Error::Digest { place: redact_url(&request.url), expected, found })
}

/// Sends requests and checks the digest of the response, so that other content is not cached.
struct CheckingSender<'a> {
    context: &'a Context,
    expected: Digest,
}

impl RequestSender for CheckingSender<'_> {
    fn send_request<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn BodySink,
    ) -> BoxFuture<'a, Result<ResponseHead, transport::Error>> {
        async move {
            let mut checked = CheckingSink { sink, digester: Digester::default() };
            let limit = self.context.max_file_bytes();
            let head = receive_into(self.context, request, &mut checked, limit).await?;
            let (expected, found) = (self.expected, checked.digester.finish());
            if head.status.is_success() && found != expected {
                return Err(transport::Error::Digest { place: redact_url(&request.url), expected, found });
            }
            Ok(head)
        }
        .boxed()
    }
}

struct CheckingSink<'a> {
    sink: &'a mut dyn BodySink,
    digester: Digester,
}

impl BodySink for CheckingSink<'_> {
    fn begin(&mut self) -> Result<(), transport::Error> {
        self.digester = Digester::default();
        self.sink.begin()
    }

    fn take(&mut self, piece: Bytes) -> Result<(), transport::Error> {
        self.digester.update(&piece);
        self.sink.take(piece)
    }
}
