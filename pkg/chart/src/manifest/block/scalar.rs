//! Keys and scalars in one line, and the characters of simple YAML.

use memchr::{memchr, memchr2, memchr2_iter};

/// The longest key.
const MAX_KEY: usize = 256;

/// The number of bytes checked together.
const CHUNK: usize = 64;

/// Plain scalars that are no strings.
const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];

/// True if a document has only characters that are neither blanks nor breaks to a reader, besides spaces and `\n`.
pub(super) fn has_simple_characters(document: &str) -> bool {
    let is_ascii = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n');
    // The compiler can vectorize the inner loop, because it has no early exit.
    let mut chunks = document.as_bytes().chunks(CHUNK);
    if chunks.all(|chunk| chunk.iter().fold(true, |all, byte| all & is_ascii(byte))) {
        return true;
    }
    document.chars().all(|character| match character {
        ' '..='~' | '\n' => true,
        '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}' => false,
        _ => character >= '\u{A0}',
    })
}

/// Removes the spaces at the start.
pub(super) fn trim_start(text: &str) -> &str {
    &text[text.bytes().take_while(|byte| *byte == b' ').count()..]
}

/// Removes the spaces at the end.
pub(super) fn trim_end(text: &str) -> &str {
    &text[..text.len() - text.bytes().rev().take_while(|byte| *byte == b' ').count()]
}

/// True for a byte of keys and words that need no quotes.
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-')
}

/// Splits an entry into its key and the text of its value.
pub(super) fn split_key(content: &str) -> Option<(&str, &str)> {
    let (key, rest) = match content.as_bytes().first()? {
        quote @ (b'"' | b'\'') => {
            let length = memchr(*quote, &content.as_bytes()[1..])?;
            let key = &content[1..=length];
            key.bytes().all(is_name_byte).then_some((key, &content[length + 2..]))?
        }
        first if first.is_ascii_alphabetic() => {
            let length = content.bytes().take_while(|byte| is_name_byte(*byte)).count();
            let (key, rest) = content.split_at(length);
            (!key.eq_ignore_ascii_case("null")).then_some((key, rest))?
        }
        _ => return None,
    };
    let value = rest.strip_prefix(':').filter(|_| (1..=MAX_KEY).contains(&key.len()))?;
    if value.is_empty() {
        return Some((key, value));
    }
    value.strip_prefix(' ').map(|value| (key, trim_start(value)))
}

/// Removes a comment behind a text without quotes. Returns the text, and true if it had a comment.
pub(super) fn without_comment(content: &str) -> (&str, bool) {
    let comments = memchr::memchr_iter(b'#', content.as_bytes());
    let mut starts = comments.filter(|at| content[..*at].ends_with(' '));
    match starts.next().map(|at| &content[..at]) {
        Some(text) if !text.contains(['"', '\'']) => (trim_end(text), true),
        _ => (content, false),
    }
}

/// Returns the content of a scalar in quotes without escapes.
fn quoted(value: &str) -> Option<&str> {
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let inner = value[1..].strip_suffix(quote)?;
    (!inner.contains([quote, '\\'])).then_some(inner)
}

/// True if a text in quotes ends with this line, given without the opening quote. `None` if something follows, or for a
/// rare escape.
pub(super) fn ends_quoted(line: &str, quote: u8) -> Option<bool> {
    let mut rest = line.as_bytes();
    loop {
        let found = if quote == b'"' { memchr2(quote, b'\\', rest) } else { memchr(quote, rest) };
        let Some(at) = found else { return Some(false) };
        match (rest[at], rest.get(at + 1)) {
            (b'\\', None) => return Some(false),
            (b'\\', Some(b'n' | b't' | b'"' | b'\\' | b' ')) | (b'\'', Some(b'\'')) => {
                rest = &rest[at + 2..];
            }
            (b'\\', _) => return None,
            _ => return rest[at + 1..].iter().all(|byte| *byte == b' ').then_some(true),
        }
    }
}

/// Returns the content of a scalar that is certainly a string and ends with its line.
pub(super) fn text_of(value: &str) -> Option<&str> {
    if let Some(text) = quoted(value) {
        return Some(text);
    }
    let is_text = value.starts_with(|first: char| first.is_ascii_alphabetic())
        && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(value))
        && is_plain_line(value);
    is_text.then_some(value)
}

/// True for `{}` and for a list of words and of texts without escapes and commas in one line.
pub(super) fn is_flow(value: &str) -> bool {
    if matches!(value, "{}" | "[]") {
        return true;
    }
    let is_item =
        |item: &str| quoted(item).is_some() || is_plain_start(item) && item.bytes().all(is_name_byte);
    let items = value.strip_prefix('[').and_then(|items| items.strip_suffix(']'));
    items.is_some_and(|items| items.split(',').all(|item| is_item(item.trim_matches(' '))))
}

/// True for the start of a plain scalar that is no number beyond the range of Go.
pub(super) fn is_plain_start(value: &str) -> bool {
    let is_plain = match value.as_bytes() {
        [b'-' | b':', second, ..] => *second != b' ',
        [first, ..] => {
            first.is_ascii_alphanumeric()
                || !first.is_ascii()
                || matches!(
                    first,
                    b'/' | b'(' | b')' | b'$' | b'^' | b'=' | b'<' | b'\\' | b'+' | b'.' | b'_' | b';'
                )
        }
        [] => false,
    };
    let is_number =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'e' | b'E' | b'+' | b'-' | b'.' | b'_');
    let is_unsure = value.len() > 15 || value.contains(['e', 'E']);
    let is_unlimited = || {
        let unsigned = value.trim_start_matches(['+', '-']);
        [".inf", ".nan", "<<"].iter().any(|word| word.eq_ignore_ascii_case(unsigned))
    };
    is_plain
        && !is_unlimited()
        && !(is_unsure && value.bytes().all(is_number) && value.bytes().any(|byte| byte.is_ascii_digit()))
}

/// True for a line of a plain scalar without a key and a comment.
pub(super) fn is_plain_line(line: &str) -> bool {
    let bytes = line.as_bytes();
    let is_mark = |at: usize| match bytes[at] {
        b':' => matches!(bytes.get(at + 1), None | Some(b' ')),
        _ => at == 0 || bytes[at - 1] == b' ',
    };
    !memchr2_iter(b':', b'#', bytes).any(is_mark)
}
