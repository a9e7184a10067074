use bytes::Bytes;

use super::manifest::Descriptor;
use crate::{Digest, Digester, Error, http::BodySink};

/// Expected digest and size of content.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExpectedContent {
    pub(super) digest: Option<Digest>,
    pub(super) size_bytes: Option<u64>,
}

impl From<&Descriptor> for ExpectedContent {
    fn from(descriptor: &Descriptor) -> Self {
        Self { digest: Some(descriptor.digest), size_bytes: Some(descriptor.size) }
    }
}

/// A sink that verifies pieces and passes them on.
pub(super) struct VerifyingSink<'a> {
    sink: &'a mut dyn BodySink,
    address: &'a str,
    expected: ExpectedContent,
    digester: Digester,
    received_bytes: u64,
}

impl<'a> VerifyingSink<'a> {
    pub(super) fn new(sink: &'a mut dyn BodySink, address: &'a str, expected: ExpectedContent) -> Self {
        Self { sink, address, expected, digester: Digester::default(), received_bytes: 0 }
    }

    /// Verifies the complete content. `reported` is the digest in the headers of the registry.
    pub(super) fn finish(self, reported: Option<Digest>) -> Result<(), Error> {
        if let Some(expected_bytes) = self.expected.size_bytes.filter(|size| *size != self.received_bytes) {
            return Err(self.wrong_size(expected_bytes));
        }
        let found = self.digester.finish();
        let mut said = self.expected.digest.into_iter().chain(reported);
        match said.find(|expected| *expected != found) {
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
