use manifest::Object;
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use super::{MAX_LINES, ObjectPair, diff};

fn object(value: Value) -> Option<Object> {
    (!value.is_null()).then(|| value.try_into().unwrap())
}

fn shown(before: Value, after: Value) -> String {
    diff(&ObjectPair { before: object(before), after: object(after) })
}

#[test]
fn a_change_is_shown_with_context_but_without_server_fields() {
    let live = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "status": {"x": 1},
        "data": {"a": "1", "b": "1", "c": "1", "d": "1", "e": "1", "f": "1"},
        "metadata": {
            "name": "one", "uid": "u", "resourceVersion": "7", "generation": 3, "selfLink": "/x",
            "creationTimestamp": "2026-01-02T03:04:05Z", "managedFields": [{}]
        }
    });
    let planned = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"},
        "data": {"a": "1", "b": "1", "c": "1", "d": "1", "e": "2", "f": "1", "g": "1"}
    });
    assert_data_eq!(
        shown(live.clone(), planned),
        str![[r#"
@@ -4,8 +4,9 @@
   b: "1"
   c: "1"
   d: "1"
-  e: "1"
+  e: "2"
   f: "1"
+  g: "1"
 kind: ConfigMap
 metadata:
   name: one

"#]]
    );
    assert_eq!(shown(live.clone(), live), "");
}

#[test]
fn new_objects_are_all_added_and_deleted_ones_all_removed() {
    let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "one"}});
    assert_data_eq!(
        shown(json!(null), object.clone()),
        str![[r#"
@@ -0,0 +1,4 @@
+apiVersion: v1
+kind: Namespace
+metadata:
+  name: one

"#]]
    );
    assert_data_eq!(
        shown(object, json!(null)),
        str![[r#"
@@ -1,4 +0,0 @@
-apiVersion: v1
-kind: Namespace
-metadata:
-  name: one

"#]]
    );
}

fn secret(data: &Value, applied: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "data": data,
        "metadata": {"name": "one", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": applied, "a": "b"}}
    })
}

#[test]
fn secret_values_show_changes_but_no_content() {
    let before =
        secret(&json!({"gone": "AAAA", "longer": "AAAA", "other": "AAAA", "same": "AAAA"}), "applied-1");
    let after =
        secret(&json!({"longer": "AAAAAA==", "new": "AA==", "other": "AAAB", "same": "AAAA"}), "applied-2");
    assert_data_eq!(
        shown(before, after),
        str![[r#"
@@ -1,12 +1,12 @@
 apiVersion: v1
 data:
-  gone: (3 bytes)
-  longer: (3 bytes)
-  other: (3 bytes)
+  longer: (4 bytes)
+  new: (1 byte)
+  other: (3 bytes, changed)
   same: (3 bytes)
 kind: Secret
 metadata:
   annotations:
     a: b
-    kubectl.kubernetes.io/last-applied-configuration: (9 bytes)
+    kubectl.kubernetes.io/last-applied-configuration: (9 bytes, changed)
   name: one

"#]]
    );
}

#[test]
fn secrets_of_any_shape_stay_hidden() {
    let hidden = "hidden-value";
    for data in [
        json!(hidden),
        json!([hidden]),
        json!({"k": {"x": hidden}}),
        json!({"k": [hidden]}),
        json!({"k": hidden}),
    ] {
        for field in ["data", "stringData"] {
            let whole = json!({"apiVersion": "v1", "kind": "Secret", field: data});
            let other = json!({"apiVersion": "v1", "kind": "Secret", field: {"k": "x"}});
            let texts = [
                shown(json!(null), whole.clone()),
                shown(whole.clone(), json!(null)),
                shown(whole.clone(), other.clone()),
                shown(other, whole.clone()),
                shown(whole, json!({"apiVersion": "v1", "kind": "ConfigMap"})),
            ];
            assert!(texts.iter().all(|text| !text.is_empty() && !text.contains(hidden)), "{data}: {texts:?}");
        }
    }
}

#[test]
fn a_long_diff_is_truncated_with_a_count() {
    let lines = |count: usize| {
        let data: serde_json::Map<_, _> = (0..count).map(|at| (format!("k{at}"), "v".into())).collect();
        shown(json!(null), json!({"data": data}))
    };
    let whole = lines(MAX_LINES - 2);
    assert_eq!((whole.lines().count(), whole.contains("more lines")), (MAX_LINES, false));
    let cut = lines(MAX_LINES + 3);
    assert_eq!((cut.lines().count(), cut.lines().last()), (MAX_LINES + 1, Some("... 5 more lines")));
}
