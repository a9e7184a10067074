//! Parse errors of a body in the words of Go's parsers, which clients show to users.

use manifest::yaml::YamlErrorKind;

/// Translates an error of serde_json into the message of Go's `encoding/json`.
pub(crate) fn of_json_error(error: &serde_json::Error, content: &[u8]) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let message = error.to_string();
    let place = if message.starts_with("expected `:`") {
        "after object key"
    } else if message.starts_with("expected `,` or `}`") {
        "after object key:value pair"
    } else if message.starts_with("expected `,` or `]`") {
        "after array element"
    } else if message.starts_with("key must be a string") {
        "looking for beginning of object key string"
    } else if message.starts_with("trailing characters") {
        "after top-level value"
    } else if message.starts_with("control character") {
        "in string literal"
    } else if message.starts_with("expected ident") {
        return in_literal(content, error.line(), error.column());
    } else if message.starts_with("recursion limit exceeded") {
        return "exceeded max depth".to_owned();
    } else {
        "looking for beginning of value"
    };
    invalid_character(byte_at(content, error.line(), error.column()), place)
}

fn invalid_character(byte: Option<u8>, place: &str) -> String {
    let shown = match byte {
        None => return "unexpected end of JSON input".to_owned(),
        Some(b'\'') => "\\'".to_owned(),
        Some(b'"') => "\"".to_owned(),
        Some(byte) => {
            let quoted = crate::go::quoted(char::from(byte).encode_utf8(&mut [0; 4]));
            quoted[1..quoted.len() - 1].to_owned()
        }
    };
    format!("invalid character '{shown}' {place}")
}

/// Returns the error for a word that starts like `true`, `false` or `null` but ends differently.
fn in_literal(content: &[u8], line: usize, column: usize) -> String {
    let line = content.split(|byte| *byte == b'\n').nth(line.saturating_sub(1)).unwrap_or_default();
    let read = &line[..column.saturating_sub(1).min(line.len())];
    let literal_length = read.iter().rev().take_while(|byte| byte.is_ascii_lowercase()).count();
    let word = ["true", "false", "null"]
        .into_iter()
        .find(|word| read.ends_with(&word.as_bytes()[..literal_length.min(word.len())]));
    let expected = word.and_then(|word| Some((word, char::from(*word.as_bytes().get(literal_length)?))));
    let place = expected.map_or_else(
        || "looking for beginning of value".to_owned(),
        |(word, next)| format!("in literal {word} (expecting '{next}')"),
    );
    invalid_character(line.get(read.len()).copied(), &place)
}

/// Returns the byte at a position of serde_json: lines from 1, columns in bytes from 1.
fn byte_at(content: &[u8], line: usize, column: usize) -> Option<u8> {
    let line = content.split(|byte| *byte == b'\n').nth(line.checked_sub(1)?)?;
    line.get(column.saturating_sub(1)).copied()
}

/// Translates a YAML error into the message of Go's YAML parser, if that message differs.
pub(super) fn of_yaml_problem(problem: &YamlErrorKind) -> String {
    match problem {
        YamlErrorKind::DuplicateKey(key) => format!("key {} already set in map", crate::go::quoted(key)),
        other => other.to_string(),
    }
}
