//! What is sent to the target for an object of the source.

use inventory::FIELD_MANAGER;
use manifest::{Map, Object, Value};
use serde_json::json;
use workload::DELETE_FOR_MOVE;

use crate::pause::Resting;

/// Fields of metadata that are a server's own.
const OF_THE_SERVER: [&str; 8] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "managedFields",
    "selfLink",
];

/// How an object is copied.
pub(crate) struct Copying<'a> {
    /// `group/version` it is written in.
    pub(crate) api_version: &'a str,
    /// Its namespace on the target; empty for objects of the whole cluster.
    pub(crate) namespace: &'a str,
    /// How it is put to rest, and the run that does it; none for what does not rest or was paused by the user.
    pub(crate) rest: Option<(Resting, &'a str)>,
    /// Whether its status is written apart from it.
    pub(crate) has_status: bool,
}

/// An owner that is not known on the target: the owners of the object have changed since they were looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnknownOwner;

/// Makes the copy: all of the source but what is the server's own, what an earlier move left, and the status; owned by the
/// same owners in the same order, with their uids on the target.
/// Source: clusterctl v1.14 client/cluster/mover.go (createTargetObject).
pub(crate) fn copy_of(
    source: &Object,
    how: &Copying<'_>,
    uid_of: impl Fn(&str) -> Option<String>,
) -> Result<Object, UnknownOwner> {
    let mut copy = source.clone();
    copy.as_map_mut().insert("apiVersion".to_owned(), how.api_version.into());
    if how.has_status {
        copy.as_map_mut().remove("status");
    }
    copy.set_namespace(how.namespace);
    if let Some(metadata) = copy.get_mut(&["metadata"]).and_then(Value::as_object_mut) {
        metadata.retain(|field, _| !OF_THE_SERVER.contains(&&**field));
        if metadata.contains_key("name") {
            metadata.remove("generateName");
        }
        without_delete_for_move(metadata);
        for owner in metadata.get_mut("ownerReferences").and_then(Value::as_array_mut).into_iter().flatten() {
            let uid = owner.get("uid").and_then(Value::as_str).and_then(&uid_of);
            owner["uid"] = uid.ok_or(UnknownOwner)?.into();
        }
    }
    if let Some((resting, run)) = how.rest {
        resting.put_to_rest(&mut copy, run);
    }
    Ok(copy)
}

/// Takes the annotation of an interrupted deletion off: it never travels to a target.
pub(crate) fn without_delete_for_move(metadata: &mut Map<String, Value>) {
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
    if annotations.remove(DELETE_FOR_MOVE).is_some() && annotations.is_empty() {
        metadata.remove("annotations");
    }
}

/// The patch that gives an object on the target the field managers it has on the source. A list of nothing would be taken
/// for no list.
/// Source: Kubernetes 1.36, apimachinery/pkg/util/managedfields, where one empty entry takes all off.
pub(crate) fn field_managers_of(source: &Object) -> Value {
    let entries = source
        .get(&["metadata", "managedFields"])
        .filter(|entries| entries.as_array().is_some_and(|entries| !entries.is_empty()));
    json!({"metadata": {"managedFields": entries.cloned().unwrap_or_else(|| json!([{}]))}})
}

/// True if an object of the target has an entry of `managedFields` of its source, with the same time: a copy keeps the field
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

/// Who has written an object, and how: name, operation and subresource of each entry, sorted.
pub(crate) fn managers_of(object: &Object) -> Vec<[String; 3]> {
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
