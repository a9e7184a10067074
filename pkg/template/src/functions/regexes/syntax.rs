//! Go's syntax of patterns and replacements.

use manifest::expression::is_count;
use regex::bytes::{Captures, Regex};

/// Translates a pattern for the crate `regex`: classes such as `\d` are ASCII in Go, and `\Q…\E` quotes.
///
/// # Errors
/// Go's message for constructs that only the crate knows.
pub fn translate(pattern: &str) -> Result<String, String> {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(character) = rest.chars().next() {
        if character == '\\' {
            rest = escape(&mut out, rest, in_class)?;
            continue;
        }
        if in_class {
            if character == ']' {
                in_class = false;
            } else if character == '[' && !rest.starts_with("[:") {
                // A bracket inside a class is plain in Go and nests in the crate.
                out.push('\\');
            } else if matches!(character, '&' | '~') || (character == '-' && rest.starts_with("--")) {
                // Doubled, these are operators of the crate.
                out.push('\\');
            } else if rest.starts_with("[:")
                && let Some(end) = rest.find(":]")
            {
                out.push_str(&rest[..end + 2]);
                rest = &rest[end + 2..];
                continue;
            }
        } else if character == '[' {
            in_class = true;
            out.push('[');
            rest = &rest[1..];
            if let Some(after) = rest.strip_prefix('^') {
                out.push('^');
                rest = after;
            }
            if let Some(after) = rest.strip_prefix(']') {
                out.push_str("\\]");
                rest = after;
            }
            continue;
        } else if rest.starts_with("(?") {
            group(rest, pattern)?;
        } else if character == '{' && !is_count(&rest[1..]) {
            // A brace without a count is plain in Go.
            out.push('\\');
        }
        out.push(character);
        rest = &rest[character.len_utf8()..];
    }
    Ok(out)
}

/// Refuses groups that Go does not have.
fn group(rest: &str, _pattern: &str) -> Result<(), String> {
    let unsupported = ["(?=", "(?!", "(?<=", "(?<!", "(?x", "(?R", "(?u"];
    match unsupported.iter().find(|group| rest.starts_with(**group)) {
        Some(group) => Err(format!("error parsing regexp: invalid or unsupported Perl syntax: `{group}`")),
        None => Ok(()),
    }
}

/// Translates one escape and returns the text behind it.
fn escape<'p>(out: &mut String, rest: &'p str, in_class: bool) -> Result<&'p str, String> {
    let Some(escaped) = rest[1..].chars().next() else {
        return Err("error parsing regexp: trailing backslash at end of expression: ``".to_owned());
    };
    let after = &rest[1 + escaped.len_utf8()..];
    let class = |inside: &str, alone: &str| if in_class { inside.to_owned() } else { alone.to_owned() };
    match escaped {
        'd' => out.push_str(&class("0-9", "[0-9]")),
        'w' => out.push_str(&class("0-9A-Za-z_", "[0-9A-Za-z_]")),
        's' => out.push_str(&class("\\t\\n\\x0C\\r ", "[\\t\\n\\x0C\\r ]")),
        'D' => out.push_str("[^0-9]"),
        'W' => out.push_str("[^0-9A-Za-z_]"),
        'S' => out.push_str("[^\\t\\n\\x0C\\r ]"),
        'b' if !in_class => out.push_str("(?-u:\\b)"),
        'B' if !in_class => out.push_str("(?-u:\\B)"),
        'Q' => {
            let (quoted, after) = after.split_once("\\E").unwrap_or((after, ""));
            out.push_str(&regex::escape(quoted));
            return Ok(after);
        }
        '0'..='7' => {
            let length = after.find(|digit: char| !digit.is_digit(8)).unwrap_or(after.len()).min(2);
            if escaped != '0' && length == 0 {
                return Err(format!("error parsing regexp: invalid escape sequence: `\\{escaped}`"));
            }
            let code = u32::from_str_radix(&rest[1..=1 + length], 8).unwrap_or_default();
            out.push_str(&format!("\\x{{{code:x}}}"));
            return Ok(&after[length..]);
        }
        'p' | 'P' | 'x' if after.starts_with('{') => {
            // A name or a code, not a count.
            let length = after.find('}').map_or(after.len(), |end| end + 1);
            out.push_str(&rest[..2 + length]);
            return Ok(&after[length..]);
        }
        '8' | '9' | 'G' | 'Z' | 'X' | 'K' | 'R' | 'h' | 'H' | 'u' | 'U' | '<' | '>' | 'C' => {
            return Err(format!("error parsing regexp: invalid escape sequence: `\\{escaped}`"));
        }
        _ => {
            out.push('\\');
            out.push(escaped);
        }
    }
    // A class cannot start a range, so the character between is plain.
    if in_class && "dwsDWS".contains(escaped) && after.starts_with('-') && !after.starts_with("-]") {
        out.push_str("\\-");
        return Ok(&after[1..]);
    }
    Ok(after)
}

/// Returns Go's words for the most common mistakes.
pub(super) fn message(pattern: &str, error: &regex::Error) -> String {
    let text = error.to_string();
    let reason = if matches!(error, regex::Error::CompiledTooBig(_)) {
        "expression too large".to_owned()
    } else if text.contains("unclosed group") {
        format!("missing closing ): `{pattern}`")
    } else if text.contains("unopened group") {
        format!("unexpected ): `{pattern}`")
    } else if text.contains("unclosed character class") {
        format!("missing closing ]: `{}`", pattern.rfind('[').map_or("", |at| &pattern[at..]))
    } else if text.contains("repetition operator missing expression") {
        let operator = pattern.find(['*', '+', '?']).map_or("", |at| &pattern[at..=at]);
        format!("missing argument to repetition operator: `{operator}`")
    } else {
        let last = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
        format!("{last}: `{pattern}`")
    };
    format!("error parsing regexp: {reason}")
}

/// Escapes the characters with a meaning.
pub(super) fn quoted(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        if b"\\.+*?()|[]{}^$".contains(byte) {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out
}

/// Appends a replacement, with `$1`, `${1}` and `$name` as what they matched.
pub(super) fn expand(out: &mut Vec<u8>, replacement: &[u8], captures: &Captures<'_>, regex: &Regex) {
    let mut rest = replacement;
    while let Some(at) = memchr::memchr(b'$', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        if rest.get(1) == Some(&b'$') {
            out.push(b'$');
            rest = &rest[2..];
            continue;
        }
        let Some((name, after)) = reference(rest) else {
            out.push(b'$');
            rest = &rest[1..];
            continue;
        };
        let number = name.parse::<usize>().ok().filter(|_| !(name.len() > 1 && name.starts_with('0')));
        let found = match number {
            Some(number) => captures.get(number),
            None if regex.capture_names().flatten().any(|known| known == name) => captures.name(name),
            None => None,
        };
        out.extend_from_slice(found.map_or(&[][..], |found| found.as_bytes()));
        rest = after;
    }
    out.extend_from_slice(rest);
}

/// Reads the name behind a `$`.
fn reference(text: &[u8]) -> Option<(&str, &[u8])> {
    let (is_braced, body) = match text.get(1)? {
        b'{' => (true, &text[2..]),
        _ => (false, &text[1..]),
    };
    let valid = std::str::from_utf8(body)
        .unwrap_or_else(|error| std::str::from_utf8(&body[..error.valid_up_to()]).unwrap_or_default());
    let length =
        valid.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(valid.len());
    let name = &valid[..length];
    if name.is_empty() || (is_braced && body.get(length) != Some(&b'}')) {
        return None;
    }
    Some((name, &body[length + usize::from(is_braced)..]))
}
