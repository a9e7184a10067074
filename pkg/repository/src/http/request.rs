use std::sync::Arc;

use bytes::Bytes;
use reqwest::{
    Method, StatusCode,
    header::{ACCEPT, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH},
};
use url::Url;

use super::shown;
use crate::{Credential, Digest, Error, Failure, RequestError, shared_file::SharedFile};

/// A request and how it is made. GET unless told otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) content: Content,
    /// Sent to the host of `url`, and no further.
    pub(crate) credential: Option<Credential>,
    pub(crate) api: Api,
}

/// What a request carries.
#[derive(Clone, Debug, Default)]
pub(crate) enum Content {
    /// Nothing.
    #[default]
    None,
    /// What is in memory.
    Bytes(Bytes),
    /// A part of a file, which is read while it is sent.
    Part {
        file: SharedFile,
        /// Bytes from the start of the file.
        offset: u64,
        /// Its length, which goes before it.
        size_bytes: u64,
    },
}

/// Who makes the request.
#[derive(Clone, Debug)]
pub(crate) enum Api {
    /// The HTTP client as it is.
    None,
    /// The GitHub API at this base, through octocrab; GET alone.
    GitHub(Url),
}

/// The head of what came back: a status of success, or 304 to a request that allows for it.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
}

/// The address of the next page of a list, from the text of its `Link` header. One that leads elsewhere is no page of
/// this list, and must not see the credential.
/// Read here because octocrab's own pager writes to standard error when it meets a relation it does not know.
pub(crate) fn next_page(links: &str, of: &Url) -> Option<Url> {
    let next = links.split(',').find_map(|link| {
        let (address, parameters) = link.split_once(';')?;
        let is_next =
            parameters.split(';').any(|parameter| matches!(parameter.trim(), r#"rel="next""# | "rel=next"));
        is_next.then(|| address.trim().trim_start_matches('<').trim_end_matches('>'))
    })?;
    of.join(next).ok().filter(|url| url.origin() == of.origin())
}

/// The digest a registry says some content has; of other algorithms nothing is known.
pub(crate) fn digest_of(headers: &HeaderMap) -> Option<Digest> {
    headers.get("docker-content-digest")?.to_str().ok()?.parse().ok()
}

impl Request {
    /// A plain GET for a file.
    pub(crate) fn file(url: Url) -> Self {
        let (headers, content) = (HeaderMap::new(), Content::None);
        Self { method: Method::GET, url, headers, content, credential: None, api: Api::None }
    }

    /// The same with media types that are understood.
    pub(crate) fn accepting(self, media_types: &'static str) -> Self {
        self.with_header(ACCEPT, HeaderValue::from_static(media_types))
    }

    /// The same with one more header.
    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// The same with what shows who makes it.
    pub(crate) fn with_credential(self, credential: Option<Credential>) -> Self {
        Self { credential, ..self }
    }

    /// Whether "not modified" is an answer to it.
    pub(crate) fn is_conditional(&self) -> bool {
        self.headers.contains_key(IF_NONE_MATCH) || self.headers.contains_key(IF_MODIFIED_SINCE)
    }

    /// A failure found in an answer that had arrived well.
    pub(crate) fn failed(&self, failure: Failure) -> Error {
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
