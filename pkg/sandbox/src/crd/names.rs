//! The accepted names of a definition and its Established condition.
//!
//! Source: apiextensions-apiserver 1.36 `pkg/controller/status/naming_controller.go` and `pkg/controller/establish`.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::definition::new_stored_versions;
use crate::conditions;

/// Returns the status of a definition: accepted names, conditions NamesAccepted and Established, stored versions.
/// `definition` contains its previous status, if any. `others` are all other definitions of the group in creation
/// order; only their status is read.
pub(crate) fn status(definition: &Value, others: &[Value], time: &str) -> Value {
    let before = &definition["status"];
    let (names, conflict) = accept(definition, others);
    let (state, reason, message) = match &conflict {
        None => ("True", "NoConflicts", "no conflicts found"),
        Some((reason, message)) => ("False", *reason, message.as_str()),
    };
    let accepted = conditions::build(before, "NamesAccepted", state, reason, message, time);
    // An established definition stays established: a conflict of new names keeps the old names.
    let established = conditions::is_true(before, "Established");
    let (state, reason, message) = match conflict.filter(|_| !established) {
        None => ("True", "InitialNamesAccepted", "the initial names have been accepted"),
        Some(_) => ("False", "NotAccepted", "not all names are accepted"),
    };
    let established = conditions::build(before, "Established", state, reason, message, time);
    json!({
        "conditions": [accepted, established],
        "acceptedNames": names,
        "storedVersions": new_stored_versions(definition, Some(definition)),
    })
}

/// Returns the accepted names and the last conflict among the requested names.
fn accept(definition: &Value, others: &[Value]) -> (Value, Option<(&'static str, String)>) {
    let requested = &definition["spec"]["names"];
    let before = &definition["status"]["acceptedNames"];
    let mut names: Map<String, Value> = before.as_object().cloned().unwrap_or_default();
    let mut conflict = None;
    let resources = names_in_use(others, &["plural", "singular"], "shortNames");
    let kinds = names_in_use(others, &["kind", "listKind"], "");
    for (field, used, reason) in [
        ("plural", &resources, "PluralConflict"),
        ("singular", &resources, "SingularConflict"),
        ("shortNames", &resources, "ShortNamesConflict"),
        ("kind", &kinds, "KindConflict"),
        ("listKind", &kinds, "ListKindConflict"),
    ] {
        let taken = conflicting_names(&requested[field], &before[field], used);
        if taken.is_empty() {
            put(&mut names, field, &requested[field]);
        } else {
            conflict = Some((reason, aggregate(&taken)));
        }
    }
    put(&mut names, "categories", &requested["categories"]);
    names.entry("plural").or_insert_with(|| "".into());
    names.entry("kind").or_insert_with(|| "".into());
    (Value::Object(names), conflict)
}

fn put(names: &mut Map<String, Value>, field: &str, value: &Value) {
    if value.is_null() {
        names.remove(field);
    } else {
        names.insert(field.to_owned(), value.clone());
    }
}

fn names_in_use<'a>(others: &'a [Value], fields: &[&str], list: &str) -> HashSet<&'a str> {
    let names = |other: &'a Value| {
        let accepted = &other["status"]["acceptedNames"];
        let single = fields.iter().filter_map(|field| accepted[*field].as_str()).collect::<Vec<_>>();
        let many = accepted[list].as_array().into_iter().flatten().filter_map(Value::as_str);
        single.into_iter().chain(many)
    };
    others.iter().flat_map(names).filter(|name| !name.is_empty()).collect()
}

/// Returns the requested names that are in use and not yet accepted for this definition.
fn conflicting_names<'a>(requested: &'a Value, before: &Value, used: &HashSet<&str>) -> Vec<&'a str> {
    let ours =
        |name: &str| before == name || before.as_array().is_some_and(|names| names.iter().any(|n| n == name));
    let single = requested.as_str().into_iter();
    let many = requested.as_array().into_iter().flatten().filter_map(Value::as_str);
    single.chain(many).filter(|name| used.contains(name) && !ours(name)).collect()
}

/// Joins the messages for all names, like Go's `NewAggregate`.
fn aggregate(names: &[&str]) -> String {
    let mut words: Vec<String> = names.iter().map(|name| format!("\"{name}\" is already in use")).collect();
    words.dedup();
    if words.len() == 1 { words.remove(0) } else { format!("[{}]", words.join(", ")) }
}
