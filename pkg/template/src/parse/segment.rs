//! Splits a template into texts, comments and actions.

use memchr::memmem::Finder;

use super::token::{self, Defect, Kind, SPACES, Token, is_space};
use crate::delimiters::Delimiters;

/// A piece of a template.
pub(super) enum Segment<'t> {
    /// A text without the spaces that trim markers remove.
    Text(&'t str),
    Comment,
    /// The left delimiter of an action.
    Action,
    BrokenComment(Token<'t>),
}

/// A template and its delimiters.
pub(super) struct Template<'t> {
    text: &'t str,
    left: Finder<'t>,
    right: &'t str,
}

impl<'t> Template<'t> {
    pub(super) fn new(text: &'t str, delimiters: &'t Delimiters) -> Self {
        Self { text, left: Finder::new(delimiters.left()), right: delimiters.right() }
    }

    /// Returns the segment that starts at an offset, and the offset behind it.
    pub(super) fn segment(&self, start: usize) -> (Segment<'t>, usize) {
        let rest = &self.text[start..];
        let Some(length) = self.left.find(rest.as_bytes()) else {
            return (Segment::Text(rest), self.text.len());
        };
        let (text, inside) = (&rest[..length], start + length + self.left.needle().len());
        let is_trimmed = matches!(self.text.as_bytes()[inside..], [b'-', space, ..] if is_space(space));
        if length > 0 {
            let text = if is_trimmed { text.trim_end_matches(SPACES) } else { text };
            return (Segment::Text(text), start + length);
        }
        let inside = if is_trimmed { inside + 2 } else { inside };
        if self.text[inside..].starts_with("/*") { self.comment(inside) } else { (Segment::Action, inside) }
    }

    fn comment(&self, start: usize) -> (Segment<'t>, usize) {
        let body = start + "/*".len();
        let broken = |defect| (Segment::BrokenComment(Token::broken(defect, start)), self.text.len());
        match self.text[body..].find("*/") {
            None => broken(Defect::UnclosedComment),
            Some(length) => match self.right_delimiter(body + length + "*/".len()) {
                None => broken(Defect::TextAfterComment),
                Some((_, behind)) => (Segment::Comment, behind),
            },
        }
    }

    /// Splits the inside of an action into tokens, of which the last one is the right delimiter or a defect. Returns the
    /// offset of the next segment.
    pub(super) fn tokens(&self, start: usize, tokens: &mut Vec<Token<'t>>) -> usize {
        tokens.clear();
        let (mut offset, mut parentheses, mut spaces_before) = (start, 0_usize, false);
        loop {
            if let Some((delimiter, behind)) = self.right_delimiter(offset) {
                tokens.push(match parentheses {
                    0 => Token { kind: Kind::End, offset: delimiter, text: self.right, spaces_before },
                    _ => Token::broken(Defect::UnclosedParenthesis, offset),
                });
                return behind;
            }
            let spaces = count_spaces(&self.text[offset..]);
            if spaces > 0 {
                let behind = offset + spaces;
                offset = if self.has_right_marker(behind - 1) { behind - 1 } else { behind };
                spaces_before = true;
                continue;
            }
            let mut token = token::read(&self.text[offset..], self.right);
            (token.offset, token.spaces_before) = (offset, spaces_before);
            match token.kind {
                Kind::Open => parentheses += 1,
                Kind::Close if parentheses == 0 => token.kind = Kind::Broken(Defect::ExtraParenthesis),
                Kind::Close => parentheses -= 1,
                _ => {}
            }
            tokens.push(token);
            if let Kind::Broken(_) = token.kind {
                return self.text.len();
            }
            offset += token.text.len();
            spaces_before = false;
        }
    }

    /// Returns the offset of the right delimiter that starts here, with a trim marker or without, and the offset of the
    /// next segment.
    fn right_delimiter(&self, start: usize) -> Option<(usize, usize)> {
        // A delimiter starts with a space or with its own first character.
        let first = *self.text.as_bytes().get(start)?;
        if first != self.right.as_bytes()[0] && !is_space(first) {
            return None;
        }
        if self.has_right_marker(start) {
            let behind = start + 2 + self.right.len();
            return Some((start + 2, behind + count_spaces(&self.text[behind..])));
        }
        self.text[start..].starts_with(self.right).then(|| (start, start + self.right.len()))
    }

    /// True before a space, a `-` and the right delimiter.
    fn has_right_marker(&self, start: usize) -> bool {
        matches!(self.text.as_bytes()[start..], [space, b'-', ..] if is_space(space))
            && self.text[start + 2..].starts_with(self.right)
    }
}

fn count_spaces(text: &str) -> usize {
    text.bytes().take_while(|byte| is_space(*byte)).count()
}
