//! Follows redirects by the rules of this crate. Credentials and content never reach another origin, and https never
//! becomes http. Each hop uses the settings of its host.

use reqwest::{Method, Response, StatusCode, header::LOCATION};
use url::Url;

use super::request::{Request, RequestBody};
use crate::{Credential, RequestFailure};

/// The maximum number of redirects, as in the library of clusterctl.
const MAX_REDIRECTS: usize = 10;

/// One request in a chain of redirects.
#[derive(Clone, Debug)]
pub(super) struct Hop<'a> {
    pub(super) url: Url,
    pub(super) method: Method,
    pub(super) has_body: bool,
    /// None after a redirect to another origin.
    pub(super) credential: Option<&'a Credential>,
    redirects: usize,
}

impl<'a> Hop<'a> {
    pub(super) fn first(request: &'a Request) -> Self {
        Self {
            url: request.url.clone(),
            method: request.method.clone(),
            has_body: !matches!(request.body, RequestBody::None),
            credential: request.credential.as_ref(),
            redirects: 0,
        }
    }

    /// Returns the next request of the chain. None if the response is not a redirect.
    /// # Errors
    /// [`RequestFailure::Redirect`] if the redirect is not allowed.
    pub(super) fn next(&self, response: &Response) -> Result<Option<Self>, RequestFailure> {
        let Some(url) = target(&self.url, response) else { return Ok(None) };
        let refuse = |reason| Err(RequestFailure::Redirect { reason });
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
        // A form may contain a password.
        if self.has_body && again && !stays {
            return refuse("it sends uploaded content to another host");
        }
        Ok(Some(Self {
            url,
            method: if again { self.method.clone() } else { Method::GET },
            has_body: self.has_body && again,
            credential: self.credential.filter(|_| stays),
            redirects: self.redirects + 1,
        }))
    }
}

fn target(from: &Url, response: &Response) -> Option<Url> {
    let sends_on = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = response.headers().get(LOCATION).filter(|_| sends_on)?;
    from.join(location.to_str().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use support::host::{FakeHost, ReceivedRequest, Reply};

    use super::*;
    use crate::{Error, Secret, http::send, testing::context};

    /// Posts a form with a token to a host that answers with a redirect.
    async fn post(status: u16, to: &str) -> (Result<Bytes, Error>, Vec<ReceivedRequest>) {
        let host = FakeHost::internet();
        host.on("files.example.org/form", Reply::status(status).header("location", to));
        for place in ["files.example.org/next", "gitlab.com/next"] {
            host.on(place, Reply::text("done"));
        }
        let url = Url::parse("https://files.example.org/form").unwrap();
        let token = Secret::new("token", "t0ken").map(Credential::Bearer);
        let content = RequestBody::Bytes(Bytes::from_static(b"password=1"));
        let request =
            Request { method: Method::POST, body: content, ..Request::get(url).with_credential(token) };
        let outcome = send(&context(&host), &request).await;
        (outcome, host.received())
    }

    #[tokio::test]
    async fn an_error_names_the_host_that_answered_and_no_credential_it_did_not_get() {
        let host = FakeHost::internet();
        host.on("files.example.org/a", Reply::redirect("https://gitlab.com/a?signature=s3cret"));
        host.on("gitlab.com/a?signature=s3cret", Reply::status(403));
        let token = Secret::new("token", "t0ken").map(Credential::Bearer);
        let url = Url::parse("https://files.example.org/a").unwrap();
        let error = send(&context(&host), &Request::get(url).with_credential(token)).await.unwrap_err();
        let failed = error.request().unwrap();
        assert_eq!(failed.url, "https://files.example.org/a");
        assert_eq!(failed.redirected_to.as_deref(), Some("https://gitlab.com"));
        assert!(failed.credential.is_none());
    }

    #[tokio::test]
    async fn a_file_that_is_compressed_itself_is_kept_as_it_is() {
        let host = FakeHost::internet();
        let packed = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\xce\xcf\x2b\x49\xcd\x2b\x01\x00\xa9\x30\xc5\xfe\x07\x00\x00\x00";
        host.on("files.example.org/a", Reply::file(*packed).header("content-encoding", "gzip"));
        let url = Url::parse("https://files.example.org/a").unwrap();
        let plain = Request::get(url);
        let kept = Request { keeps_encoding: true, ..plain.clone() };
        assert_eq!(send(&context(&host), &plain).await.unwrap(), b"content"[..]);
        assert_eq!(send(&context(&host), &kept).await.unwrap(), packed[..]);
        assert_eq!(host.received()[1].header("accept-encoding"), None);
    }

    #[tokio::test]
    async fn content_is_resent_to_the_same_host_only() {
        for status in [307, 308] {
            let (outcome, received) = post(status, "/next").await;
            outcome.unwrap();
            assert_eq!(
                (received[1].method.as_str(), received[1].body.as_slice()),
                ("POST", &b"password=1"[..])
            );
            let (outcome, received) = post(status, "https://gitlab.com/next").await;
            let error = outcome.unwrap_err();
            assert!(matches!(error.request().unwrap().failure, RequestFailure::Redirect { .. }), "{error:?}");
            assert_eq!(received.len(), 1, "{status}");
        }
    }

    #[tokio::test]
    async fn after_a_303_the_next_request_has_no_content() {
        for status in [301, 302, 303] {
            let (outcome, received) = post(status, "https://gitlab.com/next").await;
            outcome.unwrap();
            let next = &received[1];
            assert_eq!((next.method.as_str(), next.body.len()), ("GET", 0), "{status}");
            assert_eq!(next.header("authorization"), None);
        }
    }
}
