use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::*;

fn object(value: Value) -> Object {
    Object::try_from(value).unwrap()
}

fn named(kind: &str, name: &str) -> Object {
    object(json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}))
}

fn move_all(objects: &mut [Object]) -> Result<(), Vec<NamespaceError>> {
    set_namespace(objects, "target").and_then(|()| move_references(objects, "target"))
}

fn moved(value: Value) -> Value {
    let mut all = [object(value)];
    move_all(&mut all).unwrap();
    let [object] = all;
    object.into_value()
}

fn refused(value: Value) -> String {
    let errors = move_all(&mut [object(value)]).unwrap_err();
    assert_eq!(errors.len(), 1);
    errors[0].to_string()
}

// Row: PRV-23
#[test]
fn the_only_namespace_object_names_the_target() {
    let all = [named("Secret", "a"), named("Namespace", "capi-system"), named("Secret", "b")];
    assert_eq!(target_namespace(&all), Ok(Some("capi-system")));
    assert_eq!(target_namespace(&all[..1]), Ok(None));
    assert_eq!(target_namespace(&[named("Namespace", "")]), Ok(None), "a name is needed");
}

// Row: PRV-23
#[test]
fn two_namespace_objects_are_refused_with_their_names() {
    let error = target_namespace(&[named("Namespace", "a"), named("Namespace", "b")]).unwrap_err();
    assert_eq!(error.names, ["a", "b"]);
    assert_data_eq!(
        error.to_string(),
        str!["found 2 objects of kind `Namespace`; provider components must have at most one"]
    );
}

#[test]
fn a_namespace_object_is_added_only_if_missing() {
    let mut all = vec![named("Secret", "a")];
    ensure_namespace_object(&mut all, "target");
    ensure_namespace_object(&mut all, "target");
    assert_eq!(all, [named("Secret", "a"), named("Namespace", "target")]);
}

// Row: PRV-24, PRV-58
#[test]
fn every_namespaced_object_moves_to_the_target() {
    for metadata in [json!({}), json!({"namespace": "kube-system"}), json!({"namespace": "target"})] {
        let value = moved(json!({"kind": "Secret", "metadata": metadata}));
        assert_eq!(value["metadata"]["namespace"], "target");
    }
    assert_eq!(moved(json!({"kind": "Secret"}))["metadata"]["namespace"], "target");
    assert_eq!(
        moved(json!({"kind": "RoleBinding", "metadata": {"namespace": "kube-system"}}))["metadata"]["namespace"],
        "target"
    );
}

// Row: PRV-25
#[test]
fn cluster_scoped_kinds_get_no_namespace() {
    for kind in ["ClusterRole", "CustomResourceDefinition", "StorageClass", "Node"] {
        let value = json!({"kind": kind, "metadata": {"name": "a"}});
        assert_eq!(moved(value.clone()), value);
    }
}

#[test]
fn scope_is_decided_by_the_kind_alone() {
    for kind in ["APIService", "ClusterIssuer", "List", ""] {
        assert!(is_namespaced(kind), "{kind}");
    }
    assert!(!is_namespaced("ClusterRole"));
}

// Row: PRV-57
#[test]
fn namespace_objects_are_renamed() {
    assert_eq!(
        moved(json!({"kind": "Namespace", "metadata": {"name": "a"}})),
        json!({"kind": "Namespace", "metadata": {"name": "target"}})
    );
}

// Row: PRV-58
#[test]
fn subjects_with_any_namespace_follow() {
    for kind in ["RoleBinding", "ClusterRoleBinding"] {
        let value = moved(json!({"kind": kind, "subjects": [
            {"name": "a", "namespace": "kube-system"}, {"name": "b"}, {"name": "c", "namespace": ""},
        ]}));
        let expected =
            json!([{"name": "a", "namespace": "target"}, {"name": "b"}, {"name": "c", "namespace": ""}]);
        assert_eq!(value["subjects"], expected);
    }
}

// Row: PRV-58
#[test]
fn services_of_webhooks_and_conversions_follow() {
    let hooks = moved(json!({"kind": "MutatingWebhookConfiguration", "webhooks": [
        {"clientConfig": {"service": {"name": "s", "namespace": "old"}}}, {"clientConfig": {"url": "https://x"}},
    ]}));
    assert_eq!(hooks["webhooks"][0]["clientConfig"]["service"]["namespace"], "target");
    assert_eq!(hooks["webhooks"][1]["clientConfig"], json!({"url": "https://x"}));
    let current = json!({"webhook": {"clientConfig": {"service": {"name": "s", "namespace": "old"}}}});
    let crd = moved(json!({"kind": "CustomResourceDefinition", "spec": {"conversion": current}}));
    assert_eq!(crd["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["namespace"], "target");
    let beta = json!({"webhookClientConfig": {"service": {"name": "s"}}});
    let crd = moved(json!({"kind": "CustomResourceDefinition", "spec": {"conversion": beta}}));
    assert_eq!(crd["spec"]["conversion"]["webhookClientConfig"]["service"]["namespace"], "target");
}

#[test]
fn the_certificate_named_for_a_ca_follows() {
    let with = |value: &str| {
        let metadata = json!({"name": "v", "annotations": {INJECT_CA_FROM: value}});
        json!({"kind": "ValidatingWebhookConfiguration", "metadata": metadata})
    };
    assert_eq!(moved(with("old/serving-cert")), with("target/serving-cert"));
    for bad in ["serving-cert", "a/b/c"] {
        let expected = format!(
            "annotation `{INJECT_CA_FROM}` of `ValidatingWebhookConfiguration v` \
             must be `<namespace>/<name>`, not `{bad}`"
        );
        assert_eq!(refused(with(bad)), expected);
    }
    let other = json!({"kind": "ClusterRole", "metadata": {"annotations": {INJECT_CA_FROM: "old/x"}}});
    assert_eq!(moved(other.clone()), other, "only webhooks and CRDs take the annotation");
}

#[test]
fn the_namespace_in_dns_names_is_replaced_once_per_name() {
    let value = moved(json!({"kind": "Certificate", "metadata": {"namespace": "old"}, "spec": {"dnsNames": [
        "svc.old.svc", "svc.old.old.svc", "svc.other.svc",
    ]}}));
    assert_eq!(value["spec"]["dnsNames"], json!(["svc.target.svc", "svc.target.old.svc", "svc.other.svc"]));
}

#[test]
fn dns_names_that_are_not_strings_are_refused_with_their_path() {
    let metadata = json!({"name": "c", "namespace": "old"});
    let with = |spec: Value| json!({"kind": "Certificate", "metadata": metadata, "spec": spec});
    let reported =
        [json!({"dnsNames": ["a", 1]}), json!({"dnsNames": "a"}), json!(1)].map(|spec| refused(with(spec)));
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
`spec.dnsNames[1]` of `Certificate target/c` must be a string, not a number
`spec.dnsNames` of `Certificate target/c` must be a list, not a string
`spec` of `Certificate target/c` must be a mapping, not a number
"#]]
    );
    assert_eq!(moved(with(Value::Null))["spec"], Value::Null);
}

#[test]
fn an_object_already_in_the_target_namespace_is_not_copied() {
    let original = object(json!({
        "kind": "RoleBinding", "metadata": {"namespace": "target"}, "subjects": [{"name": "a", "namespace": "target"}],
    }));
    let mut all = [original.clone()];
    move_all(&mut all).unwrap();
    assert!(std::ptr::eq(original.as_map(), all[0].as_map()));
}

#[test]
fn metadata_that_is_not_a_mapping_is_unchanged() {
    for metadata in [json!(null), json!("x"), json!(["x"])] {
        let as_written = json!({"kind": "ConfigMap", "metadata": metadata});
        assert_eq!(moved(as_written.clone()), as_written);
        let as_written = json!({"kind": "Namespace", "metadata": metadata});
        assert_eq!(moved(as_written.clone()), as_written);
    }
}
