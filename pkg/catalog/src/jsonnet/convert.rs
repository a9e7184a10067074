//! Values of programs to JSON values, and back.

use rsjsonnet_lang::program::{Program, Value as ProgramValue, ValueKind};
use serde_json::{Map, Number, Value};

/// 2^63, the first float above the signed integers.
const SIGNED_END: f64 = 9_223_372_036_854_775_808.0;

/// Converts a value of a program. Returns `None` for functions, which have no JSON.
pub(super) fn to_json(value: &ProgramValue<'_>) -> Option<Value> {
    Some(match value.kind() {
        ValueKind::Null => Value::Null,
        ValueKind::Bool(flag) => Value::Bool(flag),
        ValueKind::Number(float) => Value::Number(number(float)),
        ValueKind::String(text) => Value::String(text),
        ValueKind::Array(items) => Value::Array(items.iter().map(to_json).collect::<Option<_>>()?),
        ValueKind::Object(fields) => {
            let fields = fields.iter().map(|(name, field)| Some((name.value().to_owned(), to_json(field)?)));
            Value::Object(fields.collect::<Option<Map<_, _>>>()?)
        }
        ValueKind::Function => return None,
    })
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
