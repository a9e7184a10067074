use bytes::Bytes;
use futures::{FutureExt as _, future::BoxFuture};

use super::{
    BodySink, CachePolicy, FetchedResponse, Request, RequestSender, ResponseHead, fetch_cached_with,
    receive_into,
};
use crate::{Context, Digest, Digester, Error, address::redact_url};

/// Expected digest and size of content.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExpectedContent {
    pub(crate) digest: Option<Digest>,
    pub(crate) size_bytes: Option<u64>,
}

/// Like [`super::fetch_cached`], for content with a known digest. The response is cached under the digest, so a cached
/// response needs no second request, and content with another digest is never cached.
/// # Errors
/// Errors of [`super::fetch_cached`]; [`Error::Digest`] for other content.
pub async fn fetch_cached_verified(
    context: &Context,
    request: &Request,
    expected: Digest,
) -> Result<FetchedResponse, Error> {
    let mut name = request.url.clone();
    name.set_fragment(Some(&expected.to_string()));
    let sender = VerifyingSender { context, expected };
    let answer = fetch_cached_with(context, &sender, &name, request, CachePolicy::Immutable).await?;
    let found = Digest::of(&answer.bytes);
    if found == expected {
        return Ok(answer);
    }
    Err(Error::Digest { place: redact_url(&request.url), expected, found })
}

/// Sends requests for content with a known digest.
struct VerifyingSender<'a> {
    context: &'a Context,
    expected: Digest,
}

impl RequestSender for VerifyingSender<'_> {
    fn send_request<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn BodySink,
    ) -> BoxFuture<'a, Result<ResponseHead, Error>> {
        async move {
            let address = redact_url(&request.url);
            let expected = ExpectedContent { digest: Some(self.expected), size_bytes: None };
            let mut checked = VerifyingSink::new(sink, &address, expected);
            let head =
                receive_into(self.context, request, &mut checked, self.context.max_file_bytes()).await?;
            if head.status.is_success() {
                checked.finish(None)?;
            }
            Ok(head)
        }
        .boxed()
    }
}

/// A sink that verifies pieces and passes them on.
pub(crate) struct VerifyingSink<'a> {
    sink: &'a mut dyn BodySink,
    address: &'a str,
    expected: ExpectedContent,
    digester: Digester,
    received_bytes: u64,
}

impl<'a> VerifyingSink<'a> {
    pub(crate) fn new(sink: &'a mut dyn BodySink, address: &'a str, expected: ExpectedContent) -> Self {
        Self { sink, address, expected, digester: Digester::default(), received_bytes: 0 }
    }

    /// Verifies the complete content. `reported` is the digest in the headers of the registry.
    pub(crate) fn finish(self, reported: Option<Digest>) -> Result<(), Error> {
        if let Some(expected_bytes) = self.expected.size_bytes.filter(|size| *size != self.received_bytes) {
            return Err(self.wrong_size(expected_bytes));
        }
        let found = self.digester.finish();
        let mut digests = self.expected.digest.into_iter().chain(reported);
        match digests.find(|expected| *expected != found) {
            Some(expected) => Err(Error::Digest { place: self.address.to_owned(), expected, found }),
            None => Ok(()),
        }
    }

    fn wrong_size(&self, expected_bytes: u64) -> Error {
        let (address, actual_bytes) = (self.address.to_owned(), self.received_bytes);
        Error::Size { address, expected_bytes, actual_bytes }
    }
}

impl BodySink for VerifyingSink<'_> {
    fn begin(&mut self) -> Result<(), Error> {
        self.digester = Digester::default();
        self.received_bytes = 0;
        self.sink.begin()
    }

    fn take(&mut self, piece: Bytes) -> Result<(), Error> {
        self.received_bytes += piece.len() as u64;
        // Stops hosts that send more content than expected.
        if let Some(expected_bytes) = self.expected.size_bytes.filter(|size| self.received_bytes > *size) {
            return Err(self.wrong_size(expected_bytes));
        }
        self.digester.update(&piece);
        self.sink.take(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::MemorySink;

    #[test]
    fn reading_stops_at_the_size_of_the_manifest() {
        let mut sink = MemorySink::default();
        let mut checked =
            VerifyingSink::new(&mut sink, "x", ExpectedContent { digest: None, size_bytes: Some(3) });
        checked.begin().unwrap();
        assert!(checked.take(Bytes::from_static(b"abc")).is_ok());
        assert!(matches!(checked.take(Bytes::from_static(b"d")), Err(Error::Size { .. })));
    }
}
