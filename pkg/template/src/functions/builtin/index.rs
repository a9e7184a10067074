//! `index`, `slice`, `len` and `call`.

use super::super::Arguments as _;
use crate::fault::Fault;
use crate::value::{List, Map, Str, Value};

/// Returns the element at a position or key; further arguments go deeper.
pub(super) fn index(args: &[Value]) -> Result<Value, Fault> {
    let mut item = args.value(0).clone();
    if item.is_nil() {
        return Err("index of untyped nil".into());
    }
    for index in &args[1..] {
        let next = match &item {
            Value::Missing | Value::Nil => return Err("index of nil pointer".into()),
            Value::String(text) => {
                let at = position(index, text.len())?;
                text.get(at).map(|byte| Value::Uint8(*byte)).ok_or_else(|| beyond("string"))?
            }
            Value::List(list) => {
                let at = position(index, list.len())?;
                list.get(at).cloned().ok_or_else(|| beyond("slice"))?
            }
            Value::Map(map) => entry(map, index)?,
            Value::Object(object) => match object.entries() {
                Some(map) => entry(&map, index)?,
                None => return Err(cannot("index", &item)),
            },
            _ => return Err(cannot("index", &item)),
        };
        item = next;
    }
    Ok(item)
}

fn cannot(verb: &str, item: &Value) -> Fault {
    Fault::new(format!("can't {verb} item of type {}", item.type_name().trim_start_matches('*')))
}

/// The error of a position directly behind the end, which Go's reflection finds.
fn beyond(kind: &str) -> Fault {
    Fault::new(format!("reflect: {kind} index out of range"))
}

fn entry(map: &Map, key: &Value) -> Result<Value, Fault> {
    match key {
        Value::String(key) => Ok(map.get(key).unwrap_or_else(|| map.elem().zero())),
        Value::Missing | Value::Nil => Err("value is nil; should be of type string".into()),
        _ => Err(Fault::new(format!("value has type {}; should be string", key.type_name()))),
    }
}

fn position(index: &Value, capacity: usize) -> Result<usize, Fault> {
    let number = match index {
        Value::Int(number) | Value::Int64(number) => *number,
        Value::Uint8(number) => (*number).into(),
        Value::Uint64(number) => number.cast_signed(),
        Value::Missing | Value::Nil => return Err("cannot index slice/array with nil".into()),
        _ => return Err(Fault::new(format!("cannot index slice/array with type {}", index.type_name()))),
    };
    usize::try_from(number)
        .ok()
        .filter(|at| *at <= capacity)
        .ok_or_else(|| Fault::new(format!("index out of range: {number}")))
}

/// Returns a part of a string or list.
pub(super) fn slice(args: &[Value]) -> Result<Value, Fault> {
    let (item, indexes) = (args.value(0), &args[1..]);
    if item.is_nil() {
        return Err("slice of untyped nil".into());
    }
    if indexes.len() > 3 {
        return Err(Fault::new(format!("too many slice indexes: {}", indexes.len())));
    }
    let length = match item {
        Value::String(_) if indexes.len() == 3 => return Err("cannot 3-index slice a string".into()),
        Value::String(text) => text.len(),
        Value::List(list) => list.len(),
        _ => return Err(cannot("slice", item)),
    };
    let mut bounds = [0, length, length];
    for (bound, index) in bounds.iter_mut().zip(indexes) {
        *bound = position(index, length)?;
    }
    let [start, end, capacity] = bounds;
    for (low, high) in [(start, end), (end, capacity)] {
        if low > high {
            return Err(Fault::new(format!("invalid slice index: {low} > {high}")));
        }
    }
    Ok(match item {
        Value::String(text) => Value::String(Str::from(&text[start..end])),
        Value::List(list) => Value::List(List::new(list.elem(), list[start..end].to_vec())),
        _ => Value::Nil,
    })
}

#[expect(clippy::cast_possible_wrap, reason = "nothing is that long")]
pub(super) fn length(item: &Value) -> Result<Value, Fault> {
    let length = match item {
        Value::Missing => return Err("reflect: call of reflect.Value.Type on zero Value".into()),
        Value::Nil => return Err("len of nil pointer".into()),
        Value::String(text) => text.len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        Value::Object(object) => match object.entries() {
            Some(map) => map.len(),
            None => {
                return Err(Fault::new(format!(
                    "len of type {}",
                    object.type_name().trim_start_matches('*')
                )));
            }
        },
        _ => return Err(Fault::new(format!("len of type {}", item.type_name()))),
    };
    Ok(Value::Int(length as i64))
}

/// Fails: no value here is a function.
pub(super) fn call(args: &[Value]) -> Result<Value, Fault> {
    let function = args.value(0);
    if function.is_nil() {
        return Err("call of nil".into());
    }
    let shown = crate::format::display(function);
    Err(Fault::new(format!("non-function {shown} of type {}", function.type_name())))
}
