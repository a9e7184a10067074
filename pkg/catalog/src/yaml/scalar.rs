//! Plain scalars: their types in YAML 1.1, as PyYAML resolves them.
//!
//! Source: PyYAML 6.0.3, the patterns of its resolver.

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
        _ if is_integer(text) => PlainKind::Int,
        _ if is_float(text) => PlainKind::Float,
        _ if is_date(text) => PlainKind::Date,
        _ => PlainKind::Text,
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

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

fn is_integer(text: &str) -> bool {
    let body = unsigned(text);
    let all = |digits: &str, fits: fn(&u8) -> bool| {
        !digits.is_empty() && digits.bytes().all(|byte| byte == b'_' || fits(&byte))
    };
    if let Some(digits) = body.strip_prefix("0b") {
        return all(digits, |byte| matches!(byte, b'0' | b'1'));
    }
    if let Some(digits) = body.strip_prefix("0x") {
        return all(digits, u8::is_ascii_hexdigit);
    }
    if let Some(digits) = body.strip_prefix('0') {
        return digits.is_empty() || all(digits, |byte| matches!(byte, b'0'..=b'7'));
    }
    if !body.starts_with(|first: char| first.is_ascii_digit()) {
        return false;
    }
    match body.split_once(':') {
        None => all(body, u8::is_ascii_digit),
        Some((first, rest)) => all(first, u8::is_ascii_digit) && rest.split(':').all(is_base_60_place),
    }
}

fn is_base_60_place(place: &str) -> bool {
    matches!(place.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9'])
}

fn is_float(text: &str) -> bool {
    let body = unsigned(text);
    if matches!(body, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let digits = |part: &str| part.bytes().all(|byte| byte == b'_' || byte.is_ascii_digit());
    let Some((whole, rest)) = body.split_once('.') else { return false };
    let (fraction, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let exponent_fits = exponent.is_none_or(|exponent| {
        exponent
            .strip_prefix(['+', '-'])
            .is_some_and(|power| !power.is_empty() && power.bytes().all(|byte| byte.is_ascii_digit()))
    });
    if !exponent_fits || !digits(fraction) {
        return false;
    }
    if whole.is_empty() {
        return body.len() == text.len() && fraction.starts_with(|first: char| first.is_ascii_digit());
    }
    if !whole.starts_with(|first: char| first.is_ascii_digit()) {
        return false;
    }
    match whole.split_once(':') {
        None => digits(whole),
        Some((first, places)) => {
            exponent.is_none() && digits(first) && places.split(':').all(is_base_60_place)
        }
    }
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let shape = |pattern: &[u8]| {
        bytes.len() == pattern.len()
            && bytes.iter().zip(pattern).all(|(byte, expected)| match expected {
                b'0' => byte.is_ascii_digit(),
                other => byte == other,
            })
    };
    shape(b"0000-00-00") || is_time(text)
}

/// True for a date with a time of day, such as `2001-1-2T3:04:05.6 +01:00`.
fn is_time(text: &str) -> bool {
    let mut rest = text;
    let mut number = |least: usize, most: usize, ends: &[char]| {
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        let after = rest[length..].chars().next();
        let fits = (least..=most).contains(&length)
            && if ends.is_empty() { true } else { after.is_some_and(|next| ends.contains(&next)) };
        rest = &rest[length..];
        if fits && !ends.is_empty() {
            rest = &rest[1..];
        }
        fits
    };
    if !(number(4, 4, &['-']) && number(1, 2, &['-']) && number(1, 2, &['T', 't', ' ', '\t'])) {
        return false;
    }
    rest = rest.trim_start_matches([' ', '\t']);
    let mut number = |least: usize, most: usize, end: Option<char>| {
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        if !(least..=most).contains(&length) {
            return false;
        }
        rest = &rest[length..];
        match end {
            None => true,
            Some(end) => rest.strip_prefix(end).is_some_and(|after| {
                rest = after;
                true
            }),
        }
    };
    if !(number(1, 2, Some(':')) && number(2, 2, Some(':')) && number(2, 2, None)) {
        return false;
    }
    if let Some(fraction) = rest.strip_prefix('.') {
        rest = fraction.trim_start_matches(|digit: char| digit.is_ascii_digit());
    }
    is_zone(rest.trim_start_matches([' ', '\t']), rest)
}

/// True for the end of a time: nothing, `Z`, or an offset. `untrimmed` still has the blanks before it.
fn is_zone(zone: &str, untrimmed: &str) -> bool {
    let Some(offset) = zone.strip_prefix(['+', '-']) else {
        return zone == "Z" || (zone.is_empty() && untrimmed.is_empty());
    };
    let (hours, minutes) = offset.split_once(':').map_or((offset, None), |(h, m)| (h, Some(m)));
    let numeric = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    matches!(hours.len(), 1 | 2)
        && numeric(hours)
        && minutes.is_none_or(|minutes| minutes.len() == 2 && numeric(minutes))
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
