//! Quotes strings and characters.

use std::fmt::Write as _;

/// The characters that may stand unescaped in quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Allowed {
    Printable,
    Ascii,
}

/// Returns a string in double quotes, as `%q` prints it.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    push_quoted(&mut out, bytes, '"', Allowed::Printable);
    out
}

/// Returns a character with its code, such as `U+00E9 'é'`.
pub(crate) fn code_point(character: char) -> String {
    let mut out = format!("U+{:04X}", u32::from(character));
    if is_printable(character) {
        let _ = write!(out, " '{character}'");
    }
    out
}

/// True for letters, marks, numbers, punctuation, symbols and the ASCII space.
pub(crate) fn is_printable(character: char) -> bool {
    if character.is_ascii() {
        return (' '..='~').contains(&character);
    }
    // The standard library escapes the same classes of characters; behind a letter, marks are not escaped.
    let mut text = [b'a', 0, 0, 0, 0];
    let length = character.encode_utf8(&mut text[1..]).len();
    let text = std::str::from_utf8(&text[..=length]).unwrap_or_default();
    text.escape_debug().nth(1) == Some(character)
}

pub(super) fn push_quoted(out: &mut String, bytes: &[u8], quote: char, allowed: Allowed) {
    out.push(quote);
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            push_escaped(out, character, quote, allowed);
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push(quote);
}

fn push_escaped(out: &mut String, character: char, quote: char, allowed: Allowed) {
    let code = u32::from(character);
    match character {
        '\\' => out.push_str("\\\\"),
        _ if character == quote => {
            out.push('\\');
            out.push(quote);
        }
        '\x07' => out.push_str("\\a"),
        '\x08' => out.push_str("\\b"),
        '\x0C' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\x0B' => out.push_str("\\v"),
        _ if (allowed == Allowed::Printable || character.is_ascii()) && is_printable(character) => {
            out.push(character);
        }
        _ if code < 0x20 || code == 0x7F => {
            let _ = write!(out, "\\x{code:02x}");
        }
        _ if code < 0x1_0000 => {
            let _ = write!(out, "\\u{code:04x}");
        }
        _ => {
            let _ = write!(out, "\\U{code:08x}");
        }
    }
}

/// True for a text that can stand in back quotes: one line without control characters.
pub(super) fn can_be_raw(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| {
        text.chars().all(|c| c != '\u{FEFF}' && c != '`' && c != '\x7F' && (c >= ' ' || c == '\t'))
    })
}
