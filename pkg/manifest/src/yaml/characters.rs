//! Encodings of text, and the characters that YAML forbids everywhere.

use std::borrow::Cow;

use super::error::Fault;
use super::{YamlError, YamlErrorKind};

/// The number of bytes checked together.
const BLOCK: usize = 64;

/// Returns the text of a YAML file in UTF-8, or in UTF-16 with a byte order mark, as PowerShell writes files.
///
/// Source: go.yaml.in/yaml/v2 2.4.3 readerc.go.
///
/// # Errors
/// The position of the first invalid character.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, YamlError> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        _ => {
            let text = str::from_utf8(bytes).map_err(|error| YamlError::invalid_utf8(bytes, error));
            return text.map(Cow::Borrowed);
        }
    };
    let (units, rest) = bytes.as_chunks::<2>();
    let mut is_valid = rest.is_empty();
    let characters = char::decode_utf16(units[1..].iter().copied().map(unit));
    let characters = characters.map_while(|character| character.inspect_err(|_| is_valid = false).ok());
    let text: String = characters.collect();
    if is_valid {
        return Ok(Cow::Owned(text));
    }
    let fault = YamlErrorKind::Syntax("found invalid UTF-16".into()).at_offset(u32::MAX);
    Err(fault.locate(&text))
}

/// Finds the first control character or noncharacter.
///
/// Source: YAML 1.1, `c-printable`; go.yaml.in/yaml/v2 2.4.3 readerc.go, which also rejects DEL.
pub(super) fn check(text: &str) -> Result<(), Fault> {
    let bytes = text.as_bytes();
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let blocks = blocks.iter().map(|block| (block.as_slice(), is_suspicious(block)));
    for (index, (block, is_suspicious)) in blocks.chain([(rest, true)]).enumerate() {
        if !is_suspicious {
            continue;
        }
        let start = index * BLOCK;
        for offset in start..start + block.len() {
            if let Some(code) = forbidden(&bytes[offset..]) {
                let problem = YamlErrorKind::ForbiddenCharacter { code, offset };
                return Err(problem.at_offset(u32::try_from(offset).unwrap_or(u32::MAX)));
            }
        }
    }
    Ok(())
}

/// True if a text has no character that Go rejects in the JSON text of a value. JSON escapes the characters below 0x20.
pub(super) fn is_printable(text: &str) -> bool {
    let is_rejected =
        |character| matches!(character, '\u{7F}'..='\u{84}' | '\u{86}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}');
    !text.chars().any(is_rejected)
}

/// True if a forbidden character may start in a block.
#[expect(clippy::needless_bitwise_bool, reason = "the compiler vectorizes a loop without branches")]
fn is_suspicious(block: &[u8; BLOCK]) -> bool {
    block.iter().fold(false, |any, &byte| {
        let is_control = (byte < b' ') & (byte != b'\t') & (byte != b'\n') & (byte != b'\r');
        any | is_control | (byte == 0x7F) | (byte == 0xC2) | (byte == 0xEF)
    })
}

/// Returns the code of the character at the start, if it is forbidden.
fn forbidden(bytes: &[u8]) -> Option<u32> {
    match bytes {
        [byte @ (..0x20 | 0x7F), ..] if !matches!(byte, b'\t' | b'\n' | b'\r') => Some(u32::from(*byte)),
        [0xC2, byte @ 0x80..=0x9F, ..] if *byte != 0x85 => Some(u32::from(*byte)),
        [0xEF, 0xBF, byte @ (0xBE | 0xBF), ..] => Some(0xFFC0 + u32::from(byte - 0x80)),
        _ => None,
    }
}
