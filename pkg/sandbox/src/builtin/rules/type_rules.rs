//! The treatment of missing and empty fields per type: Go annotations of the definitions and a small table of defaults.

use std::{collections::HashMap, sync::LazyLock};

use manifest::builtin::{Definition, Field, served};
use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct TypeRules {
    definition: Option<&'static Definition>,
    /// The defaults of missing fields.
    pub(super) defaults: Vec<(&'static str, Value)>,
}

static TYPES: LazyLock<HashMap<String, TypeRules>> = LazyLock::new(|| {
    let rules = |shape| TypeRules { definition: Some(shape), defaults: Vec::new() };
    let mut types: HashMap<_, _> =
        served().map(|shape| (short_name(&shape.full_name()).to_owned(), rules(shape))).collect();
    read_defaults(include_str!("defaults.txt"), &mut types);
    types
});

static NO_RULES: TypeRules = TypeRules { definition: None, defaults: Vec::new() };

/// Returns the rules of a type, which is named by its OpenAPI name or the last three parts of this name.
pub(super) fn of_type(definition: &str) -> &'static TypeRules {
    TYPES.get(short_name(definition)).unwrap_or(&NO_RULES)
}

/// Returns the last three parts of a definition name: `core.v1.Pod` for `io.k8s.api.core.v1.Pod`.
pub(super) fn short_name(definition: &str) -> &str {
    definition.rmatch_indices('.').nth(2).map_or(definition, |(dot, _)| &definition[dot + 1..])
}

impl TypeRules {
    /// The fields that JSON contains even if they are empty.
    pub(super) fn always_written(&self) -> impl Iterator<Item = &'static Field> {
        let fields = self.definition.map_or(&[][..], Definition::fields);
        fields.iter().filter(|field| field.is_always_written)
    }

    /// True if a zero in this field is kept, because the field is a pointer in Go.
    pub(super) fn keeps_zero(&self, field: &str) -> bool {
        let fields = self.definition.map_or(&[][..], Definition::fields);
        fields.iter().any(|known| known.name == field && known.is_pointer)
    }
}

/// Parses the table of defaults. Each line has a type and its fields as `name=JSON`.
fn read_defaults(text: &'static str, types: &mut HashMap<String, TypeRules>) {
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_ascii_whitespace();
        let Some(name) = words.next() else { continue };
        let defaults = words.filter_map(|word| word.split_once('=')).map(|(name, json)| {
            (name, serde_json::from_str(json).expect("the table holds JSON, as a test shows"))
        });
        types.entry(name.to_owned()).or_default().defaults.extend(defaults);
    }
}
