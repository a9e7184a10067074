use bytes::Bytes;

use super::{OciError, manifest::Descriptor};
use crate::{Digester, Error, http::Sink};

/// Hands pieces on and holds them against what the manifest says.
pub(super) struct Checked<'a> {
    sink: &'a mut dyn Sink,
    address: &'a str,
    said: &'a Descriptor,
    digester: Digester,
    received_bytes: u64,
}

impl<'a> Checked<'a> {
    pub(super) fn new(sink: &'a mut dyn Sink, address: &'a str, said: &'a Descriptor) -> Self {
        Self { sink, address, said, digester: Digester::default(), received_bytes: 0 }
    }

    /// To be asked when all pieces are there.
    pub(super) fn finish(self) -> Result<(), Error> {
        if self.received_bytes != self.said.size {
            return Err(self.wrong_size());
        }
        let (expected, actual) = (self.said.digest, self.digester.finish());
        if actual == expected {
            Ok(())
        } else {
            Err(OciError::Digest { address: self.address.to_owned(), expected, actual }.into())
        }
    }

    fn wrong_size(&self) -> Error {
        OciError::Size {
            address: self.address.to_owned(),
            expected_bytes: self.said.size,
            actual_bytes: self.received_bytes,
        }
        .into()
    }
}

impl Sink for Checked<'_> {
    fn begin(&mut self) -> Result<(), Error> {
        self.digester = Digester::default();
        self.received_bytes = 0;
        self.sink.begin()
    }

    fn take(&mut self, piece: Bytes) -> Result<(), Error> {
        self.received_bytes += piece.len() as u64;
        // A host that never ends is not read to its end.
        if self.received_bytes > self.said.size {
            return Err(self.wrong_size());
        }
        self.digester.update(&piece);
        self.sink.take(piece)
    }
}
