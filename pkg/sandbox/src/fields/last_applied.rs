//! Client-side and server-side apply by `kubectl` on one object: the annotation with kubectl's last configuration.
//!
//! Source: kube-apiserver 1.36 `lastAppliedManager` and `lastAppliedUpdater`.

use serde_json::Value;

use super::{compare::compare, managed, ownership::VersionedShapes, set::FieldSet, typed};
use crate::{go, meta};

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The maximum total size of the annotations of an object.
const MAX_ANNOTATIONS_BYTES: usize = 256 * 1024;

fn annotation(object: &Value) -> Option<&str> {
    let text = meta::annotation(object, ANNOTATION)?;
    (!text.is_empty()).then_some(text)
}

/// Returns the fields of a client-side apply that did not change since. `kubectl` may take them over without a
/// conflict.
pub(super) fn fields(live: &Value, versions: VersionedShapes<'_>, api_version: &str) -> Option<FieldSet> {
    let applied: Value = serde_json::from_str(annotation(live)?).ok()?;
    if applied.get("apiVersion")?.as_str()? != api_version {
        return None;
    }
    let shape = versions.current();
    typed::check(live, shape, false).ok()?;
    typed::check(&applied, shape, false).ok()?;
    let difference = compare(&applied, live, shape);
    Some(
        typed::fields_of(&applied, shape)
            .difference(&difference.modified)
            .difference(&difference.added)
            .difference(&difference.removed),
    )
}

/// Updates an existing annotation after an apply. Removes the annotation if it gets too long.
pub(super) fn update(object: &mut Value, configuration: &Value) {
    if annotation(object).is_none() {
        return;
    }
    let mut applied = configuration.clone();
    managed::clear(&mut applied);
    if let Some(annotations) = annotations_mut(&mut applied) {
        annotations.remove(ANNOTATION);
    }
    let text = go::json(&applied) + "\n";
    let Some(annotations) = annotations_mut(object) else { return };
    annotations.insert(ANNOTATION.to_owned(), text.into());
    let bytes: usize =
        annotations.iter().map(|(name, value)| name.len() + value.as_str().map_or(0, str::len)).sum();
    if bytes > MAX_ANNOTATIONS_BYTES {
        annotations.remove(ANNOTATION);
    }
}

fn annotations_mut(object: &mut Value) -> Option<&mut serde_json::Map<String, Value>> {
    object.get_mut("metadata")?.get_mut("annotations")?.as_object_mut()
}
