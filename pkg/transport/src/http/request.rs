use std::sync::Arc;

use bytes::Bytes;
use reqwest::{
    Method, StatusCode,
    header::{ACCEPT, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH},
};
use url::Url;

use crate::{
    Credential, Digest, Error, Failure, RequestError,
    address::{shown, shown_text},
    disk::SharedFile,
};

/// A request and how it is made. GET unless told otherwise.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its method.
    pub method: Method,
    /// The address.
    pub url: Url,
    /// Headers, the credential aside.
    pub headers: HeaderMap,
    /// The body.
    pub content: Content,
    /// Sent to the host of `url`, and no further.
    pub credential: Option<Credential>,
}

/// What a request carries.
#[derive(Clone, Debug, Default)]
pub enum Content {
    /// Nothing.
    #[default]
    None,
    /// What is in memory.
    Bytes(Bytes),
    /// A part of a file, which is read while it is sent.
    Part {
        /// The file.
        file: SharedFile,
        /// Bytes from the start of the file.
        offset: u64,
        /// Its length, which goes before it.
        size_bytes: u64,
    },
}

/// The head of what came back: a status of success, or 304 to a request that allows for it.
#[derive(Debug)]
pub struct Head {
    /// The status.
    pub status: StatusCode,
    /// All headers.
    pub headers: HeaderMap,
}

/// The address of the next page of a list, from the text of its `Link` header. One that leads elsewhere is no page of
/// this list, and must not see the credential.
pub(super) fn next_page(links: &str, of: &Url) -> Option<Url> {
    let next = links.split(',').find_map(|link| {
        let (address, parameters) = link.split_once(';')?;
        let is_next =
            parameters.split(';').any(|parameter| matches!(parameter.trim(), r#"rel="next""# | "rel=next"));
        is_next.then(|| address.trim().trim_start_matches('<').trim_end_matches('>'))
    })?;
    of.join(next).ok().filter(|url| url.origin() == of.origin())
}

/// The digest a registry says some content has; of other algorithms nothing is known.
pub fn digest_of(headers: &HeaderMap) -> Option<Digest> {
    headers.get("docker-content-digest")?.to_str().ok()?.parse().ok()
}

/// Reads the address of something that is to be fetched.
/// # Errors
/// [`Error::FetchUrl`], without what may not be shown.
pub fn parse_address(text: &str) -> Result<Url, Error> {
    Url::parse(text)
        .map_err(|_| Error::FetchUrl { url: shown_text(text), reason: "it is not a usable address" })
}

impl Request {
    /// A plain GET for a file.
    pub fn file(url: Url) -> Self {
        let (headers, content) = (HeaderMap::new(), Content::None);
        Self { method: Method::GET, url, headers, content, credential: None }
    }

    /// The same with media types that are understood.
    #[must_use]
    pub fn accepting(self, media_types: &'static str) -> Self {
        self.with_header(ACCEPT, HeaderValue::from_static(media_types))
    }

    /// The same with a header that is always the same.
    #[must_use]
    pub fn stating(self, name: &'static str, value: &'static str) -> Self {
        self.with_header(HeaderName::from_static(name), HeaderValue::from_static(value))
    }

    /// The same with one more header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// The same with what shows who makes it.
    #[must_use]
    pub fn with_credential(self, credential: Option<Credential>) -> Self {
        Self { credential, ..self }
    }

    /// Whether "not modified" is an answer to it.
    pub fn is_conditional(&self) -> bool {
        self.headers.contains_key(IF_NONE_MATCH) || self.headers.contains_key(IF_MODIFIED_SINCE)
    }

    /// A failure found in an answer that had arrived well.
    pub fn failed(&self, failure: Failure) -> Error {
        Error::Request(Arc::new(RequestError {
            url: shown(&self.url),
            failure,
            credential: self.credential.clone(),
            quota: None,
            proxy: None,
            challenge: None,
            attempts: 1,
        }))
    }
}
