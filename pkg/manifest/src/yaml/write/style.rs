//! Selects the style of a scalar.

use crate::yaml::scalar::changes_when_plain;

/// The styles of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    /// `|` and the unchanged lines.
    Literal,
}

/// The properties of a text that rule out styles, found in one pass.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TextTraits {
    /// The text has a line feed.
    has_line_feed: bool,
    /// The text has a line break of any kind.
    has_break: bool,
    /// The text has a character that needs an escape, apart from tabs, or a space before a line break.
    must_escape: bool,
    /// The text has a tab, which only version 3 prints unchanged, and only in block scalars.
    has_tab: bool,
    /// The text has a space after a line break.
    break_then_space: bool,
    /// The text ends in a space.
    space_last: bool,
    /// The text has a space or line break at an end, or an indicator in a significant position.
    not_plain: bool,
}

impl TextTraits {
    pub(super) fn of(text: &str) -> Self {
        // Shortcut: nearly all keys and most values have only these characters.
        if text.bytes().all(is_harmless) {
            return Self { not_plain: is_marker(text) || text == "-", ..Self::default() };
        }
        Self::of_any(text)
    }

    /// True if the text has a line break of any kind.
    pub(super) fn is_multiline(self) -> bool {
        self.has_break
    }

    /// True if a block scalar would be read as this text.
    pub(super) fn may_be_block(self) -> bool {
        !(self.must_escape || self.has_tab || self.space_last)
    }

    /// Returns the style of version 3.
    pub(super) fn version_3_style_of(self, text: &str) -> Style {
        // Go cannot read back a block scalar that starts with a tab.
        if self.has_line_feed && !text.starts_with('\t') {
            return Self { has_tab: false, ..self }.style_of(text);
        }
        self.style_of(text)
    }

    pub(super) fn style_of(self, text: &str) -> Style {
        if self.has_line_feed {
            return if self.may_be_block() { Style::Literal } else { Style::Double };
        }
        if changes_when_plain(text) || self.must_escape || self.has_tab {
            Style::Double
        } else if !self.not_plain && !self.has_break && !self.break_then_space {
            Style::Plain
        } else if self.break_then_space {
            Style::Double
        } else {
            Style::Single
        }
    }

    fn of_any(text: &str) -> Self {
        let mut traits = Self { not_plain: is_marker(text) || is_indicator_first(text), ..Self::default() };
        let (mut after_space, mut after_break, mut after_blank) = (false, false, true);
        let mut characters = text.char_indices().peekable();
        while let Some((index, character)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            let blank_next = matches!(next, None | Some(' ' | '\t'));
            let (is_space, is_break) = (character == ' ', is_break(character));
            traits.not_plain |= match character {
                ':' => blank_next,
                '#' => after_blank,
                _ => (is_space || is_break) && (index == 0 || next.is_none()),
            };
            traits.has_tab |= character == '\t';
            traits.must_escape |= !is_printable(character) && character != '\t' || after_space && is_break;
            traits.break_then_space |= after_break && is_space;
            traits.space_last |= is_space && next.is_none();
            traits.has_break |= is_break;
            traits.has_line_feed |= character == '\n';
            (after_space, after_break) = (is_space, is_break);
            after_blank = is_space || is_break || matches!(character, '\t' | '\0');
        }
        traits
    }
}

/// True for characters without meaning in YAML, apart from the markers made of `.` and `-`.
fn is_harmless(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'_' | b'/' | b'.' | b'-' | b'(' | b')' | b'+' | b'=' | b'$' | b';' | b'^' | b'~' | b'<' | b'\\'
        )
}

/// True if the text starts like a document marker.
fn is_marker(text: &str) -> bool {
    text.starts_with("---") || text.starts_with("...")
}

fn is_indicator_first(text: &str) -> bool {
    let mut characters = text.chars();
    match characters.next() {
        Some(
            '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`',
        ) => true,
        Some('?' | ':' | '-') => matches!(characters.next(), None | Some(' ' | '\t')),
        _ => false,
    }
}

/// True if a character ends a line in YAML 1.1.
pub(super) fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// True if a character is printed unchanged; characters outside the basic plane are not.
pub(super) fn is_printable(character: char) -> bool {
    matches!(character, '\n' | ' '..='~' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}')
        && character != '\u{FEFF}'
}
