//! What a controller makes belongs to it: finding it, taking it over, letting it go, making it.

use serde_json::{Value, json};

use crate::{
    client::{Client, Propagation},
    controllers::{ObjectRef, conditions, group_of},
    meta,
    selector::LabelSelector,
    status::Status,
};

/// Keeps pods from becoming ready.
pub(super) const NEVER_READY: &str = "sandbox.capstan.dev/never-ready";

/// How many pods are made or deleted in one look, so that what is asked for may change meanwhile: an owner that is not
/// through is looked at again, as its pods have changed.
/// Tests get by with fewer.
/// Source: kube-controller-manager 1.36 `BurstReplicas`, `MaxPodCreateDeletePerSync`.
pub(super) const BURST: usize = if cfg!(test) { 10 } else { 500 };

/// The owner reference of an object's controller.
fn controller_entry(object: &Value) -> Option<&Value> {
    meta::field(object, "ownerReferences")?.as_array()?.iter().find(|owner| owner["controller"] == true)
}

pub(super) fn controller(object: &Value) -> Option<ObjectRef> {
    let owner = controller_entry(object)?;
    let text = |field: &str| owner[field].as_str().unwrap_or_default();
    Some(ObjectRef::new(group_of(text("apiVersion")), text("kind"), meta::namespace(object), text("name")))
}

/// The owner reference that says that an object is controlled by this one.
pub(super) fn owner_entry(owner: &Value) -> Value {
    json!({
        "apiVersion": owner["apiVersion"], "kind": owner["kind"],
        "name": meta::name(owner), "uid": meta::uid(owner),
        "controller": true, "blockOwnerDeletion": true,
    })
}

/// The objects of a kind that an owner controls, oldest first. Those its selector matches and nobody controls become
/// its own; those it matches no more are let go.
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
                    owners.push(owner_entry(owner));
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

/// A pod as a template has it, with a name that begins with its owner's.
pub(super) fn pod_from_template(owner: &Value) -> Value {
    let template = &owner["spec"]["template"];
    let mut metadata = json!({
        "generateName": format!("{}-", meta::name(owner)),
        "namespace": meta::namespace(owner),
        "ownerReferences": [owner_entry(owner)],
    });
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = meta::field(template, field) {
            metadata[field] = value.clone();
        }
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]})
}

/// Deletes an object; one that is gone already is no error.
pub(super) async fn delete(client: &Client, object: &Value) -> Result<(), Status> {
    client.delete(&ObjectRef::of(object), Propagation::Background).await
}

/// Writes the status of an object, unless it is the one it has.
pub(super) async fn write_status(client: &Client, mut object: Value, status: Value) -> Result<(), Status> {
    if object["status"] != status {
        object["status"] = status;
        client.update_status(object).await?;
    }
    Ok(())
}

/// Whether a pod counts: it has not ended, and nobody asked for its end.
pub(super) fn is_active(pod: &Value) -> bool {
    !meta::is_deleting(pod) && pod["status"]["phase"] != "Succeeded" && pod["status"]["phase"] != "Failed"
}

/// Whether a pod says that it is ready.
pub(super) fn is_ready(pod: &Value) -> bool {
    conditions::is_true(&pod["status"], "Ready")
}

/// How many of the pods there are for which something holds.
pub(super) fn count<'a>(pods: impl IntoIterator<Item = &'a Value>, holds: impl Fn(&Value) -> bool) -> i64 {
    pods.into_iter().filter(|pod| holds(pod)).fold(0, |count, _| count + 1)
}

/// Sets a number in a status, which leaves zeros out.
pub(super) fn put(status: &mut Value, field: &str, number: i64) {
    if number != 0 {
        status[field] = number.into();
    }
}

/// A number; 0 when it is not there.
pub(super) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}
