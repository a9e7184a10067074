//! Single scalars as go.yaml.in/yaml/v3 reads and prints them, for documents with a tree of their own.

use std::borrow::Cow;

use super::YamlErrorKind;
use super::scalar::{self, Dialect, Plain, Scalar};
use super::write;

/// The value of a scalar.
#[derive(Clone, Debug, PartialEq)]
pub enum ScalarValue {
    /// A missing value, or one of the words for null.
    Null,
    /// `true` or `false`; `yes` and `on` are text.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// An integer that fits only the unsigned type.
    Uint(u64),
    /// Any other number; also infinity and not-a-number.
    Float(f64),
    /// A date or time, as `2001-01-02T03:04:05Z`.
    Time(String),
    /// Any other text.
    Text(String),
}

/// Reads a scalar from its text, its full tag, and its style.
///
/// # Errors
/// `TagMismatch` or `InvalidBase64` if the text does not have the type of its tag.
pub fn read(text: &str, tag: Option<&str>, is_plain: bool) -> Result<ScalarValue, YamlErrorKind> {
    if tag.is_none() && is_plain {
        return Ok(match scalar::resolve_plain(text, Dialect::Settings) {
            Plain::Null => ScalarValue::Null,
            Plain::Bool(flag) => ScalarValue::Bool(flag),
            Plain::Int(number) => ScalarValue::Int(number),
            Plain::Uint(number) => ScalarValue::Uint(number),
            Plain::Float(number) => ScalarValue::Float(number),
            Plain::Timestamp(time) => ScalarValue::Time(time.rfc3339()),
            Plain::Text => ScalarValue::Text(text.to_owned()),
        });
    }
    Ok(match scalar::resolve(Cow::Borrowed(text), tag, is_plain, Dialect::Resources)? {
        Scalar::Null | Scalar::Empty => ScalarValue::Null,
        Scalar::Bool(flag) => ScalarValue::Bool(flag),
        Scalar::Int(number) => ScalarValue::Int(number),
        Scalar::Uint(number) => ScalarValue::Uint(number),
        Scalar::Float(number) => ScalarValue::Float(number),
        Scalar::Text(time) if tag.is_some_and(|tag| tag.ends_with(":timestamp")) => ScalarValue::Time(time),
        Scalar::Text(text) => ScalarValue::Text(text),
        Scalar::Merge => ScalarValue::Text("<<".to_owned()),
    })
}

/// Appends a text in the style in which Go prints it, without wrapping its lines.
///
/// A block scalar (`|`) has its lines at `column`, and names `indent` if it starts with a blank. The comment follows the
/// text, or the header of the block scalar; it is appended as it is.
pub fn write_text(out: &mut String, text: &str, column: usize, indent: usize, comment: &str) {
    write::write_text_into(out, text, column, indent, comment);
}

/// Appends a float: the shortest digits that identify it, or `.inf`, `-.inf`, `.nan`.
pub fn write_float(out: &mut String, float: f64) {
    match float {
        f64::INFINITY => out.push_str(".inf"),
        f64::NEG_INFINITY => out.push_str("-.inf"),
        _ if float.is_nan() => out.push_str(".nan"),
        _ => scalar::push_float(out, float),
    }
}

#[cfg(test)]
mod tests {
    use super::{ScalarValue, read, write_float, write_text};

    #[test]
    fn a_text_has_the_style_of_version_3() {
        for (text, expected) in [
            ("plain", "plain"),
            ("yes", "\"yes\""),
            ("2001-01-01", "\"2001-01-01\""),
            ("a: b", "'a: b'"),
            ("tab\tbed", "\"tab\\tbed\""),
            ("a\tb\nc", "|-\n    a\tb\n    c"),
            (" a\nb\n", "|4\n     a\n    b\n"),
            ("\ta\nb", "\"\\ta\\nb\""),
            ("<<", "!!merge <<"),
        ] {
            let mut out = String::new();
            write_text(&mut out, text, 4, 4, "");
            assert_eq!(out, expected, "{text:?}");
        }
    }

    #[test]
    fn a_comment_follows_the_header_of_a_block() {
        let mut out = String::new();
        write_text(&mut out, "a\n", 2, 4, " # c");
        assert_eq!(out, "| # c\n  a\n");
    }

    #[test]
    fn a_plain_scalar_has_its_type() {
        for (text, expected) in [
            ("0x1f", ScalarValue::Int(31)),
            ("18446744073709551615", ScalarValue::Uint(u64::MAX)),
            ("1e3", ScalarValue::Float(1000.0)),
            ("-.inf", ScalarValue::Float(f64::NEG_INFINITY)),
            ("2001-1-2", ScalarValue::Time("2001-01-02T00:00:00Z".to_owned())),
            ("no", ScalarValue::Text("no".to_owned())),
            ("", ScalarValue::Null),
        ] {
            assert_eq!(read(text, None, true), Ok(expected), "{text}");
        }
        let mut out = String::new();
        write_float(&mut out, f64::NEG_INFINITY);
        assert_eq!(out, "-.inf");
    }
}
