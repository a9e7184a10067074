//! The changes of an object in the terms of its kind, for readers who do not want YAML.
//!
//! ```text
//! before, after ─┬─► containers:  images, arguments, environment
//!                ├─► permissions: verbs by resource
//!                ├─► definition:  versions, columns ─► schema: fields, validation, defaults
//!                └─► metadata:    labels, annotations
//! ```
//!
//! The summary makes each summarised part equal in both trees, so that a diff of the trees shows only the rest.

mod containers;
mod definition;
mod metadata;
mod permissions;
mod schema;
#[cfg(test)]
mod tests;

use api::output::{ChangeEffect, ChangedPart, ObjectChange};
use manifest::Value;

/// Removes the summarised changes from both trees and returns them.
pub(super) fn extract_changes(before: &mut Value, after: &mut Value) -> Vec<ObjectChange> {
    let mut changes = Vec::new();
    containers::extract(before, after, &mut changes);
    permissions::extract(before, after, &mut changes);
    definition::extract(before, after, &mut changes);
    metadata::extract(before, after, &mut changes);
    changes
}

/// Returns a change from one text to another.
fn change(part: ChangedPart, name: &str, before: Option<String>, after: Option<String>) -> ObjectChange {
    let effect = match (&before, &after) {
        (None, _) => ChangeEffect::Added,
        (_, None) => ChangeEffect::Removed,
        _ => ChangeEffect::Changed,
    };
    ObjectChange { part, effect, version: None, name: name.to_owned(), rule: None, before, after }
}

/// Returns the elements of a list with the text of one of their fields. Elements without this field are left out.
fn by_field<'a>(list: Option<&'a Value>, field: &'a str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let all = list.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    all.iter().filter_map(move |element| Some((element.get(field)?.as_str()?, element)))
}

/// Returns the element of a list whose field has this text.
fn find<'a>(list: Option<&'a Value>, field: &'a str, text: &str) -> Option<&'a Value> {
    by_field(list, field).find(|(found, _)| *found == text).map(|(_, element)| element)
}
