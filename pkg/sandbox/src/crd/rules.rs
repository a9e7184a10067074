//! Evaluation of the rules of a schema (`x-kubernetes-validations`) on an object.
//!
//! Source: apiextensions-apiserver 1.36 `pkg/apiserver/schema/cel/validation.go`. Differs: expressions are not
//! type-checked, and costs are not counted. A rule that uses an unsupported function (`cel.bind`, `sortBy`,
//! comprehensions with two variables) counts as satisfied.

mod value;

use kube_cel::{
    KubeCelExt,
    cel::{Context, ExecutionError, Program, Value as CelValue, objects::OptionalValue},
};
use serde_json::Value;

use super::{
    correlate::{Correlated, OldItems},
    path::WalkPath,
};
use crate::{
    cel,
    schema::{AdditionalProperties, Compiled, Rule, RuleReason, Schema, Type},
    status::{FieldError, FieldErrorKind, FieldErrors},
};

/// The maximum size of a message from an expression, in bytes.
const MESSAGE_LIMIT_BYTES: usize = 5 * 1024;

thread_local! {
    /// All functions, because registration takes longer than a rule.
    static FUNCTIONS: Context<'static> = {
        let mut context = Context::default();
        context.register_all();
        context
    };
}

/// A value with its schema and its old state.
#[derive(Clone, Copy)]
struct RuleTarget<'a> {
    schema: Schema<'a>,
    value: &'a Value,
    /// The value of `oldSelf`.
    old: Option<&'a Value>,
    /// The correlation that detects a change: of the value, or of the nearest enclosing value that existed before.
    correlated: Option<Correlated<'a>>,
    /// True if `correlated` belongs to an enclosing value.
    inherited: bool,
}

/// Returns all rule violations of an object.
pub(super) fn validate_rules(schema: Schema<'_>, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
    if !schema.node().rules_below {
        return Vec::new();
    }
    let correlated = old.map(|old| Correlated { new: object, old, schema });
    evaluate(RuleTarget { schema, value: object, old, correlated, inherited: false }, "")
}

/// Returns the rule violations of a default, at the path of the default.
pub(super) fn default_errors(schema: Schema<'_>, default: &Value, path: &str) -> Vec<FieldError> {
    let run_with =
        |old| evaluate(RuleTarget { schema, value: default, old, correlated: None, inherited: false }, path);
    let errors = run_with(Some(default));
    if errors.is_empty() { run_with(None) } else { errors }
}

fn evaluate(target: RuleTarget<'_>, path: &str) -> Vec<FieldError> {
    let walk = || {
        FUNCTIONS.with(|functions| {
            let mut run = RuleEvaluation { functions, path: WalkPath::new(path), errors: Vec::new() };
            run.walk(target);
            run.errors
        })
    };
    if !target.schema.has_deep_rules() {
        return walk();
    }
    let why = "cannot evaluate the validation rules";
    cel::with_large_stack(walk)
        .unwrap_or_else(|| vec![FieldError::new(FieldErrorKind::Internal, "<nil>", Value::Null, why)])
}

struct RuleEvaluation<'r> {
    functions: &'r Context<'static>,
    path: WalkPath,
    errors: Vec<FieldError>,
}

impl RuleEvaluation<'_> {
    fn walk(&mut self, target: RuleTarget<'_>) {
        if !target.schema.node().rules_below || target.value.is_null() {
            return;
        }
        self.rules(target, target.schema);
        for id in target.schema.checks().into_iter().flat_map(|checks| &checks.all_of) {
            // Rules of `allOf` apply to the same value, which is converted with the enclosing schema.
            self.rules(RuleTarget { correlated: None, ..target }, target.schema.at(*id));
        }
        match target.value {
            Value::Object(fields) => self.fields(target, fields),
            Value::Array(items) => self.items(target, items),
            _ => {}
        }
    }

    fn fields(&mut self, target: RuleTarget<'_>, fields: &serde_json::Map<String, Value>) {
        let node = target.schema.node();
        for known in [false, true] {
            if !known && !matches!(node.additional, AdditionalProperties::Of(_)) {
                continue;
            }
            for (name, value) in fields {
                if node.properties.contains_key(name.as_str()) != known {
                    continue;
                }
                let Some(schema) = target.schema.field(name).filter(|schema| schema.node().rules_below)
                else {
                    continue;
                };
                let old = target.old.and_then(|old| old.as_object()?.get(name));
                let own = target.correlated.filter(|_| !target.inherited).and_then(|old| old.field(name));
                let next = target.below(schema, value, old, own);
                self.with_path(name, known, next);
            }
        }
    }

    fn with_path(&mut self, name: &str, known: bool, next: RuleTarget<'_>) {
        let mut path = std::mem::take(&mut self.path);
        path.with_field(name, known, |path| {
            std::mem::swap(path, &mut self.path);
            self.walk(next);
            std::mem::swap(path, &mut self.path);
        });
        self.path = path;
    }

    fn items<'a>(&mut self, target: RuleTarget<'a>, items: &'a [Value]) {
        let Some(schema) = target.schema.items().filter(|schema| schema.node().rules_below) else { return };
        let before = OldItems::new(target.schema, target.old);
        let correlated = target.correlated.filter(|_| !target.inherited).map(OldItems::of);
        for (index, item) in items.iter().enumerate() {
            let own = correlated.as_ref().and_then(|old| old.correlated(item));
            let next = target.below(schema, item, before.get(item), own);
            let mut path = std::mem::take(&mut self.path);
            path.with_index(index, |path| {
                std::mem::swap(path, &mut self.path);
                self.walk(next);
                std::mem::swap(path, &mut self.path);
            });
            self.path = path;
        }
    }

    fn rules(&mut self, target: RuleTarget<'_>, holder: Schema<'_>) {
        let Some(rules) = holder.checks().map(|checks| &checks.rules).filter(|rules| !rules.is_empty())
        else {
            return;
        };
        let mut context = self.functions.new_inner_scope();
        context.add_variable_from_value(
            "self",
            value::convert(Some(target.schema), target.value, self.functions),
        );
        let old = target.old.map(|old| value::convert(Some(target.schema), old, self.functions));
        for rule in rules {
            match rule.compiled() {
                Ok(compiled) => self.rule(target, rule, compiled, &context, old.as_ref()),
                Err(report) => {
                    let detail = format!("rule compile error: compilation failed: {report}");
                    self.errors.invalid(self.path.text(), target.schema.node().kind.name(), detail);
                }
            }
        }
    }

    fn rule(
        &mut self,
        target: RuleTarget<'_>,
        rule: &Rule,
        compiled: &Compiled,
        context: &Context<'_>,
        old: Option<&CelValue>,
    ) {
        if compiled.uses_old_self && old.is_none() && !rule.optional_old_self {
            return;
        }
        let mut context = context.new_inner_scope();
        if rule.optional_old_self {
            let optional = old.cloned().map_or_else(OptionalValue::none, OptionalValue::of);
            context.add_variable_from_value("oldSelf", CelValue::Opaque(std::sync::Arc::new(optional)));
        } else if let Some(old) = old {
            context.add_variable_from_value("oldSelf", old.clone());
        }
        match compiled.program.execute(&context) {
            Ok(CelValue::Bool(true)) | Err(ExecutionError::UndeclaredReference(_)) => {}
            Ok(_) if !compiled.uses_old_self && target.is_unchanged() => {}
            Ok(_) => {
                let detail = message(rule, compiled.message.as_ref(), &context);
                self.errors.push(self.violation(target, rule, detail));
            }
            Err(error) => {
                let detail = format!("{} evaluating rule: {}", error_text(&error), rule_description(rule));
                self.errors.invalid(self.path.text(), target.schema.node().kind.name(), detail);
            }
        }
    }

    fn violation(&self, target: RuleTarget<'_>, rule: &Rule, detail: String) -> FieldError {
        let path = match field_path(&rule.field_path) {
            None => self.path.text().to_owned(),
            Some(field) => self.path.child(&field),
        };
        let whole = matches!(target.schema.node().kind, Type::Object | Type::Array);
        match rule.reason {
            RuleReason::Invalid if whole => {
                FieldError::new(FieldErrorKind::InvalidUnquoted, path, Value::Null, detail)
            }
            RuleReason::Invalid => FieldError::invalid(path, target.value.clone(), detail),
            RuleReason::Forbidden => FieldError::forbidden(path, detail),
            RuleReason::Required => FieldError::required(path, detail),
            RuleReason::Duplicate => {
                FieldError::new(FieldErrorKind::Duplicate, path, target.value.clone(), "")
            }
        }
    }
}

impl<'a> RuleTarget<'a> {
    fn below(
        self,
        schema: Schema<'a>,
        value: &'a Value,
        old: Option<&'a Value>,
        own: Option<Correlated<'a>>,
    ) -> Self {
        Self { schema, value, old, correlated: own.or(self.correlated), inherited: own.is_none() }
    }

    fn is_unchanged(self) -> bool {
        self.correlated.is_some_and(Correlated::is_unchanged)
    }
}

/// The description of a rule in errors: its message or its expression.
fn rule_description(rule: &Rule) -> &str {
    let name = if rule.message.is_empty() { &rule.expression } else { &rule.message };
    name.trim()
}

fn message(rule: &Rule, expression: Option<&Program>, context: &Context<'_>) -> String {
    if let Some(Ok(CelValue::String(text))) = expression.map(|expression| expression.execute(context)) {
        let text = text.trim();
        if !text.is_empty() && text.len() <= MESSAGE_LIMIT_BYTES && !text.contains('\n') {
            return text.to_owned();
        }
    }
    if rule.message.is_empty() {
        format!("failed rule: {}", rule_description(rule))
    } else {
        rule.message.trim().to_owned()
    }
}

/// Formats a runtime error like the real server, as far as its messages are known.
fn error_text(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(name) => format!("no such key: {name}"),
        ExecutionError::NoSuchOverload => "no such overload".to_owned(),
        ExecutionError::DivisionByZero(_) => "division by zero".to_owned(),
        ExecutionError::RemainderByZero(_) => "modulus by zero".to_owned(),
        ExecutionError::IndexOutOfBounds(_) => "index out of bounds".to_owned(),
        other => other.to_string(),
    }
}

/// Formats `fieldPath` of a rule: `.a['b']` becomes `a.b`. The real server prints `a[b]` for map keys, which only the
/// schema distinguishes, but rules usually name fields.
fn field_path(path: &str) -> Option<String> {
    let printed = path.strip_prefix('.').unwrap_or(path).replace("['", ".").replace("']", "");
    (!printed.is_empty()).then(|| printed.trim_start_matches('.').to_owned())
}
