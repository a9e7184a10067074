use manifest::Object;
use serde_json::{Value, json};

use super::{FormerTool, take_over_fields};
use crate::{
    ApplyRequest, PatchTarget, WriteMode,
    testing::{Lab, object},
};

fn entry(manager: &str, operation: &str, version: &str, fields: &Value) -> Value {
    json!({
        "manager": manager, "operation": operation, "apiVersion": version, "fieldsType": "FieldsV1",
        "fieldsV1": fields, "time": "2026-01-02T03:04:05Z"
    })
}

fn taken(entries: &Value, prefixes: &[&'static str]) -> Option<Value> {
    taken_by(entries, &prefixes.iter().map(|prefix| FormerTool::new(prefix)).collect::<Vec<_>>())
}

fn taken_by(entries: &Value, tools: &[FormerTool]) -> Option<Value> {
    let live = json!({"apiVersion": "a/v1", "kind": "A", "metadata": {"managedFields": entries}});
    let live: Object = live.try_into().unwrap();
    take_over_fields(&live, "ours", tools)
}

// Row: ENG-59
#[test]
fn entries_of_named_tools_become_part_of_the_apply_entry() {
    let ours = entry("ours", "Apply", "a/v1", &json!({"f:spec": {"f:a": {}}}));
    let tool = entry("kubectl-create", "Update", "a/v1", &json!({"f:spec": {"f:b": {}}}));
    let apply = entry("kubectl", "Apply", "a/v1", &json!({"f:spec": {"f:c": {}}}));
    let other = entry("controller", "Update", "a/v1", &json!({"f:spec": {"f:d": {}}}));
    let mut status = entry("kubectl", "Update", "a/v1", &json!({"f:status": {"f:e": {}}}));
    status["subresource"] = "status".into();
    let merged = entry("ours", "Apply", "a/v1", &json!({"f:spec": {"f:a": {}, "f:b": {}, "f:c": {}}}));
    assert_eq!(
        taken(&json!([tool, ours, apply, other, status]), &["kubectl"]),
        Some(json!([merged, other, status]))
    );
}

#[test]
fn a_tool_may_keep_its_labels_and_annotations() {
    let tools = [FormerTool { prefix: "kubectl", keeps_labels: true }];
    let labels = json!({"f:labels": {"f:team": {}}, "f:annotations": {".": {}, "f:note": {}}});
    let set_labels = entry("kubectl-label", "Update", "a/v1", &json!({"f:metadata": labels}));
    assert_eq!(taken_by(&json!([set_labels]), &tools), None);

    let mut metadata = labels.clone();
    metadata["f:finalizers"] = json!({"v:\"a\"": {}});
    let edited =
        entry("kubectl-edit", "Update", "a/v1", &json!({"f:metadata": metadata, "f:spec": {"f:b": {}}}));
    let taken = json!({"f:metadata": {"f:finalizers": {"v:\"a\"": {}}}, "f:spec": {"f:b": {}}});
    let rest = entry("kubectl-edit", "Update", "a/v1", &json!({"f:metadata": labels}));
    assert_eq!(
        taken_by(&json!([edited, set_labels]), &tools),
        Some(json!([entry("ours", "Apply", "a/v1", &taken), rest, set_labels]))
    );
}

// Row: ENG-58
#[test]
fn fields_of_former_updates_become_applied_fields() {
    let update = entry("ours", "Update", "a/v1", &json!({"f:spec": {"f:a": {}}}));
    let tool = entry("kubectl", "Update", "a/v1", &json!({"f:spec": {"f:b": {}}}));
    let apply = entry("ours", "Apply", "a/v1", &json!({"f:spec": {"f:a": {}}}));
    assert_eq!(taken(&json!([update, tool]), &[]), Some(json!([apply, tool])));
    assert_eq!(taken(&json!([apply, tool]), &[]), None);
    assert_eq!(taken(&json!([]), &["kubectl"]), None);
}

#[test]
fn a_field_stays_in_a_set_beside_its_children() {
    let whole = entry("ours", "Update", "a/v1", &json!({"f:spec": {}}));
    let part = entry("tool", "Update", "a/v1", &json!({"f:spec": {"f:a": {}}}));
    let merged = entry("ours", "Apply", "a/v1", &json!({"f:spec": {".": {}, "f:a": {}}}));
    for entries in [json!([whole, part]), json!([part, whole])] {
        assert_eq!(taken(&entries, &["tool"]), Some(json!([merged])));
    }
}

#[test]
fn one_version_is_taken_over_at_a_time() {
    let old = entry("tool", "Update", "a/v1beta1", &json!({"f:spec": {"f:old": {}}}));
    let new = entry("tool", "Update", "a/v1", &json!({"f:spec": {"f:new": {}}}));
    let first = entry("ours", "Apply", "a/v1beta1", &json!({"f:spec": {"f:old": {}}}));
    assert_eq!(taken(&json!([new, old]), &["tool"]), Some(json!([first, new])));

    let applied = entry("ours", "Apply", "a/v1", &json!({"f:spec": {"f:a": {}}}));
    let second = entry("ours", "Apply", "a/v1", &json!({"f:spec": {"f:a": {}, "f:new": {}}}));
    assert_eq!(taken(&json!([applied, new]), &["tool"]), Some(json!([second])));
    assert_eq!(taken(&json!([applied, old]), &["tool"]), None);
}

#[test]
fn unknown_entries_change_nothing() {
    let bare = json!({"manager": "tool", "operation": "Update", "apiVersion": "a/v1"});
    for entries in [json!(null), json!({}), json!(["x", 1, null]), json!([bare])] {
        assert_eq!(taken(&entries, &["tool"]), None, "{entries}");
    }
    let understood = entry("tool", "Update", "a/v1", &json!({"f:spec": {}}));
    let ours = entry("ours", "Apply", "a/v1", &json!({"f:spec": {}}));
    assert_eq!(taken(&json!([bare, understood]), &["tool"]), Some(json!([ours, bare])));
}

/// Creates an object with fields of a tool in two versions of the kind, and with fields of another manager.
async fn written_by_many(lab: &Lab) -> Value {
    let version = |name: &str, storage: bool| {
        json!({
            "name": name, "served": true, "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}
        })
    };
    lab.create(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [version("v1", true), version("v1beta1", false)]
        }
    }))
    .await;
    lab.fixture.wait_until_idle().await;
    let widget = json!({
        "apiVersion": "example.com/v1beta1", "kind": "Widget", "metadata": {"name": "a", "namespace": "default"},
        "spec": {"kept": 1, "old": 1}
    });
    let kind = lab.kind(&object(widget.clone())).await;
    lab.server.create(&kind, &object(widget.clone()), "tool-create", WriteMode::Real).await.unwrap();
    for (manager, field) in [("tool-edit", "newer"), ("controller", "foreign")] {
        let patch = json!({"spec": {field: 1}});
        lab.server.patch(&kind, "default", "a", &patch, manager, PatchTarget::Object).await.unwrap();
    }
    widget
}

// Row: ENG-58
// Row: ENG-59
#[tokio::test]
async fn unapplied_fields_of_the_tool_are_removed_and_others_kept() {
    let lab = Lab::start().await;
    let mut widget = written_by_many(&lab).await;
    widget["apiVersion"] = "example.com/v1".into();
    widget["spec"] = json!({"kept": 2});
    let tools = [FormerTool::new("tool")];
    let mut specs = Vec::new();
    loop {
        let live = lab.get(&widget).await;
        let Some(fields) = take_over_fields(&live, "ours", &tools) else { break };
        let patch = json!([
            {"op": "replace", "path": "/metadata/managedFields", "value": fields},
            {"op": "replace", "path": "/metadata/resourceVersion", "value": live.get(&["metadata", "resourceVersion"])}
        ]);
        let kind = lab.kind(&live).await;
        lab.server.patch(&kind, "default", "a", &patch, "ours", PatchTarget::Object).await.unwrap();
        let applied =
            lab.server.apply(&kind, &object(widget.clone()), "ours", ApplyRequest::default()).await.unwrap();
        specs.push(applied.get(&["spec"]).cloned().unwrap());
    }
    assert_eq!(specs, [json!({"kept": 2, "newer": 1, "foreign": 1}), json!({"kept": 2, "foreign": 1})]);
}
