//! Conditions of a schema on values beyond their type: bounds, patterns, alternatives, rules.

use serde_json::{Map, Value};

use super::{NodeId, Pattern, Rule};

/// All conditions on a value besides its type. Numbers are JSON numbers; lengths count characters.
#[derive(Debug, Default)]
pub(crate) struct ValueChecks {
    /// `enum`: the allowed values.
    pub allowed: Vec<Value>,
    pub minimum: Option<Bound>,
    pub maximum: Option<Bound>,
    pub multiple_of: Option<f64>,
    /// `minLength`, in characters.
    pub min_length: Option<i64>,
    /// `maxLength`, in characters.
    pub max_length: Option<i64>,
    pub pattern: Option<Pattern>,
    pub min_items: Option<i64>,
    pub max_items: Option<i64>,
    pub min_properties: Option<i64>,
    pub max_properties: Option<i64>,
    /// `allOf`: all schemas must match.
    pub all_of: Vec<NodeId>,
    /// `anyOf`: at least one schema must match.
    pub any_of: Vec<NodeId>,
    /// `oneOf`: exactly one schema must match.
    pub one_of: Vec<NodeId>,
    /// `not`: the schema must not match.
    pub not: Option<NodeId>,
    /// `x-kubernetes-validations`.
    pub rules: Vec<Rule>,
}

/// One end of a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    pub value: f64,
    /// True if the number itself is outside the range.
    pub exclusive: bool,
}

impl ValueChecks {
    /// Reads the conditions of one schema. The caller adds its subschemas (`allOf`…).
    pub(super) fn read(source: &Map<String, Value>) -> Self {
        let number = |name: &str| source.get(name).and_then(Value::as_f64);
        let count = |name: &str| source.get(name).and_then(Value::as_i64);
        let bound = |name: &str, exclusive: &str| {
            let exclusive = source.get(exclusive).and_then(Value::as_bool).unwrap_or_default();
            number(name).map(|value| Bound { value, exclusive })
        };
        let list = |name: &str| source.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let pattern = source.get("pattern").and_then(Value::as_str).filter(|text| !text.is_empty());
        Self {
            allowed: list("enum").to_vec(),
            minimum: bound("minimum", "exclusiveMinimum"),
            maximum: bound("maximum", "exclusiveMaximum"),
            multiple_of: number("multipleOf"),
            min_length: count("minLength"),
            max_length: count("maxLength"),
            pattern: pattern.map(Pattern::new),
            min_items: count("minItems"),
            max_items: count("maxItems"),
            min_properties: count("minProperties"),
            max_properties: count("maxProperties"),
            rules: list("x-kubernetes-validations").iter().map(Rule::read).collect(),
            ..Self::default()
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        let Self { allowed, all_of, any_of, one_of, rules, .. } = self;
        let lists = allowed.is_empty() && all_of.is_empty() && any_of.is_empty() && one_of.is_empty();
        let bounds = [self.min_length, self.max_length, self.min_items, self.max_items];
        let counts = [self.min_properties, self.max_properties];
        lists
            && rules.is_empty()
            && self.not.is_none()
            && self.pattern.is_none()
            && self.multiple_of.is_none()
            && self.minimum.is_none()
            && self.maximum.is_none()
            && bounds.iter().chain(&counts).all(Option::is_none)
    }
}
