//! Response bodies.

use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use futures::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use http_body::{Frame, SizeHint};

/// The size up to which pieces are combined, in bytes: small frames cost more than a copy.
const FRAME_BYTES: usize = 64 * 1024;

/// Closes the connection without a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionCut;

/// A response body: one text, the pieces of a long list, or the stream of a watch.
pub struct Body(BodyContent);

enum BodyContent {
    Full(Bytes),
    Pieces(VecDeque<Bytes>),
    Stream(BoxStream<'static, Result<Bytes, ConnectionCut>>),
}

impl Body {
    /// Creates a body of many pieces, shared with the store and combined into frames on demand.
    pub(crate) fn pieces(pieces: VecDeque<Bytes>) -> Self {
        Self(BodyContent::Pieces(pieces))
    }

    pub(crate) fn stream(stream: BoxStream<'static, Result<Bytes, ConnectionCut>>) -> Self {
        Self(BodyContent::Stream(stream))
    }

    /// Ends a streaming body with an error after its first line. Other bodies stay unchanged.
    pub(crate) fn broken_after_first_line(self) -> Self {
        match self.0 {
            BodyContent::Stream(lines) => {
                let first = lines.take(1).map(|lines| lines.map(first_line));
                Self::stream(first.chain(stream::iter([Err(ConnectionCut)])).boxed())
            }
            whole => Self(whole),
        }
    }
}

impl From<Bytes> for Body {
    fn from(text: Bytes) -> Self {
        Self(BodyContent::Full(text))
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            BodyContent::Full(text) => write!(f, "Body({} bytes)", text.len()),
            BodyContent::Pieces(pieces) => write!(f, "Body({} pieces)", pieces.len()),
            BodyContent::Stream(_) => f.write_str("Body(stream)"),
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = ConnectionCut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ConnectionCut>>> {
        let next = match &mut self.0 {
            BodyContent::Full(text) => Some(std::mem::take(text)).filter(|text| !text.is_empty()),
            BodyContent::Pieces(pieces) => next_frame(pieces),
            BodyContent::Stream(stream) => {
                return stream.poll_next_unpin(context).map(|next| next.map(|text| text.map(Frame::data)));
            }
        };
        Poll::Ready(next.map(|text| Ok(Frame::data(text))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            BodyContent::Full(text) => text.is_empty(),
            BodyContent::Pieces(pieces) => pieces.is_empty(),
            BodyContent::Stream(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            BodyContent::Full(text) => SizeHint::with_exact(text.len() as u64),
            BodyContent::Pieces(pieces) => {
                SizeHint::with_exact(pieces.iter().map(|piece| piece.len() as u64).sum())
            }
            BodyContent::Stream(_) => SizeHint::default(),
        }
    }
}

fn first_line(mut lines: Bytes) -> Bytes {
    let end = lines.iter().position(|byte| *byte == b'\n').map_or(lines.len(), |end| end + 1);
    lines.split_to(end)
}

fn next_frame(pieces: &mut VecDeque<Bytes>) -> Option<Bytes> {
    let first = pieces.pop_front()?;
    if first.len() >= FRAME_BYTES || pieces.is_empty() {
        return Some(first);
    }
    let mut frame = BytesMut::with_capacity(FRAME_BYTES);
    frame.extend_from_slice(&first);
    while let Some(next) = pieces.front().filter(|next| frame.len() + next.len() <= FRAME_BYTES) {
        frame.extend_from_slice(next);
        pieces.pop_front();
    }
    Some(frame.freeze())
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn a_dropped_watch_truncates_one_event_only() {
        let lines = stream::iter([Ok(Bytes::from_static(b"one\ntwo\n")), Ok(Bytes::from_static(b"three\n"))]);
        let mut body = Body::stream(lines.boxed()).broken_after_first_line();
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "one\n");
        assert_eq!(body.frame().await.unwrap().unwrap_err(), ConnectionCut);
    }

    #[tokio::test]
    async fn small_chunks_are_sent_in_few_frames() {
        let pieces: VecDeque<Bytes> = (0..100_000).map(|_| Bytes::from_static(b"ab")).collect();
        let mut body = Body::pieces(pieces);
        let (mut frames, mut bytes) = (0, 0);
        while let Some(frame) = body.frame().await {
            frames += 1;
            bytes += frame.unwrap().into_data().unwrap().len();
        }
        assert_eq!((frames, bytes), (200_000_usize.div_ceil(FRAME_BYTES), 200_000));
    }
}
