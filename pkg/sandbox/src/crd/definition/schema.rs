//! Validation of the schema of one version.
//!
//! Source: apiextensions-apiserver 1.36 `ValidateCustomResourceDefinitionOpenAPISchema`. Differs: only the syntax of
//! expressions is checked, not types and costs.

mod rules;

use serde_json::{Map, Value};

use super::structural;
use crate::{
    crd::{check, embedded, prune, rules as run},
    schema::{self, Schema},
    status::{FieldError, FieldErrors},
};

/// Fields that a root schema may have if the status subresource is enabled.
const ROOT_FIELDS: [(&str, &str); 22] = [
    ("description", "Description"),
    ("type", "Type"),
    ("format", "Format"),
    ("title", "Title"),
    ("maximum", "Maximum"),
    ("exclusiveMaximum", "ExclusiveMaximum"),
    ("minimum", "Minimum"),
    ("exclusiveMinimum", "ExclusiveMinimum"),
    ("maxLength", "MaxLength"),
    ("minLength", "MinLength"),
    ("pattern", "Pattern"),
    ("maxItems", "MaxItems"),
    ("minItems", "MinItems"),
    ("uniqueItems", "UniqueItems"),
    ("multipleOf", "MultipleOf"),
    ("required", "Required"),
    ("items", "Items"),
    ("properties", "Properties"),
    ("externalDocs", "ExternalDocs"),
    ("example", "Example"),
    ("x-kubernetes-preserve-unknown-fields", "XPreserveUnknownFields"),
    ("x-kubernetes-validations", "XValidations"),
];

/// Unsupported JSON Schema fields, in the order of their errors.
const UNSUPPORTED: [&str; 6] =
    ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"];
const META_FIELDS: [&str; 3] = ["metadata", "kind", "apiVersion"];
const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// Returns all errors of an `openAPIV3Schema`. `status`: the version has the status subresource.
pub(super) fn validate(source: &Value, path: &str, status: bool) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let Some(object) = source.as_object() else { return errors };
    if status {
        root_fields(object, path, &mut errors);
    }
    if flag(object, "nullable") {
        errors.forbidden(format_args!("{path}.nullable"), "nullable cannot be true at the root");
    }
    let mut sound = false;
    if is_readable(object) {
        let faults = structural::validate(source, path);
        let faults = if faults.is_empty() { default_errors(source, path) } else { faults };
        sound = faults.is_empty();
        errors.extend(faults);
    }
    let mut walk = SchemaValidator { rules: sound, schema_errors: Vec::new(), rule_errors: Vec::new() };
    walk.schema(object, path, &SchemaContext { root: true, ..SchemaContext::default() });
    errors.extend(walk.schema_errors);
    errors.extend(walk.rule_errors);
    errors
}

/// Returns a text field of a schema, or an empty text.
pub(super) fn text<'a>(schema: &'a Map<String, Value>, name: &str) -> &'a str {
    schema.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// True if a boolean field of a schema is true.
pub(super) fn flag(schema: &Map<String, Value>, name: &str) -> bool {
    schema.get(name).and_then(Value::as_bool).unwrap_or_default()
}

pub(super) fn object<'a>(schema: &'a Map<String, Value>, name: &str) -> Option<&'a Map<String, Value>> {
    schema.get(name).and_then(Value::as_object)
}

fn root_fields(schema: &Map<String, Value>, path: &str, errors: &mut Vec<FieldError>) {
    let kind = text(schema, "type");
    if !kind.is_empty() && kind != "object" {
        let detail = "only \"object\" is allowed as the type at the root of the schema if the status subresource is \
                      enabled";
        errors.invalid(format_args!("{path}.type"), kind, detail);
    }
    let property = |(name, value): &(&String, &Value)| {
        !matches!(value, Value::Null | Value::Bool(false))
            && !ROOT_FIELDS.iter().any(|(known, _)| known == name)
    };
    if schema.iter().any(|pair| property(&pair)) {
        let names: Vec<_> = ROOT_FIELDS.iter().map(|(_, name)| *name).collect();
        let detail = format!(
            "only [{}] fields are allowed at the root of the schema if the status subresource is enabled",
            names.join(" ")
        );
        errors.invalid(path, Value::Object(schema.clone()), detail);
    }
}

/// True if the schema has no construct that keeps the real server from checking its structure.
fn is_readable(schema: &Map<String, Value>) -> bool {
    let unsupported = UNSUPPORTED.iter().any(|name| schema.contains_key(*name));
    let preserve = schema.get("x-kubernetes-preserve-unknown-fields") != Some(&Value::Bool(false));
    let single = !schema.get("items").is_some_and(Value::is_array);
    let below = object(schema, "properties").into_iter().flat_map(Map::values);
    let lists =
        ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|name| schema.get(name)?.as_array()).flatten();
    let inner = ["items", "additionalProperties", "not"].into_iter().filter_map(|name| schema.get(name));
    let mut all = below.chain(lists).chain(inner).filter_map(Value::as_object);
    !unsupported && preserve && single && all.all(is_readable)
}

/// Checks that defaults match their schemas.
fn default_errors(source: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if source.as_object().is_some_and(has_default) {
        let (schemas, root) = schema::parse(source);
        defaults_below(schemas.schema(root), path, &mut errors);
    }
    errors
}

fn has_default(schema: &Map<String, Value>) -> bool {
    let below = object(schema, "properties").into_iter().flat_map(Map::values).chain(schema.get("items"));
    schema.contains_key("default") || below.filter_map(Value::as_object).any(has_default)
}

fn defaults_below(schema: Schema<'_>, path: &str, errors: &mut Vec<FieldError>) {
    if let Some(default) = &schema.node().default {
        validate_default(schema, default, &format!("{path}.default"), errors);
    }
    if let Some(items) = schema.items() {
        defaults_below(items, &format!("{path}.items"), errors);
    }
    for (name, id) in &schema.node().properties {
        let field = schema.at(*id);
        // Metadata has a fixed schema without defaults.
        if field.node().definition.is_none() {
            defaults_below(field, &format!("{path}.properties[{name}]"), errors);
        }
    }
}

fn validate_default(schema: Schema<'_>, default: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let mut pruned = default.clone();
    if !prune::prune_part(&mut pruned, schema).is_empty() {
        errors.invalid(path, default.clone(), "must not have unknown fields");
    }
    let below = |error: FieldError| {
        let inner = if error.path == "<nil>" { String::new() } else { format!(".{}", error.path) };
        FieldError { path: format!("{path}{inner}"), ..error }
    };
    let mut found: Vec<_> = embedded::validate_embedded(schema, default).into_iter().map(below).collect();
    if found.is_empty() {
        found.extend(check::check(schema, default, None).into_iter().map(below));
    }
    if found.is_empty() {
        found = run::default_errors(schema, default, path);
    }
    errors.extend(found);
}

/// The effects of enclosing schemas on a schema.
#[derive(Clone, Default)]
struct SchemaContext {
    root: bool,
    in_metadata: bool,
    /// The reason why defaults are forbidden, if any.
    no_defaults: Option<String>,
    /// The path of the enclosing list whose items cannot be correlated between two states of an object.
    uncorrelatable_list: Option<String>,
    /// True in alternatives, whose rules are not checked.
    in_alternative: bool,
}

struct SchemaValidator {
    /// True if the schema is valid so far and its rules are checked too.
    rules: bool,
    schema_errors: Vec<FieldError>,
    rule_errors: Vec<FieldError>,
}

impl SchemaValidator {
    fn forbid(&mut self, path: String, detail: &str) {
        self.schema_errors.forbidden(path, detail);
    }

    fn schema(&mut self, schema: &Map<String, Value>, path: &str, context: &SchemaContext) {
        let before = self.schema_errors.len();
        self.check_supported(schema, path, context);
        if flag(schema, "uniqueItems") {
            let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            self.forbid(format!("{path}.uniqueItems"), detail);
        }
        self.children(schema, path, context);
        if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
            let path = format!("{path}.x-kubernetes-preserve-unknown-fields");
            self.schema_errors.invalid(path, false, "must be true or undefined");
        }
        self.merge_types(schema, path);
        self.map_list(schema, path);
        self.rules(schema, path, context, before);
    }

    fn check_supported(&mut self, schema: &Map<String, Value>, path: &str, context: &SchemaContext) {
        let kind = text(schema, "type");
        if !kind.is_empty() && !TYPES.contains(&kind) {
            self.schema_errors.not_supported(format_args!("{path}.type"), kind, &TYPES);
        }
        if let Some(reason) = &context.no_defaults
            && schema.get("default").is_some_and(|value| !value.is_null())
        {
            self.forbid(format!("{path}.default"), &format!("must not be set {reason}"));
        }
        for name in UNSUPPORTED.into_iter().filter(|name| schema.contains_key(*name)) {
            self.forbid(format!("{path}.{name}"), &format!("{name} is not supported"));
        }
        if kind == "null" {
            let detail = "type cannot be set to null, use nullable as an alternative";
            self.forbid(format!("{path}.type"), detail);
        }
        if schema.get("items").is_some_and(Value::is_array) {
            self.forbid(format!("{path}.items"), "items must be a schema object and not an array");
        }
        if context.in_metadata && flag(schema, "x-kubernetes-embedded-resource") {
            let detail = "must not be used inside of resource meta";
            self.forbid(format!("{path}.x-kubernetes-embedded-resource"), detail);
        }
    }

    fn children(&mut self, schema: &Map<String, Value>, path: &str, context: &SchemaContext) {
        let same = SchemaContext { root: false, ..context.clone() };
        let fields = object(schema, "properties").filter(|fields| !fields.is_empty());
        if let Some(additional) = schema.get("additionalProperties").filter(|value| !value.is_null()) {
            let path = format!("{path}.additionalProperties");
            if fields.is_some() && additional != &Value::Bool(true) {
                let detail = "additionalProperties and properties are mutual exclusive";
                self.schema_errors.forbidden(&*path, detail);
            }
            if let Some(additional) = additional.as_object() {
                let mut next = same.clone();
                if context.in_metadata {
                    next.no_defaults =
                        Some("inside additionalProperties applying to object metadata".to_owned());
                }
                self.schema(additional, &path, &next);
            }
        }
        for (name, field) in fields.into_iter().flatten() {
            let Some(field) = field.as_object() else { continue };
            let mut next = same.clone();
            let resource = context.root || flag(schema, "x-kubernetes-embedded-resource");
            if resource && META_FIELDS.contains(&name.as_str()) {
                next.in_metadata = true;
                if context.root {
                    next.no_defaults = Some(format!("in top-level {name}"));
                }
            }
            self.schema(field, &format!("{path}.properties[{name}]"), &next);
        }
        let alternative = SchemaContext { in_alternative: true, ..same.clone() };
        if let Some(not) = object(schema, "not") {
            self.schema(not, &format!("{path}.not"), &alternative);
        }
        for name in ["allOf", "oneOf", "anyOf"] {
            let list = schema.get(name).and_then(Value::as_array).into_iter().flatten();
            for (index, inner) in
                list.enumerate().filter_map(|(index, inner)| Some((index, inner.as_object()?)))
            {
                self.schema(inner, &format!("{path}.{name}[{index}]"), &alternative);
            }
        }
        if let Some(items) = object(schema, "items") {
            let mut next = same;
            if text(schema, "x-kubernetes-list-type") != "map" {
                next.uncorrelatable_list.get_or_insert_with(|| path.to_owned());
            }
            self.schema(items, &format!("{path}.items"), &next);
        }
    }

    fn merge_types(&mut self, schema: &Map<String, Value>, path: &str) {
        let kind = text(schema, "type");
        for (field, wanted, words) in [
            ("x-kubernetes-map-type", "object", &["atomic", "granular"][..]),
            ("x-kubernetes-list-type", "array", &["atomic", "set", "map"]),
        ] {
            let given = text(schema, field);
            if given.is_empty() {
                continue;
            }
            if kind != wanted {
                let (path, detail) =
                    (format!("{path}.type"), format!("must be {wanted} if {field} is specified"));
                self.schema_errors.push(if kind.is_empty() {
                    FieldError::required(path, detail)
                } else {
                    FieldError::invalid(path, kind, detail)
                });
            } else if given == "set" {
                self.set_items(schema, path);
            }
            if !words.contains(&given) {
                self.schema_errors.not_supported(format_args!("{path}.{field}"), given, words);
            }
        }
    }

    fn set_items(&mut self, schema: &Map<String, Value>, path: &str) {
        let Some(items) = object(schema, "items") else { return };
        let (field, fine) = match text(items, "type") {
            "array" => {
                let given = text(items, "x-kubernetes-list-type");
                ("x-kubernetes-list-type", given.is_empty() || given == "atomic")
            }
            "object" => ("x-kubernetes-map-type", text(items, "x-kubernetes-map-type") == "atomic"),
            _ => return,
        };
        if !fine {
            // The real server quotes the list type in both cases.
            let value = items.get("x-kubernetes-list-type").cloned().unwrap_or_default();
            let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
            self.schema_errors.invalid(format_args!("{path}.items.{field}"), value, detail);
        }
    }

    fn map_list(&mut self, schema: &Map<String, Value>, path: &str) {
        let list_type = text(schema, "x-kubernetes-list-type");
        let keys: Vec<&str> = schema
            .get("x-kubernetes-list-map-keys")
            .and_then(Value::as_array)
            .map(|keys| keys.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let keys_path = format!("{path}.x-kubernetes-list-map-keys");
        if !keys.is_empty() && list_type != "map" {
            let (path, detail) = (
                format!("{path}.x-kubernetes-list-type"),
                "must be map if x-kubernetes-list-map-keys is non-empty",
            );
            self.schema_errors.push(if list_type.is_empty() {
                FieldError::required(path, detail)
            } else {
                FieldError::invalid(path, list_type, detail)
            });
        }
        let items = object(schema, "items");
        if list_type == "map" {
            if keys.is_empty() {
                let detail = "must not be empty if x-kubernetes-list-type is map";
                self.schema_errors.required(&*keys_path, detail);
            }
            match items {
                None => {
                    let detail = "must have a schema if x-kubernetes-list-type is map";
                    self.schema_errors.required(format_args!("{path}.items"), detail);
                }
                Some(items) if text(items, "type") != "object" => {
                    let detail = "must be object if parent array's x-kubernetes-list-type is map";
                    let error =
                        FieldError::invalid(format!("{path}.items.type"), text(items, "type"), detail);
                    self.schema_errors.push(error);
                }
                Some(items) => self.map_keys(items, &keys, path, &keys_path),
            }
        }
        if let Some(items) = items.filter(|_| matches!(list_type, "map" | "set")) {
            if flag(items, "nullable") {
                let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
                self.forbid(format!("{path}.items.nullable"), &detail);
            }
            if list_type == "map" {
                self.key_presence(items, &keys, path);
            }
        }
    }

    fn map_keys(&mut self, items: &Map<String, Value>, keys: &[&str], path: &str, keys_path: &str) {
        let given = || Value::from(keys.to_vec());
        for (index, key) in keys.iter().enumerate() {
            match object(items, "properties").and_then(|fields| fields.get(*key)?.as_object()) {
                Some(field) if matches!(text(field, "type"), "array" | "object") => {
                    let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                    let path = format!("{path}.items.properties[{key}].type");
                    self.schema_errors.invalid(path, text(items, "type"), detail);
                }
                Some(_) => {}
                None => {
                    let detail = "entries must all be names of item properties";
                    self.schema_errors.invalid(keys_path, given(), detail);
                }
            }
            if keys[..index].contains(key) {
                let error = FieldError::invalid(keys_path, given(), "must not contain duplicate entries");
                self.schema_errors.push(error);
            }
        }
    }

    fn key_presence(&mut self, items: &Map<String, Value>, keys: &[&str], path: &str) {
        let required = items.get("required").and_then(Value::as_array);
        for key in keys {
            let Some(field) = object(items, "properties").and_then(|fields| fields.get(*key)?.as_object())
            else {
                continue;
            };
            let path = format!("{path}.items.properties[{key}]");
            let needed = required.is_some_and(|names| names.iter().any(|name| name == key));
            if !needed && field.get("default").is_none_or(Value::is_null) {
                let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a \
                              required property";
                self.schema_errors.required(format_args!("{path}.default"), detail);
            }
            if flag(field, "nullable") {
                let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
                self.forbid(format!("{path}.nullable"), detail);
            }
        }
    }
}
