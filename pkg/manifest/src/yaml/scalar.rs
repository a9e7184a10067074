//! Scalars: YAML 1.1 types as resolved by Go's reader, and numbers as printed by Go.
//!
//! Source: go.yaml.in/yaml/v2 2.4.3 and v3 3.0.4 resolve.go (the words, the order of attempts), strconv.FormatFloat.

use std::borrow::Cow;
use std::fmt::Write as _;

use base64::Engine as _;

use super::error::YamlErrorKind;
use super::timestamp::Timestamp;
use crate::Value;
use crate::go_formats::BASE64;

/// The prefix of the tags that YAML itself defines, written `!!` in a document.
const CORE_TAGS: &str = "tag:yaml.org,2002:";

/// The Go reader whose rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Kubernetes objects, read by sigs.k8s.io/yaml: `yes` and `on` are booleans, a date stays text.
    Objects,
    /// Settings, read by go.yaml.in/yaml/v3: `yes` and `on` are text, a date becomes the text of its time.
    Settings,
    /// Resources of kustomize, read by kyaml: like settings, but a date becomes `2020-01-01T00:00:00Z`.
    Resources,
}

impl Dialect {
    /// True if words and merges follow go.yaml.in/yaml/v3 instead of v2.
    pub(super) fn is_v3(self) -> bool {
        self != Self::Objects
    }
}

/// A resolved scalar.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    /// A missing value, which is null too.
    Empty,
    Bool(bool),
    Int(i64),
    /// An integer that fits only the unsigned type.
    Uint(u64),
    Float(f64),
    Text(String),
    /// `<<`: a merge if used as a key, otherwise plain text.
    Merge,
}

/// A resolved plain scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Plain {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Timestamp(Timestamp),
    Text,
}

/// Resolves a scalar from its text, its full tag, and its style.
pub(super) fn resolve(
    text: Cow<'_, str>,
    tag: Option<&str>,
    plain: bool,
    dialect: Dialect,
) -> Result<Scalar, YamlErrorKind> {
    match tag {
        None if plain && text == "<<" => Ok(Scalar::Merge),
        None if plain => Ok(into_scalar(resolve_plain(&text, dialect), text, dialect)),
        None => Ok(Scalar::Text(text.into_owned())),
        Some(tag) => resolve_tagged(text, tag, dialect),
    }
}

/// True if a text, written plain, is not read as this text.
pub(super) fn changes_when_plain(text: &str) -> bool {
    resolve_plain(text, Dialect::Objects) != Plain::Text || is_base_60(text)
}

fn resolve_tagged(text: Cow<'_, str>, tag: &str, dialect: Dialect) -> Result<Scalar, YamlErrorKind> {
    let Some(core) = tag.strip_prefix(CORE_TAGS) else { return Ok(Scalar::Text(text.into_owned())) };
    let mismatch = || YamlErrorKind::TagMismatch(format!("!!{core}"));
    match core {
        "binary" => decode_binary(&text).map(Scalar::Text),
        "merge" if text == "<<" => Ok(Scalar::Merge),
        "null" | "bool" | "int" | "float" | "timestamp" => {
            let found = resolve_plain(&text, dialect);
            match (core, found) {
                ("float", Plain::Int(number)) => Ok(Scalar::Float(to_float(number))),
                ("null", Plain::Null)
                | ("bool", Plain::Bool(_))
                | ("int", Plain::Int(_) | Plain::Uint(_))
                | ("float", Plain::Float(_))
                | ("timestamp", Plain::Timestamp(_)) => Ok(into_scalar(found, text, dialect)),
                _ => Err(mismatch()),
            }
        }
        _ => Ok(Scalar::Text(text.into_owned())),
    }
}

fn into_scalar(plain: Plain, text: Cow<'_, str>, dialect: Dialect) -> Scalar {
    match plain {
        Plain::Float(number) if dialect == Dialect::Settings && !number.is_finite() => {
            Scalar::Text(infinity_or_nan(number).to_owned())
        }
        Plain::Timestamp(time) if dialect == Dialect::Settings => Scalar::Text(time.to_string()),
        Plain::Timestamp(time) if dialect == Dialect::Resources => Scalar::Text(time.rfc3339()),
        Plain::Null => Scalar::Null,
        Plain::Bool(flag) => Scalar::Bool(flag),
        Plain::Int(number) => Scalar::Int(number),
        Plain::Uint(number) => Scalar::Uint(number),
        Plain::Float(number) => Scalar::Float(number),
        Plain::Timestamp(_) | Plain::Text => Scalar::Text(text.into_owned()),
    }
}

/// Returns the text of a number that JSON cannot represent, as printed by Go.
fn infinity_or_nan(number: f64) -> &'static str {
    match number {
        f64::INFINITY => "+Inf",
        f64::NEG_INFINITY => "-Inf",
        _ => "NaN",
    }
}

pub(super) fn resolve_plain(text: &str, dialect: Dialect) -> Plain {
    let bytes = text.as_bytes();
    match bytes.first() {
        None => Plain::Null,
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => {
            resolve_word(text, dialect)
        }
        Some(b'.') => match text {
            ".inf" | ".Inf" | ".INF" => Plain::Float(f64::INFINITY),
            ".nan" | ".NaN" | ".NAN" => Plain::Float(f64::NAN),
            _ => resolve_fraction(text),
        },
        Some(b'+' | b'-' | b'0'..=b'9') => resolve_number(text),
        _ => Plain::Text,
    }
}

/// Resolves a number that starts with a point. Only here, underscores must be between digits.
fn resolve_fraction(text: &str) -> Plain {
    let parts = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_digit()) && part.ends_with(|c: char| c.is_ascii_digit())
    };
    let number = if !text.contains('_') {
        parse_float(text)
    } else if text[1..].split('_').all(parts) {
        parse_float(&text.replace('_', ""))
    } else {
        None
    };
    number.map_or(Plain::Text, Plain::Float)
}

/// True if a plain scalar is one of the words for null. An empty scalar is null too, but no word.
pub(super) fn is_null(text: &str) -> bool {
    matches!(text, "~" | "null" | "Null" | "NULL")
}

fn resolve_word(text: &str, dialect: Dialect) -> Plain {
    match text {
        "true" | "True" | "TRUE" => Plain::Bool(true),
        "false" | "False" | "FALSE" => Plain::Bool(false),
        _ if is_null(text) => Plain::Null,
        _ if dialect.is_v3() => Plain::Text,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Plain::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Plain::Bool(false),
        _ => Plain::Text,
    }
}

fn resolve_number(text: &str) -> Plain {
    match text {
        "+.inf" | "+.Inf" | "+.INF" => return Plain::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Plain::Float(f64::NEG_INFINITY),
        _ => {}
    }
    if let Some(time) = Timestamp::parse(text) {
        return Plain::Timestamp(time);
    }
    let bare;
    let digits = if text.contains('_') {
        bare = text.replace('_', "");
        bare.as_str()
    } else {
        text
    };
    parse_integer(digits).or_else(|| parse_float(digits).map(Plain::Float)).unwrap_or(Plain::Text)
}

/// Parses an integer in base 2, 8, 10 or 16, according to its prefix; a leading zero means base 8.
fn parse_integer(text: &str) -> Option<Plain> {
    let (negative, signed) = match text.as_bytes().first()? {
        b'-' => (true, true),
        b'+' => (false, true),
        _ => (false, false),
    };
    let unsigned = if signed { &text[1..] } else { text };
    let (digits, radix) = match unsigned.as_bytes() {
        [] => return None,
        [b'0', b'b' | b'B', _, ..] => (&unsigned[2..], 2),
        [b'0', b'o' | b'O', _, ..] => (&unsigned[2..], 8),
        [b'0', b'x' | b'X', _, ..] => (&unsigned[2..], 16),
        [b'0'] => return Some(Plain::Int(0)),
        [b'0', ..] => (&unsigned[1..], 8),
        _ => (unsigned, 10),
    };
    // The standard parser accepts a second sign, which YAML does not.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let size = u64::from_str_radix(digits, radix).ok()?;
    match i64::try_from(size) {
        Ok(number) => Some(Plain::Int(if negative { -number } else { number })),
        Err(_) if negative => (size == i64::MIN.unsigned_abs()).then_some(Plain::Int(i64::MIN)),
        Err(_) => (!signed).then_some(Plain::Uint(size)),
    }
}

/// Parses `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`. A number out of range is text.
fn parse_float(text: &str) -> Option<f64> {
    let bytes = text.strip_prefix(['+', '-']).unwrap_or(text).as_bytes();
    let whole = leading_digits(bytes);
    let mut rest = &bytes[whole..];
    if let [b'.', after @ ..] = rest {
        let fraction = leading_digits(after);
        if whole + fraction == 0 {
            return None;
        }
        rest = &after[fraction..];
    } else if whole == 0 {
        return None;
    }
    if let [b'e' | b'E', after @ ..] = rest {
        let power = after.strip_prefix(b"+").or_else(|| after.strip_prefix(b"-")).unwrap_or(after);
        if power.is_empty() || leading_digits(power) != power.len() {
            return None;
        }
    } else if !rest.is_empty() {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

pub(super) fn leading_digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// True if other readers may read a text as a base 60 number of YAML 1.1.
fn is_base_60(text: &str) -> bool {
    if !text.contains(':') {
        return false;
    }
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let body = body.rsplit_once('.').map_or(body, |(places, fraction)| {
        if fraction.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_') { places } else { body }
    });
    let mut places = body.split(':').map(str::as_bytes);
    let first_fits = places.next().is_some_and(|first| {
        first.first().is_some_and(u8::is_ascii_digit)
            && first.iter().all(|byte| byte.is_ascii_digit() || *byte == b'_')
    });
    first_fits && places.all(|place| matches!(place, [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']))
}

/// Decodes base64. Each byte that is no valid UTF-8 becomes U+FFFD, as in Go's JSON encoder.
fn decode_binary(text: &str) -> Result<String, YamlErrorKind> {
    let packed: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    let bytes = BASE64.decode(packed).map_err(|_| YamlErrorKind::InvalidBase64)?;
    let mut out = String::with_capacity(bytes.len());
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        match str::from_utf8(rest) {
            Ok(valid) => {
                out.push_str(valid);
                break;
            }
            Err(error) => {
                let (valid, bad) = rest.split_at(error.valid_up_to());
                out.push_str(&String::from_utf8_lossy(valid));
                out.push(char::REPLACEMENT_CHARACTER);
                rest = &bad[1..];
            }
        }
    }
    Ok(out)
}

/// Converts a finite float to a JSON number: an integer if it is whole and fits 64 bits.
///
/// Source: Go converts floats to JSON text, where a whole number has no decimal point. Above 2^53, the integer has the
/// shortest digits that identify the float, as in that text.
pub(super) fn float_value(float: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if float.fract() != 0.0 || float.abs() >= 1e20 {
        return Value::from(float);
    }
    if float.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
        return Value::from(float as i64);
    }
    let digits = format!("{float}");
    digits
        .parse::<i64>()
        .map(Value::from)
        .or_else(|_| digits.parse::<u64>().map(Value::from))
        .unwrap_or_else(|_| Value::from(float))
}

/// Returns the text of a float key: the shortest digits that identify it in 32 bits.
/// Source: sigs.k8s.io/yaml 1.6.0 yaml.go (convertToJSONableObject).
pub(super) fn float_key(float: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "the peer prints with 32 bits")]
    let narrow = float as f32;
    if narrow.is_nan() {
        return ".nan".to_owned();
    }
    if narrow.is_infinite() {
        return if narrow > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let mut out = String::new();
    push_shortest(&mut out, &format!("{narrow:e}"));
    out
}

/// Appends the shortest digits that identify a float, with an exponent if it is below -4 or above 5.
pub(super) fn push_float(out: &mut String, float: f64) {
    push_shortest(out, &format!("{float:e}"));
}

/// Appends the digits of `1.25e-7` in Go's notation.
/// Source: Go strconv.FormatFloat with format `g` and the shortest precision.
fn push_shortest(out: &mut String, scientific: &str) {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "{mantissa}e{sign}{:02}", exponent.unsigned_abs());
        return;
    }
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits = mantissa.replace('.', "");
    out.push_str(sign);
    if exponent < 0 {
        let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
        let _ = write!(out, "0.{zeros}{digits}");
        return;
    }
    let whole = exponent.unsigned_abs() as usize + 1;
    match digits.split_at_checked(whole) {
        Some((whole, fraction)) if !fraction.is_empty() => {
            let _ = write!(out, "{whole}.{fraction}");
        }
        _ => {
            let _ = write!(out, "{digits:0<whole$}");
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "`!!float` asks for it")]
fn to_float(number: i64) -> f64 {
    number as f64
}
