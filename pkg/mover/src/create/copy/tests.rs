use workload::{MOVE_MARK, PAUSED_ANNOTATION};

use super::*;

fn object(value: Value) -> Object {
    value.try_into().unwrap()
}

fn machine() -> Object {
    object(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
        "metadata": {
            "name": "m", "namespace": "team", "generateName": "m-", "uid": "u1", "resourceVersion": "7", "generation": 3,
            "creationTimestamp": "2026-01-02T03:04:05Z", "managedFields": [{"manager": "kubectl", "operation": "Update"}],
            "labels": {"a": "b"}, "annotations": {DELETE_FOR_MOVE: "", "mine": "1"}, "finalizers": ["f"],
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Z", "name": "z", "uid": "old-z", "controller": true, "blockOwnerDeletion": true},
                {"apiVersion": "v1", "kind": "A", "name": "a", "uid": "old-a"},
            ],
        },
        "spec": {"x": 1}, "status": {"phase": "Running"},
    }))
}

fn plainly() -> CopyOptions<'static> {
    CopyOptions { api_version: "cluster.x-k8s.io/v1beta2", namespace: "team", pause: None, has_status: true }
}

fn new_uid(old: &str) -> Option<String> {
    old.strip_prefix("old-").map(|name| format!("new-{name}"))
}

#[test]
fn a_copy_equals_its_source_except_for_server_fields() {
    let copy = build_copy(&machine(), &CopyOptions { namespace: "elsewhere", ..plainly() }, new_uid).unwrap();
    let expected = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
        "metadata": {
            "name": "m", "namespace": "elsewhere", "labels": {"a": "b"}, "annotations": {"mine": "1"}, "finalizers": ["f"],
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Z", "name": "z", "uid": "new-z", "controller": true, "blockOwnerDeletion": true},
                {"apiVersion": "v1", "kind": "A", "name": "a", "uid": "new-a"},
            ],
        },
        "spec": {"x": 1},
    });
    assert_eq!(copy.into_value(), expected);
}

#[test]
fn a_status_without_subresource_is_copied() {
    let copy = build_copy(&machine(), &CopyOptions { has_status: false, ..plainly() }, new_uid).unwrap();
    assert_eq!(copy.get(&["status", "phase"]), Some(&json!("Running")));
}

#[test]
fn an_unknown_owner_is_an_error() {
    assert_eq!(build_copy(&machine(), &plainly(), |_| None), Err(UnknownOwner));
}

#[test]
fn removing_the_annotations_of_a_move_leaves_no_empty_map() {
    let source = object(json!({"metadata": {"name": "a", "annotations": {DELETE_FOR_MOVE: ""}}}));
    let copy = build_copy(&source, &plainly(), new_uid).unwrap();
    assert_eq!(copy.get(&["metadata", "annotations"]), None);
}

#[test]
fn copies_of_pausable_objects_are_paused_and_marked() {
    let source = object(json!({"metadata": {"name": "c"}}));
    let how = CopyOptions { pause: Some((PausableKind::ClusterClass, "r1")), ..plainly() };
    let copy = build_copy(&source, &how, new_uid).unwrap();
    assert_eq!((copy.annotation(MOVE_MARK), copy.annotation(PAUSED_ANNOTATION)), (Some("r1"), Some("")));
}

#[test]
fn field_managers_are_copied_from_the_source_or_omitted() {
    let expected = json!({"metadata": {"managedFields": [{"manager": "kubectl", "operation": "Update"}]}});
    assert_eq!(field_managers_patch(&machine()), expected);
    let bare = object(json!({"metadata": {"managedFields": []}}));
    assert_eq!(field_managers_patch(&bare), json!({"metadata": {"managedFields": [{}]}}));
}
