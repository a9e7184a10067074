//! JSON patch, compatible with the library of the real server.
//!
//! Source: kube-apiserver 1.36 with evanphx/json-patch v4.13. The `json-patch` crate follows RFC 6902 and rejects some
//! patches that the library accepts.

use serde_json::{Map, Value};

use super::unprocessable;
use crate::{depth, go, status::Status};

const MAX_OPERATIONS: usize = 10_000;
/// The maximum total size of all copies of a patch. Each copy may double the previous one.
const MAX_COPIED_BYTES: usize = 3 << 20;

/// An operation that does not fit the object. The real server gives no details.
struct PatchMismatch;

pub(super) fn apply(object: &Value, patch: &Value) -> Result<Value, Status> {
    let operations = match patch {
        Value::Null => return Ok(object.clone()),
        Value::Array(operations) => operations,
        other => return Err(decode_error(go::json_kind(other), "Go value of type []handlers.jsonPatchOp")),
    };
    for operation in operations {
        check(operation)?;
    }
    if operations.len() > MAX_OPERATIONS {
        let count = operations.len();
        let message = format!(
            "Request entity too large: The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {count}"
        );
        return Err(Status::new(413, "RequestEntityTooLarge", message));
    }
    let (mut object, mut copied_bytes) = (object.clone(), 0);
    for operation in operations {
        apply_operation(&mut object, operation, &mut copied_bytes)
            .map_err(|PatchMismatch| unprocessable())?;
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
                        return Err(decode_error(go::json_kind(other), &place));
                    }
                }
            }
            Ok(())
        }
        other => Err(decode_error(go::json_kind(other), "Go value of type handlers.jsonPatchOp")),
    }
}

fn decode_error(found: &str, expected: &str) -> Status {
    Status::bad_request(format!("error decoding patch: json: cannot unmarshal {found} into {expected}"))
}

fn apply_operation(
    object: &mut Value,
    operation: &Value,
    copied_bytes: &mut usize,
) -> Result<(), PatchMismatch> {
    let text = |name: &str| operation.get(name).and_then(Value::as_str);
    let path = || text("path").ok_or(PatchMismatch);
    let value = || operation.get("value").cloned().unwrap_or(Value::Null);
    match text("op") {
        Some("add") => add(object, path()?, value()),
        Some("remove") => remove(object, path()?).map(drop),
        Some("replace") => replace(object, path()?, value()),
        Some("move") => {
            let moved = remove(object, text("from").ok_or(PatchMismatch)?)?;
            add(object, path()?, moved)
        }
        Some("copy") => {
            let copied = get(object, text("from").ok_or(PatchMismatch)?)?.cloned().unwrap_or(Value::Null);
            *copied_bytes += copied.to_string().len();
            if *copied_bytes > MAX_COPIED_BYTES {
                return Err(PatchMismatch);
            }
            add(object, path()?, copied)
        }
        Some("test") => {
            let path = path()?;
            let found = if path.is_empty() { Some(&*object) } else { get(object, path)? };
            if *found.unwrap_or(&Value::Null) == value() { Ok(()) } else { Err(PatchMismatch) }
        }
        _ => Err(PatchMismatch),
    }
}

/// The object or list that holds the last step of a path, with that step.
enum ParentValue<'a> {
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
fn check_depth(path: &str, value: &Value) -> Result<(), PatchMismatch> {
    let levels = depth::MAX_DEPTH.checked_sub(path.matches('/').count()).ok_or(PatchMismatch)?;
    if depth::fits(value, levels) { Ok(()) } else { Err(PatchMismatch) }
}

fn parent<'a>(object: &'a mut Value, path: &str) -> Result<ParentValue<'a>, PatchMismatch> {
    let (steps, last) = steps(path).ok_or(PatchMismatch)?;
    let mut place = object;
    for step in steps {
        place = match place {
            Value::Object(fields) => fields.get_mut(&step).ok_or(PatchMismatch)?,
            Value::Array(items) => {
                let index = index(&step, items.len())?;
                items.get_mut(index).ok_or(PatchMismatch)?
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return Err(PatchMismatch),
        };
    }
    match place {
        Value::Object(fields) => Ok(ParentValue::Object(fields, last)),
        Value::Array(items) => Ok(ParentValue::List(items, last)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Err(PatchMismatch),
    }
}

/// Parses an index into a list of `length` items. Negative indexes count from the end.
fn index(step: &str, length: usize) -> Result<usize, PatchMismatch> {
    let number: i64 = step.parse().map_err(|_| PatchMismatch)?;
    let length = i64::try_from(length).map_err(|_| PatchMismatch)?;
    let number = if number < 0 { number + length } else { number };
    if (0..length).contains(&number) {
        usize::try_from(number).map_err(|_| PatchMismatch)
    } else {
        Err(PatchMismatch)
    }
}

fn get<'a>(object: &'a mut Value, path: &str) -> Result<Option<&'a Value>, PatchMismatch> {
    match parent(object, path)? {
        ParentValue::Object(fields, name) => Ok(fields.get(&name)),
        ParentValue::List(items, step) => {
            let index = index(&step, items.len())?;
            Ok(items.get(index))
        }
    }
}

fn add(object: &mut Value, path: &str, value: Value) -> Result<(), PatchMismatch> {
    check_depth(path, &value)?;
    match parent(object, path)? {
        ParentValue::Object(fields, name) => {
            fields.insert(name, value);
        }
        ParentValue::List(items, step) if step == "-" => items.push(value),
        ParentValue::List(items, step) => {
            let index = index(&step, items.len() + 1)?;
            items.insert(index, value);
        }
    }
    Ok(())
}

fn remove(object: &mut Value, path: &str) -> Result<Value, PatchMismatch> {
    match parent(object, path)? {
        ParentValue::Object(fields, name) => fields.remove(&name).ok_or(PatchMismatch),
        ParentValue::List(items, step) => {
            let index = index(&step, items.len())?;
            Ok(items.remove(index))
        }
    }
}

fn replace(object: &mut Value, path: &str, value: Value) -> Result<(), PatchMismatch> {
    check_depth(path, &value)?;
    if path.is_empty() {
        if !(value.is_object() || value.is_array()) {
            return Err(PatchMismatch);
        }
        *object = value;
        return Ok(());
    }
    match parent(object, path)? {
        ParentValue::Object(fields, name) => {
            fields.insert(name, value);
        }
        ParentValue::List(items, step) => {
            let index = index(&step, items.len())?;
            items[index] = value;
        }
    }
    Ok(())
}
