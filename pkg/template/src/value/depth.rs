//! Recursive operations on values, with a limit of nesting.

use super::{List, Map, Value};

/// The maximum nesting of values that are printed, compared or copied.
pub(crate) const NESTING: usize = 1_000;

/// A value that is nested deeper than the limit, or that contains itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the value is nested deeper than the limit of {NESTING}, or contains itself")]
pub struct TooDeep;

pub(super) fn deep_equal(left: &Value, right: &Value, depth: usize) -> Result<bool, TooDeep> {
    let depth = depth.checked_sub(1).ok_or(TooDeep)?;
    Ok(match (left, right) {
        (Value::Missing | Value::Nil, Value::Missing | Value::Nil) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Int(left), Value::Int(right)) | (Value::Int64(left), Value::Int64(right)) => left == right,
        (Value::Uint8(left), Value::Uint8(right)) => left == right,
        (Value::Uint64(left), Value::Uint64(right)) => left == right,
        #[expect(clippy::float_cmp, reason = "as Go compares")]
        (Value::Float(left), Value::Float(right)) => left == right,
        (Value::String(left), Value::String(right)) => left == right,
        (Value::List(left), Value::List(right)) => equal_lists(left, right, depth)?,
        (Value::Map(left), Value::Map(right)) => equal_maps(left, right, depth)?,
        (Value::Object(left), Value::Object(right)) => {
            left.type_name() == right.type_name() && left.equals(&**right)
        }
        _ => false,
    })
}

fn equal_lists(left: &List, right: &List, depth: usize) -> Result<bool, TooDeep> {
    if left.elem() != right.elem() || left.is_nil() != right.is_nil() || left.len() != right.len() {
        return Ok(false);
    }
    for (left, right) in left.iter().zip(right.iter()) {
        if !crate::stack::grow(|| deep_equal(left, right, depth))? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn equal_maps(left: &Map, right: &Map, depth: usize) -> Result<bool, TooDeep> {
    if left.is_same(right) {
        return Ok(true);
    }
    if left.elem() != right.elem() || left.is_nil() != right.is_nil() || left.len() != right.len() {
        return Ok(false);
    }
    for ((left_key, left), (right_key, right)) in left.entries().iter().zip(right.entries().iter()) {
        if left_key != right_key || !crate::stack::grow(|| deep_equal(left, right, depth))? {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn deep_copy(value: &Value, depth: usize) -> Result<Value, TooDeep> {
    let depth = depth.checked_sub(1).ok_or(TooDeep)?;
    Ok(match value {
        Value::List(list) if list.is_nil() => value.clone(),
        Value::List(list) => {
            let items: Result<Vec<_>, _> =
                list.iter().map(|item| crate::stack::grow(|| deep_copy(item, depth))).collect();
            Value::List(List::new(list.elem(), items?))
        }
        Value::Map(map) if map.is_nil() => value.clone(),
        Value::Map(map) => {
            let copy = |(key, value): (&super::Str, &Value)| {
                Ok((key.clone(), crate::stack::grow(|| deep_copy(value, depth))?))
            };
            let entries: Result<_, TooDeep> = map.entries().iter().map(copy).collect();
            Value::Map(Map::new(map.elem(), entries?))
        }
        _ => value.clone(),
    })
}
