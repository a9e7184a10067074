//! Validation of label selectors, and matching of template labels.

use serde_json::Value;

use crate::builtin::rules::{
    faults::{Faults, Path, entries, items, text},
    formats,
};

/// True if a selector has no requirements.
pub(super) fn is_empty(selector: &Value) -> bool {
    entries(&selector["matchLabels"]).next().is_none()
        && items(&selector["matchExpressions"]).next().is_none()
}

/// Validates a label selector; true if the selector is usable.
pub(super) fn validate(selector: &Value, path: &Path<'_>, to: &mut Faults) -> bool {
    let before = to.count();
    labels(&selector["matchLabels"], &path.field("matchLabels"), to);
    let list = path.field("matchExpressions");
    for (index, requirement) in items(&selector["matchExpressions"]) {
        let path = list.index(index);
        let key = text(&requirement["key"]);
        let given = items(&requirement["values"]).count();
        match text(&requirement["operator"]) {
            "In" | "NotIn" if given == 0 => {
                to.required(&path.field("values"), "must be specified when `operator` is 'In' or 'NotIn'");
            }
            "Exists" | "DoesNotExist" if given > 0 => {
                to.forbidden(
                    &path.field("values"),
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                );
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            operator => to.invalid(&path.field("operator"), operator, "not a valid selector operator"),
        }
        to.format(&path.field("key"), key, formats::qualified_name(key));
        let values = path.field("values");
        for (index, value) in items(&requirement["values"]) {
            to.format(&values.index(index), text(value), formats::label_value(text(value)));
        }
    }
    to.count() == before
}

/// Checks the keys and values of labels.
pub(super) fn labels(labels: &Value, path: &Path<'_>, to: &mut Faults) {
    for (key, value) in entries(labels) {
        to.format(path, key, formats::qualified_name(key));
        to.format(path, text(value), formats::label_value(text(value)));
    }
}

/// True if a selector matches these labels.
pub(super) fn matches(selector: &Value, labels: &Value) -> bool {
    entries(&selector["matchLabels"]).all(|(key, value)| labels.get(key) == Some(value))
        && items(&selector["matchExpressions"]).all(|(_, requirement)| {
            let value = labels.get(text(&requirement["key"]));
            let listed =
                value.is_some_and(|value| items(&requirement["values"]).any(|(_, one)| one == value));
            match text(&requirement["operator"]) {
                "In" => listed,
                "NotIn" => !listed,
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => false,
            }
        })
}
