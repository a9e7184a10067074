//! Objects in the file format of clusterctl.

use api::labels::FIELD_MANAGER;
use apply::{ObjectKey, key_of};
use manifest::{Map, Object, Value, go_json};
use workload::{MOVE_MARK, PAUSED_ANNOTATION};

use crate::pause::PausableKind;

/// The field manager of clusterctl.
const CLUSTERCTL_MANAGER: &str = "clusterctl";

/// Returns `Kind_namespace_name.yaml`. Objects whose kinds differ only in the group may share a file name.
/// Source: clusterctl v1.14 client/cluster/objectgraph.go (getFilename).
pub(super) fn file_name(key: &ObjectKey) -> String {
    format!("{}_{}_{}.yaml", key.kind, key.namespace, key.name)
}

/// The form in which an object is written.
pub(super) struct FileFormat<'a> {
    /// API version, which lists may omit.
    pub(super) api_version: &'a str,
    /// Kind, which lists may omit.
    pub(super) kind: &'a str,
    /// The pause to add in the file only.
    pub(super) pause: Option<PausableKind>,
}

impl FileFormat<'_> {
    /// Returns the object as one line of JSON, as it was read but without the mark of this program.
    pub(super) fn to_json_line(&self, mut object: Object) -> Vec<u8> {
        object.as_map_mut().insert("apiVersion".to_owned(), self.api_version.into());
        object.as_map_mut().insert("kind".to_owned(), self.kind.into());
        if let Some(PausableKind::ClusterClass) = self.pause {
            object.set_annotation(PAUSED_ANNOTATION, "");
        }
        if object.annotation(MOVE_MARK).is_some() {
            remove_mark(&mut object);
        }
        let line = go_json(&object.into_value()) + "\n";
        line.into_bytes()
    }
}

/// Removes the mark, and the mark's fields from the field managers.
fn remove_mark(object: &mut Object) {
    let Some(metadata) = object.get_mut(&["metadata"]).and_then(Value::as_object_mut) else { return };
    edit_nested(metadata, "annotations", |annotations| drop(annotations.remove(MOVE_MARK)));
    let Some(entries) = metadata.get_mut("managedFields").and_then(Value::as_array_mut) else { return };
    for entry in entries.iter_mut().filter(|entry| entry["manager"] == FIELD_MANAGER) {
        let Some(entry) = entry.as_object_mut() else { continue };
        edit_nested(entry, "fieldsV1", |fields| {
            edit_nested(fields, "f:metadata", |metadata| {
                edit_nested(metadata, "f:annotations", |annotations| {
                    annotations.remove(&format!("f:{MOVE_MARK}"));
                    if annotations.keys().all(|key| key == ".") {
                        annotations.clear();
                    }
                });
            });
        });
    }
    entries.retain(|entry| entry["manager"] != FIELD_MANAGER || entry.get("fieldsV1").is_some());
}

/// Changes a nested mapping, and removes the mapping if it becomes empty.
fn edit_nested(fields: &mut Map<String, Value>, name: &str, change: impl FnOnce(&mut Map<String, Value>)) {
    let Some(inner) = fields.get_mut(name).and_then(Value::as_object_mut) else { return };
    change(inner);
    if inner.is_empty() {
        fields.remove(name);
    }
}

/// True if another field manager than clusterctl and this program paused a saved object. Without field managers, the
/// pause counts as that of a move, as in clusterctl.
pub(crate) fn is_paused_by_user(object: &Object) -> bool {
    let (is_paused, field): (_, &[&str]) = match PausableKind::of(&key_of(object)) {
        Some(PausableKind::Cluster) => {
            (object.get(&["spec", "paused"]) == Some(&Value::Bool(true)), &["f:spec", "f:paused"])
        }
        Some(PausableKind::ClusterClass) => {
            let field = &["f:metadata", "f:annotations", "f:cluster.x-k8s.io/paused"];
            (object.annotation(PAUSED_ANNOTATION).is_some(), field)
        }
        None => return false,
    };
    let entries = object.get(&["metadata", "managedFields"]).and_then(Value::as_array);
    let holds =
        |entry: &Value| field.iter().try_fold(&entry["fieldsV1"], |fields, part| fields.get(part)).is_some();
    let is_tool = |entry: &Value| entry["manager"] == FIELD_MANAGER || entry["manager"] == CLUSTERCTL_MANAGER;
    is_paused && entries.into_iter().flatten().any(|entry| holds(entry) && !is_tool(entry))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Object {
        value.try_into().unwrap()
    }

    fn form(value: Value, pausing: Option<PausableKind>) -> String {
        let form = FileFormat { api_version: "cluster.x-k8s.io/v1beta2", kind: "Cluster", pause: pausing };
        String::from_utf8(form.to_json_line(object(value))).unwrap()
    }

    #[test]
    fn marks_are_removed_and_the_pause_is_kept() {
        let entry = |fields: Value| json!({"manager": "capstan", "operation": "Update", "fieldsV1": fields});
        let marked = json!({
            "metadata": {
                "name": "a", "annotations": {MOVE_MARK: "save-1"},
                "managedFields": [
                    {"manager": "kubectl", "fieldsV1": {"f:spec": {}}},
                    entry(json!({"f:metadata": {"f:annotations": {".": {}, "f:capstan.dev/move": {}}}, "f:spec": {"f:paused": {}}})),
                    entry(json!({"f:metadata": {"f:annotations": {"f:capstan.dev/move": {}}}})),
                ],
            },
            "spec": {"paused": true},
        });
        assert_eq!(
            form(marked, None),
            concat!(
                r#"{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster","metadata":{"managedFields":["#,
                r#"{"fieldsV1":{"f:spec":{}},"manager":"kubectl"},"#,
                r#"{"fieldsV1":{"f:spec":{"f:paused":{}}},"manager":"capstan","operation":"Update"}],"name":"a"},"#,
                r#""spec":{"paused":true}}"#,
                "\n"
            )
        );
    }

    #[test]
    fn a_running_class_is_paused_in_its_file() {
        let class = form(json!({"metadata": {"name": "c"}}), Some(PausableKind::ClusterClass));
        assert!(class.contains(r#""annotations":{"cluster.x-k8s.io/paused":""}"#), "{class}");
    }

    // Row: D-166
    #[test]
    fn a_pause_managed_by_another_tool_belongs_to_the_user() {
        let cluster = |paused: bool, managers: &[&str]| {
            let entries = managers
                .iter()
                .map(|name| json!({"manager": name, "fieldsV1": {"f:spec": {"f:paused": {}}}}));
            object(json!({
                "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
                "metadata": {"name": "a", "managedFields": entries.collect::<Vec<_>>()}, "spec": {"paused": paused}
            }))
        };
        for (paused, managers, is_users) in [
            (true, &["kubectl-edit"][..], true),
            (true, &["clusterctl"], false),
            (true, &["capstan"], false),
            (true, &["capstan", "kubectl"], true),
            (true, &[], false),
            (false, &["kubectl"], false),
        ] {
            assert_eq!(is_paused_by_user(&cluster(paused, managers)), is_users, "{paused} {managers:?}");
        }
        let class = |manager: &str| {
            let fields = json!({"f:metadata": {"f:annotations": {"f:cluster.x-k8s.io/paused": {}}}});
            object(json!({
                "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "ClusterClass",
                "metadata": {
                    "name": "c", "annotations": {PAUSED_ANNOTATION: ""},
                    "managedFields": [{"manager": manager, "fieldsV1": fields}],
                },
            }))
        };
        assert!(is_paused_by_user(&class("kubectl")) && !is_paused_by_user(&class("clusterctl")));
    }
}
