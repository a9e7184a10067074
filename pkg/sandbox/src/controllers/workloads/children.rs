//! The objects that a workload controller owns: claim, release and creation, with hashes of their templates.

use serde_json::{Value, json};

use crate::{
    client::Client,
    conditions,
    controllers::{ObjectRef, group_of},
    meta::{self, SAFE_LETTERS},
    request::options::PropagationPolicy,
    selector::LabelSelector,
    status::Status,
};

/// The annotation that keeps Pods from becoming ready.
pub(super) const NEVER_READY: &str = "sandbox.capstan.dev/never-ready";

/// The maximum number of Pods that one reconciliation creates or deletes, so that the desired number may change
/// meanwhile. The changes of the Pods trigger the next reconciliation of the owner. Tests use a smaller number.
/// Source: kube-controller-manager 1.36 `BurstReplicas`, `MaxPodCreateDeletePerSync`.
pub(super) const BURST: usize = if cfg!(test) { 10 } else { 500 };

/// The owner reference of the controller of an object.
fn controller_entry(object: &Value) -> Option<&Value> {
    meta::field(object, "ownerReferences")?.as_array()?.iter().find(|owner| owner["controller"] == true)
}

pub(super) fn controller(object: &Value) -> Option<ObjectRef> {
    let owner = controller_entry(object)?;
    let text = |field: &str| owner[field].as_str().unwrap_or_default();
    Some(ObjectRef::new(group_of(text("apiVersion")), text("kind"), meta::namespace(object), text("name")))
}

/// The owner reference that makes `owner` the controller of an object.
pub(super) fn controller_reference(owner: &Value) -> Value {
    json!({
        "apiVersion": owner["apiVersion"], "kind": owner["kind"],
        "name": meta::name(owner), "uid": meta::uid(owner),
        "controller": true, "blockOwnerDeletion": true,
    })
}

/// Returns the objects of a kind that an owner controls, oldest first. Adopts matching objects without a controller,
/// and releases controlled objects that no longer match the selector.
/// Source: kube-controller-manager 1.36 `controller_ref_manager.go`.
pub(super) async fn claim(
    client: &Client,
    owner: &Value,
    group: &str,
    kind: &str,
) -> Result<Vec<Value>, Status> {
    let selector = LabelSelector::of_object(&owner["spec"]["selector"]);
    let mut claimed = Vec::new();
    for mut object in client.list(group, kind, Some(meta::namespace(owner))) {
        let matches = selector.matches_object(&object);
        match controller_entry(&object).map(|entry| entry["uid"] == meta::uid(owner)) {
            Some(true) if matches || meta::is_deleting(&object) => claimed.push(object),
            Some(true) => {
                if let Some(owners) = object["metadata"]["ownerReferences"].as_array_mut() {
                    owners.retain(|entry| entry["uid"] != meta::uid(owner));
                }
                client.update(object).await?;
            }
            None if matches && !meta::is_deleting(&object) => {
                let owners = meta::metadata_mut(&mut object).entry("ownerReferences").or_insert(json!([]));
                if let Some(owners) = owners.as_array_mut() {
                    owners.push(controller_reference(owner));
                }
                claimed.push(client.update(object).await?);
            }
            Some(false) | None => {}
        }
    }
    claimed.sort_by(|a, b| age(a).cmp(&age(b)));
    Ok(claimed)
}

fn age(object: &Value) -> (&str, &str) {
    (meta::text(object, "creationTimestamp"), meta::name(object))
}

/// A Pod from the template of an owner; its generated name starts with the name of the owner.
pub(super) fn pod_from_template(owner: &Value) -> Value {
    let template = &owner["spec"]["template"];
    let mut metadata = json!({
        "generateName": format!("{}-", meta::name(owner)),
        "namespace": meta::namespace(owner),
        "ownerReferences": [controller_reference(owner)],
    });
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = meta::field(template, field) {
            metadata[field] = value.clone();
        }
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]})
}

/// Deletes an object. Succeeds if the object does not exist.
pub(super) async fn delete(client: &Client, object: &Value) -> Result<(), Status> {
    client.delete(&ObjectRef::of(object), PropagationPolicy::Background).await
}

/// Writes the status of an object if the status differs.
pub(super) async fn write_status(client: &Client, mut object: Value, status: Value) -> Result<(), Status> {
    if object["status"] != status {
        object["status"] = status;
        client.update_status(object).await?;
    }
    Ok(())
}

/// True if a Pod has not terminated and is not being deleted.
pub(super) fn is_active(pod: &Value) -> bool {
    !meta::is_deleting(pod) && pod["status"]["phase"] != "Succeeded" && pod["status"]["phase"] != "Failed"
}

/// True if the Pod has a true condition `Ready`.
pub(super) fn is_ready(pod: &Value) -> bool {
    conditions::is_true(&pod["status"], "Ready")
}

/// Counts the Pods for which `holds` returns true.
pub(super) fn count<'a>(pods: impl IntoIterator<Item = &'a Value>, matches: impl Fn(&Value) -> bool) -> i64 {
    pods.into_iter().filter(|pod| matches(pod)).fold(0, |count, _| count + 1)
}

/// Sets a number in a status and omits zero.
pub(super) fn set_count(status: &mut Value, field: &str, number: i64) {
    if number != 0 {
        status[field] = number.into();
    }
}

/// The number in a value; 0 for other types.
pub(super) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

/// A hash of a value in at most ten letters (apimachinery's `rand.SafeEncodeString`). The real controllers use FNV-1a
/// too. Differs: the hash covers the JSON text, so the names differ.
pub(super) fn short_hash(value: &Value) -> String {
    let hash = value
        .to_string()
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash.to_string()
        .bytes()
        .map(|digit| char::from(SAFE_LETTERS[usize::from(digit) % SAFE_LETTERS.len()]))
        .collect()
}

#[cfg(test)]
mod hash_tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hashes_ignore_the_order_of_fields() {
        let one: Value = serde_json::from_str(r#"{"a": 1, "b": 2}"#).unwrap();
        let other: Value = serde_json::from_str(r#"{"b": 2, "a": 1}"#).unwrap();
        assert_eq!(short_hash(&one), short_hash(&other));
        assert_ne!(short_hash(&one), short_hash(&json!({"a": 1, "b": 3})));
        assert!(
            short_hash(&one).len() <= 10
                && short_hash(&one).bytes().all(|letter| SAFE_LETTERS.contains(&letter))
        );
    }
}
