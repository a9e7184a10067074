//! Uploads: content in one piece, then the manifest that refers to the content.
//! Source: OCI distribution specification 1.1, "Push".

use reqwest::{
    Method,
    header::{CONTENT_TYPE, HeaderValue, LOCATION},
};
use url::Url;

use super::{Reference, Registry, authorization::RepositoryAccess};
use crate::{
    Digest, Error, RequestFailure,
    http::{MemorySink, Request, RequestBody, ResponseHead, digest_of, wait_for_retry},
};

/// The maximum size of a response to an upload.
const MAX_RESPONSE_BYTES: u64 = 1024 * 1024;

impl Registry {
    /// True if a repository has the content with this digest.
    pub async fn has_blob(&self, repository: &str, digest: &Digest) -> Result<bool, Error> {
        let url = self.url(repository, &format!("blobs/{digest}")).await?;
        let request = Request { method: Method::HEAD, ..Request::get(url) };
        match self
            .send_authorized(repository, RepositoryAccess::Push, &request, &mut MemorySink::default(), 0)
            .await
        {
            Ok(_) => Ok(true),
            Err(error) if error.is_missing() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Uploads content to a repository, unless the repository already has the content. A file is read while it is sent.
    /// After a temporary failure, a new upload begins: the old one has an unknown part of the content.
    /// # Errors
    /// [`Error::UploadAddress`] and [`Error::Digest`] if the registry violates the protocol; errors of the requests.
    pub async fn push_blob(
        &self,
        repository: &str,
        content: RequestBody,
        digest: &Digest,
    ) -> Result<(), Error> {
        let mut waits = self.context.settings().retry.waits.iter();
        loop {
            if self.has_blob(repository, digest).await? {
                return Ok(());
            }
            let error = match self.push_new_blob(repository, content.clone(), digest).await {
                Err(error) => error,
                pushed => return pushed,
            };
            // Other requests than the upload itself were retried already.
            let Some(failed) = error.request().filter(|failed| failed.attempts == 1) else {
                return Err(error);
            };
            if !wait_for_retry(&self.context, &failed.url, &failed.failure, &mut waits).await {
                return Err(error);
            }
        }
    }

    async fn push_new_blob(
        &self,
        repository: &str,
        content: RequestBody,
        digest: &Digest,
    ) -> Result<(), Error> {
        let url = self.url(repository, "blobs/uploads/").await?;
        let begin = Request { method: Method::POST, ..Request::get(url) };
        let head = self.upload(repository, &begin).await?;
        let mut place = self.upload_address(&begin, &head, repository, digest)?;
        place.query_pairs_mut().append_pair("digest", &digest.to_string());
        let put = Request { method: Method::PUT, body: content, is_single_use: true, ..Request::get(place) }
            .with_header(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        let head = self.upload(repository, &put).await?;
        self.check_reported_digest(repository, &head, *digest)
    }

    /// Uploads a manifest under a tag or its digest. The bytes are sent unchanged.
    /// # Errors
    /// [`Error::Digest`] if the registry reports another digest; errors of the request.
    pub async fn push_manifest(
        &self,
        repository: &str,
        reference: &Reference,
        media_type: &str,
        bytes: bytes::Bytes,
    ) -> Result<Digest, Error> {
        let digest = Digest::of(&bytes);
        let url = self.url(repository, &format!("manifests/{reference}")).await?;
        let put = Request { method: Method::PUT, body: RequestBody::Bytes(bytes), ..Request::get(url) };
        let content_type = HeaderValue::try_from(media_type).map_err(|_| Error::MediaType {
            address: self.address(repository, Some(reference)),
            media_type: media_type.to_owned(),
        })?;
        let head = self.upload(repository, &put.with_header(CONTENT_TYPE, content_type)).await?;
        self.check_reported_digest(repository, &head, digest)?;
        Ok(digest)
    }

    async fn upload(&self, repository: &str, request: &Request) -> Result<ResponseHead, Error> {
        self.send_authorized(
            repository,
            RepositoryAccess::Push,
            request,
            &mut MemorySink::default(),
            MAX_RESPONSE_BYTES,
        )
        .await
    }

    /// Returns the upload address. Fails if the registry uses HTTPS, but the address does not.
    fn upload_address(
        &self,
        started: &Request,
        head: &ResponseHead,
        repository: &str,
        digest: &Digest,
    ) -> Result<Url, Error> {
        let location = head.headers.get(LOCATION).and_then(|value| value.to_str().ok());
        let place = location.and_then(|location| started.url.join(location).ok()).ok_or_else(|| {
            Error::UploadAddress { address: self.address(repository, Some(&Reference::Digest(*digest))) }
        })?;
        if started.url.scheme() == "https" && place.scheme() != "https" {
            return Err(started.to_error(RequestFailure::Redirect { reason: "it leads from https to http" }));
        }
        Ok(place)
    }

    fn check_reported_digest(
        &self,
        repository: &str,
        head: &ResponseHead,
        expected: Digest,
    ) -> Result<(), Error> {
        match digest_of(&head.headers) {
            Some(found) if found != expected => {
                let place = self.address(repository, Some(&Reference::Digest(expected)));
                Err(Error::Digest { place, expected, found })
            }
            _ => Ok(()),
        }
    }
}
