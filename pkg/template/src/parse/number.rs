//! Reads number literals in each form that they can have, as Go 1.26 does.

use super::tree::Number;
use super::unquote::unquote_character;

/// Reads a literal. The error is Go's message.
pub(super) fn number(text: &str) -> Result<Number, String> {
    if text.starts_with('\'') {
        return character(text);
    }
    if text.ends_with('i') {
        return complex(text);
    }
    let mut number = Number { text: text.into(), ..Number::default() };
    number.uint = parse_uint(text);
    number.int = parse_int(text);
    if number.int == Some(0) {
        number.uint = Some(0);
    }
    number.float = match (number.int, number.uint) {
        #[expect(clippy::cast_precision_loss, reason = "as Go converts")]
        (Some(int), _) => Some(int as f64),
        #[expect(clippy::cast_precision_loss, reason = "as Go converts")]
        (None, Some(uint)) => Some(uint as f64),
        (None, None) => parse_float(text),
    };
    let Some(float) = number.float else { return Err(format!("illegal number syntax: {}", quoted(text))) };
    if number.int.is_none() && number.uint.is_none() {
        if !text.contains(['.', 'e', 'E', 'p', 'P']) {
            return Err(format!("integer overflow: {}", quoted(text)));
        }
        (number.int, number.uint) = whole(float);
    }
    Ok(number)
}

fn quoted(text: &str) -> String {
    crate::format::quoted(text.as_bytes())
}

/// Returns the integers that equal a float.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "compared afterwards")]
#[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "exactly equal numbers are wanted")]
fn whole(float: f64) -> (Option<i64>, Option<u64>) {
    let int = (float as i64 as f64 == float).then_some(float as i64);
    let uint = (float as u64 as f64 == float).then_some(float as u64);
    (int, uint)
}

fn character(text: &str) -> Result<Number, String> {
    let inner = &text[1..];
    let Some((unit, rest)) = unquote_character(inner, b'\'') else { return Err("invalid syntax".to_owned()) };
    if rest != "'" {
        return Err(format!("malformed character constant: {text}"));
    }
    let code = unit.code();
    Ok(Number {
        int: Some(code.into()),
        uint: Some(code.into()),
        float: Some(code.into()),
        is_complex: false,
        text: text.into(),
    })
}

/// Reads `1+2i` and `3i`. Only numbers without an imaginary part have other forms.
fn complex(text: &str) -> Result<Number, String> {
    let illegal = || format!("illegal number syntax: {}", quoted(text));
    let body = text.strip_suffix('i').ok_or_else(illegal)?;
    let split = body.rfind(['+', '-']).filter(|at| *at > 0).unwrap_or(0);
    let real = if split == 0 { Some(0.0) } else { parse_float(&body[..split]) };
    let imaginary = parse_float(&body[split..]);
    let (Some(real), Some(imaginary)) = (real, imaginary) else { return Err(illegal()) };
    let mut number = Number { is_complex: true, text: text.into(), ..Number::default() };
    if imaginary == 0.0 {
        number.float = Some(real);
        (number.int, number.uint) = whole(real);
    }
    Ok(number)
}

/// Parses an unsigned integer with an optional base prefix and underscores, as `strconv.ParseUint` with base 0.
pub(crate) fn parse_uint(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0')) {
        return text.parse().ok();
    }
    let lower = text.to_ascii_lowercase();
    let (digits, radix, had_prefix) = if let Some(rest) = lower.strip_prefix("0x") {
        (rest, 16, true)
    } else if let Some(rest) = lower.strip_prefix("0b") {
        (rest, 2, true)
    } else if let Some(rest) = lower.strip_prefix("0o") {
        (rest, 8, true)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (&lower[1..], 8, true)
    } else {
        (lower.as_str(), 10, false)
    };
    let plain = without_underscores(digits, radix, had_prefix)?;
    if plain.is_empty() || !plain.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    u64::from_str_radix(&plain, radix).ok()
}

/// Parses a signed integer with an optional base prefix, as `strconv.ParseInt` with base 0.
pub(crate) fn parse_int(text: &str) -> Option<i64> {
    if let Some(rest) = text.strip_prefix('-') {
        let magnitude = parse_uint(rest)?;
        return 0_i64.checked_sub_unsigned(magnitude);
    }
    i64::try_from(parse_uint(text.strip_prefix('+').unwrap_or(text))?).ok()
}

/// Removes underscores, which must stand between two digits, or behind the base prefix.
fn without_underscores(text: &str, radix: u32, had_prefix: bool) -> Option<String> {
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(|byte| char::from(*byte).is_digit(radix));
    let is_valid = |at: usize| is_digit(at + 1) && if at == 0 { had_prefix } else { is_digit(at - 1) };
    text.match_indices('_').all(|(at, _)| is_valid(at)).then(|| text.replace('_', ""))
}

/// Parses a float as `strconv.ParseFloat`: decimal or hexadecimal, without `inf` and `nan` in literals.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    let lower = unsigned.to_ascii_lowercase();
    if matches!(lower.as_str(), "inf" | "infinity") {
        return Some(sign * f64::INFINITY);
    }
    if lower == "nan" {
        return Some(f64::NAN);
    }
    if let Some(hex) = lower.strip_prefix("0x") {
        return hexadecimal(&without_underscores(hex, 16, true)?).map(|value| sign * value);
    }
    let plain = without_underscores(&lower, 10, false)?;
    if !plain.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    plain.parse::<f64>().ok().filter(|value| value.is_finite()).map(|value| sign * value)
}

/// Parses `1.8p3` without its `0x`; the exponent is required.
fn hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once('p')?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = format!("{whole}{fraction}");
    if digits.is_empty() || digits.len() > 15 {
        return None;
    }
    let scale = exponent.checked_sub(4 * i32::try_from(fraction.len()).ok()?)?;
    #[expect(clippy::cast_precision_loss, reason = "15 digits are at most 60 bits, rounded as Go rounds")]
    let value = u64::from_str_radix(&digits, 16).ok()? as f64;
    Some(value * 2_f64.powi(scale))
}
