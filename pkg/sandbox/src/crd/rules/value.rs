//! Conversion of JSON values to CEL values.
//!
//! Source: apiserver 1.36 `pkg/cel/common/values.go`. The schema decides: unspecified fields are absent, text with a
//! time format is a time, and names that are no identifiers are escaped.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use kube_cel::cel::{
    Context, Program, Value as CelValue,
    objects::{Key, Map},
};
use serde_json::{Number, Value};

use crate::{
    cel,
    schema::{AdditionalProperties, Node, Schema, Type},
};

/// Reserved words of CEL, which need escaping as field names, separated by spaces.
const RESERVED: &str = "true false null in as break const continue else for function if import let loop package \
    namespace return var void while";

/// Converts a value with its schema, if any. `functions` parses times and durations.
pub(super) fn convert(schema: Option<Schema<'_>>, value: &Value, functions: &Context<'_>) -> CelValue {
    let node = schema.map(Schema::node);
    match value {
        Value::Null => CelValue::Null,
        Value::Bool(flag) => CelValue::Bool(*flag),
        Value::Number(given) => number(given, node.map_or(Type::Any, |node| node.kind)),
        Value::String(text) => {
            convert_formatted(text, node.and_then(|node| node.format.as_deref()), functions)
        }
        Value::Array(items) => {
            let schema = schema.and_then(Schema::items);
            CelValue::List(Arc::new(items.iter().map(|item| convert(schema, item, functions)).collect()))
        }
        Value::Object(fields) => {
            let is_struct =
                |node: &Node| node.additional == AdditionalProperties::None && node.kind == Type::Object;
            let is_struct = node.is_some_and(is_struct);
            object(fields.iter().filter_map(|(name, value)| {
                let field = schema.and_then(|schema| schema.field(name));
                let name = if is_struct { field.map(|_| escape(name))? } else { name.clone() };
                Some((name, convert(field, value, functions)))
            }))
        }
    }
}

fn object(fields: impl Iterator<Item = (String, CelValue)>) -> CelValue {
    let map: HashMap<Key, CelValue> =
        fields.map(|(name, value)| (Key::String(Arc::new(name)), value)).collect();
    CelValue::Map(Map { map: Arc::new(map) })
}

fn number(number: &Number, kind: Type) -> CelValue {
    let float = number.as_f64().unwrap_or_default();
    match (kind, number.as_i64()) {
        (Type::Number, _) => CelValue::Float(float),
        (_, Some(int)) => CelValue::Int(int),
        #[expect(clippy::cast_possible_truncation, reason = "the schema let whole numbers pass alone")]
        (Type::Integer, None) => CelValue::Int(float as i64),
        _ => CelValue::Float(float),
    }
}

fn convert_formatted(text: &str, format: Option<&str>, functions: &Context<'_>) -> CelValue {
    let read = match format {
        Some("date-time" | "datetime") => evaluate(&TIMESTAMP, text, functions),
        Some("date") => evaluate(&TIMESTAMP, &format!("{text}T00:00:00Z"), functions),
        Some("duration") => evaluate(&DURATION, text, functions),
        Some("byte") => BASE64_STANDARD.decode(text).ok().map(|bytes| CelValue::Bytes(Arc::new(bytes))),
        _ => None,
    };
    read.unwrap_or_else(|| CelValue::String(Arc::new(text.to_owned())))
}

static TIMESTAMP: LazyLock<Program> = LazyLock::new(|| constant("timestamp(text)"));
static DURATION: LazyLock<Program> = LazyLock::new(|| constant("duration(text)"));

fn constant(expression: &str) -> Program {
    cel::compile(expression).expect("a constant expression")
}

/// Evaluates a program on a text. The time types of CEL belong to a separate crate, so CEL itself parses times.
fn evaluate(program: &Program, text: &str, functions: &Context<'_>) -> Option<CelValue> {
    let mut context = functions.new_inner_scope();
    context.add_variable_from_value("text", CelValue::String(Arc::new(text.to_owned())));
    program.execute(&context).ok()
}

/// Escapes a field name for expressions.
/// Source: apiserver 1.36 `pkg/cel/escaping.go`.
fn escape(name: &str) -> String {
    if RESERVED.split(' ').any(|word| word == name) {
        return format!("__{name}__");
    }
    let special = |c: char| matches!(c, '.' | '-' | '/') || !(c.is_ascii_alphanumeric() || c == '_');
    if !name.contains(special) && !name.contains("__") {
        return name.to_owned();
    }
    name.replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__")
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn invalid_cel_identifiers_are_escaped() {
        for (name, escaped) in [
            ("replicas", "replicas"),
            ("namespace", "__namespace__"),
            ("a-b", "a__dash__b"),
            ("a.b/c", "a__dot__b__slash__c"),
            ("a__b", "a__underscores__b"),
        ] {
            assert_eq!(escape(name), escaped);
        }
    }
}
