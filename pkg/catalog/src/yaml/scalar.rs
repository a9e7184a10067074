//! Plain scalars: their types in YAML 1.1, as PyYAML resolves them.
//!
//! Source: PyYAML 6.0.3, the patterns of its resolver.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Number, Value};

/// The type of a plain scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlainKind {
    Null,
    Bool(bool),
    Int,
    Float,
    Date,
    /// `<<`: a merge if used as a key.
    Merge,
    /// `=`, which is text.
    Default,
    Text,
}

/// Returns the type of a plain scalar.
pub(super) fn kind(text: &str) -> PlainKind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => PlainKind::Null,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => PlainKind::Bool(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => PlainKind::Bool(false),
        "<<" => PlainKind::Merge,
        "=" => PlainKind::Default,
        _ if !text.starts_with(['+', '-', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) => {
            PlainKind::Text
        }
        _ => match PATTERNS.iter().position(|pattern| pattern.is_match(text)) {
            Some(0) => PlainKind::Int,
            Some(1) => PlainKind::Float,
            Some(_) => PlainKind::Date,
            None => PlainKind::Text,
        },
    }
}

/// Returns the value of a plain scalar.
pub(super) fn value(text: &str) -> Value {
    match kind(text) {
        PlainKind::Null => Value::Null,
        PlainKind::Bool(flag) => Value::Bool(flag),
        PlainKind::Int => integer(text),
        PlainKind::Float => float(text),
        PlainKind::Date | PlainKind::Merge | PlainKind::Default | PlainKind::Text => Value::from(text),
    }
}

/// The patterns of integers, floats and dates.
static PATTERNS: LazyLock<[Regex; 3]> = LazyLock::new(|| {
    let patterns = [
        "[-+]? (0b[01_]+ | 0[0-7_]+ | 0 | 0x[0-9a-fA-F_]+ | [1-9][0-9_]* (:[0-5]?[0-9])*)",
        r"[-+]? [0-9][0-9_]* \.[0-9_]* ([eE][-+][0-9]+)?
        | \.[0-9][0-9_]* ([eE][-+][0-9]+)?
        | [-+]? [0-9][0-9_]* (:[0-5]?[0-9])+ \.[0-9_]*
        | [-+]? \.(inf|Inf|INF)
        | \.(nan|NaN|NAN)",
        r"[0-9]{4} -[0-9]{2} -[0-9]{2}
        | [0-9]{4} -[0-9]{1,2} -[0-9]{1,2} ([Tt] | [\ \t]+) [0-9]{1,2} :[0-9]{2} :[0-9]{2} (\.[0-9]*)?
          ([\ \t]* (Z | [-+][0-9]{1,2} (:[0-9]{2})?))?",
    ];
    patterns
        .map(|pattern| Regex::new(&format!("(?x)^({pattern})$")).expect("invariant: the pattern is valid"))
});

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

/// Returns the value of an integer; text if it does not fit 64 bits.
fn integer(text: &str) -> Value {
    let digits = text.replace('_', "");
    let negative = digits.starts_with('-');
    let body = unsigned(&digits);
    let size = if let Some(binary) = body.strip_prefix("0b") {
        u64::from_str_radix(binary, 2).ok()
    } else if let Some(hex) = body.strip_prefix("0x") {
        u64::from_str_radix(hex, 16).ok()
    } else if body.len() > 1 && body.starts_with('0') {
        u64::from_str_radix(&body[1..], 8).ok()
    } else {
        body.split(':')
            .try_fold(0_u64, |total, place| total.checked_mul(60)?.checked_add(place.parse().ok()?))
    };
    let number = match (size, negative) {
        (Some(size), false) => Some(Number::from(size)),
        (Some(size), true) if size == i64::MIN.unsigned_abs() => Some(Number::from(i64::MIN)),
        (Some(size), true) => i64::try_from(size).ok().map(|size| Number::from(-size)),
        (None, _) => None,
    };
    number.map_or_else(|| Value::from(text), Value::Number)
}

/// Returns the value of a float; text if JSON has no such number.
fn float(text: &str) -> Value {
    let digits = text.replace('_', "");
    let body = unsigned(&digits);
    let size = body
        .split(':')
        .try_fold(0.0, |total: f64, place| place.parse::<f64>().ok().map(|place| total * 60.0 + place));
    let sign = if digits.starts_with('-') { -1.0 } else { 1.0 };
    size.and_then(|size| Number::from_f64(sign * size)).map_or_else(|| Value::from(text), Value::Number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_and_numbers_of_yaml_1_1_have_types() {
        let cases = [
            ("yes", json!(true)),
            ("Off", json!(false)),
            ("y", json!("y")),
            ("~", json!(null)),
            ("0123", json!(83)),
            ("08", json!("08")),
            ("0o17", json!("0o17")),
            ("0x1F", json!(31)),
            ("0b101", json!(5)),
            ("1_000", json!(1000)),
            ("12:30", json!(750)),
            ("1e3", json!("1e3")),
            ("1.0", json!(1.0)),
            ("1.5e+3", json!(1500.0)),
            ("1.e3", json!("1.e3")),
            (".5", json!(0.5)),
            ("-.5", json!("-.5")),
            ("-1", json!(-1)),
            ("-", json!("-")),
            ("1.2.3", json!("1.2.3")),
            ("::1", json!("::1")),
            ("18446744073709551615", json!(u64::MAX)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("18446744073709551616", json!("18446744073709551616")),
        ];
        for (text, expected) in cases {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn dates_are_recognized_in_all_forms() {
        for text in ["2001-01-02", "2001-1-2 3:04:05", "2001-01-02T03:04:05.6Z", "2001-1-2t3:04:05 +1:30"] {
            assert_eq!(kind(text), PlainKind::Date, "{text}");
        }
        for text in ["2001-1-2", "2001-01-02T", "2001-01-02T03:04", "2001-01-02T03:04:05 ", "20010102"] {
            assert_ne!(kind(text), PlainKind::Date, "{text}");
        }
    }
}
