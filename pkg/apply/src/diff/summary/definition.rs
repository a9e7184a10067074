//! The versions of CustomResourceDefinitions.

use std::collections::BTreeSet;

use api::output::{ChangeEffect, ChangedPart, ObjectChange};
use manifest::{Value, value_text};

use super::{by_field, change, find, schema};

/// The fields of a version besides its schema, its columns and `served`.
const SETTINGS: [&str; 2] = ["selectableFields", "subresources"];

pub(super) fn extract(before: &mut Value, after: &mut Value, changes: &mut Vec<ObjectChange>) {
    if !is_definition(before) && !is_definition(after) {
        return;
    }
    let (old, new) = (before.pointer("/spec/versions"), after.pointer("/spec/versions"));
    let names: BTreeSet<&str> =
        by_field(old, "name").chain(by_field(new, "name")).map(|(name, _)| name).collect();
    for name in names {
        let (old, new) = (find(old, "name", name), find(new, "name", name));
        if old.map(version_state) != new.map(version_state) {
            changes.push(change(ChangedPart::Version, name, old.map(version_state), new.map(version_state)));
        }
        if let (Some(old), Some(new)) = (old, new) {
            compare(name, old, new, changes);
        }
    }
    compare_conversion(before, after, changes);
    for object in [before, after] {
        if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
            spec.remove("versions");
        }
    }
}

/// Removes a change of the conversion strategy. The diff shows a changed webhook.
fn compare_conversion(before: &mut Value, after: &mut Value, changes: &mut Vec<ObjectChange>) {
    let strategy = |object: &Value| object.pointer("/spec/conversion/strategy").map(value_text);
    let (old, new) = (strategy(before), strategy(after));
    if old.is_none() || new.is_none() || old == new {
        return;
    }
    changes.push(change(ChangedPart::Version, "conversion", old, new));
    for object in [before, after] {
        if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
            spec.remove("conversion");
        }
    }
}

fn is_definition(object: &Value) -> bool {
    let group = object["apiVersion"].as_str().unwrap_or_default();
    group.starts_with("apiextensions.k8s.io/") && object["kind"] == "CustomResourceDefinition"
}

/// Returns the states of a version: `served, storage`.
fn version_state(version: &Value) -> String {
    let is = |field: &str| version[field] == true;
    let served = if is("served") { "served" } else { "not served" };
    let storage = is("storage").then_some("storage");
    let deprecated = is("deprecated").then_some("deprecated");
    [Some(served), storage, deprecated].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Compares a version that exists in both definitions.
fn compare(name: &str, old: &Value, new: &Value, changes: &mut Vec<ObjectChange>) {
    let from = changes.len();
    schema::compare(old.pointer("/schema/openAPIV3Schema"), new.pointer("/schema/openAPIV3Schema"), changes);
    compare_columns(old.get("additionalPrinterColumns"), new.get("additionalPrinterColumns"), changes);
    for setting in SETTINGS.iter().filter(|setting| old.get(**setting) != new.get(**setting)) {
        let text = |version: &Value| version.get(*setting).map(value_text);
        changes.push(change(ChangedPart::Version, setting, text(old), text(new)));
    }
    if old.get("deprecationWarning") != new.get("deprecationWarning") {
        changes.push(text_change("deprecationWarning"));
    }
    for change in &mut changes[from..] {
        change.version = Some(name.to_owned());
    }
}

/// Returns the change of a description without its text, which does not matter to a plan.
pub(super) fn text_change(name: &str) -> ObjectChange {
    ObjectChange { effect: ChangeEffect::Changed, ..change(ChangedPart::Description, name, None, None) }
}

fn compare_columns(old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<ObjectChange>) {
    let names: BTreeSet<&str> =
        by_field(old, "name").chain(by_field(new, "name")).map(|(name, _)| name).collect();
    for name in names {
        let (old, new) = (find(old, "name", name), find(new, "name", name));
        let text = |column: &Value| {
            let mut column = column.clone();
            if let Some(fields) = column.as_object_mut() {
                fields.remove("description");
                fields.remove("name");
            }
            match column["jsonPath"].as_str() {
                Some(path) if column.as_object().is_some_and(|fields| fields.len() <= 2) => path.to_owned(),
                _ => column.to_string(),
            }
        };
        let (before, after) = (old.map(text), new.map(text));
        if before != after {
            changes.push(change(ChangedPart::Column, name, before, after));
        } else if old != new {
            changes.push(text_change(name));
        }
    }
}
