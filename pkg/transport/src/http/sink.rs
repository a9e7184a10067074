//! Where the pieces of an answer go.

use bytes::{Bytes, BytesMut};

use crate::Error;

/// Where the pieces of an answer go. An answer that is cut short is asked for again, and begins anew.
pub trait Sink: Send {
    /// An answer begins; what came before counts no more.
    /// # Errors
    /// Whatever stops it; the request is not made again.
    fn begin(&mut self) -> Result<(), Error>;

    /// The next piece.
    /// # Errors
    /// Whatever stops it; the request is not made again.
    fn take(&mut self, piece: Bytes) -> Result<(), Error>;
}

/// Keeps an answer in memory.
#[derive(Debug, Default)]
pub struct InMemory {
    first: Option<Bytes>,
    received: BytesMut,
}

impl InMemory {
    /// All pieces of the last answer.
    pub fn finish(self) -> Bytes {
        self.first.unwrap_or_else(|| self.received.freeze())
    }
}

impl Sink for InMemory {
    fn begin(&mut self) -> Result<(), Error> {
        *self = Self::default();
        Ok(())
    }

    fn take(&mut self, piece: Bytes) -> Result<(), Error> {
        // Most files come in one piece, which is then not copied.
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
