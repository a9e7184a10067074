//! The protocol of registries, over the HTTP client all hosts share.
//! Source: OCI distribution specification 1.1.

use std::{fmt, net::IpAddr, sync::Arc};

use bytes::Bytes;
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use url::Url;

use super::{
    OciError,
    checked::Checked,
    grants::Access,
    manifest::{ACCEPTED, Descriptor, Fetched, MAX_MANIFEST_BYTES, parse},
};
use crate::{
    Context, Digest, Error, Failure,
    http::{Answer, InMemory, Request, Sink, receive_into},
};

/// The most pages of tags that are read.
const MAX_PAGES: usize = 100;

/// So many tags are asked for at once.
const TAGS_A_PAGE: &str = "1000";

/// One registry. Costs nothing to make; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Registry {
    host: String,
    pub(super) context: Context,
}

/// What names a manifest in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    Tag(String),
    Digest(Digest),
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(tag) => f.write_str(tag),
            Self::Digest(digest) => digest.fmt(f),
        }
    }
}

#[derive(Deserialize)]
struct Tags {
    tags: Option<Vec<String>>,
}

impl Registry {
    /// Takes a host, with its port where it has one, as it stands in references.
    pub(crate) fn new(host: &str, context: &Context) -> Self {
        Self { host: host.to_owned(), context: context.clone() }
    }

    /// What stands before the repository in references.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// A repository, or something in it, for people.
    pub(crate) fn address(&self, repository: &str, reference: Option<&Reference>) -> String {
        match reference {
            None => format!("oci://{}/{repository}", self.host),
            Some(Reference::Tag(tag)) => format!("oci://{}/{repository}:{tag}", self.host),
            Some(Reference::Digest(digest)) => format!("oci://{}/{repository}@{digest}", self.host),
        }
    }

    /// A manifest or an index, its digest checked against the reference and against what the registry says.
    /// None when the registry has no such thing.
    /// # Errors
    /// [`OciError::Digest`] and [`OciError::MediaType`]; a manifest over 4 MiB; whatever stops the request.
    pub(crate) async fn manifest(
        &self,
        repository: &str,
        reference: &Reference,
    ) -> Result<Option<Fetched>, Error> {
        let address = self.address(repository, Some(reference));
        let url = self.url(repository, &format!("manifests/{reference}")).await?;
        let request = Request::file(url).accepting(ACCEPTED);
        let Some(answer) = self.get(repository, &request, MAX_MANIFEST_BYTES).await? else { return Ok(None) };
        let actual = Digest::of(&answer.bytes);
        let told = answer.digest_header();
        let asked = if let Reference::Digest(digest) = reference { Some(*digest) } else { None };
        if let Some(expected) = asked.into_iter().chain(told).find(|expected| *expected != actual) {
            return Err(OciError::Digest { address, expected, actual }.into());
        }
        let parsed = parse(&address, &answer.bytes, answer.content_type())?;
        let (media_type, document) = parsed.map_err(|error| {
            request.failed(Failure::Unreadable { what: "a manifest", source: Box::new(error) })
        })?;
        Ok(Some(Fetched { media_type, digest: actual, bytes: answer.bytes, document }))
    }

    /// Hands the content of a descriptor on, piece by piece. What went into the sink counts only when this succeeds.
    /// # Errors
    /// [`OciError::Digest`] and [`OciError::Size`] when it is not what the descriptor says; what stops the request, 404
    /// among it; what the sink gives.
    pub(crate) async fn blob(
        &self,
        repository: &str,
        descriptor: &Descriptor,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let url = self.url(repository, &format!("blobs/{}", descriptor.digest)).await?;
        let address = self.address(repository, Some(&Reference::Digest(descriptor.digest)));
        let mut checked = Checked::new(sink, &address, descriptor);
        self.exchange(repository, Access::Pull, &Request::file(url), &mut checked, u64::MAX).await?;
        checked.finish()
    }

    /// The content of a descriptor, in memory; at most the largest file that is taken.
    /// # Errors
    /// As [`Registry::blob`]; [`Error::TooLarge`].
    pub(crate) async fn small_blob(&self, repository: &str, descriptor: &Descriptor) -> Result<Bytes, Error> {
        let limit_bytes = self.context.max_file_bytes();
        if descriptor.size > limit_bytes {
            let place = self.address(repository, Some(&Reference::Digest(descriptor.digest)));
            return Err(Error::TooLarge { place, limit_bytes });
        }
        let mut sink = InMemory::default();
        self.blob(repository, descriptor, &mut sink).await?;
        Ok(sink.finish())
    }

    /// All tags, as the registry orders them; none when there is no such repository.
    pub(crate) async fn tags(&self, repository: &str) -> Result<Vec<String>, Error> {
        let mut url = self.url(repository, "tags/list").await?;
        url.query_pairs_mut().append_pair("n", TAGS_A_PAGE);
        let (mut tags, mut next) = (Vec::new(), Some(Request::file(url)));
        for _ in 0..MAX_PAGES {
            let Some(request) = next.take() else { break };
            let limit = self.context.max_file_bytes();
            let Some(answer) = self.get(repository, &request, limit).await? else { break };
            let page: Tags = serde_json::from_slice(&answer.bytes).map_err(|error| {
                request.failed(Failure::Unreadable { what: "a list of tags", source: Box::new(error) })
            })?;
            tags.extend(page.tags.unwrap_or_default());
            next = answer.next_page(&request.url).map(Request::file);
        }
        Ok(tags)
    }

    /// An answer in memory; none where there is no such thing.
    pub(super) async fn get(
        &self,
        repository: &str,
        request: &Request,
        limit_bytes: u64,
    ) -> Result<Option<Answer>, Error> {
        let mut sink = InMemory::default();
        match self.exchange(repository, Access::Pull, request, &mut sink, limit_bytes).await {
            Ok(head) => Ok(Some(Answer { head, bytes: sink.finish() })),
            Err(error) if error.status() == Some(404) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The address of something in a repository.
    pub(super) async fn url(&self, repository: &str, rest: &str) -> Result<Url, Error> {
        let base = self.base().await?;
        base.join(&format!("/v2/{repository}/{rest}")).map_err(|_| unusable(&self.host))
    }

    /// Where the registry listens.
    ///
    /// With TLS, but for one on this machine that answers without: a registry for trying things out has none. Nothing
    /// secret goes into the question, and a registry with TLS does not answer it.
    async fn base(&self) -> Result<Url, Error> {
        let host = if self.host == "docker.io" { "registry-1.docker.io" } else { &self.host };
        let https = Url::parse(&format!("https://{host}/")).map_err(|_| unusable(host))?;
        if !is_loopback(&https) {
            return Ok(https);
        }
        let ask = async {
            let plain = Url::parse(&format!("http://{host}/v2/")).map_err(|_| unusable(host))?;
            let request = Request { method: Method::HEAD, ..Request::file(plain) };
            let answer = receive_into(&self.context, &request, &mut InMemory::default(), 0).await;
            let is_registry = match answer {
                Ok(head) => head.status == StatusCode::OK,
                Err(error @ Error::Offline { .. }) => return Err(error),
                Err(error) => error.status() == Some(401),
            };
            Ok(if is_registry { Arc::new(request.url) } else { Arc::new(https.clone()) })
        };
        let base = self.context.registries().bases.get(&self.host, ask).await?;
        Ok((*base).clone())
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(url::Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
        None => false,
    }
}

fn unusable(host: &str) -> Error {
    Error::FetchUrl { url: format!("oci://{host}"), reason: "it is not a usable address" }
}
