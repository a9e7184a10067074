//! The protocol of registries, over the HTTP client all hosts share.
//! Source: OCI distribution specification 1.1.

mod challenge;
mod checked;
mod grants;
mod manifest;
mod push;

use std::{fmt, sync::Arc};

use bytes::Bytes;
use futures::{FutureExt as _, future::BoxFuture};
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use url::Url;

use checked::{Checked, Expected};
use grants::{Access, Registries};
use manifest::{ACCEPTED, parse};

use crate::{
    Context, Digest, Error, Failure, Network, RegistryScheme,
    address::is_loopback,
    http::{Ask, Head, Keep, Kept, Request, digest_of, keep_from, receive_into},
    http::{InMemory, Sink},
};
pub use manifest::{
    Descriptor, Document, Fetched, INDEX, Index, MANIFEST, MAX_MANIFEST_BYTES, Manifest, Platform, TITLE,
    Unreadable, parse as parse_manifest,
};

/// The most pages of tags that are read.
const MAX_PAGES: usize = 100;

/// So many tags are asked for at once.
const TAGS_A_PAGE: &str = "1000";

/// One registry. Costs nothing to make; cheap to clone.
#[derive(Clone, Debug)]
pub struct Registry {
    host: String,
    context: Context,
}

/// What names a manifest in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// By a name, which may come to stand for something else.
    Tag(String),
    /// By its content.
    Digest(Digest),
}

impl Reference {
    /// The tag of a version; a tag cannot hold a `+`.
    pub fn of_version(version: &str) -> Self {
        Self::Tag(version.replace('+', "_"))
    }

    /// The tag that cosign keeps the signatures of a manifest under, beside it.
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

/// Asks for something in a repository as somebody who may, and holds it against what is known of it.
struct Asking<'a> {
    registry: &'a Registry,
    repository: &'a str,
    address: &'a str,
    expected: Expected,
    limit_bytes: u64,
}

impl Ask for Asking<'_> {
    fn ask<'a>(&'a self, request: &'a Request, sink: &'a mut dyn Sink) -> BoxFuture<'a, Result<Head, Error>> {
        async move {
            let Self { registry, repository, address, expected, limit_bytes } = *self;
            let mut checked = Checked::new(sink, address, expected);
            let asked = registry.exchange(repository, Access::Pull, request, &mut checked, limit_bytes);
            let head = asked.await?;
            if head.status != StatusCode::NOT_MODIFIED {
                checked.finish(digest_of(&head.headers))?;
            }
            Ok(head)
        }
        .boxed()
    }
}

#[derive(Deserialize)]
struct Tags {
    tags: Option<Vec<String>>,
}

impl Registry {
    /// Takes a host, with its port where it has one, as it stands in references.
    pub fn new(host: &str, context: &Context) -> Self {
        Self { host: host.to_owned(), context: context.clone() }
    }

    /// The way to it.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// What stands before the repository in references.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// A repository, or something in it, for people.
    pub fn address(&self, repository: &str, reference: Option<&Reference>) -> String {
        match reference {
            None => format!("oci://{}/{repository}", self.host),
            Some(Reference::Tag(tag)) => format!("oci://{}/{repository}:{tag}", self.host),
            Some(Reference::Digest(digest)) => format!("oci://{}/{repository}@{digest}", self.host),
        }
    }

    /// A manifest or an index, its digest checked against the reference and against what the registry says.
    /// None when the registry has no such thing.
    /// # Errors
    /// [`Error::Digest`] and [`Error::MediaType`]; a manifest over 4 MiB; whatever stops the request.
    pub async fn manifest(&self, repository: &str, reference: &Reference) -> Result<Option<Fetched>, Error> {
        let address = self.address(repository, Some(reference));
        let (digest, how) = match reference {
            Reference::Digest(digest) => (Some(*digest), Keep::Forever),
            Reference::Tag(_) => (None, Keep::WhileFresh),
        };
        let url = self.url(repository, &format!("manifests/{reference}")).await?;
        let request = Request::file(url).accepting(ACCEPTED);
        let asking = Asking {
            registry: self,
            repository,
            address: &address,
            expected: Expected { digest, size_bytes: None },
            limit_bytes: MAX_MANIFEST_BYTES,
        };
        let Some(answer) = found(self.kept(&asking, &request, how).await)? else { return Ok(None) };
        let actual = Digest::of(&answer.bytes);
        let parsed = parse(&answer.bytes, answer.media_type.as_deref());
        let (media_type, document) =
            parsed.map_err(|error| error.in_answer(&address, &request, "a manifest"))?;
        Ok(Some(Fetched { media_type, digest: actual, bytes: answer.bytes, document }))
    }

    /// The digest a reference leads to, without what it is of, as far as the registry tells it so.
    /// None when the registry has no such thing.
    /// # Errors
    /// As [`Registry::manifest`].
    pub async fn digest(&self, repository: &str, reference: &Reference) -> Result<Option<Digest>, Error> {
        let url = self.url(repository, &format!("manifests/{reference}")).await?;
        let request = Request { method: Method::HEAD, ..Request::file(url).accepting(ACCEPTED) };
        let asked = self.exchange(repository, Access::Pull, &request, &mut InMemory::default(), 0).await;
        let Some(head) = found(asked)? else { return Ok(None) };
        match digest_of(&head.headers) {
            Some(digest) => Ok(Some(digest)),
            None => Ok(self.manifest(repository, reference).await?.map(|found| found.digest)),
        }
    }

    /// Hands the content of a descriptor on, piece by piece. What went into the sink counts only when this succeeds.
    /// # Errors
    /// [`Error::Digest`] and [`Error::Size`] when it is not what the descriptor says; what stops the request, 404
    /// among it; what the sink gives.
    pub async fn blob(
        &self,
        repository: &str,
        descriptor: &Descriptor,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let address = self.address(repository, Some(&Reference::Digest(descriptor.digest)));
        let request = self.blob_request(repository, descriptor).await?;
        self.asking_for(repository, &address, descriptor).ask(&request, sink).await?;
        Ok(())
    }

    async fn blob_request(&self, repository: &str, descriptor: &Descriptor) -> Result<Request, Error> {
        Ok(Request::file(self.url(repository, &format!("blobs/{}", descriptor.digest)).await?))
    }

    fn asking_for<'a>(
        &'a self,
        repository: &'a str,
        address: &'a str,
        descriptor: &Descriptor,
    ) -> Asking<'a> {
        Asking { registry: self, repository, address, expected: descriptor.into(), limit_bytes: u64::MAX }
    }

    /// The content of a descriptor, in memory; at most the largest file that is taken.
    /// # Errors
    /// As [`Registry::blob`]; [`Error::TooLarge`].
    pub async fn small_blob(&self, repository: &str, descriptor: &Descriptor) -> Result<Bytes, Error> {
        let limit_bytes = self.context.max_file_bytes();
        if descriptor.size > limit_bytes {
            let place = self.address(repository, Some(&Reference::Digest(descriptor.digest)));
            return Err(Error::TooLarge { place, limit_bytes });
        }
        if self.context.store().is_none() {
            let mut sink = InMemory::default();
            self.blob(repository, descriptor, &mut sink).await?;
            return Ok(sink.finish());
        }
        let address = self.address(repository, Some(&Reference::Digest(descriptor.digest)));
        let request = self.blob_request(repository, descriptor).await?;
        let asking = self.asking_for(repository, &address, descriptor);
        Ok(self.kept(&asking, &request, Keep::Forever).await?.bytes)
    }

    /// All tags, as the registry orders them; none when there is no such repository.
    pub async fn tags(&self, repository: &str) -> Result<Vec<String>, Error> {
        let mut url = self.url(repository, "tags/list").await?;
        url.query_pairs_mut().append_pair("n", TAGS_A_PAGE);
        let (mut tags, mut next) = (Vec::new(), Some(Request::file(url)));
        for _ in 0..MAX_PAGES {
            let Some(request) = next.take() else { break };
            let Some(answer) = self.get(repository, &request).await? else { break };
            let page: Tags = serde_json::from_slice(&answer.bytes).map_err(|error| {
                request.failed(Failure::Unreadable { what: "a list of tags", source: Box::new(error) })
            })?;
            tags.extend(page.tags.unwrap_or_default());
            next = answer.next_page(&request.url).map(Request::file);
        }
        Ok(tags)
    }

    /// A list that may change; none where there is no such thing.
    pub async fn get(&self, repository: &str, request: &Request) -> Result<Option<Kept>, Error> {
        let (address, expected) = (self.address(repository, None), Expected::default());
        let limit_bytes = self.context.max_file_bytes();
        let asking = Asking { registry: self, repository, address: &address, expected, limit_bytes };
        found(self.kept(&asking, request, Keep::WhileFresh).await)
    }

    /// An answer, from the registry or from the disk. What is kept is the same however the registry is spoken to.
    async fn kept(&self, asking: &Asking<'_>, request: &Request, how: Keep) -> Result<Kept, Error> {
        let path = &request.url[url::Position::BeforePath..];
        let name = Url::parse(&format!("oci://{}{path}", self.host)).map_err(|_| unusable(&self.host))?;
        keep_from(&self.context, asking, &name, request, how).await
    }

    /// The address of something in a repository.
    pub async fn url(&self, repository: &str, rest: &str) -> Result<Url, Error> {
        let base = self.base().await?;
        base.join(&format!("/v2/{repository}/{rest}")).map_err(|_| unusable(&self.host))
    }

    /// Where the registry listens.
    ///
    /// With TLS, unless something else is set for it, and but for one on this machine that answers without: a registry
    /// for trying things out has none. Nothing secret goes into the question, and a registry with TLS does not answer it.
    async fn base(&self) -> Result<Url, Error> {
        let host = if self.host == "docker.io" { "registry-1.docker.io" } else { &self.host };
        let https = Url::parse(&format!("https://{host}/")).map_err(|_| unusable(host))?;
        let plain = Url::parse(&format!("http://{host}/v2/")).map_err(|_| unusable(host))?;
        let settings = self.context.settings();
        match settings.hosts.registry(&self.host).map(|host| host.registry_scheme).unwrap_or_default() {
            RegistryScheme::Http => return Ok(plain),
            // Without connections nothing is asked of whatever address it is.
            RegistryScheme::Https if !is_loopback(&https) || settings.network == Network::Forbidden => {
                return Ok(https);
            }
            RegistryScheme::Https => {}
        }
        let ask = async {
            let request = Request { method: Method::HEAD, ..Request::file(plain) };
            let answer = receive_into(&self.context, &request, &mut InMemory::default(), 0).await;
            let is_registry = match answer {
                Ok(head) => head.status == StatusCode::OK,
                Err(error) => error.status() == Some(401),
            };
            Ok(if is_registry { Arc::new(request.url) } else { Arc::new(https.clone()) })
        };
        let base = self.context.session::<Registries>().bases.get(&self.host, ask).await?;
        Ok((*base).clone())
    }
}

/// None where there is no such thing.
fn found<T>(answer: Result<T, Error>) -> Result<Option<T>, Error> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.status() == Some(404) => Ok(None),
        Err(error) => Err(error),
    }
}

fn unusable(host: &str) -> Error {
    Error::FetchUrl { url: format!("oci://{host}"), reason: "it is not a usable address" }
}
