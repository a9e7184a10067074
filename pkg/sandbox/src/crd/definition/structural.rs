//! The check for structural schemas: each part of an object has one type, specified in one place.
//!
//! Source: apiextensions-apiserver 1.36 `pkg/apiserver/schema/validation.go` and `complete.go`.

use serde_json::{Map, Value};

use super::schema::{flag, object, text};
use crate::{
    schema::Pattern,
    status::{FieldError, FieldErrors},
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Returns all structural errors of a schema, sorted by their text as on the real server.
pub(super) fn validate(source: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Some(schema) = source.as_object() {
        invariants(schema, Level::Root, path, &mut errors);
        completeness(schema, Some(schema), path, path, &mut errors);
    }
    errors.sort_by_cached_key(ToString::to_string);
    errors
}

fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Map<String, Value>)> {
    let pairs = object(schema, "properties").into_iter().flatten();
    pairs.filter_map(|(name, field)| Some((name, field.as_object()?)))
}

fn alternatives<'a>(
    schema: &'a Map<String, Value>,
    name: &str,
) -> impl Iterator<Item = &'a Map<String, Value>> {
    let list = schema.get(name).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_object)
}

fn invariants(schema: &Map<String, Value>, level: Level, path: &str, errors: &mut Vec<FieldError>) {
    let kind = text(schema, "type");
    if kind == "array" && !schema.contains_key("items") {
        errors.required(format_args!("{path}.items"), "must be specified");
    }
    if let Some(items) = object(schema, "items") {
        invariants(items, Level::Item, &format!("{path}.items"), errors);
    }
    for (name, field) in properties(schema) {
        invariants(field, Level::Field, &format!("{path}.properties[{name}]"), errors);
    }
    if let Some(additional) = schema.get("additionalProperties") {
        let path = format!("{path}.additionalProperties");
        if level == Level::Root {
            errors.forbidden(&*path, "must not be used at the root");
        }
        if let Some(additional) = additional.as_object() {
            invariants(additional, Level::Field, &path, errors);
        }
    }
    if flag(schema, "x-kubernetes-int-or-string") {
        let detail = "must be false if x-kubernetes-int-or-string is true";
        for other in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] {
            if flag(schema, other) {
                errors.invalid(format_args!("{path}.{other}"), true, detail);
            }
        }
    }
    values(schema, path, errors);
    kinds(schema, level, path, errors);
    identity(schema, level, path, errors);
}

fn kinds(schema: &Map<String, Value>, level: Level, path: &str, errors: &mut Vec<FieldError>) {
    let (kind, here) = (text(schema, "type"), format!("{path}.type"));
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    let untyped =
        flag(schema, "x-kubernetes-int-or-string") || flag(schema, "x-kubernetes-preserve-unknown-fields");
    if embedded && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(if kind.is_empty() {
            FieldError::required(&*here, detail)
        } else {
            FieldError::invalid(&*here, kind, detail)
        });
    } else if kind.is_empty() && !untyped {
        errors.required(
            &*here,
            match level {
                Level::Root => "must not be empty at the root",
                Level::Item => "must not be empty for specified array items",
                Level::Field => "must not be empty for specified object fields",
            },
        );
    }
    if embedded && schema.contains_key("additionalProperties") {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        errors.forbidden(format_args!("{path}.additionalProperties"), detail);
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        errors.invalid(here, kind, "must be object at the root");
    }
}

fn identity(schema: &Map<String, Value>, level: Level, path: &str, errors: &mut Vec<FieldError>) {
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    let fields = object(schema, "properties");
    let field = |name: &str| fields.and_then(|fields| fields.get(name)?.as_object());
    if level == Level::Root || embedded {
        for (name, wanted) in [("kind", "string"), ("apiVersion", "string"), ("metadata", "object")] {
            let Some(kind) = field(name).map(|field| text(field, "type")).filter(|kind| *kind != wanted)
            else {
                continue;
            };
            let path = format!("{path}.properties[{name}].type");
            errors.invalid(path, kind, format!("must be {wanted}"));
        }
    }
    if let Some(metadata) = field("metadata").filter(|_| level == Level::Root) {
        let names = |name: &String| name == "name" || name == "generateName";
        let known = object(metadata, "properties").is_none_or(|fields| fields.keys().all(names));
        let plain = metadata.keys().all(|name| matches!(name.as_str(), "type" | "properties" | "default"));
        if !known || !plain {
            let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
            errors.forbidden(format_args!("{path}.properties[metadata]"), detail);
        }
    }
    let preserved = flag(schema, "x-kubernetes-preserve-unknown-fields");
    if embedded && !preserved && fields.is_none_or(Map::is_empty) {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                      x-kubernetes-preserve-unknown-fields";
        errors.required(format_args!("{path}.properties"), detail);
    }
}

/// True for the only alternatives that may contain types: an integer and a string.
fn is_int_or_string(list: Option<&Value>) -> bool {
    let is = |value: &Value, kind: &str| {
        value
            .as_object()
            .is_some_and(|schema| schema.len() == 1 && schema.get("type").is_some_and(|t| t == kind))
    };
    list.and_then(Value::as_array).is_some_and(
        |list| matches!(&list[..], [first, second] if is(first, "integer") && is(second, "string")),
    )
}

fn values(schema: &Map<String, Value>, path: &str, errors: &mut Vec<FieldError>) {
    let skip_any = is_int_or_string(schema.get("anyOf"));
    let skip_first = schema.get("allOf").is_some_and(|all| is_int_or_string(all.pointer("/0/anyOf")));
    value_checks(schema, skip_any, skip_first, path, errors);
}

fn value_checks(
    schema: &Map<String, Value>,
    skip_any: bool,
    skip_first: bool,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    for name in ["anyOf", "allOf", "oneOf"] {
        for (index, alternative) in alternatives(schema, name).enumerate() {
            if name == "anyOf" && skip_any {
                continue;
            }
            let skip = name == "allOf" && index == 0 && skip_first;
            nested(alternative, skip, &format!("{path}.{name}[{index}]"), errors);
        }
    }
    if let Some(not) = object(schema, "not") {
        nested(not, false, &format!("{path}.not"), errors);
    }
    let pattern = text(schema, "pattern");
    if let Some(fault) = Pattern::syntax_error(pattern) {
        let detail = format!("must be a valid regular expression, but isn't: {fault}");
        errors.invalid(format_args!("{path}.pattern"), pattern, detail);
    }
}

/// Checks that alternatives specify only value validations, not types.
fn nested(schema: &Map<String, Value>, skip_any: bool, path: &str, errors: &mut Vec<FieldError>) {
    value_checks(schema, skip_any, false, path, errors);
    if let Some(items) = object(schema, "items") {
        nested(items, false, &format!("{path}.items"), errors);
    }
    for (name, field) in properties(schema) {
        nested(field, false, &format!("{path}.properties[{name}]"), errors);
    }
    for (name, detail) in [
        ("type", "must be empty to be structural"),
        ("additionalProperties", "must be undefined to be structural"),
        ("default", "must be undefined to be structural"),
        ("title", "must be empty to be structural"),
        ("description", "must be empty to be structural"),
        ("nullable", "must be false to be structural"),
        ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
        ("x-kubernetes-embedded-resource", "must be false to be structural"),
        ("x-kubernetes-int-or-string", "must be false to be structural"),
        ("x-kubernetes-list-map-keys", "must be empty to be structural"),
        ("x-kubernetes-list-type", "must be undefined to be structural"),
        ("x-kubernetes-map-type", "must be undefined to be structural"),
        ("x-kubernetes-validations", "must be empty to be structural"),
    ] {
        let is_set = schema.get(name).is_some_and(|value| match value {
            Value::Null | Value::Bool(false) => false,
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Bool(true) | Value::Number(_) | Value::Object(_) => true,
        });
        if is_set {
            errors.forbidden(format_args!("{path}.{name}"), detail);
        }
    }
    if object(schema, "properties").is_some_and(|fields| fields.contains_key("metadata")) {
        let detail = "must not be specified in a nested context";
        errors.forbidden(format_args!("{path}.properties[metadata]"), detail);
    }
}

/// Checks that fields in alternatives are also specified outside the alternatives.
fn completeness(
    checks: &Map<String, Value>,
    shape: Option<&Map<String, Value>>,
    shape_path: &str,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    let mut each = |alternative: &Map<String, Value>, path: String| {
        nested_completeness(alternative, shape, shape_path, &path, errors);
    };
    if let Some(not) = object(checks, "not") {
        each(not, format!("{path}.not"));
    }
    for name in ["allOf", "anyOf", "oneOf"] {
        for (index, alternative) in alternatives(checks, name).enumerate() {
            each(alternative, format!("{path}.{name}[{index}]"));
        }
    }
}

fn nested_completeness(
    checks: &Map<String, Value>,
    shape: Option<&Map<String, Value>>,
    shape_path: &str,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    let Some(shape) = shape else {
        errors.required(shape_path, format!("because it is defined in {path}"));
        return;
    };
    completeness(checks, Some(shape), shape_path, path, errors);
    if let Some(items) = object(checks, "items") {
        let (shape_path, path) = (format!("{shape_path}.items"), format!("{path}.items"));
        nested_completeness(items, object(shape, "items"), &shape_path, &path, errors);
    }
    for (name, field) in properties(checks) {
        let known = object(shape, "properties").and_then(|fields| fields.get(name)?.as_object());
        let (shape_path, path) =
            (format!("{shape_path}.properties[{name}]"), format!("{path}.properties[{name}]"));
        nested_completeness(field, known, &shape_path, &path, errors);
    }
}
