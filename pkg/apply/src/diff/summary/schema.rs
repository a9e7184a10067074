//! The fields of definitions, and the validation of their values.

use std::collections::BTreeSet;

use api::output::{ChangeEffect, ChangedPart, ObjectChange};
use manifest::{Map, Value, value_text};

use super::{change, definition::text_change};

/// Compares the schemas of one version. An added or removed field is one change, including its subfields.
pub(super) fn compare(old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<ObjectChange>) {
    compare_node("", old.unwrap_or(&Value::Null), new.unwrap_or(&Value::Null), changes);
}

fn compare_node(path: &str, old: &Value, new: &Value, changes: &mut Vec<ObjectChange>) {
    let nothing = Map::new();
    let (old, new) = (old.as_object().unwrap_or(&nothing), new.as_object().unwrap_or(&nothing));
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for key in keys.into_iter().filter(|key| old.get(*key) != new.get(*key)) {
        let (old, new) = (old.get(key), new.get(key));
        match (key.as_str(), old, new) {
            ("description" | "title" | "example" | "externalDocs", ..) => changes.push(text_change(path)),
            ("properties", ..) => compare_properties(path, old, new, changes),
            ("items", Some(old @ Value::Object(_)), Some(new @ Value::Object(_))) => {
                compare_node(&format!("{path}[]"), old, new, changes);
            }
            ("additionalProperties", Some(old @ Value::Object(_)), Some(new @ Value::Object(_))) => {
                compare_node(&format!("{path}[*]"), old, new, changes);
            }
            ("default", ..) => {
                changes.push(change(ChangedPart::Default, path, old.map(value_text), new.map(value_text)));
            }
            ("required" | "enum", ..) => compare_list(path, key, (old, new), changes),
            ("x-kubernetes-validations", ..) => compare_rules(path, old, new, changes),
            _ => {
                let (before, after) = (old.map(value_text), new.map(value_text));
                changes.push(rule_change(path, key, effect(key, old, new), (before, after)));
            }
        }
    }
}

fn compare_properties(path: &str, old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<ObjectChange>) {
    let nothing = Map::new();
    let (old, new) = (old.and_then(Value::as_object), new.and_then(Value::as_object));
    let (old, new) = (old.unwrap_or(&nothing), new.unwrap_or(&nothing));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match (old.get(name), new.get(name)) {
            (Some(old), Some(new)) => compare_node(&below, old, new, changes),
            (old, new) => {
                let of_type = |field: &Value| field.get("type").map_or_else(|| "any".to_owned(), value_text);
                let (old, new) = (old.map(of_type), new.map(of_type));
                changes.push(change(ChangedPart::Field, &below, old, new));
            }
        }
    }
}

/// Compares required fields or allowed values; each added or removed entry is a change.
fn compare_list(
    path: &str,
    key: &str,
    (old, new): (Option<&Value>, Option<&Value>),
    changes: &mut Vec<ObjectChange>,
) {
    let texts = |list: Option<&Value>| -> Vec<String> {
        list.and_then(Value::as_array).into_iter().flatten().map(value_text).collect()
    };
    let is_enum = key == "enum";
    if is_enum && (old.is_none() || new.is_none()) {
        let effect = if new.is_some() { ChangeEffect::Tightened } else { ChangeEffect::Loosened };
        let text = |list: Option<&Value>| list.map(|list| texts(Some(list)).join(", "));
        return changes.push(rule_change(path, key, effect, (text(old), text(new))));
    }
    let (gains, loses) = if is_enum {
        (ChangeEffect::Loosened, ChangeEffect::Tightened)
    } else {
        (ChangeEffect::Tightened, ChangeEffect::Loosened)
    };
    let (old, new) = (texts(old), texts(new));
    let (was, is): (BTreeSet<_>, BTreeSet<_>) = (old.iter().collect(), new.iter().collect());
    for removed in was.difference(&is) {
        changes.push(rule_change(path, key, loses, (Some((*removed).clone()), None)));
    }
    for come in is.difference(&was) {
        changes.push(rule_change(path, key, gains, (None, Some((*come).clone()))));
    }
}

/// Compares CEL rules by their text; a changed message counts as a changed description.
fn compare_rules(path: &str, old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<ObjectChange>) {
    let texts = |list: Option<&Value>| -> BTreeSet<String> {
        let all = list.and_then(Value::as_array).into_iter().flatten();
        all.filter_map(|rule| rule["rule"].as_str()).map(str::to_owned).collect()
    };
    let (was, is) = (texts(old), texts(new));
    if was == is {
        return changes.push(text_change(path));
    }
    for removed in was.difference(&is) {
        changes.push(rule_change(path, "rule", ChangeEffect::Loosened, (Some(removed.clone()), None)));
    }
    for come in is.difference(&was) {
        changes.push(rule_change(path, "rule", ChangeEffect::Tightened, (None, Some(come.clone()))));
    }
}

fn rule_change(
    path: &str,
    key: &str,
    effect: ChangeEffect,
    (before, after): (Option<String>, Option<String>),
) -> ObjectChange {
    let rule = Some(key.to_owned());
    ObjectChange { effect, rule, ..change(ChangedPart::Validation, path, before, after) }
}

/// Returns the effect of a changed rule on the allowed values of the field.
fn effect(key: &str, old: Option<&Value>, new: Option<&Value>) -> ChangeEffect {
    let is_on = |value: Option<&Value>| value.is_some_and(|value| *value == true);
    let tightened_if = |is: bool| if is { ChangeEffect::Tightened } else { ChangeEffect::Loosened };
    let number = |value: Option<&Value>| value.and_then(Value::as_f64);
    match key {
        "minimum" | "minLength" | "minItems" | "minProperties" => {
            tightened_if(number(new).unwrap_or(f64::MIN) > number(old).unwrap_or(f64::MIN))
        }
        "maximum" | "maxLength" | "maxItems" | "maxProperties" => {
            tightened_if(number(new).unwrap_or(f64::MAX) < number(old).unwrap_or(f64::MAX))
        }
        "uniqueItems" | "exclusiveMinimum" | "exclusiveMaximum" => tightened_if(is_on(new)),
        "nullable" | "x-kubernetes-preserve-unknown-fields" | "x-kubernetes-int-or-string" => {
            tightened_if(!is_on(new))
        }
        "pattern" | "format" | "multipleOf" | "type" | "not" | "allOf" | "anyOf" | "oneOf" => {
            match (old, new) {
                (None, _) => ChangeEffect::Tightened,
                (_, None) => ChangeEffect::Loosened,
                _ => ChangeEffect::Changed,
            }
        }
        _ => ChangeEffect::Changed,
    }
}
