//! Decoder of `application/vnd.kubernetes.protobuf`, which Go clients send for built-in kinds.
//!
//! ```text
//! "k8s\0" ─► Unknown { type meta, raw } ─► definition of the kind ─► fields by their numbers ─► Value
//! ```
//!
//! The result equals the JSON that the same client would send. Fields without a value are omitted, although protobuf
//! carries the empty strings and zeros of non-pointer Go fields.
//! Source: apimachinery 0.36, `runtime/serializer/protobuf`; the numbers come from the `generated.proto` files.

mod message;

use manifest::builtin::{Definition, ElementType, Field, Form, SchemaAlternative, ValueType, find};
use serde_json::{Map, Value};

use self::message::{DecodeError, FieldContent, Reader};
use crate::{builtin, status::Status};

/// The first bytes of every body.
const PREFIX: &[u8] = b"k8s\0";
/// The maximum nesting depth, the same as for JSON.
const MAX_DEPTH: usize = 128;

/// Decodes the object in a body.
/// Errors: 400 if the body is malformed or its kind is not built-in.
pub(crate) fn decode(body: &[u8]) -> Result<Value, Status> {
    object(body, 0).map_err(|fault| Status::bad_request(fault.to_string()))
}

fn object(body: &[u8], depth: usize) -> Result<Value, DecodeError> {
    let envelope = body.strip_prefix(PREFIX).ok_or(DecodeError::NoPrefix)?;
    let (mut api_version, mut kind, mut raw) = (String::new(), String::new(), &[][..]);
    for part in Reader::new(envelope) {
        match part? {
            (1, content) => {
                for part in Reader::new(content.bytes()?) {
                    match part? {
                        (1, content) => api_version = content.text()?,
                        (2, content) => kind = content.text()?,
                        _ => {}
                    }
                }
            }
            (2, content) => raw = content.bytes()?,
            _ => {}
        }
    }
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    let found = builtin::find_definition(group, version, &kind).filter(|definition| definition.is_kind);
    let Some(definition) = found else {
        return Err(DecodeError::UnknownKind { api_version, kind });
    };
    let mut value = definition_value(definition, raw, depth)?.unwrap_or_else(|| Map::new().into());
    value["apiVersion"] = api_version.into();
    value["kind"] = kind.into();
    Ok(value)
}

/// Decodes the value of a definition. `None` if the value is unset, such as a zero time.
fn definition_value(
    definition: &'static Definition,
    bytes: &[u8],
    depth: usize,
) -> Result<Option<Value>, DecodeError> {
    if depth > MAX_DEPTH {
        return Err(DecodeError::TooDeep);
    }
    match definition.form {
        Form::Fields => {
            let mut object = Map::new();
            add_fields(&mut object, definition.fields(), &[], bytes, depth)?;
            Ok(Some(Value::Object(object)))
        }
        Form::Text(_) => message::time(bytes, definition.name == "MicroTime"),
        Form::Quantity => Ok(Some(message::quantity(bytes)?)),
        Form::IntOrText => Ok(Some(message::int_or_string(bytes)?)),
        Form::SchemaOr(alternative) => schema_or(alternative, bytes, depth).map(Some),
        Form::Object | Form::Any | Form::Duration => raw(bytes, depth),
    }
}

/// Decodes `JSONSchemaPropsOrArray` and similar types: a union in JSON, separate fields in protobuf.
fn schema_or(alternative: SchemaAlternative, bytes: &[u8], depth: usize) -> Result<Value, DecodeError> {
    use SchemaAlternative::{Bool, Schemas, Texts};
    let (mut schema, mut allows, mut list) = (None, false, Vec::new());
    for part in Reader::new(bytes) {
        match (part?, alternative) {
            ((1, content), Bool) => allows = content.integer()? != 0,
            ((2, content), Bool) | ((1, content), _) => schema = json_schema(content.bytes()?, depth)?,
            ((2, content), Schemas) => list.extend(json_schema(content.bytes()?, depth)?),
            ((2, content), Texts) => list.push(content.text()?.into()),
            _ => {}
        }
    }
    let other = if alternative == Bool { allows.into() } else { Value::Array(list) };
    Ok(schema.unwrap_or(other))
}

fn json_schema(bytes: &[u8], depth: usize) -> Result<Option<Value>, DecodeError> {
    let definition = find("apiextensions", "JSONSchemaProps");
    definition.map_or(Ok(None), |definition| definition_value(definition, bytes, depth + 1))
}

/// Decodes JSON or a protobuf object inside a message with one field (`RawExtension`, `JSON`, `FieldsV1`).
fn raw(bytes: &[u8], depth: usize) -> Result<Option<Value>, DecodeError> {
    let mut value = None;
    for part in Reader::new(bytes) {
        if let (1, content) = part? {
            value = match content.bytes()? {
                [] => None,
                raw if raw.starts_with(PREFIX) => Some(object(raw, depth + 1)?),
                raw => {
                    Some(serde_json::from_slice(raw).map_err(|error| DecodeError::Json(error.to_string()))?)
                }
            };
        }
    }
    Ok(value)
}

/// Adds the fields of a message. `way` contains the numbers of the enclosing messages whose fields JSON inlines.
fn add_fields(
    object: &mut Map<String, Value>,
    fields: &[Field],
    outer_numbers: &[u32],
    bytes: &[u8],
    depth: usize,
) -> Result<(), DecodeError> {
    for part in Reader::new(bytes) {
        let (number, content) = part?;
        let under = |field: &&Field| match field.protobuf_numbers.strip_prefix(outer_numbers) {
            Some([first, ..]) => *first == number,
            _ => false,
        };
        match fields.iter().find(under) {
            Some(field) if field.protobuf_numbers.len() == outer_numbers.len() + 1 => {
                add_field(object, field, content, depth)?;
            }
            Some(_) => {
                let way = [outer_numbers, &[number]].concat();
                add_fields(object, fields, &way, content.bytes()?, depth)?;
            }
            None => {}
        }
    }
    Ok(())
}

fn add_field(
    object: &mut Map<String, Value>,
    field: &Field,
    content: FieldContent<'_>,
    depth: usize,
) -> Result<(), DecodeError> {
    match &field.value {
        ValueType::List(items) => {
            let list = object.entry(field.name).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = list {
                add_item(list, items, content, depth)?;
            }
        }
        ValueType::Map(values) => {
            let map = object.entry(field.name).or_insert_with(|| Map::new().into());
            let (key, value) = entry(values, content.bytes()?, depth)?;
            map[key] = value;
        }
        kind => {
            let found = value(kind, content, depth)?;
            if let Some(value) = found.filter(|value| keeps_empty(field) || !is_empty(kind, value)) {
                object.insert(field.name.to_owned(), value);
            }
        }
    }
    Ok(())
}

/// True if JSON keeps an empty scalar. Otherwise Go omits an unset scalar from JSON but writes the empty value to
/// protobuf.
fn keeps_empty(field: &Field) -> bool {
    use ValueType::{Bool, Double, Int32, Int64, Text};
    (field.is_pointer || field.is_always_written)
        && matches!(field.value, Bool | Int32 | Int64 | Double | Text)
}

/// Adds an item. Go clients never pack numbers.
fn add_item(
    list: &mut Vec<Value>,
    items: &ElementType,
    content: FieldContent<'_>,
    depth: usize,
) -> Result<(), DecodeError> {
    list.push(value(&items.value, content, depth)?.unwrap_or(Value::Null));
    Ok(())
}

/// Decodes the key and value of a map entry. Missing parts are empty.
fn entry(values: &ElementType, bytes: &[u8], depth: usize) -> Result<(String, Value), DecodeError> {
    let (mut key, mut found) = (String::new(), None);
    for part in Reader::new(bytes) {
        match part? {
            (1, content) => key = content.text()?,
            (2, content) => found = Some(content),
            _ => {}
        }
    }
    let value = match (&values.value, found) {
        // A list in a map is a separate message.
        (ValueType::List(items), found) => {
            let mut list = Vec::new();
            for part in Reader::new(found.map_or(Ok(&[][..]), FieldContent::bytes)?) {
                if let (1, content) = part? {
                    add_item(&mut list, items, content, depth)?;
                }
            }
            Value::Array(list)
        }
        (kind, Some(content)) => value(kind, content, depth)?.unwrap_or(Value::Null),
        (kind, None) => kind.zero(),
    };
    Ok((key, value))
}

fn value(kind: &ValueType, content: FieldContent<'_>, depth: usize) -> Result<Option<Value>, DecodeError> {
    Ok(Some(match kind {
        ValueType::Bool => (content.integer()? != 0).into(),
        ValueType::Int32 | ValueType::Int64 => content.integer()?.into(),
        ValueType::Double => content.double()?.into(),
        ValueType::Text => content.text()?.into(),
        ValueType::Bytes => message::base64(content.bytes()?),
        ValueType::Definition(of) => return definition_value(of, content.bytes()?, depth + 1),
        ValueType::Object => return raw(content.bytes()?, depth),
        // No field contains a list of lists or a map of maps; [`add_field`] and [`entry`] read the other lists and
        // maps.
        ValueType::List(_) | ValueType::Map(_) => return Ok(None),
    }))
}

/// True if a value equals the zero value that Go writes for an unset scalar.
fn is_empty(kind: &ValueType, value: &Value) -> bool {
    !matches!(kind, ValueType::Definition(_)) && *value == kind.zero()
}

#[cfg(test)]
mod tests;
