//! Label selectors in objects: matching and printing.
//!
//! Source: apimachinery 1.36 `pkg/labels` and `metav1.FormatLabelSelector`.

use serde_json::Value;

use super::object::label;

/// Whether an object has the labels a selector asks for. A selector that says nothing selects everything.
pub(super) fn matches(selector: &Value, object: &Value) -> bool {
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let equal = labels.into_iter().all(|(key, value)| label(object, key) == value.as_str());
    equal && selector["matchExpressions"].as_array().into_iter().flatten().all(|one| holds(one, object))
}

fn holds(expression: &Value, object: &Value) -> bool {
    let found = expression["key"].as_str().and_then(|key| label(object, key));
    let listed = || {
        let mut values = expression["values"].as_array().into_iter().flatten();
        found.is_some_and(|found| values.any(|value| value == found))
    };
    match expression["operator"].as_str().unwrap_or_default() {
        "In" => listed(),
        "NotIn" => !listed(),
        "Exists" => found.is_some(),
        "DoesNotExist" => found.is_none(),
        _ => false,
    }
}

/// A selector in one line, keys in order.
pub(super) fn print(selector: &Value) -> String {
    let mut parts: Vec<String> = selector["matchLabels"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .chain(selector["matchExpressions"].as_array().into_iter().flatten().filter_map(print_expression))
        .collect();
    parts.sort();
    parts.join(",")
}

fn print_expression(expression: &Value) -> Option<String> {
    let key = expression["key"].as_str()?;
    let values: Vec<_> =
        expression["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let values = values.join(",");
    Some(match expression["operator"].as_str()? {
        "In" => format!("{key} in ({values})"),
        "NotIn" => format!("{key} notin ({values})"),
        "Exists" => key.to_owned(),
        _ => format!("!{key}"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_part_of_a_selector_has_to_hold() {
        let object = json!({"metadata": {"labels": {"a": "1", "b": "2"}}});
        let expression = |key, operator, values: &[&str]| json!({"matchLabels": {"a": "1"}, "matchExpressions": [{"key": key, "operator": operator, "values": values}]});
        for (selector, expected) in [
            (json!({}), true),
            (json!({"matchLabels": {"a": "2"}}), false),
            (expression("b", "In", &["1", "2"]), true),
            (expression("b", "NotIn", &["1", "2"]), false),
            (expression("c", "NotIn", &["1"]), true),
            (expression("c", "Exists", &[]), false),
            (expression("c", "DoesNotExist", &[]), true),
            (expression("c", "Wrong", &[]), false),
        ] {
            assert_eq!(matches(&selector, &object), expected, "{selector}");
        }
    }

    #[test]
    fn a_selector_is_printed_in_one_line() {
        let selector = json!({
            "matchLabels": {"b": "2", "a": ""},
            "matchExpressions": [{"key": "c", "operator": "In", "values": ["x", "y"]}, {"key": "d", "operator": "DoesNotExist"}],
        });
        assert_eq!(print(&selector), "!d,a=,b=2,c in (x,y)");
    }
}
