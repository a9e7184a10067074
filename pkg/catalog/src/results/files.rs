//! Named contents as one sequence of bytes: a header in JSON, a line feed, and the contents.

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};

/// Joins a header and contents.
pub(crate) fn join<'b>(header: &impl Serialize, contents: impl IntoIterator<Item = &'b [u8]>) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(header).unwrap_or_default();
    bytes.push(b'\n');
    contents.into_iter().for_each(|content| bytes.extend_from_slice(content));
    bytes
}

/// Splits bytes into their header and the rest. None if they have another form.
pub(crate) fn split<H: DeserializeOwned>(bytes: &Bytes) -> Option<(H, Contents)> {
    let end = memchr::memchr(b'\n', bytes)?;
    let header = serde_json::from_slice(&bytes[..end]).ok()?;
    Some((header, Contents(bytes.slice(end + 1..))))
}

/// Contents that were not read yet.
pub(crate) struct Contents(Bytes);

impl Contents {
    /// Returns the next content. None if it is not whole.
    pub(crate) fn next(&mut self, length: usize) -> Option<Bytes> {
        (length <= self.0.len()).then(|| self.0.split_to(length))
    }

    /// True if all contents were read.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
