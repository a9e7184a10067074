//! Splits a stream into documents by its lines.

use memchr::{memchr, memchr_iter, memmem};

const SEPARATOR: &[u8] = b"---";

/// A part of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Chunk<'a> {
    /// The lines between two separators.
    Document {
        bytes: &'a [u8],
        /// The offset of the document in the stream, in bytes.
        offset: usize,
        /// The number of lines before the document.
        lines_before: usize,
    },
    /// A line that starts like a separator, followed by text other than a comment.
    InvalidSeparator {
        /// The number of lines before this one.
        lines_before: usize,
    },
}

impl Chunk<'_> {
    pub(super) fn lines_before(&self) -> usize {
        match self {
            Self::Document { lines_before, .. } | Self::InvalidSeparator { lines_before, .. } => {
                *lines_before
            }
        }
    }
}

/// The parts of a stream, in order.
#[derive(Clone, Debug)]
pub(super) struct Chunks<'a> {
    bytes: &'a [u8],
    offset: usize,
    lines_before: usize,
    invalid_separator: Option<Chunk<'a>>,
}

impl<'a> Chunks<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0, lines_before: 0, invalid_separator: None }
    }

    /// Finds the next line that starts with `---`; `from` is the start of a line.
    fn separator(&self, from: usize) -> Option<usize> {
        let rest = &self.bytes[from..];
        if rest.starts_with(SEPARATOR) {
            return Some(from);
        }
        memmem::find(rest, b"\n---").map(|at| from + at + 1)
    }

    /// Returns the offset behind a separator line. The flag is true if only a comment follows the separator.
    fn line_after(&self, separator: usize) -> (usize, bool) {
        let rest = &self.bytes[separator..];
        let length = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let after = String::from_utf8_lossy(&rest[SEPARATOR.len()..length]);
        let is_good = matches!(after.trim().chars().next(), None | Some('#'));
        (separator + length, is_good)
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Chunk<'a>;

    fn next(&mut self) -> Option<Chunk<'a>> {
        if let Some(bad) = self.invalid_separator.take() {
            return Some(bad);
        }
        if self.offset >= self.bytes.len() {
            return None;
        }
        let (offset, lines_before) = (self.offset, self.lines_before);
        let mut from = offset;
        // A separator without text before it belongs to the document it begins.
        if self.bytes[offset..].starts_with(SEPARATOR) {
            let (after, is_good) = self.line_after(offset);
            if !is_good {
                self.offset = after;
                self.lines_before += 1;
                return Some(Chunk::InvalidSeparator { lines_before });
            }
            from = after;
        }
        let end = self.separator(from);
        let bytes = &self.bytes[offset..end.unwrap_or(self.bytes.len())];
        self.offset = self.bytes.len();
        if let Some(separator) = end {
            let (after, is_good) = self.line_after(separator);
            self.offset = after;
            self.lines_before += memchr_iter(b'\n', bytes).count();
            if !is_good {
                self.invalid_separator = Some(Chunk::InvalidSeparator { lines_before: self.lines_before });
            }
            self.lines_before += 1;
        }
        Some(Chunk::Document { bytes, offset, lines_before })
    }
}
