//! Recursive operations on values, with limits.

use super::{List, Map, Value};

/// The maximum nesting of values that are printed, compared or copied.
pub(crate) const NESTING: usize = 1_000;

/// The maximum number of values that are compared, copied or converted at once. A value in several places counts several times:
/// a few lines of a template make a map that contains billions of copies of another.
const VISITS: usize = 500_000;

/// The maximum number of bytes of a value as JSON, YAML or TOML.
pub(crate) const TEXT_BYTES: usize = 64 << 20;

/// A value that is nested deeper than the limit, contains itself, or contains too many values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the value is nested deeper than the limit of {NESTING}, contains itself, or contains more than {VISITS} values"
)]
pub struct TooDeep;

/// The remaining nesting and number of visits of one recursive operation.
pub(super) struct Walk {
    depth: usize,
    visits: usize,
}

impl Walk {
    pub(super) fn new() -> Self {
        Self { depth: NESTING, visits: VISITS }
    }

    /// Visits a value and the values in it.
    pub(super) fn visit<T>(
        &mut self,
        of: impl FnOnce(&mut Self) -> Result<T, TooDeep>,
    ) -> Result<T, TooDeep> {
        self.depth = self.depth.checked_sub(1).ok_or(TooDeep)?;
        self.visits = self.visits.checked_sub(1).ok_or(TooDeep)?;
        let result = crate::stack::grow(|| of(self))?;
        self.depth += 1;
        Ok(result)
    }
}

pub(super) fn deep_equal(left: &Value, right: &Value, walk: &mut Walk) -> Result<bool, TooDeep> {
    walk.visit(|walk| {
        Ok(match (left, right) {
            (Value::Missing | Value::Nil, Value::Missing | Value::Nil) => true,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Int(left), Value::Int(right)) | (Value::Int64(left), Value::Int64(right)) => {
                left == right
            }
            (Value::Uint8(left), Value::Uint8(right)) => left == right,
            (Value::Uint64(left), Value::Uint64(right)) => left == right,
            #[expect(clippy::float_cmp, reason = "as Go compares")]
            (Value::Float(left), Value::Float(right)) => left == right,
            (Value::String(left), Value::String(right)) => left == right,
            (Value::List(left), Value::List(right)) => equal_lists(left, right, walk)?,
            (Value::Map(left), Value::Map(right)) => equal_maps(left, right, walk)?,
            (Value::Object(left), Value::Object(right)) => {
                left.type_name() == right.type_name() && left.equals(&**right)
            }
            _ => false,
        })
    })
}

fn equal_lists(left: &List, right: &List, walk: &mut Walk) -> Result<bool, TooDeep> {
    if left.elem() != right.elem() || left.is_nil() != right.is_nil() || left.len() != right.len() {
        return Ok(false);
    }
    for (left, right) in left.iter().zip(right.iter()) {
        if !deep_equal(left, right, walk)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn equal_maps(left: &Map, right: &Map, walk: &mut Walk) -> Result<bool, TooDeep> {
    if left.is_same(right) {
        return Ok(true);
    }
    if left.elem() != right.elem() || left.is_nil() != right.is_nil() || left.len() != right.len() {
        return Ok(false);
    }
    for ((left_key, left), (right_key, right)) in left.entries().iter().zip(right.entries().iter()) {
        if left_key != right_key || !deep_equal(left, right, walk)? {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn deep_copy(value: &Value, walk: &mut Walk) -> Result<Value, TooDeep> {
    walk.visit(|walk| {
        Ok(match value {
            Value::List(list) if list.is_nil() => value.clone(),
            Value::List(list) => {
                let items: Result<Vec<_>, _> = list.iter().map(|item| deep_copy(item, walk)).collect();
                Value::List(List::new(list.elem(), items?))
            }
            Value::Map(map) if map.is_nil() => value.clone(),
            Value::Map(map) => {
                let copy = |(key, value): (&super::Str, &Value)| Ok((key.clone(), deep_copy(value, walk)?));
                let entries: Result<_, TooDeep> = map.entries().iter().map(copy).collect();
                Value::Map(Map::new(map.elem(), entries?))
            }
            _ => value.clone(),
        })
    })
}
