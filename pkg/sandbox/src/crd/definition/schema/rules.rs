//! Checks of the rules of a schema without evaluation.

use serde_json::{Map, Value};

use super::{SchemaContext, SchemaValidator};
use crate::{
    cel,
    crd::definition::columns,
    status::{FieldError, FieldErrorKind, FieldErrors},
};

const REASONS: [&str; 4] =
    ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

impl SchemaValidator {
    /// `before` is the number of errors before this schema. Expressions of a schema with errors are not compiled.
    pub(super) fn rules(
        &mut self,
        schema: &Map<String, Value>,
        path: &str,
        context: &SchemaContext,
        before: usize,
    ) {
        let Some(rules) = schema.get("x-kubernetes-validations").and_then(Value::as_array) else { return };
        for (index, rule) in rules.iter().enumerate() {
            self.rule_form(schema, rule, &format!("{path}.x-kubernetes-validations[{index}]"));
        }
        if !self.rules || context.in_alternative || self.schema_errors.len() > before {
            return;
        }
        for (index, rule) in rules.iter().enumerate() {
            self.expressions(rule, &format!("{path}.x-kubernetes-validations[{index}]"), context);
        }
    }

    fn rule_form(&mut self, schema: &Map<String, Value>, rule: &Value, path: &str) {
        let text = |name: &str| rule.get(name).and_then(Value::as_str).unwrap_or_default();
        let (message, expression) = (text("message"), text("messageExpression"));
        let broken = |text: &str| text.trim().contains(['\n', '\r']);
        let errors = &mut self.schema_errors;
        if text("rule").trim().is_empty() {
            errors.required(format_args!("{path}.rule"), "rule is not specified");
        } else if !message.is_empty() && message.trim().is_empty() {
            errors.invalid(format_args!("{path}.message"), message, "must be non-empty if specified");
        } else if broken(message) {
            errors.invalid(format_args!("{path}.message"), message, "must not contain line breaks");
        } else if broken(text("rule")) && message.is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            errors.required(format_args!("{path}.message"), detail);
        }
        if !expression.is_empty() && expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            errors.required(format_args!("{path}.messageExpression"), detail);
        }
        if let Some(reason) =
            rule.get("reason").and_then(Value::as_str).filter(|reason| !REASONS.contains(reason))
        {
            errors.not_supported(format_args!("{path}.reason"), reason, &REASONS);
        }
        let field = text("fieldPath");
        let schema = || Value::Object(schema.clone());
        if !field.is_empty() && columns::find(field, &schema(), true).is_err() {
            errors.invalid(format_args!("{path}.fieldPath"), field, "must be a valid path");
        }
    }

    fn expressions(&mut self, rule: &Value, path: &str, context: &SchemaContext) {
        let text = |name: &str| rule.get(name).and_then(Value::as_str).unwrap_or_default();
        let (expression, message) = (text("rule"), text("messageExpression"));
        let errors = &mut self.rule_errors;
        let mut refuse = |field: &str, words: String| {
            let detail = format!("{}: {words}", print_rule(rule));
            let path = format!("{path}.{field}");
            errors.push(FieldError::new(FieldErrorKind::InvalidUnquoted, path, Value::Null, detail));
        };
        let program = match cel::compile(expression) {
            Ok(program) => program,
            Err(report) => return refuse("rule", format!("compilation failed: {report}")),
        };
        if !message.is_empty()
            && let Err(report) = cel::compile(message)
        {
            refuse("messageExpression", format!("messageExpression compilation failed: {report}"));
        }
        if program.references().has_variable("oldSelf") {
            if let Some(around) = &context.uncorrelatable_list {
                let detail = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {around}"
                );
                errors.invalid(format_args!("{path}.rule"), expression, detail);
            }
        } else if let Some(optional) = rule.get("optionalOldSelf").and_then(Value::as_bool) {
            let detail = "may not be set if oldSelf is not used in rule";
            errors.invalid(format_args!("{path}.optionalOldSelf"), optional, detail);
        }
    }
}

/// Formats a rule like the internal form of the real server.
fn print_rule(rule: &Value) -> String {
    let text = |name: &str| rule.get(name).cloned().unwrap_or_else(|| "".into());
    let other = |name: &str| rule.get(name).cloned().unwrap_or_default();
    format!(
        "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{},\"FieldPath\":{},\"OptionalOldSelf\":{}}}",
        text("rule"),
        text("message"),
        text("messageExpression"),
        other("reason"),
        text("fieldPath"),
        other("optionalOldSelf"),
    )
}
