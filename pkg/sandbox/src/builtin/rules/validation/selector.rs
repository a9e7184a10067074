//! Validation of label selectors, and matching of template labels.

use serde_json::Value;

use crate::{
    builtin::rules::{
        field_path::{FieldPath, entries, items, text},
        formats,
    },
    selector::LabelSelector,
    status::{FieldError, FieldErrors},
};

/// True if a selector has no requirements.
pub(super) fn is_empty(selector: &Value) -> bool {
    entries(&selector["matchLabels"]).next().is_none()
        && items(&selector["matchExpressions"]).next().is_none()
}

/// Validates a label selector; true if the selector is usable.
pub(super) fn validate(selector: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) -> bool {
    let before = errors.len();
    labels(&selector["matchLabels"], &path.field("matchLabels"), errors);
    let list = path.field("matchExpressions");
    for (index, requirement) in items(&selector["matchExpressions"]) {
        let path = list.index(index);
        let key = text(&requirement["key"]);
        let given = items(&requirement["values"]).count();
        match text(&requirement["operator"]) {
            "In" | "NotIn" if given == 0 => {
                errors.required(path.field("values"), "must be specified when `operator` is 'In' or 'NotIn'");
            }
            "Exists" | "DoesNotExist" if given > 0 => {
                errors.forbidden(
                    path.field("values"),
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                );
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            operator => errors.invalid(path.field("operator"), operator, "not a valid selector operator"),
        }
        errors.format(path.field("key"), key, formats::qualified_name(key));
        let values = path.field("values");
        for (index, value) in items(&requirement["values"]) {
            errors.format(values.index(index), text(value), formats::label_value(text(value)));
        }
    }
    errors.len() == before
}

/// Checks the keys and values of labels.
pub(super) fn labels(labels: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    for (key, value) in entries(labels) {
        errors.format(path, key, formats::qualified_name(key));
        errors.format(path, text(value), formats::label_value(text(value)));
    }
}

/// True if a selector matches the labels of a template.
pub(super) fn matches(selector: &Value, template: &Value) -> bool {
    LabelSelector::of_object(selector).matches_object(template)
}
