//! Escapes text for HTML, JavaScript and URLs.

use std::fmt::Write as _;

use crate::format::{FormatError, is_printable};
use crate::value::Value;

/// Prints the arguments as an action prints them.
pub(super) fn arguments(args: &[Value], limit: usize) -> Result<Vec<u8>, FormatError> {
    if let [Value::String(text)] = args {
        return Ok(text.to_vec());
    }
    // A nil among the arguments is printed as in an action.
    let shown: Vec<Value> =
        args.iter().map(|arg| if arg.is_nil() { Value::string("<no value>") } else { arg.clone() }).collect();
    crate::format::sprint(&shown, limit)
}

pub(super) fn html(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            0 => out.extend_from_slice("\u{FFFD}".as_bytes()),
            b'"' => out.extend_from_slice(b"&#34;"),
            b'\'' => out.extend_from_slice(b"&#39;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            _ => out.push(*byte),
        }
    }
    out
}

pub(super) fn javascript(text: &[u8]) -> Vec<u8> {
    let mut out = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' | '\'' | '"' => {
                    out.push('\\');
                    out.push(character);
                }
                '<' | '>' | '&' | '=' => {
                    let _ = write!(out, "\\u{:04X}", u32::from(character));
                }
                _ if character < ' ' || (!character.is_ascii() && !is_printable(character)) => {
                    let _ = write!(out, "\\u{:04X}", u32::from(character));
                }
                _ => out.push(character),
            }
        }
        for _ in chunk.invalid() {
            out.push_str("\\uFFFD");
        }
    }
    out.into_bytes()
}

/// Escapes for the query of a URL: `+` for a space.
pub(super) fn query(text: &[u8]) -> Vec<u8> {
    let mut out = String::with_capacity(text.len());
    for byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(*byte));
            }
            b' ' => out.push('+'),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out.into_bytes()
}
