//! The content of a file: fields and elements in their order, with comments between them.

use manifest::yaml::scalars;
use zeroize::Zeroizing;

/// The maximum nesting of lists and mappings. Reading, printing and dropping a tree is recursive.
pub(crate) const MAX_DEPTH: usize = 500;

/// A text that may be secret, not always UTF-8. Cleared from memory when it is dropped.
pub(crate) type Secret = Zeroizing<Vec<u8>>;

/// The entries of one mapping.
pub(crate) type Branch = Vec<Entry>;

/// A field or a comment of a mapping.
#[derive(Clone)]
pub(crate) enum Entry {
    Comment(Comment),
    Field { key: String, value: Value },
}

/// A comment without its `#`.
#[derive(Clone)]
pub(crate) struct Comment {
    pub(crate) text: Secret,
    /// True if the comment follows a value on the same line. It comes before the field or element of this value.
    pub(crate) is_inline: bool,
}

/// A value.
#[derive(Clone)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Secret),
    /// A time, as `2001-01-02T03:04:05Z`.
    Time(String),
    /// A comment in a list.
    Comment(Comment),
    List(Vec<Value>),
    Branch(Branch),
}

impl Comment {
    pub(crate) fn new(text: &[u8]) -> Self {
        Self { text: Zeroizing::new(text.to_vec()), is_inline: false }
    }
}

impl Entry {
    pub(crate) fn field(key: impl Into<String>, value: Value) -> Self {
        Self::Field { key: key.into(), value }
    }

    pub(crate) fn as_field(&self) -> Option<(&str, &Value)> {
        match self {
            Self::Field { key, value } => Some((key, value)),
            Self::Comment(_) => None,
        }
    }
}

impl Value {
    pub(crate) fn text(text: impl AsRef<[u8]>) -> Self {
        Self::Text(Zeroizing::new(text.as_ref().to_vec()))
    }

    /// Returns the text if it is UTF-8.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => str::from_utf8(text).ok(),
            _ => None,
        }
    }

    pub(crate) fn as_branch(&self) -> Option<&[Entry]> {
        match self {
            Self::Branch(branch) => Some(branch),
            _ => None,
        }
    }
}

/// Returns the value of a field.
pub(crate) fn find<'a>(branch: &'a [Entry], name: &str) -> Option<&'a Value> {
    branch.iter().filter_map(Entry::as_field).find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// Returns the words for a value in a flat file, as in Go.
/// Source: sops v3.13 stores/stores.go (`ValToString`).
pub(crate) fn flat_text(value: &Value) -> Option<Secret> {
    let text = match value {
        Value::Text(text) => return Some(text.clone()),
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => flat_float(*number),
        // The fraction of a second is lost.
        Value::Time(time) => without_fraction(time),
        Value::Comment(comment) => return Some(comment.text.clone()),
        Value::List(_) | Value::Branch(_) => return None,
    };
    Some(Zeroizing::new(text.into_bytes()))
}

fn flat_float(number: f64) -> String {
    match number {
        f64::INFINITY => return "+Inf".to_owned(),
        f64::NEG_INFINITY => return "-Inf".to_owned(),
        _ if number.is_nan() => return "NaN".to_owned(),
        _ => {}
    }
    let mut text = String::new();
    scalars::write_float(&mut text, number);
    if text.contains(['.', 'e']) { text.replace('e', "E") } else { format!("{number:.1}") }
}

/// True for times such as `2026-01-02T03:04:05Z`, with an optional fraction, and with an offset instead of `Z`.
pub(crate) fn is_time(text: &str) -> bool {
    let has_form = text.as_bytes().get(10) == Some(&b'T') && text.len() >= 20;
    has_form && matches!(scalars::read(text, None, true), Ok(scalars::ScalarValue::Time(_)))
}

/// Removes the fraction of the second from a time.
pub(crate) fn without_fraction(time: &str) -> String {
    match time.split_once('.') {
        Some((whole, rest)) => {
            whole.to_owned() + rest.trim_start_matches(|digit: char| digit.is_ascii_digit())
        }
        None => time.to_owned(),
    }
}
