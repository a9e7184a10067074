//! The text of scalars: plain, in quotes, or as a literal block.

use super::analysis::is_break;
use super::layout::{Layout, WIDTH};

/// The place of a scalar.
#[derive(Clone, Copy)]
pub(super) struct ScalarPlace {
    /// The column of continuation lines.
    pub(super) indent: usize,
    /// True if the text may continue on the next line; false for a key.
    pub(super) may_fold: bool,
}

/// Appends a plain text of one line.
pub(super) fn push_plain(layout: &mut Layout, text: &str, place: ScalarPlace) {
    if text.is_empty() {
        return;
    }
    layout.separate();
    push_words(layout, text, place);
}

/// Appends words, and folds the line at a single blank after the last column.
fn push_words(layout: &mut Layout, text: &str, place: ScalarPlace) {
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.find(' ').unwrap_or(rest.len());
        layout.push(&rest[..word]);
        rest = &rest[word..];
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        if blanks == 1 && layout.column() > WIDTH && place.may_fold {
            layout.fold(place.indent);
        } else {
            layout.push(&rest[..blanks]);
        }
        rest = &rest[blanks..];
    }
}

/// Appends a text in single quotes. A line break of the text becomes an empty line.
pub(super) fn push_single_quoted(layout: &mut Layout, text: &str, place: ScalarPlace) {
    layout.indicator("'");
    let doubled = text.replace('\'', "''");
    let mut rest = doubled.as_str();
    while !rest.is_empty() {
        let line = rest.find('\n').unwrap_or(rest.len());
        push_quoted_line(layout, &rest[..line], place, rest.len() == doubled.len(), line == rest.len());
        rest = &rest[line..];
        let breaks = rest.len() - rest.trim_start_matches('\n').len();
        if breaks > 0 {
            layout.line_break();
            (0..breaks).for_each(|_| layout.line_break());
            layout.indent(place.indent);
        }
        rest = &rest[breaks..];
    }
    layout.push("'");
    layout.is_open_ended = false;
}

/// Appends one line of a quoted text. Blanks at the edges of the whole text are never folded.
fn push_quoted_line(layout: &mut Layout, line: &str, place: ScalarPlace, is_first: bool, is_last: bool) {
    let leading = if is_first { line.len() - line.trim_start_matches(' ').len() } else { 0 };
    layout.push(&line[..leading]);
    let line = &line[leading..];
    let trailing = if is_last { line.len() - line.trim_end_matches(' ').len() } else { 0 };
    let (words, blanks) = line.split_at(line.len() - trailing);
    push_words(layout, words, place);
    layout.push(blanks);
}

/// Appends a text in double quotes, with escapes for everything but printable ASCII.
pub(super) fn push_double_quoted(layout: &mut Layout, text: &str, place: ScalarPlace) {
    layout.indicator("\"");
    let last = text.chars().count().saturating_sub(1);
    let mut pending = String::new();
    let mut characters = text.chars().enumerate().peekable();
    while let Some((index, character)) = characters.next() {
        let is_escaped = matches!(character, '"' | '\\') || !matches!(character, ' '..='~');
        if is_escaped {
            layout.push(&std::mem::take(&mut pending));
            layout.push(&escape(character));
        }
        // A line ends before a blank, or behind an escape. The last column of an escape does not count.
        let may_end = character == ' ' || is_escaped || pending.is_empty();
        let is_full = layout.column() + pending.len() > WIDTH + usize::from(is_escaped);
        if (1..last).contains(&index) && may_end && is_full && place.may_fold {
            pending.push('\\');
            layout.push(&std::mem::take(&mut pending));
            layout.fold(place.indent);
            let next = if is_escaped { characters.peek().map(|(_, next)| *next) } else { Some(character) };
            if next == Some(' ') {
                layout.push("\\");
            }
        }
        if !is_escaped {
            pending.push(character);
        }
    }
    layout.push(&pending);
    layout.push("\"");
    layout.is_open_ended = false;
}

fn escape(character: char) -> String {
    let name = match character {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => {
            let code = u32::from(character);
            return match code {
                ..=0xff => format!("\\x{code:02X}"),
                0x100..=0xffff => format!("\\u{code:04X}"),
                _ => format!("\\U{code:08X}"),
            };
        }
    };
    format!("\\{name}")
}

/// Appends a text as a literal block.
pub(super) fn push_literal(layout: &mut Layout, text: &str, place: ScalarPlace) {
    let mut header = String::from("|");
    if text.starts_with([' ', '\n']) {
        header.push('2');
    }
    let body = text.strip_suffix('\n');
    let keeps_breaks = body.is_some_and(|body| body.is_empty() || body.ends_with('\n'));
    match body {
        None => header.push('-'),
        Some(_) if keeps_breaks => header.push('+'),
        Some(_) => {}
    }
    layout.indicator(&header);
    layout.line_break();
    for line in body.unwrap_or(text).split('\n') {
        if !line.is_empty() {
            layout.indent(place.indent);
            layout.push(line);
        }
        layout.line_break();
    }
    layout.is_open_ended = keeps_breaks;
    debug_assert!(!text.contains(|character| character != '\n' && is_break(character)));
}
