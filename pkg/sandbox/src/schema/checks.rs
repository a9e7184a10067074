//! Conditions of a schema on values beyond their type: bounds, patterns, alternatives, and rules in the Common Expression
//! Language (`x-kubernetes-validations`), compiled at first use and cached.

use std::sync::OnceLock;

use kube_cel::cel::Program;
use serde_json::{Map, Value};

use super::{NodeId, Pattern};
use crate::cel;

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

/// One rule of a schema.
#[derive(Debug)]
pub(crate) struct Rule {
    pub expression: Box<str>,
    /// The message of a failed rule; empty without a message.
    pub message: Box<str>,
    /// The expression for the message; empty without an expression.
    pub message_expression: Box<str>,
    pub reason: RuleReason,
    /// The field of the error, relative to the value, such as `.a['b']`; empty for the value itself.
    pub field_path: Box<str>,
    /// True if `oldSelf` is an optional and the rule also runs without an old value.
    pub optional_old_self: bool,
    compiled: OnceLock<Result<Compiled, String>>,
}

/// The reason of a rule's error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RuleReason {
    /// `FieldValueInvalid`.
    #[default]
    Invalid,
    /// `FieldValueForbidden`.
    Forbidden,
    /// `FieldValueRequired`.
    Required,
    /// `FieldValueDuplicate`.
    Duplicate,
}

#[derive(Debug)]
pub(crate) struct Compiled {
    pub program: Program,
    /// The compiled message expression. `None` without an expression.
    pub message: Option<Program>,
    /// True if the rule uses the old value.
    pub uses_old_self: bool,
}

impl Rule {
    /// Parses an item of `x-kubernetes-validations`.
    pub(super) fn read(source: &Value) -> Self {
        let text = |name: &str| source.get(name).and_then(Value::as_str).unwrap_or_default();
        let reason = match text("reason") {
            "FieldValueForbidden" => RuleReason::Forbidden,
            "FieldValueRequired" => RuleReason::Required,
            "FieldValueDuplicate" => RuleReason::Duplicate,
            _ => RuleReason::Invalid,
        };
        Self {
            expression: text("rule").into(),
            message: text("message").into(),
            message_expression: text("messageExpression").into(),
            reason,
            field_path: text("fieldPath").into(),
            optional_old_self: source.get("optionalOldSelf").and_then(Value::as_bool).unwrap_or_default(),
            compiled: OnceLock::new(),
        }
    }

    pub(crate) fn compiled(&self) -> Result<&Compiled, &str> {
        self.compiled.get_or_init(|| self.compile()).as_ref().map_err(String::as_str)
    }

    /// True if one of the expressions needs extra stack.
    pub(super) fn is_deep(&self) -> bool {
        cel::is_deep(&self.expression) || cel::is_deep(&self.message_expression)
    }

    fn compile(&self) -> Result<Compiled, String> {
        let program = cel::compile(&self.expression)?;
        let uses_old_self = program.references().has_variable("oldSelf");
        let message = (!self.message_expression.is_empty())
            .then(|| cel::compile(&self.message_expression))
            .transpose()?;
        Ok(Compiled { program, message, uses_old_self })
    }
}
