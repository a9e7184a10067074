//! The treatment of missing and empty fields per type: Go annotations of the shapes and a small table of defaults.

use std::{collections::HashMap, sync::LazyLock};

use serde_json::{Value, json};

use crate::builtin::table::{DefinitionKind, Field, ValueType, type_definitions};

#[derive(Debug, Default)]
pub(super) struct TypeRules {
    fields: Vec<FieldRule>,
}

#[derive(Debug)]
pub(super) struct FieldRule {
    pub(super) name: &'static str,
    /// True if zero is distinct from absent, because the field is a pointer in Go.
    pub(super) keeps_zero: bool,
    /// The value that is written for a missing field that is always present.
    pub(super) always_written: Option<Value>,
    /// The default of a missing field.
    pub(super) default: Option<Value>,
}

static TYPES: LazyLock<HashMap<&'static str, TypeRules>> = LazyLock::new(|| {
    let mut types = HashMap::new();
    for shape in type_definitions().iter() {
        let DefinitionKind::Fields(fields) = &shape.kind else { continue };
        let reported = fields.iter().filter(|field| field.is_pointer || field.is_always_written);
        let rule = |field: &Field| FieldRule {
            name: field.name,
            keeps_zero: field.is_pointer,
            always_written: field.is_always_written.then(|| zero(field)),
            default: None,
        };
        types.insert(short_name(&shape.name), TypeRules { fields: reported.map(rule).collect() });
    }
    read_defaults(include_str!("defaults.txt"), &mut types);
    types
});

static NO_RULES: TypeRules = TypeRules { fields: Vec::new() };

/// Returns the rules of a type, which is named by its OpenAPI name or the last three parts of this name.
pub(super) fn of_type(definition: &str) -> &'static TypeRules {
    TYPES.get(short_name(definition)).unwrap_or(&NO_RULES)
}

/// Returns the last three parts of a definition name: `core.v1.Pod` for `io.k8s.api.core.v1.Pod`.
pub(super) fn short_name(definition: &str) -> &str {
    definition.rmatch_indices('.').nth(2).map_or(definition, |(dot, _)| &definition[dot + 1..])
}

impl TypeRules {
    pub(super) fn fields(&self) -> &[FieldRule] {
        &self.fields
    }

    /// True if a zero in this field is kept.
    pub(super) fn keeps_zero(&self, field: &str) -> bool {
        self.fields.iter().any(|rule| rule.name == field && rule.keeps_zero)
    }

    fn field(&mut self, name: &'static str) -> &mut FieldRule {
        let known = self.fields.iter().position(|rule| rule.name == name);
        let index = known.unwrap_or_else(|| {
            self.fields.push(FieldRule { name, keeps_zero: false, always_written: None, default: None });
            self.fields.len() - 1
        });
        &mut self.fields[index]
    }
}

/// The value that Go writes for an unset field.
fn zero(field: &Field) -> Value {
    match &field.value {
        _ if field.is_pointer => Value::Null,
        ValueType::Bytes | ValueType::Object | ValueType::List(_) | ValueType::Map(_) => Value::Null,
        ValueType::Shape(id) => match type_definitions().get(*id).kind {
            DefinitionKind::Fields(_) => json!({}),
            DefinitionKind::Quantity => json!("0"),
            DefinitionKind::IntOrString => json!(0),
            DefinitionKind::Text(_) | DefinitionKind::Object | DefinitionKind::Any => Value::Null,
        },
        scalar => scalar.zero(),
    }
}

/// Parses the table of defaults. Each line has a type and its fields as `name=JSON`.
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
