//! Functions to read and edit JSON objects, for the metadata that the controllers use.

use serde_json::{Map, Value, json};

pub(super) use crate::{
    controllers::{ObjectRef, group_of},
    meta::{annotation, is_deleting, name, namespace, uid},
};

/// The core group of Cluster API.
pub(super) const CORE: &str = "cluster.x-k8s.io";
/// The group of infrastructure providers.
pub(super) const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io";
/// The group of bootstrap providers.
pub(super) const BOOTSTRAP: &str = "bootstrap.cluster.x-k8s.io";
/// The group of control plane providers.
pub(super) const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";

pub(super) const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";
/// The label of control plane Machines.
pub(super) const IS_CONTROL_PLANE: &str = "cluster.x-k8s.io/control-plane";
/// The label of a Machine with the name of its MachineSet.
pub(super) const SET_NAME: &str = "cluster.x-k8s.io/set-name";
/// The label of a Machine or MachineSet with the name of its MachineDeployment.
pub(super) const DEPLOYMENT_NAME: &str = "cluster.x-k8s.io/deployment-name";
/// The label of objects that a managed topology created.
pub(super) const TOPOLOGY_OWNED: &str = "topology.cluster.x-k8s.io/owned";

/// The text at a JSON pointer; empty if absent.
pub(super) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The number at a JSON pointer, if any.
pub(super) fn number(value: &Value, pointer: &str) -> Option<i64> {
    value.pointer(pointer).and_then(Value::as_i64)
}

/// True if the value at a JSON pointer is `true`.
pub(super) fn flag(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer) == Some(&Value::Bool(true))
}

/// The value at a JSON pointer: `None` if the value is absent or null.
pub(super) fn non_null<'a>(value: &'a Value, pointer: &str) -> Option<&'a Value> {
    value.pointer(pointer).filter(|found| !found.is_null())
}

/// Sets the value at a path of keys. Creates missing objects on the path and replaces values that are not objects.
pub(super) fn set(value: &mut Value, path: &[&str], new: Value) {
    let Some((first, rest)) = path.split_first() else {
        *value = new;
        return;
    };
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    if let Value::Object(fields) = value {
        set(fields.entry(*first).or_insert(Value::Null), rest, new);
    }
}

/// Removes a field. Does nothing if the field is absent.
pub(super) fn unset(value: &mut Value, path: &[&str]) {
    let Some((last, parents)) = path.split_last() else { return };
    let mut at = value;
    for key in parents {
        let Some(next) = at.get_mut(key) else { return };
        at = next;
    }
    if let Value::Object(fields) = at {
        fields.remove(*last);
    }
}

pub(super) fn kind(object: &Value) -> &str {
    text(object, "/kind")
}

pub(super) fn group(object: &Value) -> &str {
    group_of(text(object, "/apiVersion"))
}

pub(super) fn generation(object: &Value) -> i64 {
    number(object, "/metadata/generation").unwrap_or(1)
}

pub(super) fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object["metadata"]["labels"].get(key).and_then(Value::as_str)
}

pub(super) fn set_label(object: &mut Value, key: &str, value: &str) {
    set(object, &["metadata", "labels", key], json!(value));
}

/// The string map at a JSON pointer; empty if absent.
pub(super) fn string_map(value: &Value, pointer: &str) -> Map<String, Value> {
    value.pointer(pointer).and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Merges two string maps; values of the second map take precedence.
pub(super) fn merge_maps(mut one: Map<String, Value>, other: Map<String, Value>) -> Map<String, Value> {
    one.extend(other);
    one
}

/// The desired number of replicas; 1 if absent, which is the default of the admission webhooks.
pub(super) fn desired_replicas(object: &Value) -> usize {
    number(object, "/spec/replicas").map_or(1, |replicas| usize::try_from(replicas).unwrap_or(0))
}

pub(super) fn has_finalizer(object: &Value, finalizer: &str) -> bool {
    object["metadata"]["finalizers"].as_array().is_some_and(|all| all.iter().any(|one| one == finalizer))
}

pub(super) fn add_finalizer(object: &mut Value, finalizer: &str) {
    if has_finalizer(object, finalizer) {
        return;
    }
    match object["metadata"]["finalizers"].as_array_mut() {
        Some(finalizers) => finalizers.push(json!(finalizer)),
        None => set(object, &["metadata", "finalizers"], json!([finalizer])),
    }
}

pub(super) fn remove_finalizer(object: &mut Value, finalizer: &str) {
    if let Some(finalizers) = object["metadata"]["finalizers"].as_array_mut() {
        finalizers.retain(|one| one != finalizer);
    }
}

/// Creates an owner reference, either a controller reference like `metav1.NewControllerRef` or a plain one.
pub(super) fn owner_reference(owner: &Value, controller: bool) -> Value {
    let mut reference = json!({
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
    });
    if controller {
        reference["controller"] = json!(true);
        reference["blockOwnerDeletion"] = json!(true);
    }
    reference
}

pub(super) fn owners(object: &Value) -> &[Value] {
    object["metadata"]["ownerReferences"].as_array().map_or(&[], Vec::as_slice)
}

fn same_owner(one: &Value, other: &Value) -> bool {
    one["kind"] == other["kind"]
        && one["name"] == other["name"]
        && group_of(text(one, "/apiVersion")) == group_of(text(other, "/apiVersion"))
}

/// Adds an owner reference, or replaces an older reference to the same owner.
pub(super) fn ensure_owner(object: &mut Value, reference: Value) {
    match object["metadata"]["ownerReferences"].as_array_mut() {
        Some(owners) => match owners.iter_mut().find(|owner| same_owner(owner, &reference)) {
            Some(owner) => *owner = reference,
            None => owners.push(reference),
        },
        None => set(object, &["metadata", "ownerReferences"], json!([reference])),
    }
}

pub(super) fn remove_owners(object: &mut Value, kinds: &[&str]) {
    if let Some(owners) = object["metadata"]["ownerReferences"].as_array_mut() {
        owners.retain(|owner| !kinds.contains(&text(owner, "/kind")));
    }
}

/// The owner reference of the controller of an object.
pub(super) fn controller(object: &Value) -> Option<&Value> {
    owners(object).iter().find(|owner| flag(owner, "/controller"))
}

pub(super) fn is_controlled_by(object: &Value, owner: &Value) -> bool {
    !uid(owner).is_empty() && controller(object).is_some_and(|found| text(found, "/uid") == uid(owner))
}

/// The first owner of a kind, in the namespace of the object.
pub(super) fn owner_of_kind(object: &Value, owner_kind: &str) -> Option<ObjectRef> {
    let owner = owners(object).iter().find(|owner| text(owner, "/kind") == owner_kind)?;
    Some(owner_ref(owner, namespace(object)))
}

pub(super) fn owner_ref(owner: &Value, namespace: &str) -> ObjectRef {
    ObjectRef::new(
        group_of(text(owner, "/apiVersion")),
        text(owner, "/kind"),
        namespace,
        text(owner, "/name"),
    )
}

pub(super) fn cluster_name(object: &Value) -> Option<&str> {
    let spec = || Some(text(object, "/spec/clusterName")).filter(|name| !name.is_empty());
    label(object, CLUSTER_NAME).or_else(spec)
}

/// True if `found` contains everything in `wanted`; lists must be equal. Additional fields of `found` are ignored,
/// because they may be defaults of a schema.
pub(super) fn contains_fields(found: &Value, desired: &Value) -> bool {
    match (found, desired) {
        (Value::Object(found), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| match found.get(key) {
                Some(found) => contains_fields(found, wanted),
                None => is_empty(wanted),
            })
        }
        (Value::Array(found), Value::Array(wanted)) => {
            found.len() == wanted.len()
                && found.iter().zip(wanted).all(|(found, wanted)| contains_fields(found, wanted))
        }
        _ => found == desired,
    }
}

/// True for null and for objects whose fields are all empty.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.values().all(is_empty),
        _ => false,
    }
}

/// Merges `over` into `value`: objects field by field, other values as a whole.
pub(super) fn merge_fields(value: &mut Value, over: &Value) {
    match (value, over) {
        (Value::Object(fields), Value::Object(over)) => {
            for (key, over) in over {
                merge_fields(fields.entry(key).or_insert(Value::Null), over);
            }
        }
        (value, over) => *value = over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_defaults_are_ignored_in_comparisons() {
        let found = json!({"a": 1, "filled": true, "list": [{"b": 2, "filled": true}]});
        for (wanted, expected) in [
            (json!({"a": 1, "list": [{"b": 2}]}), true),
            (json!({"a": 1, "empty": {}, "nothing": null}), true),
            (json!({"a": 2}), false),
            (json!({"c": 1}), false),
            (json!({"list": []}), false),
        ] {
            assert_eq!(contains_fields(&found, &wanted), expected, "{wanted}");
        }
    }
}
