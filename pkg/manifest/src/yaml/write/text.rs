//! Writes a text in one of the styles.

use std::fmt::Write as _;

use super::style::{is_break, is_printable};
use super::{INDENT, ProvenanceCursor, Writer};

/// A line breaks at the first single space after this many characters.
const WIDTH: usize = 80;

impl Writer<'_> {
    pub(super) fn plain(&mut self, text: &str, column: usize, may_wrap: bool) {
        self.line_is_open = false;
        if !may_wrap || self.column + text.len() <= WIDTH {
            self.piece(text);
            return;
        }
        let mut rest = text;
        while let Some(at) = self.next_wrap(rest, false) {
            self.piece(&rest[..at]);
            self.new_line();
            self.pad(column);
            rest = &rest[at + 1..];
        }
        self.piece(rest);
    }

    pub(super) fn single_quoted(&mut self, text: &str, column: usize, may_wrap: bool) {
        self.line_is_open = false;
        self.push("'");
        let mut after_break = false;
        let mut after_space = false;
        let mut characters = text.char_indices().peekable();
        while let Some((index, character)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            if is_break(character) {
                // Only breaks other than a line feed occur here; they stay unchanged.
                self.out.push(character);
                self.column = 0;
                (after_break, after_space) = (true, false);
                continue;
            }
            if after_break {
                self.pad(column);
                after_break = false;
            }
            let single_space =
                character == ' ' && !after_space && index > 0 && !matches!(next, None | Some(' '));
            if may_wrap && single_space && self.column > WIDTH {
                self.new_line();
                self.pad(column);
            } else {
                if character == '\'' {
                    self.push("'");
                }
                self.character(character);
            }
            after_space = character == ' ';
        }
        self.push("'");
    }

    pub(super) fn double_quoted(&mut self, text: &str, column: usize, may_wrap: bool) {
        self.line_is_open = false;
        self.push("\"");
        // If a text starts with a byte order mark, Go escapes every character.
        let escape_all = text.starts_with('\u{FEFF}');
        let mut after_space = false;
        let mut characters = text.char_indices().peekable();
        while let Some((index, character)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            let is_plain = !escape_all && is_printable(character) && !is_break(character);
            if !is_plain || matches!(character, '"' | '\\') {
                self.escape(character);
                after_space = false;
            } else if character == ' '
                && may_wrap
                && !after_space
                && self.column > WIDTH
                && index > 0
                && next.is_some()
            {
                self.new_line();
                self.pad(column);
                if next == Some(' ') {
                    self.push("\\");
                }
                after_space = true;
            } else {
                self.character(character);
                after_space = character == ' ';
            }
        }
        self.push("\"");
    }

    pub(super) fn literal(&mut self, text: &str, column: usize, trail: ProvenanceCursor<'_>) {
        self.literal_header(text, INDENT);
        self.comment(trail);
        self.literal_lines(text, column);
    }

    /// Writes `|` with the hints for the reader: the indent of a text that starts with a blank, and the kept breaks.
    pub(super) fn literal_header(&mut self, text: &str, indent: usize) {
        self.push("|");
        if text.starts_with(|first| first == ' ' || is_break(first)) {
            self.push(&indent.to_string());
        }
        let mut backwards = text.chars().rev();
        match (backwards.next().is_some_and(is_break), backwards.next()) {
            (false, _) => self.push("-"),
            (true, None) => self.push("+"),
            (true, Some(before)) if is_break(before) => self.push("+"),
            (true, Some(_)) => {}
        }
    }

    /// Writes the lines of a block scalar, from the line break after its header.
    pub(super) fn literal_lines(&mut self, text: &str, column: usize) {
        self.new_line();
        for line in text.split_inclusive(is_break) {
            let body = line.trim_end_matches(is_break);
            if !body.is_empty() {
                self.pad(column);
                self.piece(body);
            }
            if let Some(end) = line[body.len()..].chars().next() {
                self.out.push(end);
                self.column = 0;
            }
        }
        self.line_is_open = false;
    }

    /// Finds the space at which a plain text is wrapped, starting at the current column.
    fn next_wrap(&self, text: &str, mut after_space: bool) -> Option<usize> {
        let mut column = self.column;
        for (index, byte) in text.bytes().enumerate() {
            if byte == b' ' {
                let next_is_space = text.as_bytes().get(index + 1) == Some(&b' ');
                if !after_space && column > WIDTH && !next_is_space {
                    return Some(index);
                }
            }
            after_space = byte == b' ';
            // Continuation bytes of a character take no column.
            column += usize::from(byte & 0xC0 != 0x80);
        }
        None
    }

    fn piece(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    fn character(&mut self, character: char) {
        self.out.push(character);
        self.column += 1;
    }

    fn escape(&mut self, character: char) {
        let short = match character {
            '\0' => '0',
            '\u{07}' => 'a',
            '\u{08}' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\u{0B}' => 'v',
            '\u{0C}' => 'f',
            '\r' => 'r',
            '\u{1B}' => 'e',
            '"' => '"',
            '\\' => '\\',
            '\u{85}' => 'N',
            '\u{A0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            _ => {
                let start = self.out.len();
                let _ = match u32::from(character) {
                    code @ ..=0xFF => write!(self.out, "\\x{code:02X}"),
                    code @ ..=0xFFFF => write!(self.out, "\\u{code:04X}"),
                    code => write!(self.out, "\\U{code:08X}"),
                };
                self.column += self.out.len() - start;
                return;
            }
        };
        self.push("\\");
        self.character(short);
    }
}
