use api::output::{ChangeEffect, ChangedPart, ObjectChange};
use manifest::Object;
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use crate::diff::{DiffSummary, ObjectPair, summarise};

fn summary(before: Value, after: Value) -> DiffSummary {
    let object = |value: Value| (!value.is_null()).then(|| Object::try_from(value).unwrap());
    summarise(&ObjectPair { before: object(before), after: object(after) })
}

/// Formats a change as `effect part name rule: before to after`, without empty parts.
fn line(change: &ObjectChange) -> String {
    let effect = match change.effect {
        ChangeEffect::Tightened => "tightened",
        ChangeEffect::Removed => "removed",
        ChangeEffect::Added => "added",
        ChangeEffect::Changed => "changed",
        ChangeEffect::Loosened => "loosened",
    };
    let part = format!("{:?}", change.part).to_lowercase();
    let rule = change.rule.as_ref().map(|rule| format!(" {rule}")).unwrap_or_default();
    let version = change.version.as_ref().map(|version| format!("{version} ")).unwrap_or_default();
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    let (before, after) = (value(&change.before), value(&change.after));
    format!("{version}{effect} {part} {}{rule}: {before} to {after}", change.name)
}

fn lines(before: Value, after: Value) -> Vec<String> {
    let summary = summary(before, after);
    assert_eq!(summary.remaining_diff, "");
    summary.changes.iter().map(line).collect()
}

fn definition(versions: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.io"}, "spec": {"group": "example.io", "versions": versions}
    })
}

/// Returns a definition whose only version has this schema for its `spec`.
fn with_spec(spec: &Value) -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}});
    definition(&json!([{"name": "v1", "served": true, "storage": true, "schema": schema}]))
}

#[test]
fn rules_of_a_field_become_stricter_or_less_strict() {
    for (before, after, expected) in [
        (json!({}), json!({"maxLength": 9}), "tightened validation spec maxLength: - to 9"),
        (json!({"maxLength": 9}), json!({"maxLength": 5}), "tightened validation spec maxLength: 9 to 5"),
        (json!({"maxLength": 5}), json!({"maxLength": 9}), "loosened validation spec maxLength: 5 to 9"),
        (json!({"maxItems": 5}), json!({}), "loosened validation spec maxItems: 5 to -"),
        (json!({}), json!({"minimum": -1}), "tightened validation spec minimum: - to -1"),
        (json!({"minimum": 2}), json!({"minimum": 1}), "loosened validation spec minimum: 2 to 1"),
        (json!({"minItems": 0}), json!({"minItems": 1}), "tightened validation spec minItems: 0 to 1"),
        (json!({}), json!({"pattern": "a"}), "tightened validation spec pattern: - to a"),
        (json!({"pattern": "a"}), json!({}), "loosened validation spec pattern: a to -"),
        (json!({"pattern": "a"}), json!({"pattern": "b"}), "changed validation spec pattern: a to b"),
        (
            json!({"type": "string"}),
            json!({"type": "integer"}),
            "changed validation spec type: string to integer",
        ),
        (json!({"nullable": true}), json!({}), "tightened validation spec nullable: true to -"),
        (json!({}), json!({"nullable": true}), "loosened validation spec nullable: - to true"),
        (json!({}), json!({"uniqueItems": true}), "tightened validation spec uniqueItems: - to true"),
        (json!({"enum": ["a", "b"]}), json!({"enum": ["a"]}), "tightened validation spec enum: b to -"),
        (json!({"enum": ["a"]}), json!({"enum": ["a", "b"]}), "loosened validation spec enum: - to b"),
        (json!({}), json!({"enum": ["a", "b"]}), "tightened validation spec enum: - to a, b"),
        (json!({"enum": ["a", "b"]}), json!({}), "loosened validation spec enum: a, b to -"),
        (json!({}), json!({"required": ["x"]}), "tightened validation spec required: - to x"),
        (json!({"required": ["x"]}), json!({}), "loosened validation spec required: x to -"),
        (json!({"default": 1}), json!({"default": 2}), "changed default spec: 1 to 2"),
        (
            json!({}),
            json!({"x-kubernetes-validations": [{"rule": "self == oldSelf"}]}),
            "tightened validation spec rule: - to self == oldSelf",
        ),
        (
            json!({"x-kubernetes-validations": [{"rule": "a"}, {"rule": "b"}]}),
            json!({"x-kubernetes-validations": [{"rule": "a"}]}),
            "loosened validation spec rule: b to -",
        ),
        (
            json!({"x-kubernetes-validations": [{"rule": "a", "message": "one"}]}),
            json!({"x-kubernetes-validations": [{"rule": "a", "message": "two"}]}),
            "changed description spec: - to -",
        ),
        (json!({"description": "a"}), json!({"description": "b"}), "changed description spec: - to -"),
        (
            json!({"x-kubernetes-list-type": "atomic"}),
            json!({"x-kubernetes-list-type": "map"}),
            "changed validation spec x-kubernetes-list-type: atomic to map",
        ),
        (
            json!({}),
            json!({"x-kubernetes-preserve-unknown-fields": true}),
            "loosened validation spec x-kubernetes-preserve-unknown-fields: - to true",
        ),
        (json!({}), json!({"anyOf": [{}]}), "tightened validation spec anyOf: - to [{}]"),
    ] {
        assert_eq!(
            lines(with_spec(&before), with_spec(&after)),
            [format!("v1 {expected}")],
            "{before} to {after}"
        );
    }
}

#[test]
fn an_added_or_removed_field_is_one_change() {
    let deep = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    for (before, after, expected) in [
        (json!({}), json!({"properties": {"a": deep}}), "added field spec.a: - to object"),
        (json!({"properties": {"a": deep}}), json!({"properties": {}}), "removed field spec.a: object to -"),
        (
            json!({"properties": {"a": {"items": {"properties": {}}}}}),
            json!({"properties": {"a": {"items": {"properties": {"b": {"type": "array"}}}}}}),
            "added field spec.a[].b: - to array",
        ),
        (
            json!({"additionalProperties": {"properties": {}}}),
            json!({"additionalProperties": {"properties": {"b": {}}}}),
            "added field spec[*].b: - to any",
        ),
    ] {
        assert_eq!(
            lines(with_spec(&before), with_spec(&after)),
            [format!("v1 {expected}")],
            "{before} to {after}"
        );
    }
}

#[test]
fn added_removed_and_changed_versions_are_listed() {
    let version =
        |name: &str, served: bool, storage: bool| json!({"name": name, "served": served, "storage": storage});
    let before = definition(&json!([version("v1", true, false), version("v2", true, true)]));
    let after = definition(&json!([version("v2", false, false), version("v3", true, true)]));
    assert_eq!(
        lines(before, after.clone()),
        [
            "removed version v1: served to -",
            "changed version v2: served, storage to not served",
            "added version v3: - to served, storage"
        ]
    );
    assert_eq!(
        lines(Value::Null, after),
        ["added version v2: - to not served", "added version v3: - to served, storage"]
    );
}

#[test]
fn another_conversion_is_one_change() {
    let with = |conversion: Value| {
        let mut definition = definition(&json!([]));
        definition["spec"]["conversion"] = conversion;
        definition
    };
    let webhook = json!({"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"name": "w"}}}});
    assert_eq!(
        lines(with(json!({"strategy": "None"})), with(webhook)),
        ["changed version conversion: None to Webhook"]
    );
}

#[test]
fn column_changes_are_listed_without_descriptions() {
    let version = |columns: Value| {
        definition(&json!([{"name": "v1", "served": true, "additionalPrinterColumns": columns}]))
    };
    let before = version(json!([
        {"name": "Age", "jsonPath": ".a", "type": "date", "description": "one"},
        {"name": "Gone", "jsonPath": ".g", "type": "string"}
    ]));
    let after = version(json!([{"name": "Age", "jsonPath": ".a", "type": "date", "description": "two"}]));
    assert_eq!(
        lines(before, after),
        ["v1 changed description Age: - to -", "v1 removed column Gone: .g to -"]
    );
}

fn deployment(containers: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "manager"},
        "spec": {"template": {"spec": {"containers": containers}}}
    })
}

#[test]
fn images_arguments_and_environment_are_listed_before_the_diff() {
    let before = deployment(&json!([{
        "name": "manager", "image": "r/a:v1", "args": ["--v=0", "--gone", "--same"],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"fieldRef": {}}}],
        "resources": {"limits": {"cpu": "1"}}
    }]));
    let after = deployment(&json!([{
        "name": "manager", "image": "r/a:v2", "args": ["--same", "--v=2", "--new=x"],
        "env": [{"name": "A", "value": "2"}], "resources": {"limits": {"cpu": "2"}}
    }]));
    let summary = summary(before, after);
    assert_eq!(
        summary.changes.iter().map(line).collect::<Vec<_>>(),
        [
            "changed image manager: r/a:v1 to r/a:v2",
            "changed argument manager --v: 0 to 2",
            "removed argument manager: --gone to -",
            "added argument manager: - to --new=x",
            "changed environment manager A: 1 to 2",
            r#"removed environment manager B: {"fieldRef":{}} to -"#,
        ]
    );
    assert_data_eq!(
        summary.remaining_diff,
        str![[r#"
           limits:
-            cpu: "1"
+            cpu: "2"

"#]]
    );
}

#[test]
fn another_order_of_arguments_stays_visible() {
    let container = |args: Value| deployment(&json!([{"name": "manager", "args": args}]));
    let summary = summary(container(json!(["a", "b"])), container(json!(["b", "a"])));
    assert!(summary.changes.is_empty());
    assert_eq!(
        summary.remaining_diff.matches("\n-").count() + summary.remaining_diff.matches("\n+").count(),
        2,
        "{}",
        summary.remaining_diff
    );
}

fn role(rules: &Value) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "manager"},
        "rules": rules
    })
}

#[test]
fn permissions_are_compared_by_resource() {
    let before = role(&json!([
        {"apiGroups": [""], "resources": ["configmaps", "secrets"], "verbs": ["get", "list"]},
        {"apiGroups": ["x.io"], "resources": ["things"], "verbs": ["*"]},
        {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}
    ]));
    let after = role(&json!([
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["patch"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "get"]},
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]},
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["one"], "verbs": ["delete"]}
    ]));
    assert_eq!(
        lines(before, after),
        [
            "removed permission /metrics: get to -",
            "added permission secrets: - to patch",
            "added permission secrets named one: - to delete",
            "removed permission things.x.io: * to -",
        ]
    );
}

#[test]
fn too_many_permissions_are_left_to_the_diff() {
    let many: Vec<String> = (0..200).map(|number| number.to_string()).collect();
    let before = role(&json!([{"apiGroups": many, "resources": many, "verbs": ["get"]}]));
    let after = role(&json!([{"apiGroups": many, "resources": many, "verbs": ["list"]}]));
    let summary = summary(before, after);
    assert!(summary.changes.is_empty());
    assert!(summary.remaining_diff.contains("-  - get\n+  - list\n"), "{}", summary.remaining_diff);
}

#[test]
fn ca_bundles_are_omitted_and_long_diffs_truncated() {
    let webhook = |bundle: &str, policy: &str| {
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "w"},
            "webhooks": [{"name": "a", "clientConfig": {"caBundle": bundle}, "failurePolicy": policy}]
        })
    };
    assert_eq!(summary(webhook("one", "Fail"), webhook("two", "Fail")), DiffSummary::default());
    assert_data_eq!(
        summary(webhook("one", "Fail"), webhook("two", "Ignore")).remaining_diff,
        str![[r#"
 - clientConfig: {}
-  failurePolicy: Fail
+  failurePolicy: Ignore
   name: a

"#]]
    );
    let long = |letter: &str| {
        let data: manifest::Map<String, Value> =
            (0..90).map(|number| (format!("k{number}"), letter.repeat(200).into())).collect();
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data})
    };
    let rest = summary(long("a"), long("b")).remaining_diff;
    assert_eq!(rest.lines().count(), 41);
    assert!(
        rest.ends_with(" more lines\n") && rest.lines().all(|line| line.chars().count() <= 101),
        "{rest}"
    );
}

#[test]
fn values_of_secrets_are_in_no_summary() {
    let hidden = "hidden-value";
    let secret = |value: &str| {
        json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": value}
        })
    };
    for (before, after) in [
        (secret(hidden), secret("other")),
        (secret("other"), secret(hidden)),
        (Value::Null, secret(hidden)),
        (secret(hidden), Value::Null),
    ] {
        let summary = summary(before, after);
        assert!(!format!("{summary:?}").contains(hidden), "{summary:?}");
    }
}

#[test]
fn label_and_annotation_changes_are_listed() {
    let object = |version: &str| {
        json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "s", "annotations": {"v": version}, "labels": {"same": "x"}}
        })
    };
    assert_eq!(lines(object("1"), object("2")), ["changed annotation v: 1 to 2"]);
    assert_eq!(lines(Value::Null, object("2")), Vec::<String>::new());
    assert!(summary(object("1"), object("2")).changes.iter().all(|it| it.part == ChangedPart::Annotation));
}
