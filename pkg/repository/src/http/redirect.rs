//! Follows redirects by our own rules: a credential stays with its host, https stays https, and each host is spoken to
//! as it is set for that host.

use reqwest::{Method, Response, StatusCode, header::LOCATION};
use url::Url;

use super::request::{Api, Request};
use crate::{Credential, Failure};

/// The longest chain of redirects that is followed; the peer's library follows as many.
const MAX_REDIRECTS: usize = 10;

/// One request on the way to an answer.
#[derive(Clone, Debug)]
pub(super) struct Hop<'a> {
    pub(super) url: Url,
    pub(super) method: Method,
    pub(super) carries_content: bool,
    /// Only as long as the request stays with the host it was made for.
    pub(super) credential: Option<&'a Credential>,
    pub(super) api: &'a Api,
    redirects: usize,
}

impl<'a> Hop<'a> {
    pub(super) fn first(request: &'a Request) -> Self {
        Self {
            url: request.url.clone(),
            method: request.method.clone(),
            carries_content: true,
            credential: request.credential.as_ref(),
            api: &request.api,
            redirects: 0,
        }
    }

    /// Where an answer sends the request on to; none when it is the answer.
    /// # Errors
    /// [`Failure::Redirect`] when it must not go there.
    pub(super) fn next(&self, response: &Response) -> Result<Option<Self>, Failure> {
        let Some(url) = target(&self.url, response) else { return Ok(None) };
        let refuse = |reason| Err(Failure::Redirect { reason });
        if self.redirects >= MAX_REDIRECTS {
            return refuse("too many redirects");
        }
        match (self.url.scheme(), url.scheme()) {
            ("https", "http") => return refuse("it leads from https to http"),
            (_, "https" | "http") => {}
            _ => return refuse("it leads to an address that is neither http nor https"),
        }
        let stays = url.origin() == self.url.origin();
        let again =
            matches!(response.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT)
                || matches!(self.method, Method::GET | Method::HEAD);
        Ok(Some(Self {
            url,
            method: if again { self.method.clone() } else { Method::GET },
            carries_content: self.carries_content && again,
            credential: self.credential.filter(|_| stays),
            api: if stays { self.api } else { &Api::None },
            redirects: self.redirects + 1,
        }))
    }
}

fn target(from: &Url, response: &Response) -> Option<Url> {
    let sends_on = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = response.headers().get(LOCATION).filter(|_| sends_on)?;
    from.join(location.to_str().ok()?).ok()
}
