//! Positions in a text, for messages.

use std::fmt;

/// A position in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Converts byte offsets to positions; ascending offsets cost one pass over the text in total.
pub(super) struct Cursor<'a> {
    text: &'a str,
    offset: usize,
    at: Position,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, offset: 0, at: Position { line: 1, column: 1 } }
    }

    /// Returns the position of a byte offset, which must be a character boundary.
    pub(super) fn position(&mut self, offset: usize) -> Position {
        if offset < self.offset {
            *self = Self::new(self.text);
        }
        let passed = &self.text[self.offset..offset];
        match passed.rfind('\n') {
            Some(last) => {
                self.at.line += passed.bytes().filter(|byte| *byte == b'\n').count();
                self.at.column = passed[last + 1..].chars().count() + 1;
            }
            None => self.at.column += passed.chars().count(),
        }
        self.offset = offset;
        self.at
    }
}
