use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::*;

fn object(value: Value) -> Object {
    value.try_into().unwrap()
}

fn deployment() -> Object {
    object(json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "finalizers": ["x"]},
        "spec": {"replicas": 1, "template": {"spec": {
            "containers": [
                {"name": "manager", "image": "m:1", "args": ["--a"], "env": [{"name": "A", "value": "1"}],
                 "ports": [{"containerPort": 80, "name": "web"}]},
                {"name": "proxy", "image": "p:1"}],
            "tolerations": [{"key": "old"}]}}}
    }))
}

fn applied(patch: &Patch) -> Value {
    let mut object = deployment();
    assert_eq!(patch.apply(&mut object).unwrap(), PatchOutcome::Updated);
    object.into_value()
}

fn pod(patch: &Value) -> Value {
    let patch = json!({"spec": {"template": {"spec": patch}}});
    applied(&Patch::Strategic(patch))["spec"]["template"]["spec"].take()
}

#[test]
fn containers_are_merged_by_name_and_plain_lists_are_replaced() {
    let changed = pod(&json!({"containers": [
        {"name": "manager", "args": ["--b"], "env": [{"name": "B", "value": "2"}], "ports": [{"containerPort": 81}]},
        {"name": "new", "image": "n:1"}], "tolerations": [{"key": "new"}]}));
    assert_eq!(
        changed,
        json!({
            "containers": [
                {"name": "manager", "image": "m:1", "args": ["--b"],
                 "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                 "ports": [{"containerPort": 80, "name": "web"}, {"containerPort": 81}]},
                {"name": "proxy", "image": "p:1"}, {"name": "new", "image": "n:1"}],
            "tolerations": [{"key": "new"}]
        })
    );
}

#[test]
fn directives_delete_and_replace() {
    let without_proxy = pod(&json!({"containers": [{"name": "proxy", "$patch": "delete"}]}));
    assert_eq!(without_proxy["containers"].as_array().unwrap().len(), 1);
    let only_one = pod(&json!({"containers": [{"$patch": "replace"}, {"name": "one"}]}));
    assert_eq!(only_one["containers"], json!([{"name": "one"}]));
    let replaced = applied(&Patch::Strategic(json!({"spec": {"$patch": "replace", "paused": true}})));
    assert_eq!(replaced["spec"], json!({"paused": true}));
    let patched =
        applied(&Patch::Strategic(json!({"metadata": {"finalizers": null}, "spec": {"$patch": "delete"}})));
    assert_eq!(patched, json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}}));
    let primitives = applied(&Patch::Strategic(json!({"metadata": {
        "finalizers": ["y"], "$deleteFromPrimitiveList/finalizers": ["x"]}})));
    assert_eq!(primitives["metadata"]["finalizers"], json!(["y"]));
    let retained = applied(&Patch::Strategic(json!({"spec": {"$retainKeys": ["replicas"], "replicas": 3}})));
    assert_eq!(retained["spec"], json!({"replicas": 3}));
}

#[test]
fn a_patch_can_delete_the_whole_object() {
    for api_version in ["apps/v1", "example.org/v1"] {
        let mut object = object(json!({"apiVersion": api_version, "kind": "Deployment"}));
        let patch = Patch::Strategic(json!({"$patch": "delete"}));
        assert_eq!(patch.apply(&mut object).unwrap(), PatchOutcome::Deleted);
    }
}

#[test]
fn invalid_strategic_merges_are_refused_with_their_path() {
    let refused = |pod: &Value| {
        let mut object = deployment();
        let patch = Patch::Strategic(json!({"spec": {"template": {"spec": pod}}}));
        let error = patch.apply(&mut object).unwrap_err().to_string();
        assert_eq!(object, deployment());
        error
    };
    let reported = [
        json!({"containers": [{"image": "x"}]}),
        json!({"$patch": "drop"}),
        json!({"$nothing": 1}),
        json!({"containers": ["x"]}),
    ]
    .map(|pod| refused(&pod));
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
an element of `spec.template.spec.containers` has no merge key `name`
unknown directive `$patch: "drop"` in `spec.template.spec`; use `$patch: delete`, `replace` or `merge`, `$deleteFromPrimitiveList/…` or `$retainKeys`
unknown directive `$nothing` in `spec.template.spec`; use `$patch: delete`, `replace` or `merge`, `$deleteFromPrimitiveList/…` or `$retainKeys`
`spec.template.spec.containers` must be a list of mappings, not a list with other values
"#]]
    );
}

#[test]
fn lists_are_merged_by_the_schema_of_the_newest_version() {
    let merged = |api_version: &str, kind: &str, fields: Value, patch: Value| {
        let mut value = json!({"apiVersion": api_version, "kind": kind});
        value.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let mut object = object(value);
        Patch::Strategic(patch.clone()).apply(&mut object).unwrap();
        patch.as_object().unwrap().keys().map(|field| object.get(&[field.as_str()]).cloned()).next().unwrap()
    };
    let named = |name: &str| json!([{"name": name}]);
    for (api_version, kind, field, is_merged) in [
        ("v1", "ServiceAccount", "secrets", true),
        ("v1", "ServiceAccount", "imagePullSecrets", false),
        ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "webhooks", true),
        ("admissionregistration.k8s.io/v1beta9", "MutatingWebhookConfiguration", "webhooks", true),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", "subjects", false),
    ] {
        let found = merged(api_version, kind, json!({field: named("a")}), json!({field: named("b")}));
        let expected = if is_merged { json!([{"name": "a"}, {"name": "b"}]) } else { named("b") };
        assert_eq!(found, Some(expected), "{api_version} {kind} {field}");
    }
    let ports = |port: u16, target: u16| json!({"ports": [{"port": port, "targetPort": target}]});
    let spec = merged("v1", "Service", json!({"spec": ports(80, 1)}), json!({"spec": ports(80, 2)}));
    assert_eq!(spec, Some(ports(80, 2)));
}

#[test]
fn kinds_that_are_not_built_in_are_merged_field_by_field() {
    let mut custom = object(json!({"apiVersion": "example.org/v1", "kind": "X",
        "spec": {"containers": [{"name": "a"}], "b": 1}}));
    Patch::Strategic(json!({"spec": {"containers": [{"name": "b"}], "b": null}})).apply(&mut custom).unwrap();
    assert_eq!(custom.into_value()["spec"], json!({"containers": [{"name": "b"}]}));
}

#[test]
fn operations_apply_all_or_none_and_report_the_failed_one() {
    let changed = applied(&Patch::Json(json!([
        {"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "--b"},
        {"op": "replace", "path": "/spec/replicas", "value": 2}])));
    assert_eq!(changed["spec"]["replicas"], 2);
    assert_eq!(changed["spec"]["template"]["spec"]["containers"][0]["args"], json!(["--a", "--b"]));

    let mut object = deployment();
    let patch = Patch::Json(json!([
        {"op": "replace", "path": "/spec/replicas", "value": 2}, {"op": "remove", "path": "/spec/nothing"}]));
    let error = patch.apply(&mut object).unwrap_err();
    let PatchError::Operation { number, path, .. } = &error else { panic!("{error}") };
    assert_eq!((*number, path.as_str()), (2, "/spec/nothing"));
    assert_eq!(object, deployment());
    assert!(matches!(Patch::Json(json!([1])).apply(&mut object), Err(PatchError::Operations(_))));
    let replaced = Patch::Json(json!([{"op": "replace", "path": "", "value": 1}]));
    assert!(matches!(replaced.apply(&mut object), Err(PatchError::NoObject(_))));
}

#[test]
fn the_type_of_a_patch_follows_its_form() {
    assert!(matches!(Patch::from_value(json!({})), Ok(Patch::Strategic(_))));
    assert!(matches!(Patch::from_value(json!([])), Ok(Patch::Json(_))));
    assert_data_eq!(
        Patch::from_value(json!("x")).unwrap_err().to_string(),
        str!["a patch must be a mapping of fields or a list of operations, not a string"]
    );
}
