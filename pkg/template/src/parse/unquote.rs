//! Reads quoted strings and characters, as Go's `strconv.Unquote` does.

use std::borrow::Cow;

use memchr::{memchr, memchr3};

/// Returns the bytes of a string in double or back quotes. `None` if the syntax is invalid.
pub(crate) fn unquote(quoted: &str) -> Option<Cow<'_, [u8]>> {
    if let Some(raw) = quoted.strip_prefix('`').and_then(|text| text.strip_suffix('`')) {
        let is_valid = memchr(b'`', raw.as_bytes()).is_none() && quoted.len() >= 2;
        return is_valid.then(|| match memchr(b'\r', raw.as_bytes()) {
            None => Cow::Borrowed(raw.as_bytes()),
            Some(_) => raw.bytes().filter(|byte| *byte != b'\r').collect(),
        });
    }
    let mut rest = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"'))?;
    if memchr3(b'\\', b'"', b'\n', rest.as_bytes()).is_none() {
        return Some(Cow::Borrowed(rest.as_bytes()));
    }
    let mut out = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let plain = rest.find(['\\', '"', '\n']).unwrap_or(rest.len());
        out.extend_from_slice(&rest.as_bytes()[..plain]);
        rest = &rest[plain..];
        if rest.is_empty() {
            break;
        }
        let (unit, after) = unquote_character(rest, b'"')?;
        match unit {
            Unit::Byte(byte) => out.push(byte),
            Unit::Character(character) => {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        rest = after;
    }
    Some(Cow::Owned(out))
}

/// One character of a quoted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A byte written as `\xFF` or `\377`.
    Byte(u8),
    Character(char),
}

impl Unit {
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::Byte(byte) => byte.into(),
            Self::Character(character) => character.into(),
        }
    }
}

/// Reads the first character of a text in quotes. Returns the text behind it.
pub(crate) fn unquote_character(text: &str, quote: u8) -> Option<(Unit, &str)> {
    let first = text.chars().next()?;
    if first == char::from(quote) || first == '\n' {
        return None;
    }
    if first != '\\' {
        return Some((Unit::Character(first), &text[first.len_utf8()..]));
    }
    let escaped = text[1..].chars().next()?;
    let rest = &text[1 + escaped.len_utf8()..];
    let simple = match escaped {
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0C',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0B',
        '\\' => '\\',
        '\'' | '"' if escaped == char::from(quote) => escaped,
        'x' => return byte(rest, 2, 16),
        'u' => return code_point(rest, 4),
        'U' => return code_point(rest, 8),
        '0'..='7' => return byte(&text[1..], 3, 8),
        _ => return None,
    };
    Some((Unit::Character(simple), rest))
}

fn digits(text: &str, count: usize, radix: u32) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(count)?;
    if !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    Some((u32::from_str_radix(digits, radix).ok()?, rest))
}

fn byte(text: &str, count: usize, radix: u32) -> Option<(Unit, &str)> {
    let (code, rest) = digits(text, count, radix)?;
    Some((Unit::Byte(u8::try_from(code).ok()?), rest))
}

fn code_point(text: &str, count: usize) -> Option<(Unit, &str)> {
    let (code, rest) = digits(text, count, 16)?;
    Some((Unit::Character(char::from_u32(code)?), rest))
}
