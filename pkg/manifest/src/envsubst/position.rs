//! Where something is written, for people.

use std::fmt;

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Turns byte offsets into positions; offsets asked for in ascending order cost one pass over the text in all.
pub(super) struct Cursor<'a> {
    text: &'a str,
    offset: usize,
    at: Position,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, offset: 0, at: Position { line: 1, column: 1 } }
    }

    /// Gives the position of a byte offset that is on a character boundary.
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
