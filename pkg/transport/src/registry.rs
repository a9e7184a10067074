//! The registry protocol, over the HTTP client that all hosts share.
//! Source: OCI distribution specification 1.1.

mod authorization;
mod challenge;
mod manifest;
mod push;

use std::{fmt, sync::Arc};

use bytes::Bytes;
use futures::{FutureExt as _, future::BoxFuture};
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use url::Url;

use authorization::{RegistryState, RepositoryAccess};
use manifest::{ACCEPTED, parse};

use crate::{
    Context, Digest, Error, NetworkAccess, RegistryScheme, RequestFailure,
    address::is_loopback,
    http::{
        BodySink, CachePolicy, ExpectedContent, FetchedResponse, MemorySink, Request, RequestSender,
        ResponseHead, VerifyingSink, digest_of, fetch_cached_with, receive_into,
    },
};
pub use manifest::{
    Descriptor, FetchedManifest, INDEX_MEDIA_TYPE, Index, MANIFEST_MEDIA_TYPE, MAX_MANIFEST_BYTES, Manifest,
    ManifestDocument, ManifestError, Platform, TITLE_ANNOTATION, parse as parse_manifest,
};

/// The maximum number of pages in a list of tags.
const MAX_PAGES: usize = 100;

/// The number of tags per page.
const TAGS_PER_PAGE: &str = "1000";

/// A registry. Cheap to create and to clone.
#[derive(Clone, Debug)]
pub struct Registry {
    host: String,
    context: Context,
}

/// A reference to a manifest in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A tag, which may later point to a different manifest.
    Tag(String),
    /// The digest of the manifest.
    Digest(Digest),
}

impl Reference {
    /// Returns the tag of a version. A tag cannot contain `+`, so `_` replaces the sign.
    pub fn of_version(version: &str) -> Self {
        Self::Tag(version.replace('+', "_"))
    }

    /// Returns the tag under which cosign stores the signatures of a manifest, in the same repository.
    pub fn of_signature(digest: &Digest) -> Self {
        Self::Tag(format!("sha256-{}.sig", digest.hex()))
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(tag) => f.write_str(tag),
            Self::Digest(digest) => digest.fmt(f),
        }
    }
}

impl From<&Descriptor> for ExpectedContent {
    fn from(descriptor: &Descriptor) -> Self {
        Self { digest: Some(descriptor.digest), size_bytes: Some(descriptor.size) }
    }
}

/// Sends authorized requests for content of a repository, and verifies the content.
struct AuthorizedSender<'a> {
    registry: &'a Registry,
    repository: &'a str,
    address: &'a str,
    expected: ExpectedContent,
    limit_bytes: u64,
}

impl RequestSender for AuthorizedSender<'_> {
    fn send_request<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn BodySink,
    ) -> BoxFuture<'a, Result<ResponseHead, Error>> {
        async move {
            let Self { registry, repository, address, expected, limit_bytes } = *self;
            let mut checked = VerifyingSink::new(sink, address, expected);
            let request = registry.send_authorized(
                repository,
                RepositoryAccess::Pull,
                request,
                &mut checked,
                limit_bytes,
            );
            let head = request.await?;
            if head.status != StatusCode::NOT_MODIFIED {
                checked.finish(digest_of(&head.headers))?;
            }
            Ok(head)
        }
        .boxed()
    }
}

#[derive(Deserialize)]
struct TagList {
    tags: Option<Vec<String>>,
}

impl Registry {
    /// Creates a registry from a host as in image references, with its port if it has one.
    pub fn new(host: &str, context: &Context) -> Self {
        Self { host: host.to_owned(), context: context.clone() }
    }

    /// Returns the context of the connections.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the host, as in image references.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the address of a repository or of a manifest, for messages.
    pub fn address(&self, repository: &str, reference: Option<&Reference>) -> String {
        match reference {
            None => format!("oci://{}/{repository}", self.host),
            Some(Reference::Tag(tag)) => format!("oci://{}/{repository}:{tag}", self.host),
            Some(Reference::Digest(digest)) => format!("oci://{}/{repository}@{digest}", self.host),
        }
    }

    /// Fetches a manifest or an index. Verifies its digest against the reference and the headers of the response.
    /// None if the registry does not have the manifest.
    /// # Errors
    /// [`Error::Digest`] and [`Error::MediaType`]; a manifest over 4 MiB; errors of the request.
    pub async fn manifest(
        &self,
        repository: &str,
        reference: &Reference,
    ) -> Result<Option<FetchedManifest>, Error> {
        let address = self.address(repository, Some(reference));
        let (digest, how) = match reference {
            Reference::Digest(digest) => (Some(*digest), CachePolicy::Immutable),
            Reference::Tag(_) => (None, CachePolicy::Revalidate),
        };
        let url = self.url(repository, &format!("manifests/{reference}")).await?;
        let request = Request::get(url).with_accept(ACCEPTED);
        let asking = AuthorizedSender {
            registry: self,
            repository,
            address: &address,
            expected: ExpectedContent { digest, size_bytes: None },
            limit_bytes: MAX_MANIFEST_BYTES,
        };
        let Some(answer) = none_if_missing(self.fetch(&asking, &request, how).await)? else {
            return Ok(None);
        };
        let actual = Digest::of(&answer.bytes);
        let parsed = parse(&answer.bytes, answer.media_type.as_deref());
        let (media_type, document) =
            parsed.map_err(|error| error.into_error(&address, &request, "a manifest"))?;
        Ok(Some(FetchedManifest { media_type, digest: actual, bytes: answer.bytes, document }))
    }

    /// Fetches the digest of a manifest without its content, if the registry sends one.
    /// None if the registry does not have the manifest.
    /// # Errors
    /// Errors of [`Registry::manifest`].
    pub async fn digest(&self, repository: &str, reference: &Reference) -> Result<Option<Digest>, Error> {
        let url = self.url(repository, &format!("manifests/{reference}")).await?;
        let request = Request { method: Method::HEAD, ..Request::get(url).with_accept(ACCEPTED) };
        let request = self
            .send_authorized(repository, RepositoryAccess::Pull, &request, &mut MemorySink::default(), 0)
            .await;
        let Some(head) = none_if_missing(request)? else { return Ok(None) };
        match digest_of(&head.headers) {
            Some(digest) => Ok(Some(digest)),
            None => Ok(self.manifest(repository, reference).await?.map(|found| found.digest)),
        }
    }

    /// Fetches the content of a descriptor piece by piece. The content in the sink is valid only if this function
    /// succeeds.
    /// # Errors
    /// [`Error::Digest`] and [`Error::Size`] if the content does not match the descriptor; errors of the request,
    /// including 404; errors of the sink.
    pub async fn blob(
        &self,
        repository: &str,
        descriptor: &Descriptor,
        sink: &mut dyn BodySink,
    ) -> Result<(), Error> {
        let address = self.address(repository, Some(&Reference::Digest(descriptor.digest)));
        let request = self.blob_request(repository, descriptor).await?;
        self.sender_for(repository, &address, descriptor).send_request(&request, sink).await?;
        Ok(())
    }

    async fn blob_request(&self, repository: &str, descriptor: &Descriptor) -> Result<Request, Error> {
        Ok(Request::get(self.url(repository, &format!("blobs/{}", descriptor.digest)).await?))
    }

    fn sender_for<'a>(
        &'a self,
        repository: &'a str,
        address: &'a str,
        descriptor: &Descriptor,
    ) -> AuthorizedSender<'a> {
        AuthorizedSender {
            registry: self,
            repository,
            address,
            expected: descriptor.into(),
            limit_bytes: u64::MAX,
        }
    }

    /// Fetches the content of a descriptor into memory. The size limit of a file applies.
    /// # Errors
    /// Errors of [`Registry::blob`]; [`Error::TooLarge`].
    pub async fn small_blob(&self, repository: &str, descriptor: &Descriptor) -> Result<Bytes, Error> {
        let limit_bytes = self.context.max_file_bytes();
        if descriptor.size > limit_bytes {
            let place = self.address(repository, Some(&Reference::Digest(descriptor.digest)));
            return Err(Error::TooLarge { place, limit_bytes });
        }
        if self.context.store().is_none() {
            let mut sink = MemorySink::default();
            self.blob(repository, descriptor, &mut sink).await?;
            return Ok(sink.finish());
        }
        let address = self.address(repository, Some(&Reference::Digest(descriptor.digest)));
        let request = self.blob_request(repository, descriptor).await?;
        let asking = self.sender_for(repository, &address, descriptor);
        Ok(self.fetch(&asking, &request, CachePolicy::Immutable).await?.bytes)
    }

    /// Fetches all tags in the order of the registry. Empty if the repository does not exist.
    pub async fn tags(&self, repository: &str) -> Result<Vec<String>, Error> {
        let mut url = self.url(repository, "tags/list").await?;
        url.query_pairs_mut().append_pair("n", TAGS_PER_PAGE);
        let (mut tags, mut next) = (Vec::new(), Some(Request::get(url)));
        for _ in 0..MAX_PAGES {
            let Some(request) = next.take() else { break };
            let Some(answer) = self.get(repository, &request).await? else { break };
            let page: TagList = serde_json::from_slice(&answer.bytes).map_err(|error| {
                request.to_error(RequestFailure::InvalidResponse {
                    what: "a list of tags",
                    source: Box::new(error),
                })
            })?;
            tags.extend(page.tags.unwrap_or_default());
            next = answer.next_page(&request.url).map(Request::get);
        }
        Ok(tags)
    }

    /// Fetches a list that may change. None if the list does not exist.
    pub async fn get(&self, repository: &str, request: &Request) -> Result<Option<FetchedResponse>, Error> {
        let (address, expected) = (self.address(repository, None), ExpectedContent::default());
        let limit_bytes = self.context.max_file_bytes();
        let asking =
            AuthorizedSender { registry: self, repository, address: &address, expected, limit_bytes };
        none_if_missing(self.fetch(&asking, request, CachePolicy::Revalidate).await)
    }

    /// Returns a response from the registry or the cache. The cache key is the same for HTTP and HTTPS.
    async fn fetch(
        &self,
        sender: &AuthorizedSender<'_>,
        request: &Request,
        policy: CachePolicy,
    ) -> Result<FetchedResponse, Error> {
        let path = &request.url[url::Position::BeforePath..];
        let name = Url::parse(&format!("oci://{}{path}", self.host)).map_err(|_| invalid_host(&self.host))?;
        fetch_cached_with(&self.context, sender, &name, request, policy).await
    }

    /// Returns the address of a resource in a repository.
    pub async fn url(&self, repository: &str, rest: &str) -> Result<Url, Error> {
        let base = self.base_url().await?;
        base.join(&format!("/v2/{repository}/{rest}")).map_err(|_| invalid_host(&self.host))
    }

    /// Returns the base address of the registry.
    ///
    /// The default is HTTPS, and the configuration of the host takes precedence. A registry on this machine may use
    /// plain HTTP without configuration, as test registries do.
    /// To detect plain HTTP, capstan sends a request without credentials; a registry with TLS does not answer it.
    async fn base_url(&self) -> Result<Url, Error> {
        let host = if self.host == "docker.io" { "registry-1.docker.io" } else { &self.host };
        let https = Url::parse(&format!("https://{host}/")).map_err(|_| invalid_host(host))?;
        let plain = Url::parse(&format!("http://{host}/v2/")).map_err(|_| invalid_host(host))?;
        let settings = self.context.settings();
        match settings.hosts.registry(&self.host).map(|host| host.registry_scheme).unwrap_or_default() {
            RegistryScheme::Http => return Ok(plain),
            // Without connections, the scheme of the address is irrelevant.
            RegistryScheme::Https if !is_loopback(&https) || settings.network == NetworkAccess::Forbidden => {
                return Ok(https);
            }
            RegistryScheme::Https => {}
        }
        let ask = async {
            let request = Request { method: Method::HEAD, ..Request::get(plain) };
            let answer = receive_into(&self.context, &request, &mut MemorySink::default(), 0).await;
            let is_registry = match answer {
                Ok(head) => head.status == StatusCode::OK,
                Err(error) => error.status() == Some(401),
            };
            Ok(if is_registry { Arc::new(request.url) } else { Arc::new(https.clone()) })
        };
        let base = self.context.session::<RegistryState>().base_urls.get(&self.host, ask).await?;
        Ok((*base).clone())
    }
}

/// Returns None for a response with status 404.
fn none_if_missing<T>(answer: Result<T, Error>) -> Result<Option<T>, Error> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
    }
}

fn invalid_host(host: &str) -> Error {
    Error::FetchUrl { url: format!("oci://{host}"), reason: "it is not a valid URL" }
}
