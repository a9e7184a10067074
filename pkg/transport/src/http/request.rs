use std::sync::Arc;

use bytes::Bytes;
use reqwest::{
    Method, StatusCode,
    header::{ACCEPT, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH},
};
use url::Url;

use crate::{
    Credential, Digest, Error, RequestAction, RequestError, RequestFailure,
    address::{redact_text, redact_url},
    disk::SharedFile,
};

/// A request. The default method is GET.
#[derive(Clone, Debug)]
pub struct Request {
    /// The HTTP method of the request.
    pub method: Method,
    /// The action that errors name.
    pub action: RequestAction,
    /// Address of the request.
    pub url: Url,
    /// Headers except the credential.
    pub headers: HeaderMap,
    /// Body of the request.
    pub body: RequestBody,
    /// Credential for the host of `url`; never sent to another host.
    pub credential: Option<Credential>,
    /// True for a file whose bytes matter: it may be compressed itself, and a host may state this as its encoding. False
    /// decodes the content and asks the host to compress it.
    pub keeps_encoding: bool,
    /// True if a second attempt needs another address. Its failure is returned at once.
    pub is_single_use: bool,
}

/// Body of a request.
#[derive(Clone, Debug, Default)]
pub enum RequestBody {
    /// No body.
    #[default]
    None,
    /// Bytes in memory.
    Bytes(Bytes),
    /// A part of a file, which is read while it is sent.
    Part {
        /// The file.
        file: SharedFile,
        /// Offset of the part in bytes.
        offset: u64,
        /// Size of the part in bytes, sent as `RequestBody-Length`.
        size_bytes: u64,
    },
}

/// Status and headers of a response: a success, or 304 for a conditional request.
#[derive(Debug)]
pub struct ResponseHead {
    /// Status of the response.
    pub status: StatusCode,
    /// Headers of the response.
    pub headers: HeaderMap,
}

/// Returns the address of the next page of a list from a `Link` header. None if the address has another origin, because
/// such a host must not receive the credential.
pub(super) fn next_page(links: &str, of: &Url) -> Option<Url> {
    let next = links.split(',').find_map(|link| {
        let (address, parameters) = link.split_once(';')?;
        let is_next =
            parameters.split(';').any(|parameter| matches!(parameter.trim(), r#"rel="next""# | "rel=next"));
        is_next.then(|| address.trim().trim_start_matches('<').trim_end_matches('>'))
    })?;
    of.join(next).ok().filter(|url| url.origin() == of.origin())
}

/// Returns the digest from the headers of a registry. None for algorithms other than SHA-256.
pub fn digest_of(headers: &HeaderMap) -> Option<Digest> {
    headers.get("docker-content-digest")?.to_str().ok()?.parse().ok()
}

/// Parses the address of a file.
/// # Errors
/// [`Error::FetchUrl`] with the redacted address.
pub fn parse_address(text: &str) -> Result<Url, Error> {
    Url::parse(text).map_err(|_| Error::FetchUrl { url: redact_text(text), reason: "it is not a valid URL" })
}

impl Request {
    /// Creates a plain GET request.
    pub fn get(url: Url) -> Self {
        let (headers, content) = (HeaderMap::new(), RequestBody::None);
        Self {
            method: Method::GET,
            action: RequestAction::default(),
            url,
            headers,
            body: content,
            credential: None,
            keeps_encoding: false,
            is_single_use: false,
        }
    }

    /// Adds the accepted media types.
    #[must_use]
    pub fn with_accept(self, media_types: &'static str) -> Self {
        self.with_header(ACCEPT, HeaderValue::from_static(media_types))
    }

    /// Adds a header with a constant value.
    #[must_use]
    pub fn with_static_header(self, name: &'static str, value: &'static str) -> Self {
        self.with_header(HeaderName::from_static(name), HeaderValue::from_static(value))
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Sets the credential.
    #[must_use]
    pub fn with_credential(self, credential: Option<Credential>) -> Self {
        Self { credential, ..self }
    }

    /// True if the host may answer with "not modified".
    pub fn is_conditional(&self) -> bool {
        self.headers.contains_key(IF_NONE_MATCH) || self.headers.contains_key(IF_MODIFIED_SINCE)
    }

    /// Returns the error for a failure in a complete response.
    pub fn to_error(&self, failure: RequestFailure) -> Error {
        Error::Request(Arc::new(RequestError {
            action: self.action,
            url: redact_url(&self.url),
            failure,
            credential: self.credential.clone(),
            redirected_to: None,
            quota: None,
            proxy: None,
            challenge: None,
            attempts: 1,
        }))
    }
}
