//! Functions on numbers.
//!
//! Source: sprig 3.3 numeric.go, cast 1.7.

mod decimal;

use super::table::made;
use super::table::{Result, Row};
use super::{Arguments as _, Functions};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::value::{Elem, List, Value};

pub(super) fn add(functions: &mut Functions) {
    super::table::add(functions, ROWS);
    super::table::add(functions, decimal::ROWS);
}

const ROWS: &[Row] = &[
    ("atoi", "s", |_, args| Ok(Value::Int(decimal_int(&args.utf8(0)).unwrap_or(0)))),
    ("int64", "a", |_, args| Ok(Value::Int64(to_int(args.value(0))))),
    ("int", "a", |_, args| Ok(Value::Int(to_int(args.value(0))))),
    ("float64", "a", |_, args| Ok(Value::Float(to_float(args.value(0))))),
    ("toDecimal", "a", to_decimal),
    ("until", "i", |run, args| {
        let end = args.int(0);
        steps(run, 0, end, if end < 0 { -1 } else { 1 })
    }),
    ("untilStep", "iii", |run, args| steps(run, args.int(0), args.int(1), args.int(2))),
    ("seq", "*i", seq),
    ("add1", "a", |_, args| Ok(Value::Int64(to_int(args.value(0)).wrapping_add(1)))),
    ("add", "*a", |_, args| Ok(Value::Int64(args.iter().map(to_int).fold(0, i64::wrapping_add)))),
    ("sub", "aa", |_, args| Ok(Value::Int64(to_int(args.value(0)).wrapping_sub(to_int(args.value(1)))))),
    ("mul", "a*a", |_, args| Ok(Value::Int64(args.iter().map(to_int).fold(1, i64::wrapping_mul)))),
    ("div", "aa", |_, args| divided(args, i64::wrapping_div)),
    ("mod", "aa", |_, args| divided(args, i64::wrapping_rem)),
    ("max", "a*a", |_, args| Ok(Value::Int64(args.iter().map(to_int).max().unwrap_or(0)))),
    ("biggest", "a*a", |_, args| Ok(Value::Int64(args.iter().map(to_int).max().unwrap_or(0)))),
    ("min", "a*a", |_, args| Ok(Value::Int64(args.iter().map(to_int).min().unwrap_or(0)))),
    ("maxf", "a*a", |_, args| Ok(Value::Float(extreme(args, |a, b| a > b)))),
    ("minf", "a*a", |_, args| Ok(Value::Float(extreme(args, |a, b| a < b)))),
    ("ceil", "a", |_, args| Ok(Value::Float(to_float(args.value(0)).ceil()))),
    ("floor", "a", |_, args| Ok(Value::Float(to_float(args.value(0)).floor()))),
    ("round", "ai*f", round),
];

/// Parses a decimal integer, as Go's `Atoi`. A number that is too large is the nearest one.
fn decimal_int(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(if text.starts_with('-') { i64::MIN } else { i64::MAX }))
}

/// Converts a value to an integer; what is no number is 0.
pub(super) fn to_int(value: &Value) -> i64 {
    match value {
        Value::Int(number) | Value::Int64(number) => *number,
        Value::Uint8(number) => (*number).into(),
        Value::Uint64(number) => number.cast_signed(),
        Value::Float(number) => float_to_int(*number),
        Value::Bool(flag) => (*flag).into(),
        Value::String(text) => {
            let text = text.to_str();
            crate::parse::number::parse_int(without_zero_decimals(&text)).unwrap_or(0)
        }
        _ => 0,
    }
}

/// Returns the digits before the point of a decimal number, and any other text as it is.
pub(super) fn whole_part(text: &str) -> &str {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((whole, fraction)) = text.split_once('.') else { return text };
    let digits = whole.strip_prefix(['+', '-']).unwrap_or(whole);
    match is_digits(digits) && is_digits(fraction) {
        true if digits.is_empty() => "0",
        true => whole,
        false => text,
    }
}

/// Converts as Go does on amd64: what does not fit is the smallest integer.
#[expect(clippy::cast_possible_truncation, reason = "checked")]
fn float_to_int(number: f64) -> i64 {
    const BOUND: f64 = 9_223_372_036_854_775_808.0;
    if (-BOUND..BOUND).contains(&number) { number as i64 } else { i64::MIN }
}

/// Removes a fraction of zeros: `1.00` is `1`.
fn without_zero_decimals(text: &str) -> &str {
    let trimmed = text.trim_end_matches('0');
    match trimmed.strip_suffix('.') {
        Some(whole) if trimmed.len() < text.len() => whole,
        _ => text,
    }
}

#[expect(clippy::cast_precision_loss, reason = "as Go converts")]
pub(super) fn to_float(value: &Value) -> f64 {
    match value {
        Value::Int(number) | Value::Int64(number) => *number as f64,
        Value::Uint8(number) => (*number).into(),
        Value::Uint64(number) => *number as f64,
        Value::Float(number) => *number,
        Value::Bool(flag) => f64::from(u8::from(*flag)),
        Value::String(text) => crate::parse::number::parse_float(&text.to_str()).unwrap_or(0.0),
        _ => 0.0,
    }
}

fn to_decimal(run: &mut dyn Engine, args: &[Value]) -> Result {
    let text = super::strings::text_of(run, args.value(0))?;
    let text = text.to_str();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(&text);
    let is_valid = digits.starts_with(|digit: char| digit.is_ascii_digit());
    let number = if is_valid { i64::from_str_radix(&text, 8).unwrap_or(0) } else { 0 };
    Ok(Value::Int64(number))
}

/// Returns the integers from one to another, as a range.
fn numbers(run: &mut dyn Engine, start: i64, end: i64, step: i64) -> std::result::Result<Vec<i64>, Fault> {
    let is_up = end >= start;
    if (is_up && step <= 0) || (!is_up && step >= 0) {
        return Ok(Vec::new());
    }
    let distance = start.abs_diff(end);
    let count = distance.div_ceil(step.unsigned_abs());
    let bytes = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(size_of::<Value>());
    run.session().create(bytes)?;
    let mut numbers = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
    let mut number = start;
    for _ in 0..count {
        numbers.push(number);
        number = number.wrapping_add(step);
    }
    Ok(numbers)
}

fn steps(run: &mut dyn Engine, start: i64, end: i64, step: i64) -> Result {
    let items = numbers(run, start, end, step)?.into_iter().map(Value::Int).collect();
    Ok(Value::List(List::new(Elem::Int, items)))
}

fn seq(run: &mut dyn Engine, args: &[Value]) -> Result {
    let (start, step, end) = match args.len() {
        1 => (1, None, args.int(0)),
        2 => (args.int(0), None, args.int(1)),
        3 => (args.int(0), Some(args.int(1)), args.int(2)),
        _ => return Ok("".into()),
    };
    let direction = if end < start { -1 } else { 1 };
    if end < start && step.is_some_and(|step| step > 0) {
        return Ok("".into());
    }
    let numbers = numbers(run, start, end.wrapping_add(direction), step.unwrap_or(direction))?;
    let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
    made(run, texts.join(" "))
}

fn divided(args: &[Value], operation: fn(i64, i64) -> i64) -> Result {
    let divisor = to_int(args.value(1));
    if divisor == 0 {
        return Err("runtime error: integer divide by zero".into());
    }
    Ok(Value::Int64(operation(to_int(args.value(0)), divisor)))
}

/// Returns the largest or smallest number; NaN if there is one.
fn extreme(args: &[Value], is_better: fn(f64, f64) -> bool) -> f64 {
    let numbers = args.iter().map(to_float);
    numbers
        .reduce(
            |best, next| if next.is_nan() || is_better(next, best) && !best.is_nan() { next } else { best },
        )
        .unwrap_or(0.0)
}

fn round(_: &mut dyn Engine, args: &[Value]) -> Result {
    let round_on = if let Some(Value::Float(limit)) = args.get(2) { *limit } else { 0.5 };
    #[expect(clippy::cast_precision_loss, reason = "as Go converts")]
    let power = 10_f64.powf(args.int(1) as f64);
    let digit = power * to_float(args.value(0));
    let rounded = if digit.fract() >= round_on { digit.ceil() } else { digit.floor() };
    Ok(Value::Float(rounded / power))
}
