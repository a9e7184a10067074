//! Positions in a text, for messages.

use std::fmt;

/// A position in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextPosition {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Converts byte offsets to positions; ascending offsets cost one pass over the text in total.
pub(super) struct PositionCursor<'a> {
    text: &'a str,
    offset: usize,
    position: TextPosition,
}

impl<'a> PositionCursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, offset: 0, position: TextPosition { line: 1, column: 1 } }
    }

    /// Returns the position of a byte offset, which must be a character boundary.
    pub(super) fn position(&mut self, offset: usize) -> TextPosition {
        if offset < self.offset {
            *self = Self::new(self.text);
        }
        let passed = &self.text[self.offset..offset];
        match passed.rfind('\n') {
            Some(last) => {
                self.position.line += passed.bytes().filter(|byte| *byte == b'\n').count();
                self.position.column = passed[last + 1..].chars().count() + 1;
            }
            None => self.position.column += passed.chars().count(),
        }
        self.offset = offset;
        self.position
    }
}
