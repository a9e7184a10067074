//! How types are written and what their missing fields become: two small tables, read once.

use std::{collections::HashMap, sync::LazyLock};

use serde_json::Value;

/// What is said about the fields of one type.
#[derive(Debug, Default)]
pub(super) struct TypeRules {
    fields: Vec<FieldRule>,
}

/// What is said about one field.
#[derive(Debug)]
pub(super) struct FieldRule {
    /// The field.
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
    read(include_str!("presence.txt"), &mut types, |rule, value| rule.always = value);
    read(include_str!("defaults.txt"), &mut types, |rule, value| rule.default = value);
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

/// Reads one table: a type a line, then its fields as `name`, an optional `*` and an optional `=JSON`.
fn read(
    text: &'static str,
    types: &mut HashMap<&'static str, TypeRules>,
    set: impl Fn(&mut FieldRule, Option<Value>),
) {
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_ascii_whitespace();
        let Some(name) = words.next() else { continue };
        let rules = types.entry(name).or_default();
        for word in words {
            let (name, json) = word.split_once('=').map_or((word, None), |(name, json)| (name, Some(json)));
            let rule = rules.field(name.trim_end_matches('*'));
            rule.kept |= name.ends_with('*');
            let parsed =
                json.map(|json| serde_json::from_str(json).expect("the tables hold JSON, as a test shows"));
            if parsed.is_some() {
                set(rule, parsed);
            }
        }
    }
}
