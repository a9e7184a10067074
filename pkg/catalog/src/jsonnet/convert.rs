//! Values of programs to JSON values, and back.

use rsjsonnet_lang::program::{Program, Value as ProgramValue, ValueKind};
use serde_json::{Map, Number, Value};

/// 2^63, the first float above the signed integers.
const SIGNED_END: f64 = 9_223_372_036_854_775_808.0;

/// The maximum size of a value that leaves a program: what reads and prints it needs several times as much memory.
pub(super) const MAX_BYTES: usize = 64 << 20;
/// The assumed size of a value without text.
const VALUE_BYTES: usize = 32;

/// The reason why a value has no JSON.
pub(super) enum ConversionError {
    Function,
    TooLarge,
}

/// Converts a value of a program.
pub(super) fn to_json(value: &ProgramValue<'_>) -> Result<Value, ConversionError> {
    let mut free_bytes = MAX_BYTES;
    converted(value, &mut free_bytes)
}

fn converted(value: &ProgramValue<'_>, free_bytes: &mut usize) -> Result<Value, ConversionError> {
    take(VALUE_BYTES, free_bytes)?;
    Ok(match value.kind() {
        ValueKind::Null => Value::Null,
        ValueKind::Bool(flag) => Value::Bool(flag),
        ValueKind::Number(float) => Value::Number(number(float)),
        ValueKind::String(text) => {
            take(text.len(), free_bytes)?;
            Value::String(text)
        }
        ValueKind::Array(items) => {
            Value::Array(items.iter().map(|item| converted(item, free_bytes)).collect::<Result<_, _>>()?)
        }
        ValueKind::Object(fields) => {
            let mut object = Map::new();
            for (name, field) in &fields {
                take(name.value().len(), free_bytes)?;
                object.insert(name.value().to_owned(), converted(field, free_bytes)?);
            }
            Value::Object(object)
        }
        ValueKind::Function => return Err(ConversionError::Function),
    })
}

fn take(bytes: usize, free_bytes: &mut usize) -> Result<(), ConversionError> {
    *free_bytes = free_bytes.checked_sub(bytes).ok_or(ConversionError::TooLarge)?;
    Ok(())
}

/// Converts a number of a program: an integer if it is whole and fits 64 bits.
fn number(float: f64) -> Number {
    if float.fract() == 0.0 && (-SIGNED_END..SIGNED_END).contains(&float) {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 64 bits")]
        return Number::from(float as i64);
    }
    Number::from_f64(float).unwrap_or_else(|| Number::from(0))
}

/// Converts a JSON value to a value of a program.
pub(super) fn from_json<'p>(program: &mut Program<'p>, value: &Value) -> ProgramValue<'p> {
    match value {
        Value::Null => ProgramValue::null(),
        Value::Bool(flag) => ProgramValue::bool(*flag),
        Value::Number(number) => ProgramValue::number(number.as_f64().unwrap_or_default()),
        Value::String(text) => ProgramValue::string(text),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| from_json(program, item)).collect();
            program.make_array(&items)
        }
        Value::Object(fields) => {
            let fields: Vec<_> = fields
                .iter()
                .map(|(name, field)| (program.intern_str(name), from_json(program, field)))
                .collect();
            program.make_object(&fields)
        }
    }
}
