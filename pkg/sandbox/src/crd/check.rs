//! Validation of the values of an object against its schema, except rules.
//!
//! Source: kube-openapi `pkg/validation/validate` as of kube-apiserver 1.36, with its messages, order and selection of
//! errors among alternatives. Errors that the real server reports in random order are sorted by name.

mod number;

use std::collections::HashSet;

use serde_json::Value;

use super::{
    correlate::{Correlated, OldItems},
    format,
};
use crate::{
    schema::{AdditionalProperties, NodeId, Schema, Type, ValueChecks},
    status::{FieldError, FieldErrorKind},
};

/// The path of an error that concerns no particular field.
const NO_PATH: &str = "<nil>";

#[derive(Debug, Default)]
struct CheckResult {
    errors: Vec<FieldError>,
    /// The number of passed checks: among failed alternatives, the alternative with the most passed checks is reported.
    matches: usize,
}

impl CheckResult {
    fn failed(error: FieldError) -> Self {
        Self { errors: vec![error], matches: 0 }
    }

    fn passed() -> Self {
        Self { errors: Vec::new(), matches: 1 }
    }

    /// Adds the errors and passed checks of another result.
    fn merge(&mut self, mut other: Self) {
        self.matches += other.matches;
        self.errors.append(&mut other.errors);
    }

    fn add(&mut self, error: FieldError) {
        self.errors.push(error);
    }
}

/// The state of a walk through an object.
struct Checker {
    path: String,
}

/// Returns all errors of a value. With `pair`, ignores errors in unchanged parts.
pub(super) fn check(schema: Schema<'_>, value: &Value, pair: Option<Correlated<'_>>) -> Vec<FieldError> {
    let mut errors = Checker { path: String::new() }.child(schema, value, pair).errors;
    // An error of several alternatives is reported once.
    let mut seen = HashSet::new();
    errors.retain(|error| seen.insert(error.to_string()));
    errors
}

impl Checker {
    fn child(&mut self, schema: Schema<'_>, value: &Value, pair: Option<Correlated<'_>>) -> CheckResult {
        let mut outcome = self.value(schema, value, pair);
        if !outcome.errors.is_empty() && pair.is_some_and(Correlated::is_unchanged) {
            outcome.errors.clear();
        }
        outcome
    }

    fn value(&mut self, schema: Schema<'_>, value: &Value, pair: Option<Correlated<'_>>) -> CheckResult {
        let mut outcome = CheckResult::default();
        let node = schema.node();
        let checks = schema.checks();
        if value.is_null() {
            outcome.merge(self.kind(schema, value));
            outcome.merge(self.allowed(checks, value));
            return outcome;
        }
        if node.kind != Type::Any || node.format.is_some() {
            outcome.merge(self.kind(schema, value));
            outcome.matches += 1;
        }
        outcome.merge(self.alternatives(schema, checks, value, pair));
        outcome.matches += 1;
        match value {
            Value::String(text) => {
                outcome.merge(self.text(checks, text));
                outcome.matches += 1;
                if let Some(format) = &node.format {
                    outcome.merge(self.format(format, text));
                    outcome.matches += 1;
                }
            }
            Value::Number(number) => {
                outcome.merge(number::check(schema, number, &self.path));
                outcome.matches += 1;
            }
            Value::Array(items) => {
                outcome.merge(self.items(schema, checks, items, pair));
                outcome.matches += 1;
            }
            _ => {}
        }
        outcome.merge(self.allowed(checks, value));
        outcome.matches += 1;
        if let Value::Object(fields) = value {
            outcome.merge(self.fields(schema, checks, fields, pair));
            outcome.matches += 1;
        }
        outcome.matches += 1;
        outcome
    }

    /// Creates an error at the current path.
    fn error(&self, kind: FieldErrorKind, value: impl Into<Value>, detail: impl Into<String>) -> FieldError {
        let path = self.path.strip_prefix('.').unwrap_or(&self.path);
        FieldError::new(kind, if path.is_empty() { NO_PATH } else { path }, value, detail)
    }

    /// Creates an error without a path; the message names the field.
    fn pathless_error(&self, words: &str) -> FieldError {
        let path = crate::go::quoted(&self.path);
        FieldError::invalid(NO_PATH, "", format!("{path} must {words}"))
    }

    fn wrong_type(&self, expected: &str, found: &str) -> FieldError {
        let detail =
            format!("{} in body must be of type {expected}: {}", self.path, crate::go::quoted(found));
        self.error(FieldErrorKind::TypeInvalid, found, detail)
    }

    fn kind(&self, schema: Schema<'_>, value: &Value) -> CheckResult {
        let (kind, format) = (schema.node().kind, schema.node().format.as_deref());
        let (found, found_format) = match value {
            Value::Null => ("null", ""),
            Value::Bool(_) => ("boolean", ""),
            Value::Number(number) if number.is_i64() => ("integer", "int64"),
            Value::Number(_) => ("number", "float64"),
            Value::String(_) => ("string", ""),
            Value::Array(_) => ("array", ""),
            Value::Object(_) => ("object", ""),
        };
        let wanted = match kind {
            Type::IntOrString => "integer,string",
            kind => kind.name(),
        };
        if value.is_null() {
            let fits = kind == Type::Any || schema.node().nullable;
            return if fits {
                CheckResult::passed()
            } else {
                CheckResult::failed(self.wrong_type(wanted, found))
            };
        }
        let whole = value.as_f64().is_some_and(number::is_whole);
        let numeric = (found == "number" && whole && wanted.contains("integer"))
            || (found == "integer" && kind == Type::Number);
        let fits = numeric || wanted.split(',').any(|name| name == found);
        let writes = value.is_string() || value.is_array();
        match format {
            Some(format) if !writes && !fits && format != found_format => {
                CheckResult::failed(self.wrong_type(format, found_format))
            }
            Some(_) if writes && !matches!(kind, Type::Integer | Type::Number | Type::IntOrString) => {
                CheckResult::passed()
            }
            _ if fits => CheckResult::passed(),
            _ => CheckResult::failed(self.wrong_type(wanted, found)),
        }
    }

    fn allowed(&self, checks: Option<&ValueChecks>, value: &Value) -> CheckResult {
        let Some(allowed) = checks.map(|checks| &checks.allowed).filter(|allowed| !allowed.is_empty()) else {
            return CheckResult::default();
        };
        let same = |allowed: &Value| !value.is_null() && number::equals(allowed, value);
        if allowed.iter().any(same) {
            return CheckResult::default();
        }
        let words = allowed.iter().map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let words: Vec<String> = words.collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut error = FieldError::not_supported("", number::go_number(value), &words);
        error.path = self.error(FieldErrorKind::NotSupported, Value::Null, "").path;
        CheckResult::failed(error)
    }

    fn text(&self, checks: Option<&ValueChecks>, text: &str) -> CheckResult {
        let Some(checks) = checks else { return CheckResult::default() };
        let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if let Some(most) = checks.max_length.filter(|most| length > *most) {
            let noun = if most == 1 { "byte" } else { "bytes" };
            let detail = format!("may not be more than {most} {noun}");
            return CheckResult::failed(self.error(FieldErrorKind::TooLong, "", detail));
        }
        let path = &self.path;
        let detail = if let Some(least) = checks.min_length.filter(|least| length < *least) {
            format!("{path} in body should be at least {least} chars long")
        } else if let Some(pattern) = checks.pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
            format!("{path} in body should match '{}'", pattern.text())
        } else {
            return CheckResult::default();
        };
        CheckResult::failed(self.error(FieldErrorKind::Invalid, text, detail))
    }

    fn format(&self, format: &str, text: &str) -> CheckResult {
        if format::matches(format, text) {
            return CheckResult::default();
        }
        let quoted = crate::go::quoted(text);
        let detail = format!("{} in body must be of type {format}: {quoted}", self.path);
        CheckResult::failed(self.error(FieldErrorKind::TypeInvalid, text, detail))
    }

    fn items(
        &mut self,
        schema: Schema<'_>,
        checks: Option<&ValueChecks>,
        items: &[Value],
        pair: Option<Correlated<'_>>,
    ) -> CheckResult {
        let mut outcome = CheckResult::passed();
        if let Some(schema) = schema.items() {
            let old_items = pair.map(OldItems::of);
            for (index, item) in items.iter().enumerate() {
                let pair = old_items.as_ref().and_then(|old| old.correlated(item));
                let length = self.path.len();
                self.path.extend(["[", index.to_string().as_str(), "]"]);
                outcome.merge(self.child(schema, item, pair));
                self.path.truncate(length);
            }
        }
        let Some(checks) = checks else { return outcome };
        self.size(&mut outcome, items.len(), checks.min_items, checks.max_items, "items");
        outcome
    }

    fn size(&self, outcome: &mut CheckResult, size: usize, min: Option<i64>, max: Option<i64>, what: &str) {
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        if let Some(least) = min.filter(|least| size < *least) {
            let detail = format!("{} in body should have at least {least} {what}", self.path);
            outcome.add(self.error(FieldErrorKind::Invalid, size, detail));
        }
        if let Some(most) = max.filter(|most| size > *most) {
            let noun = if most == 1 { "item" } else { "items" };
            outcome.add(self.error(
                FieldErrorKind::TooMany,
                size,
                format!("must have at most {most} {noun}"),
            ));
        }
    }

    fn fields(
        &mut self,
        schema: Schema<'_>,
        checks: Option<&ValueChecks>,
        fields: &serde_json::Map<String, Value>,
        pair: Option<Correlated<'_>>,
    ) -> CheckResult {
        let mut outcome = CheckResult::default();
        let node = schema.node();
        if let Some(checks) = checks {
            self.size(&mut outcome, fields.len(), checks.min_properties, checks.max_properties, "properties");
        }
        if let AdditionalProperties::Of(additional) = node.additional {
            for (name, value) in
                fields.iter().filter(|(name, _)| !node.properties.contains_key(name.as_str()))
            {
                outcome.merge(self.field(schema.at(additional), name, value, pair));
            }
        }
        for (name, id) in &node.properties {
            // The server decodes metadata into a fixed type beforehand, so schemas apply only to the names.
            let fixed = node.definition.is_some() && !matches!(&**name, "name" | "generateName");
            if let Some(value) = fields.get(&**name).filter(|_| !fixed) {
                outcome.merge(self.field(schema.at(*id), name, value, pair));
            }
        }
        for name in node.required.iter().filter(|name| !fields.contains_key(&***name)) {
            let error = self.inside(name, |checker| checker.error(FieldErrorKind::Required, Value::Null, ""));
            outcome.add(error);
        }
        outcome
    }

    fn field(
        &mut self,
        schema: Schema<'_>,
        name: &str,
        value: &Value,
        pair: Option<Correlated<'_>>,
    ) -> CheckResult {
        // `apiVersion` differs between versions even if both values are equal here.
        let identity = self.path.is_empty() && matches!(name, "apiVersion" | "kind");
        let pair = pair.filter(|_| !identity).and_then(|pair| pair.field(name));
        self.inside(name, |checker| checker.child(schema, value, pair))
    }

    fn inside<T>(&mut self, name: &str, act: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        let result = act(self);
        self.path.truncate(length);
        result
    }

    fn alternatives(
        &mut self,
        schema: Schema<'_>,
        checks: Option<&ValueChecks>,
        value: &Value,
        pair: Option<Correlated<'_>>,
    ) -> CheckResult {
        let mut outcome = CheckResult::default();
        if let Some(checks) = checks {
            let mut of = |checker: &mut Self, id: NodeId| checker.value(schema.at(id), value, pair);
            self.any_of(&mut outcome, &checks.any_of, &mut of);
            self.one_of(&mut outcome, &checks.one_of, &mut of);
            self.all_of(&mut outcome, &checks.all_of, &mut of);
            if let Some(not) = checks.not
                && of(self, not).errors.is_empty()
            {
                outcome.add(self.pathless_error("not validate the schema (not)"));
            }
        }
        outcome.matches += 1;
        outcome
    }

    fn any_of(
        &mut self,
        outcome: &mut CheckResult,
        ids: &[NodeId],
        of: &mut impl FnMut(&mut Self, NodeId) -> CheckResult,
    ) {
        let mut best: Option<CheckResult> = None;
        for id in ids {
            let result = of(self, *id);
            if result.errors.is_empty() {
                outcome.merge(result);
                return;
            }
            if best.as_ref().is_none_or(|best| result.matches > best.matches) {
                best = Some(result);
            }
        }
        if let Some(best) = best {
            outcome.add(self.pathless_error("validate at least one schema (anyOf)"));
            outcome.merge(best);
        }
    }

    fn one_of(
        &mut self,
        outcome: &mut CheckResult,
        ids: &[NodeId],
        of: &mut impl FnMut(&mut Self, NodeId) -> CheckResult,
    ) {
        let (mut best, mut first): (Option<CheckResult>, Option<CheckResult>) = (None, None);
        let mut valid = 0;
        for id in ids {
            let result = of(self, *id);
            if result.errors.is_empty() {
                valid += 1;
                first.get_or_insert(result);
            } else if best.as_ref().is_none_or(|best| result.matches > best.matches) {
                best = Some(result);
            }
        }
        match (valid, first, best) {
            (1, Some(first), _) => outcome.merge(first),
            (0, _, Some(best)) => {
                outcome
                    .add(self.pathless_error("validate one and only one schema (oneOf). Found none valid"));
                outcome.merge(best);
            }
            (0, ..) => {}
            (count, ..) => {
                let words = "validate one and only one schema (oneOf). Found";
                outcome.add(self.pathless_error(&format!("{words} {count} valid alternatives")));
            }
        }
    }

    fn all_of(
        &mut self,
        outcome: &mut CheckResult,
        ids: &[NodeId],
        of: &mut impl FnMut(&mut Self, NodeId) -> CheckResult,
    ) {
        let mut valid = 0;
        for id in ids {
            let result = of(self, *id);
            valid += usize::from(result.errors.is_empty());
            outcome.merge(result);
        }
        if valid != ids.len() {
            let none = if valid == 0 { ". None validated" } else { "" };
            outcome.add(self.pathless_error(&format!("validate all the schemas (allOf){none}")));
        }
    }
}
