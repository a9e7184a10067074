//! Rules in the Common Expression Language (`x-kubernetes-validations`), compiled at first use and kept.

use std::sync::OnceLock;

use kube_cel::cel::Program;
use serde_json::Value;

use crate::cel;

/// One rule, as a schema has it.
#[derive(Debug)]
pub(crate) struct Rule {
    /// The expression.
    pub expression: Box<str>,
    /// What is said when it does not hold; empty when nothing was given.
    pub message: Box<str>,
    /// An expression for the message; empty when there is none.
    pub message_expression: Box<str>,
    /// The sort of fault.
    pub reason: RuleReason,
    /// The field the fault is about, below the value, such as `.a['b']`; empty for the value itself.
    pub field_path: Box<str>,
    /// `oldSelf` is an optional, and the rule is run when there is none too.
    pub optional_old_self: bool,
    compiled: OnceLock<Result<Compiled, String>>,
}

/// The sorts of faults a rule may report.
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

/// A rule that can be run.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// The rule.
    pub program: Program,
    /// Its message, if that is an expression.
    pub message: Option<Program>,
    /// It compares with the value before.
    pub uses_old_self: bool,
}

impl Rule {
    /// Reads an item of `x-kubernetes-validations`.
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

    /// The rule, ready to run.
    pub(crate) fn compiled(&self) -> Result<&Compiled, &str> {
        self.compiled.get_or_init(|| self.compile()).as_ref().map_err(String::as_str)
    }

    /// Whether one of its expressions is to be run with room.
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
