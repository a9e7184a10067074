//! Builds the object that is sent to the target for an object of the source.

use api::labels::FIELD_MANAGER;
use manifest::{Map, Object, Value};
use serde_json::json;
use workload::DELETE_FOR_MOVE;

use crate::pause::PausableKind;

/// Metadata fields that the server writes.
const SERVER_FIELDS: [&str; 8] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "managedFields",
    "selfLink",
];

/// The settings of one copy.
pub(crate) struct CopyOptions<'a> {
    /// `group/version` of the copy.
    pub(crate) api_version: &'a str,
    /// Namespace on the target; empty for cluster-scoped objects.
    pub(crate) namespace: &'a str,
    /// Type of the pause and the run that sets the pause. None for objects without a pause of their own, and for
    /// objects that the user paused.
    pub(crate) pause: Option<(PausableKind, &'a str)>,
    /// True if the status is written separately.
    pub(crate) has_status: bool,
}

/// An owner without a copy on the target: the owners of the object have changed since discovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnknownOwner;

/// Builds the copy: the source without server fields, without leftovers of an earlier move, and without a status
/// that is written separately. Owners stay the same, in the same order, with their uids on the target.
/// Source: clusterctl v1.14 client/cluster/mover.go (createTargetObject).
pub(crate) fn build_copy(
    source: &Object,
    options: &CopyOptions<'_>,
    uid_of: impl Fn(&str) -> Option<String>,
) -> Result<Object, UnknownOwner> {
    let mut copy = source.clone();
    copy.as_map_mut().insert("apiVersion".to_owned(), options.api_version.into());
    if options.has_status {
        copy.as_map_mut().remove("status");
    }
    copy.set_namespace(options.namespace);
    if let Some(metadata) = copy.get_mut(&["metadata"]).and_then(Value::as_object_mut) {
        metadata.retain(|field, _| !SERVER_FIELDS.contains(&&**field));
        if metadata.contains_key("name") {
            metadata.remove("generateName");
        }
        remove_delete_for_move(metadata);
        for owner in metadata.get_mut("ownerReferences").and_then(Value::as_array_mut).into_iter().flatten() {
            let uid = owner.get("uid").and_then(Value::as_str).and_then(&uid_of);
            owner["uid"] = uid.ok_or(UnknownOwner)?.into();
        }
    }
    if let Some((resting, run)) = options.pause {
        resting.pause_object(&mut copy, run);
    }
    Ok(copy)
}

/// Removes the annotation of an interrupted deletion, which no copy may carry.
pub(crate) fn remove_delete_for_move(metadata: &mut Map<String, Value>) {
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
    if annotations.remove(DELETE_FOR_MOVE).is_some() && annotations.is_empty() {
        metadata.remove("annotations");
    }
}

/// Returns the patch that gives a target object the field managers of its source. Servers ignore an empty list.
/// Source: Kubernetes 1.36, apimachinery/pkg/util/managedfields, where one empty entry removes all managers.
pub(crate) fn field_managers_patch(source: &Object) -> Value {
    let entries = source
        .get(&["metadata", "managedFields"])
        .filter(|entries| entries.as_array().is_some_and(|entries| !entries.is_empty()));
    json!({"metadata": {"managedFields": entries.cloned().unwrap_or_else(|| json!([{}]))}})
}

/// True if a target object has an entry of `managedFields` of its source, with the same time: a copy keeps the field
/// managers of its source. An incomplete copy has the field manager of this program instead.
pub(crate) fn is_copy_of(source: &Object, there: &Object) -> bool {
    let entries = |object: &Object| {
        object.get(&["metadata", "managedFields"]).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let fields = ["manager", "operation", "subresource", "time"];
    let is_same = |one: &Value, other: &Value| fields.iter().all(|field| one[*field] == other[*field]);
    let of_source = entries(source);
    entries(there).iter().any(|entry| {
        entry["manager"] == FIELD_MANAGER
            || !entry["time"].is_null() && of_source.iter().any(|one| is_same(one, entry))
    })
}

/// Returns the field managers of an object, sorted: name, operation and subresource of each entry.
pub(crate) fn field_manager_names(object: &Object) -> Vec<[String; 3]> {
    let entries = object.get(&["metadata", "managedFields"]).and_then(Value::as_array);
    let manager = |entry: &Value| {
        ["manager", "operation", "subresource"]
            .map(|field| entry.get(field).and_then(Value::as_str).unwrap_or_default().to_owned())
    };
    let mut managers: Vec<_> = entries.into_iter().flatten().map(manager).collect();
    managers.sort_unstable();
    managers
}

#[cfg(test)]
mod tests;
