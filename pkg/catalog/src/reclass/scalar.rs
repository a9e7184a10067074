//! Plain scalars of YAML 1.2: `yes`, `012` and dates are text, `0o12` is a number.
//!
//! Source: serde_yaml 0.9.34 (the order of attempts, leading zeros).

use serde_json::Number;

/// A resolved plain scalar.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Number(Number),
    /// An integer that exceeds 64 bits.
    HugeInteger,
    /// Infinity or not-a-number.
    NotFinite,
    Text,
}

/// Resolves the text of a plain scalar.
pub(super) fn resolve(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "true" | "True" | "TRUE" => return Scalar::Bool(true),
        "false" | "False" | "FALSE" => return Scalar::Bool(false),
        _ => {}
    }
    if let Some(integer) = integer(text) {
        return integer;
    }
    if has_leading_zero(text) { Scalar::Text } else { float(text) }
}

fn integer(text: &str) -> Option<Scalar> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        _ if has_leading_zero(digits) => return None,
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let Ok(size) = u64::from_str_radix(digits, radix) else {
        // Integers over 128 bits are floats.
        return i128::from_str_radix(digits, radix).is_ok().then_some(Scalar::HugeInteger);
    };
    if !is_negative {
        return Some(Scalar::Number(size.into()));
    }
    Some(match 0_i64.checked_sub_unsigned(size) {
        Some(number) => Scalar::Number(number.into()),
        None => Scalar::HugeInteger,
    })
}

/// True if a text consists of digits, starts with 0, and is longer than that.
fn has_leading_zero(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn float(text: &str) -> Scalar {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" => return Scalar::NotFinite,
        ".nan" | ".NaN" | ".NAN" if unsigned == text => return Scalar::NotFinite,
        _ => {}
    }
    // The standard parser also knows words for infinity and not-a-number.
    if !unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return Scalar::Text;
    }
    text.parse().ok().and_then(Number::from_f64).map_or(Scalar::Text, Scalar::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_have_the_types_of_yaml_1_2() {
        let integer = |number: i64| Scalar::Number(number.into());
        let float = |number: f64| Scalar::Number(Number::from_f64(number).unwrap());
        for (text, expected) in [
            ("~", Scalar::Null),
            ("", Scalar::Null),
            ("True", Scalar::Bool(true)),
            ("yes", Scalar::Text),
            ("on", Scalar::Text),
            ("012", Scalar::Text),
            ("-012", Scalar::Text),
            ("1_000", Scalar::Text),
            ("12:30", Scalar::Text),
            ("2024-01-01", Scalar::Text),
            ("0o12", integer(10)),
            ("0x1f", integer(31)),
            ("-0x1F", integer(-31)),
            ("0b101", integer(5)),
            ("0x", Scalar::Text),
            ("0x+1", Scalar::Text),
            ("+1", integer(1)),
            ("+-1", Scalar::Text),
            ("-0", integer(0)),
            ("0", integer(0)),
            ("18446744073709551615", Scalar::Number(u64::MAX.into())),
            ("18446744073709551616", Scalar::HugeInteger),
            ("-9223372036854775808", integer(i64::MIN)),
            ("-9223372036854775809", Scalar::HugeInteger),
            ("1e3", float(1000.0)),
            (".5", float(0.5)),
            ("1.", float(1.0)),
            ("1.0", float(1.0)),
            ("1e400", Scalar::Text),
            ("inf", Scalar::Text),
            ("nan", Scalar::Text),
            ("-.inf", Scalar::NotFinite),
            (".nan", Scalar::NotFinite),
            ("=", Scalar::Text),
        ] {
            assert_eq!(resolve(text), expected, "{text}");
        }
    }
}
