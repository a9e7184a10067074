//! The styles in which a text can be printed without a change of its meaning.
//!
//! Source: PyYAML 6.0.3, what its dumper prints without `allow_unicode`.

/// The styles that a text allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AllowedStyles {
    pub(super) plain: bool,
    pub(super) single_quoted: bool,
    pub(super) literal: bool,
    pub(super) is_multi_line: bool,
}

/// True for a character that ends a line in YAML 1.1.
pub(super) fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// True for a character that may stand in a text without quotes, apart from line breaks.
fn is_printable_ascii(character: char) -> bool {
    matches!(character, ' '..='~')
}

/// Finds the styles that a text allows in block context.
pub(super) fn allowed_styles(text: &str) -> AllowedStyles {
    let is_multi_line = text.contains(is_break);
    if text.is_empty() {
        return AllowedStyles { plain: true, single_quoted: true, literal: false, is_multi_line };
    }
    let is_special = text.contains(|character| character != '\n' && !is_printable_ascii(character));
    let spaces_end_a_line = has_pair(text, |first, second| first == ' ' && is_break(second));
    if is_special || spaces_end_a_line {
        return AllowedStyles { plain: false, single_quoted: false, literal: false, is_multi_line };
    }
    let space_starts_a_line = has_pair(text, |first, second| is_break(first) && second == ' ');
    let at_edge = |fits: fn(char) -> bool| text.starts_with(fits) || text.ends_with(fits);
    let plain = !is_multi_line && !at_edge(|edge| edge == ' ') && !has_block_indicator(text);
    AllowedStyles { plain, single_quoted: !space_starts_a_line, literal: !text.ends_with(' '), is_multi_line }
}

fn has_pair(text: &str, fits: impl Fn(char, char) -> bool) -> bool {
    text.chars().zip(text.chars().skip(1)).any(|(first, second)| fits(first, second))
}

/// True if a part of the text would be read as an indicator of YAML.
fn has_block_indicator(text: &str) -> bool {
    if text.starts_with("---") || text.starts_with("...") {
        return true;
    }
    let mut before: Option<char> = None;
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let blank_follows = rest.peek().is_none_or(|next| *next == ' ' || is_break(*next));
        let found = match (before, character) {
            (
                None,
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
                | '`',
            ) => true,
            (None, '-' | '?' | ':') | (Some(_), ':') => blank_follows,
            (Some(before), '#') => before == ' ' || is_break(before),
            _ => false,
        };
        if found {
            return true;
        }
        before = Some(character);
    }
    false
}
