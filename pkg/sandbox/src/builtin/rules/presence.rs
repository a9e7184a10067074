//! How types are written and what their missing fields become: the Go words of the shapes, and a small table of defaults.

use std::{collections::HashMap, sync::LazyLock};

use serde_json::{Value, json};

use crate::builtin::table::{Field, Form, ValueType, shapes};

/// What is said about the fields of one type.
#[derive(Debug, Default)]
pub(super) struct TypeRules {
    fields: Vec<FieldRule>,
}

/// What is said about one field.
#[derive(Debug)]
pub(super) struct FieldRule {
    pub(super) name: &'static str,
    /// A zero is a value of its own: the field is a pointer in Go.
    pub(super) kept: bool,
    /// What is written when there is no value, for fields that are always there.
    pub(super) always: Option<Value>,
    /// What stands in for a missing value.
    pub(super) default: Option<Value>,
}

static TYPES: LazyLock<HashMap<&'static str, TypeRules>> = LazyLock::new(|| {
    let mut types = HashMap::new();
    for shape in shapes().iter() {
        let Form::Fields(fields) = &shape.form else { continue };
        let told = fields.iter().filter(|field| field.is_pointer || field.is_always);
        let rule = |field: &Field| FieldRule {
            name: field.name,
            kept: field.is_pointer,
            always: field.is_always.then(|| zero(field)),
            default: None,
        };
        types.insert(short_name(&shape.name), TypeRules { fields: told.map(rule).collect() });
    }
    read_defaults(include_str!("defaults.txt"), &mut types);
    types
});

static NOTHING: TypeRules = TypeRules { fields: Vec::new() };

/// What is said about a type, by its name in the OpenAPI document or its last three parts.
pub(super) fn of_type(definition: &str) -> &'static TypeRules {
    TYPES.get(short_name(definition)).unwrap_or(&NOTHING)
}

/// The last three parts of a definition's name, `core.v1.Pod` of `io.k8s.api.core.v1.Pod`.
pub(super) fn short_name(definition: &str) -> &str {
    definition.rmatch_indices('.').nth(2).map_or(definition, |(dot, _)| &definition[dot + 1..])
}

impl TypeRules {
    /// All fields something is said about.
    pub(super) fn fields(&self) -> &[FieldRule] {
        &self.fields
    }

    /// Whether a zero is kept in this field.
    pub(super) fn keeps_zero(&self, field: &str) -> bool {
        self.fields.iter().any(|rule| rule.name == field && rule.kept)
    }

    fn field(&mut self, name: &'static str) -> &mut FieldRule {
        let known = self.fields.iter().position(|rule| rule.name == name);
        let index = known.unwrap_or_else(|| {
            self.fields.push(FieldRule { name, kept: false, always: None, default: None });
            self.fields.len() - 1
        });
        &mut self.fields[index]
    }
}

/// What Go writes for a field that nothing was read into.
fn zero(field: &Field) -> Value {
    match &field.value {
        _ if field.is_pointer => Value::Null,
        ValueType::Bytes | ValueType::Object | ValueType::List(_) | ValueType::Map(_) => Value::Null,
        ValueType::Shape(id) => match shapes().get(*id).form {
            Form::Fields(_) => json!({}),
            Form::Quantity => json!("0"),
            Form::IntOrString => json!(0),
            Form::Text(_) | Form::Object | Form::Any => Value::Null,
        },
        scalar => scalar.zero(),
    }
}

/// Reads the table of defaults: a type a line, then its fields as `name=JSON`.
fn read_defaults(text: &'static str, types: &mut HashMap<&'static str, TypeRules>) {
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_ascii_whitespace();
        let Some(name) = words.next() else { continue };
        let rules = types.entry(name).or_default();
        for (name, json) in words.filter_map(|word| word.split_once('=')) {
            rules.field(name).default =
                Some(serde_json::from_str(json).expect("the table holds JSON, as a test shows"));
        }
    }
}
