//! Validation of numbers, with Go's distinction between integers and floats.

use serde_json::{Number, Value};

use super::{CheckResult, NO_PATH};
use crate::{
    schema::{Bound, Schema, Type},
    status::{FieldError, FieldErrorKind},
};

/// The limit of exact integers in a float.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// True if a float is an exact integer. Source: go-openapi `IsFloat64AJSONInteger`.
pub(super) fn is_whole(number: f64) -> bool {
    number.is_finite() && number.abs() <= LARGEST_EXACT && number.fract() == 0.0
}

/// Compares JSON values; `1` and `1.0` are equal.
pub(super) fn equals(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        _ => left == right,
    }
}

/// Formats a value like Go: `2`, not `2.0`.
pub(super) fn go_number(value: &Value) -> Value {
    match value.as_f64() {
        Some(number) if value.is_f64() && is_whole(number) => whole(number).into(),
        _ => value.clone(),
    }
}

/// Converts a float to an integer like Go.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the fraction is what is cut off; out of range it saturates"
)]
fn whole(number: f64) -> i64 {
    number as i64
}

#[expect(clippy::cast_possible_truncation, reason = "the loss is what is asked for")]
fn fits_f32(number: f64) -> bool {
    (number as f32).is_finite()
}

/// A number under validation.
struct NumberCheck<'a> {
    schema: Schema<'a>,
    /// Set for integers, which are validated with integer arithmetic.
    int: Option<i64>,
    float: f64,
    path: &'a str,
}

/// Validates bounds, multiples and the range of the format.
pub(super) fn check(schema: Schema<'_>, number: &Number, path: &str) -> CheckResult {
    let checked =
        NumberCheck { schema, int: number.as_i64(), float: number.as_f64().unwrap_or_default(), path };
    let mut outcome = CheckResult::passed();
    if let Some(error) = checked.out_of_range(checked.float, "Checked") {
        outcome.add(error);
    }
    if let Some(checks) = schema.checks() {
        let multiple = checks.multiple_of.into_iter().flat_map(|factor| checked.multiple_of(factor));
        let minimum = checks.minimum.into_iter().flat_map(|bound| checked.bound(bound, true));
        let maximum = checks.maximum.into_iter().flat_map(|bound| checked.bound(bound, false));
        multiple.chain(minimum).chain(maximum).for_each(|error| outcome.add(error));
    }
    outcome
}

impl NumberCheck<'_> {
    fn out_of_range(&self, number: f64, what: &str) -> Option<FieldError> {
        let format = self.schema.node().format.as_deref();
        let (name, fits) = match (self.schema.node().kind, format) {
            (Type::Integer, Some("int32")) => {
                ("integer", is_whole(number) && i32::try_from(whole(number)).is_ok())
            }
            (Type::Integer, _) => ("integer", is_whole(number) || (what == "Checked" && self.int.is_some())),
            (Type::Number, Some("float")) => ("number", fits_f32(number)),
            _ => return None,
        };
        let form = format.map_or("(default format)".to_owned(), |format| format!("with format {format}"));
        let detail = format!("{what} value must be of type {name} {form} in {}", self.path);
        (!fits).then(|| FieldError::invalid(NO_PATH, "", detail))
    }

    fn error(&self, value: f64, detail: String) -> FieldError {
        let value = match self.int {
            Some(int) if value.to_bits() == self.float.to_bits() => int.into(),
            _ => go_number(&value.into()),
        };
        let path = if self.path.is_empty() { NO_PATH } else { self.path };
        FieldError::new(FieldErrorKind::Invalid, path, value, detail)
    }

    fn multiple_of(&self, factor: f64) -> Vec<FieldError> {
        let mut errors: Vec<_> = self.out_of_range(factor, "MultipleOf").into_iter().collect();
        // Uses integer arithmetic if the factor is in range; the factor 0.5 therefore refuses 1.
        let (factor, fits) = match self.int.filter(|_| errors.is_empty()) {
            Some(number) => {
                let int = whole(factor);
                (float(int), int > 0 && number % int == 0)
            }
            None if factor < 1.0 => (factor, factor > 0.0 && is_whole(1.0 / factor * self.float)),
            None => (factor, is_whole(self.float / factor)),
        };
        let shown = go_number(&factor.into());
        if factor <= 0.0 {
            let detail = format!("factor MultipleOf declared for {} must be positive: {shown}", self.path);
            errors.push(self.error(factor, detail));
        } else if !fits {
            let detail = format!("{} in body should be a multiple of {shown}", self.path);
            errors.push(self.error(self.float, detail));
        }
        errors
    }

    fn bound(&self, bound: Bound, lower: bool) -> Vec<FieldError> {
        let what = if lower { "Minimum boundary" } else { "Maximum boundary" };
        let mut errors: Vec<_> = self.out_of_range(bound.value, what).into_iter().collect();
        let (order, limit) = match self.int.filter(|_| errors.is_empty()) {
            Some(number) => (Some(number.cmp(&whole(bound.value))), float(whole(bound.value))),
            None => (self.float.partial_cmp(&bound.value), bound.value),
        };
        let beyond = order.is_some_and(|order| {
            (if lower { order.is_lt() } else { order.is_gt() }) || (bound.exclusive && order.is_eq())
        });
        if beyond {
            let words = match (lower, bound.exclusive) {
                (true, false) => "greater than or equal to",
                (true, true) => "greater than",
                (false, false) => "less than or equal to",
                (false, true) => "less than",
            };
            let detail = format!("{} in body should be {words} {}", self.path, go_number(&limit.into()));
            errors.push(self.error(self.float, detail));
        }
        errors
    }
}

#[expect(clippy::cast_precision_loss, reason = "limits are written as floats to begin with")]
fn float(number: i64) -> f64 {
    number as f64
}
