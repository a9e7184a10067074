//! Lines of a streamed answer.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use kube::client::Body;

/// Splits a stream into lines, without waiting for more data than a line needs.
pub(super) struct Lines {
    body: Body,
    buffer: BytesMut,
    /// The length of the buffer's prefix without a line feed.
    searched: usize,
}

impl Lines {
    pub(super) fn new(body: Body) -> Self {
        Self { body, buffer: BytesMut::new(), searched: 0 }
    }

    /// Returns the next line that is not empty. None at the end. An incomplete last line was cut off and is dropped.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, kube::Error> {
        loop {
            if let Some(end) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') {
                let line = self.buffer.split_to(self.searched + end + 1).freeze();
                self.searched = 0;
                if !line.trim_ascii().is_empty() {
                    return Ok(Some(line));
                }
                continue;
            }
            self.searched = self.buffer.len();
            match self.body.frame().await {
                None => return Ok(None),
                Some(Err(error)) => return Err(kube::Error::Service(error.into())),
                Some(Ok(frame)) => {
                    self.buffer.extend_from_slice(frame.data_ref().unwrap_or(&Bytes::new()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn incomplete_lines_are_ignored() {
        let mut lines = Lines::new(Body::from(b"{\"a\":1}\n\n  \n{\"b\":2}\n{\"c\"".to_vec()));
        assert_eq!(lines.next().await.unwrap().unwrap(), "{\"a\":1}\n");
        assert_eq!(lines.next().await.unwrap().unwrap(), "{\"b\":2}\n");
        assert_eq!(lines.next().await.unwrap(), None);
    }
}
