//! Rules in the Common Expression Language (`x-kubernetes-validations`), compiled at first use and cached.

use std::sync::OnceLock;

use kube_cel::cel::Program;
use serde_json::Value;

use crate::cel;

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

/// A compiled rule.
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

    /// Returns the compiled rule.
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
