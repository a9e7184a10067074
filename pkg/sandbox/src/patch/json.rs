//! JSON patch, compatible with the library of the real server.
//!
//! Source: kube-apiserver 1.36 with evanphx/json-patch v4.13. The `json-patch` crate follows RFC 6902 and rejects some
//! patches that the library accepts.

use serde_json::{Map, Value};

use super::{bad_request, unprocessable};
use crate::{depth, go, status::Status};

const MAX_OPERATIONS: usize = 10_000;
/// The maximum total size of all copies of a patch. Each copy may double the previous one.
const MAX_COPIED_BYTES: usize = 3 << 20;

/// An operation that does not fit the object. The real server gives no details.
struct Unfit;

pub(super) fn apply(object: &Value, patch: &Value) -> Result<Value, Status> {
    let operations = match patch {
        Value::Null => return Ok(object.clone()),
        Value::Array(operations) => operations,
        other => return Err(undecodable(go::json_kind(other), "Go value of type []handlers.jsonPatchOp")),
    };
    for operation in operations {
        check(operation)?;
    }
    if operations.len() > MAX_OPERATIONS {
        let count = operations.len();
        return Err(Status {
            code: 413,
            reason: "RequestEntityTooLarge",
            message: format!(
                "Request entity too large: The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, \
                 got {count}"
            ),
            details: None,
        });
    }
    let (mut object, mut copied_bytes) = (object.clone(), 0);
    for operation in operations {
        step(&mut object, operation, &mut copied_bytes).map_err(|Unfit| unprocessable())?;
    }
    Ok(object)
}

/// Fails if an operation is malformed.
fn check(operation: &Value) -> Result<(), Status> {
    match operation {
        Value::Null => Ok(()),
        Value::Object(fields) => {
            for name in ["op", "path", "from"] {
                match fields.get(name) {
                    None | Some(Value::Null | Value::String(_)) => {}
                    Some(other) => {
                        let place = format!("Go struct field jsonPatchOp.{name} of type string");
                        return Err(undecodable(go::json_kind(other), &place));
                    }
                }
            }
            Ok(())
        }
        other => Err(undecodable(go::json_kind(other), "Go value of type handlers.jsonPatchOp")),
    }
}

fn undecodable(found: &str, wanted: &str) -> Status {
    bad_request(format!("error decoding patch: json: cannot unmarshal {found} into {wanted}"))
}

fn step(object: &mut Value, operation: &Value, copied_bytes: &mut usize) -> Result<(), Unfit> {
    let text = |name: &str| operation.get(name).and_then(Value::as_str);
    let path = || text("path").ok_or(Unfit);
    let value = || operation.get("value").cloned().unwrap_or(Value::Null);
    match text("op") {
        Some("add") => add(object, path()?, value()),
        Some("remove") => remove(object, path()?).map(drop),
        Some("replace") => replace(object, path()?, value()),
        Some("move") => {
            let moved = remove(object, text("from").ok_or(Unfit)?)?;
            add(object, path()?, moved)
        }
        Some("copy") => {
            let copied = get(object, text("from").ok_or(Unfit)?)?.cloned().unwrap_or(Value::Null);
            *copied_bytes += copied.to_string().len();
            if *copied_bytes > MAX_COPIED_BYTES {
                return Err(Unfit);
            }
            add(object, path()?, copied)
        }
        Some("test") => {
            let path = path()?;
            let found = if path.is_empty() { Some(&*object) } else { get(object, path)? };
            if *found.unwrap_or(&Value::Null) == value() { Ok(()) } else { Err(Unfit) }
        }
        _ => Err(Unfit),
    }
}

/// The object or list that holds the last step of a path, with that step.
enum Holder<'a> {
    Object(&'a mut Map<String, Value>, String),
    List(&'a mut Vec<Value>, String),
}

/// Splits a path into steps. Text before the first slash is ignored.
fn steps(path: &str) -> Option<(Vec<String>, String)> {
    let (_, rest) = path.split_once('/')?;
    let mut steps: Vec<String> = rest.split('/').map(manifest::pointer::name).collect();
    let last = steps.pop()?;
    Some((steps, last))
}

/// Fails if a value at this path exceeds the maximum depth of readable objects.
fn check_depth(path: &str, value: &Value) -> Result<(), Unfit> {
    let levels = depth::MOST.checked_sub(path.matches('/').count()).ok_or(Unfit)?;
    if depth::fits(value, levels) { Ok(()) } else { Err(Unfit) }
}

fn holder<'a>(object: &'a mut Value, path: &str) -> Result<Holder<'a>, Unfit> {
    let (steps, last) = steps(path).ok_or(Unfit)?;
    let mut place = object;
    for step in steps {
        place = match place {
            Value::Object(fields) => fields.get_mut(&step).ok_or(Unfit)?,
            Value::Array(items) => {
                let index = index(&step, items.len())?;
                items.get_mut(index).ok_or(Unfit)?
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return Err(Unfit),
        };
    }
    match place {
        Value::Object(fields) => Ok(Holder::Object(fields, last)),
        Value::Array(items) => Ok(Holder::List(items, last)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Err(Unfit),
    }
}

/// Parses an index into a list of `length` items. Negative indexes count from the end.
fn index(step: &str, length: usize) -> Result<usize, Unfit> {
    let number: i64 = step.parse().map_err(|_| Unfit)?;
    let length = i64::try_from(length).map_err(|_| Unfit)?;
    let number = if number < 0 { number + length } else { number };
    if (0..length).contains(&number) { usize::try_from(number).map_err(|_| Unfit) } else { Err(Unfit) }
}

fn get<'a>(object: &'a mut Value, path: &str) -> Result<Option<&'a Value>, Unfit> {
    match holder(object, path)? {
        Holder::Object(fields, name) => Ok(fields.get(&name)),
        Holder::List(items, step) => {
            let index = index(&step, items.len())?;
            Ok(items.get(index))
        }
    }
}

fn add(object: &mut Value, path: &str, value: Value) -> Result<(), Unfit> {
    check_depth(path, &value)?;
    match holder(object, path)? {
        Holder::Object(fields, name) => {
            fields.insert(name, value);
        }
        Holder::List(items, step) if step == "-" => items.push(value),
        Holder::List(items, step) => {
            let index = index(&step, items.len() + 1)?;
            items.insert(index, value);
        }
    }
    Ok(())
}

fn remove(object: &mut Value, path: &str) -> Result<Value, Unfit> {
    match holder(object, path)? {
        Holder::Object(fields, name) => fields.remove(&name).ok_or(Unfit),
        Holder::List(items, step) => {
            let index = index(&step, items.len())?;
            Ok(items.remove(index))
        }
    }
}

fn replace(object: &mut Value, path: &str, value: Value) -> Result<(), Unfit> {
    check_depth(path, &value)?;
    if path.is_empty() {
        if !(value.is_object() || value.is_array()) {
            return Err(Unfit);
        }
        *object = value;
        return Ok(());
    }
    match holder(object, path)? {
        Holder::Object(fields, name) => {
            fields.insert(name, value);
        }
        Holder::List(items, step) => {
            let index = index(&step, items.len())?;
            items[index] = value;
        }
    }
    Ok(())
}
