//! The images, arguments and environment of containers.

use std::collections::BTreeSet;

use api::output::{ChangedPart, ObjectChange};
use manifest::{Value, value_text};

use super::{by_field, change, find};

/// The paths of a Pod spec in an object.
const POD_SPECS: [&str; 3] = ["/spec/template/spec", "/spec/jobTemplate/spec/template/spec", "/spec"];
const CONTAINER_LISTS: [&str; 2] = ["containers", "initContainers"];

pub(super) fn extract(before: &mut Value, after: &mut Value, changes: &mut Vec<ObjectChange>) {
    let has_pods =
        |object: &Value, path: &str| object.pointer(path).is_some_and(|pod| pod["containers"].is_array());
    let Some(path) = POD_SPECS.iter().find(|path| has_pods(before, path) || has_pods(after, path)) else {
        return;
    };
    for list in CONTAINER_LISTS {
        let list = format!("{path}/{list}");
        let (old, new) = (before.pointer(&list), after.pointer(&list));
        let names = by_field(old, "name").chain(by_field(new, "name"));
        let names: BTreeSet<String> = names.map(|(name, _)| name.to_owned()).collect();
        for name in names {
            compare(&name, find(old, "name", &name), find(new, "name", &name), changes);
        }
        make_equal(before, after, &list);
    }
}

fn compare(name: &str, old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<ObjectChange>) {
    let image = |container: Option<&Value>| Some(container?.get("image")?.as_str()?.to_owned());
    if image(old) != image(new) {
        changes.push(change(ChangedPart::Image, name, image(old), image(new)));
    }
    compare_arguments(name, old, new, changes);
    compare_environment(name, old, new, changes);
}

fn compare_arguments(name: &str, old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<ObjectChange>) {
    let (old, new) = (list_of_arguments(old), list_of_arguments(new));
    let (removed, added) = (without(&old, &new), without(&new, &old));
    for argument in &removed {
        let (rule, before, after) = match counterpart(argument, &removed, &added) {
            Some(other) => (Some(flag(argument)), value(argument), Some(value(other))),
            None => (None, (*argument).clone(), None),
        };
        push(name, ChangedPart::Argument, rule, (Some(before), after), changes);
    }
    for argument in added.iter().filter(|argument| counterpart(argument, &added, &removed).is_none()) {
        push(name, ChangedPart::Argument, None, (None, Some((*argument).clone())), changes);
    }
}

fn list_of_arguments(container: Option<&Value>) -> Vec<String> {
    let args = container.and_then(|container| container["args"].as_array());
    args.into_iter().flatten().map(value_text).collect()
}

fn without<'a>(list: &'a [String], other: &[String]) -> Vec<&'a String> {
    let other: BTreeSet<&String> = other.iter().collect();
    list.iter().filter(|argument| !other.contains(argument)).collect()
}

/// Returns the same flag with another value, if the flag occurs once in both lists.
fn counterpart<'a>(argument: &str, own: &[&String], others: &[&'a String]) -> Option<&'a String> {
    if !argument.starts_with('-') || !argument.contains('=') {
        return None;
    }
    let is_same = |other: &&&'a String| flag(other) == flag(argument);
    let is_only = own.iter().filter(|own| flag(own) == flag(argument)).count() == 1;
    match others.iter().filter(is_same).collect::<Vec<_>>().as_slice() {
        [other] if is_only => Some(other),
        _ => None,
    }
}

/// Returns the name of a flag with a value: `--v` of `--v=2`.
fn flag(argument: &str) -> &str {
    argument.split_once('=').map_or(argument, |(flag, _)| flag)
}

fn value(argument: &str) -> String {
    argument.split_once('=').map_or("", |(_, value)| value).to_owned()
}

fn compare_environment(
    name: &str,
    old: Option<&Value>,
    new: Option<&Value>,
    changes: &mut Vec<ObjectChange>,
) {
    let (old, new) = (old.and_then(|it| it.get("env")), new.and_then(|it| it.get("env")));
    let names: BTreeSet<&str> =
        by_field(old, "name").chain(by_field(new, "name")).map(|(name, _)| name).collect();
    for variable in names {
        let value = |list| {
            let entry: &Value = find(list, "name", variable)?;
            let value = entry.get("value").or_else(|| entry.get("valueFrom"));
            Some(value.map(value_text).unwrap_or_default())
        };
        let (old, new) = (value(old), value(new));
        if old != new {
            push(name, ChangedPart::Environment, Some(variable), (old, new), changes);
        }
    }
}

fn push(
    container: &str,
    part: ChangedPart,
    rule: Option<&str>,
    (before, after): (Option<String>, Option<String>),
    changes: &mut Vec<ObjectChange>,
) {
    let rule = rule.map(str::to_owned);
    changes.push(ObjectChange { rule, ..change(part, container, before, after) });
}

/// Copies the summarised fields of each new container to the old container of the same name. The order of arguments and
/// variables may matter, so lists that differ only in their order stay different.
fn make_equal(before: &mut Value, after: &Value, list: &str) {
    let after = after.pointer(list).cloned();
    let Some(Value::Array(before)) = before.pointer_mut(list) else { return };
    for container in before {
        let name = container["name"].as_str().unwrap_or_default().to_owned();
        let Some(new) = find(after.as_ref(), "name", &name) else { continue };
        let Some(fields) = container.as_object_mut() else { continue };
        for field in ["image", "args", "env"] {
            if same_elements(fields.get(field), new.get(field)) {
                continue;
            }
            match new.get(field) {
                Some(value) => fields.insert(field.to_owned(), value.clone()),
                None => fields.remove(field),
            };
        }
    }
}

/// True if two lists have the same elements, in any order.
fn same_elements(old: Option<&Value>, new: Option<&Value>) -> bool {
    let sorted = |list: Option<&Value>| {
        let mut texts: Vec<String> = list?.as_array()?.iter().map(ToString::to_string).collect();
        texts.sort_unstable();
        Some(texts)
    };
    let (old, new) = (sorted(old), sorted(new));
    old.is_some() && old == new
}
