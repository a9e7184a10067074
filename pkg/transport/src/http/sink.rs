//! Receivers of response bodies.

use bytes::{Bytes, BytesMut};

use crate::Error;

/// A receiver of response bodies. After an incomplete response, the request is retried and the sink starts again.
pub trait BodySink: Send {
    /// Starts a response and discards the pieces of an earlier one.
    /// # Errors
    /// Any error stops the request without a retry.
    fn begin(&mut self) -> Result<(), Error>;

    /// Takes the next piece.
    /// # Errors
    /// Any error stops the request without a retry.
    fn take(&mut self, piece: Bytes) -> Result<(), Error>;
}

/// A sink that collects a response in memory.
#[derive(Debug, Default)]
pub struct MemorySink {
    first: Option<Bytes>,
    received: BytesMut,
}

impl MemorySink {
    /// Returns the body of the last response.
    pub fn finish(self) -> Bytes {
        self.first.unwrap_or_else(|| self.received.freeze())
    }
}

impl BodySink for MemorySink {
    fn begin(&mut self) -> Result<(), Error> {
        *self = Self::default();
        Ok(())
    }

    fn take(&mut self, piece: Bytes) -> Result<(), Error> {
        // Most files arrive in one piece; that piece is not copied.
        match self.first.take() {
            None if self.received.is_empty() => self.first = Some(piece),
            None => self.received.extend_from_slice(&piece),
            Some(before) => {
                self.received.reserve(before.len() + piece.len());
                self.received.extend_from_slice(&before);
                self.received.extend_from_slice(&piece);
            }
        }
        Ok(())
    }
}
