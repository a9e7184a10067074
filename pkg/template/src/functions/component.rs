//! The functions of the component runtime that need no cluster and no files.
//!
//! Source: component-operator-runtime 0.3.158.

use super::table::{Result, Row, made};
use super::{Arguments as _, Functions};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::value::Value;

/// The functions of sprig that convert texts to integers.
const INTEGER_FUNCTIONS: [&str; 11] =
    ["int", "int64", "add", "add1", "sub", "mul", "div", "mod", "max", "biggest", "min"];

pub(super) fn add(functions: &mut Functions) {
    super::table::add(functions, ROWS);
    for name in INTEGER_FUNCTIONS {
        let Some(function) = functions.get(name).cloned() else { continue };
        functions.add(name, function.signature().clone(), move |run, args| {
            let args: Vec<_> = args.iter().map(without_fraction).collect();
            function.call(run, &args)
        });
    }
}

/// Drops the decimal places of a text with a number: cast 1.10 of the runtime reads `1.5` as 1, cast 1.7 of Helm as 0.
fn without_fraction(value: &Value) -> Value {
    match value {
        Value::String(text) => super::numbers::whole_part(&text.to_str()).into(),
        other => other.clone(),
    }
}

const ROWS: &[Row] = &[
    ("include", "sa", include),
    ("tpl", "sa", |run, args| run.execute_text(&args.shared(0), args.value(1))),
    ("required", "sa", required),
    ("fail", "s", |_, args| Err(Fault::failed(args.utf8(0)))),
    ("getHostByName", "s", |_, _| Ok("".into())),
    ("bitwiseShiftLeft", "aa", |_, args| shift(args, u64::checked_shl)),
    ("bitwiseShiftRight", "aa", |_, args| shift(args, u64::checked_shr)),
    ("bitwiseAnd", "*a", |_, args| combine(args, u64::MAX, |a, b| a & b)),
    ("bitwiseOr", "*a", |_, args| combine(args, 0, |a, b| a | b)),
    ("bitwiseXor", "*a", |_, args| combine(args, 0, |a, b| a ^ b)),
    ("parseIPv4Address", "a", parse_ipv4_address),
    ("formatIPv4Address", "a", format_ipv4_address),
];

/// Executes a template and removes `<no value>` from its output.
fn include(run: &mut dyn Engine, args: &[Value]) -> Result {
    match run.include(&args.shared(0), args.value(1))? {
        Value::String(text) => {
            let mut bytes = text.to_vec();
            crate::exec::without_no_value(&mut bytes);
            Ok(Value::string(bytes))
        }
        other => Ok(other),
    }
}

fn required(_: &mut dyn Engine, args: &[Value]) -> Result {
    let value = args.value(1);
    let is_missing = value.is_nil() || matches!(value, Value::String(text) if text.is_empty());
    if is_missing { Err(Fault::failed(args.utf8(0))) } else { Ok(value.clone()) }
}

/// Shifts the second argument by the first one. Bits that leave the 64 bits are lost.
fn shift(args: &[Value], operation: fn(u64, u32) -> Option<u64>) -> Result {
    let (by, number) = (to_uint(args.value(0))?, to_uint(args.value(1))?);
    let shifted = u32::try_from(by).ok().and_then(|by| operation(number, by));
    Ok(Value::Uint64(shifted.unwrap_or(0)))
}

fn combine(args: &[Value], start: u64, operation: fn(u64, u64) -> u64) -> Result {
    let mut result = start;
    for arg in args {
        result = operation(result, to_uint(arg)?);
    }
    Ok(Value::Uint64(result))
}

/// Converts a value to a number without sign. Fractions are dropped.
fn to_uint(value: &Value) -> std::result::Result<u64, Fault> {
    let negative = || Fault::new("unable to cast negative value");
    match value {
        Value::Missing | Value::Nil => Ok(0),
        Value::Uint64(number) => Ok(*number),
        Value::Float(number) if *number < 0.0 => Err(negative()),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as Go converts")]
        Value::Float(number) => Ok(*number as u64),
        Value::String(text) => {
            let text = text.to_str();
            if text.is_empty() {
                return Ok(0);
            }
            let whole = super::numbers::whole_part(&text).trim_start_matches('+');
            crate::parse::number::parse_uint(whole).ok_or_else(|| unable(value, "uint64"))
        }
        Value::Bool(_) | Value::Int(_) | Value::Int64(_) | Value::Uint8(_) => {
            u64::try_from(super::numbers::to_int(value)).map_err(|_| negative())
        }
        Value::List(_) | Value::Map(_) | Value::Object(_) => Err(unable(value, "uint64")),
    }
}

fn unable(value: &Value, target: &str) -> Fault {
    let found = value.type_name();
    Fault::new(format!("unable to cast {} of type {found} to {target}", value.display()))
}

fn parse_ipv4_address(_: &mut dyn Engine, args: &[Value]) -> Result {
    let invalid = || Fault::new("invalid IP address");
    let text = match args.value(0) {
        Value::String(text) => text.to_str().into_owned(),
        Value::List(_) | Value::Map(_) | Value::Object(_) => return Err(unable(args.value(0), "string")),
        _ => return Err(invalid()),
    };
    let octets: Vec<&str> = text.split('.').collect();
    if octets.len() != 4 {
        return Err(invalid());
    }
    let mut address = 0_u64;
    for octet in octets {
        let is_number = !octet.is_empty() && octet.bytes().all(|byte| byte.is_ascii_digit());
        let number: u8 = octet.parse().ok().filter(|_| is_number).ok_or_else(invalid)?;
        address = address << 8 | u64::from(number);
    }
    Ok(Value::Uint64(address))
}

fn format_ipv4_address(run: &mut dyn Engine, args: &[Value]) -> Result {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the lowest 32 bits are the address, as in the runtime"
    )]
    let address = to_uint(args.value(0))? as u32;
    let [a, b, c, d] = address.to_be_bytes();
    made(run, format!("{a}.{b}.{c}.{d}"))
}
