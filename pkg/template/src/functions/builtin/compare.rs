//! Comparisons.

use std::cmp::Ordering;

use super::super::Arguments as _;
use crate::fault::Fault;
use crate::value::{Kind, Value};

/// The basic kinds that can be compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basic {
    None,
    Bool,
    Int,
    Float,
    String,
    Uint,
}

fn basic(value: &Value) -> Basic {
    match value.kind() {
        Kind::Bool => Basic::Bool,
        Kind::Int | Kind::Int64 => Basic::Int,
        Kind::Uint8 | Kind::Uint64 => Basic::Uint,
        Kind::Float64 => Basic::Float,
        Kind::String => Basic::String,
        _ => Basic::None,
    }
}

fn incompatible(left: &Value, right: &Value) -> Fault {
    let (left, right) = (left.type_name(), right.type_name());
    Fault::new(format!("incompatible types for comparison: {left} and {right}"))
}

/// Orders two values of comparable kinds. `None` for values without an order, such as NaN.
fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        _ => Some(integer(left)?.cmp(&integer(right)?)),
    }
}

fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Int(number) | Value::Int64(number) => Some((*number).into()),
        Value::Uint8(number) => Some((*number).into()),
        Value::Uint64(number) => Some((*number).into()),
        _ => None,
    }
}

fn are_integers(left: Basic, right: Basic) -> bool {
    matches!((left, right), (Basic::Int, Basic::Uint) | (Basic::Uint, Basic::Int))
}

/// True if the first argument equals any other.
pub(super) fn equal(args: &[Value]) -> Result<bool, Fault> {
    let left = args.value(0);
    if args.len() < 2 {
        return Err("missing argument for comparison".into());
    }
    for right in &args[1..] {
        if equals(left, right)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn equals(left: &Value, right: &Value) -> Result<bool, Fault> {
    let (left_kind, right_kind) = (basic(left), basic(right));
    if left_kind != right_kind && !are_integers(left_kind, right_kind) {
        return if left.is_nil() || right.is_nil() { Ok(false) } else { Err(incompatible(left, right)) };
    }
    if left_kind != Basic::None {
        return Ok(order(left, right) == Some(Ordering::Equal));
    }
    let is_absent = |value: &Value| match value {
        Value::List(list) => list.is_nil(),
        Value::Map(map) => map.is_nil(),
        _ => value.is_nil(),
    };
    let (show, name) = (crate::format::display, Value::type_name);
    let as_text = |value: &Value| {
        let text = crate::format::sprintf(b"%s", std::slice::from_ref(value), 1 << 16).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    };
    if !left.is_nil() && !right.is_nil() && left.kind() != right.kind() {
        return Err(Fault::new(format!(
            "non-comparable types {}: {}, {}: {}",
            as_text(left),
            name(left),
            name(right),
            show(right)
        )));
    }
    if is_absent(left) || is_absent(right) {
        return Ok(is_absent(left) == is_absent(right));
    }
    match (left, right) {
        (Value::Object(left), Value::Object(right)) if right.entries().is_none() => {
            Ok(left.type_name() == right.type_name() && left.equals(&**right))
        }
        _ => Err(Fault::new(format!("non-comparable type {}: {}", as_text(right), name(right)))),
    }
}

/// True if the first argument is less than the second.
pub(super) fn less(args: &[Value]) -> Result<bool, Fault> {
    let (left, right) = (args.value(0), args.value(1));
    let (left_kind, right_kind) = (basic(left), basic(right));
    if left_kind == Basic::None || right_kind == Basic::None {
        return Err("invalid type for comparison".into());
    }
    if left_kind != right_kind && !are_integers(left_kind, right_kind) {
        return Err(incompatible(left, right));
    }
    if left_kind == Basic::Bool {
        return Err("invalid type for comparison".into());
    }
    Ok(order(left, right) == Some(Ordering::Less))
}

pub(super) fn less_or_equal(args: &[Value]) -> Result<bool, Fault> {
    Ok(less(args)? || equal(args)?)
}
