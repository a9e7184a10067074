//! `index`, `slice`, `len` and `call`.

use std::ops::Range;

use super::super::Arguments as _;
use crate::fault::Fault;
use crate::value::{List, Map, Str, Value};

/// A value whose items have positions.
#[derive(Clone, Copy)]
enum Sequence<'v> {
    Text(&'v Str),
    List(&'v List),
}

impl<'v> Sequence<'v> {
    fn of(value: &'v Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Text(text)),
            Value::List(list) => Some(Self::List(list)),
            _ => None,
        }
    }

    fn len(self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::List(list) => list.len(),
        }
    }

    fn item(self, at: usize) -> Result<Value, Fault> {
        let (item, name) = match self {
            Self::Text(text) => (text.get(at).copied().map(Value::Uint8), "string"),
            Self::List(list) => (list.get(at).cloned(), "slice"),
        };
        // A position directly behind the end is only an error of Go's reflection.
        item.ok_or_else(|| Fault::new(format!("reflect: {name} index out of range")))
    }

    fn part(self, range: Range<usize>) -> Value {
        match self {
            Self::Text(text) => Value::String(Str::from(&text[range])),
            Self::List(list) => Value::List(List::new(list.elem(), list[range].to_vec())),
        }
    }

    /// Reads a position: at an item or at the end.
    fn position(self, index: &Value) -> Result<usize, Fault> {
        let number = match index {
            Value::Int(number) | Value::Int64(number) => *number,
            Value::Uint8(number) => (*number).into(),
            Value::Uint64(number) => number.cast_signed(),
            Value::Missing | Value::Nil => return Err("cannot index slice/array with nil".into()),
            _ => {
                let name = index.type_name();
                return Err(Fault::new(format!("cannot index slice/array with type {name}")));
            }
        };
        let position = usize::try_from(number).ok().filter(|position| *position <= self.len());
        position.ok_or_else(|| Fault::new(format!("index out of range: {number}")))
    }
}

/// Returns the entries of a map, also of one with methods.
fn entries(value: &Value) -> Option<Map> {
    match value {
        Value::Map(map) => Some(map.clone()),
        Value::Object(object) => object.entries(),
        _ => None,
    }
}

/// Returns the name of a type, without the mark of a pointer.
fn type_name(value: &Value) -> String {
    value.type_name().trim_start_matches('*').to_owned()
}

/// Returns the element at a position or key; further arguments go deeper.
pub(super) fn index(args: &[Value]) -> Result<Value, Fault> {
    let outermost = args.value(0);
    if outermost.is_nil() {
        return Err("index of untyped nil".into());
    }
    args[1..].iter().try_fold(outermost.clone(), |outer, index| element(&outer, index))
}

fn element(outer: &Value, index: &Value) -> Result<Value, Fault> {
    if let Some(sequence) = Sequence::of(outer) {
        return sequence.item(sequence.position(index)?);
    }
    let Some(map) = entries(outer) else {
        return Err(match outer {
            Value::Missing | Value::Nil => "index of nil pointer".into(),
            _ => Fault::new(format!("can't index item of type {}", type_name(outer))),
        });
    };
    match index {
        Value::String(key) => Ok(map.get(key).unwrap_or_else(|| map.elem().zero())),
        Value::Missing | Value::Nil => Err("value is nil; should be of type string".into()),
        _ => Err(Fault::new(format!("value has type {}; should be string", index.type_name()))),
    }
}

/// Returns a part of a string or list, from a position up to another one. A third one would limit the capacity.
pub(super) fn slice(args: &[Value]) -> Result<Value, Fault> {
    let (whole, indexes) = (args.value(0), &args[1..]);
    if whole.is_nil() {
        return Err("slice of untyped nil".into());
    }
    if indexes.len() > 3 {
        return Err(Fault::new(format!("too many slice indexes: {}", indexes.len())));
    }
    let Some(sequence) = Sequence::of(whole) else {
        return Err(Fault::new(format!("can't slice item of type {}", type_name(whole))));
    };
    if indexes.len() == 3 && matches!(sequence, Sequence::Text(_)) {
        return Err("cannot 3-index slice a string".into());
    }
    let given: Vec<usize> = indexes.iter().map(|index| sequence.position(index)).collect::<Result<_, _>>()?;
    if let Some([low, high]) = given.array_windows().find(|[low, high]| low > high) {
        return Err(Fault::new(format!("invalid slice index: {low} > {high}")));
    }
    let start = given.first().copied().unwrap_or_default();
    let end = given.get(1).copied().unwrap_or(sequence.len());
    Ok(sequence.part(start..end))
}

/// Returns the number of items, entries or bytes.
pub(super) fn length(value: &Value) -> Result<Value, Fault> {
    let length = match (Sequence::of(value), value) {
        (Some(sequence), _) => sequence.len(),
        (None, Value::Missing) => {
            return Err("reflect: call of reflect.Value.Type on zero Value".into());
        }
        (None, Value::Nil) => return Err("len of nil pointer".into()),
        (None, _) => match entries(value) {
            Some(map) => map.len(),
            None => return Err(Fault::new(format!("len of type {}", type_name(value)))),
        },
    };
    Ok(Value::Int(i64::try_from(length).unwrap_or(i64::MAX)))
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
