use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use super::*;
use crate::{
    GroupKind, defined_kinds,
    testing::{
        model::{FakeCluster, definition, kinds, marks, named, options},
        object,
    },
};

fn desired(value: Value) -> DesiredObject {
    let mut set = FakeCluster::new(marks()).desire(&[object(value)]).unwrap();
    set.objects.remove(0)
}

/// Returns the problems of a set, one per line.
fn problems(objects: &[Object], options: &ApplyOptions) -> String {
    let bad = build_desired_set(objects.to_vec(), &kinds(), &marks(), options).unwrap_err();
    bad.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn map(metadata: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
}

#[test]
fn an_object_gets_a_namespace_marks_and_a_digest() {
    let mut status = map(&json!({"name": "a", "labels": {"l": "1"}}));
    status["status"] = json!({"x": 1});
    let made = desired(status);
    assert_eq!(made.key.to_string(), "ConfigMap default/a");
    let marks = marks();
    assert_eq!(
        made.object.into_value(),
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": "a", "namespace": "default",
                "labels": {"l": "1", "x/owner-id": marks.label.1},
                "annotations": {"x/owner-id": "me", "x/digest": made.digest},
            },
        })
    );
    assert_eq!((made.version.as_str(), made.digest.len()), ("v1", 64));
}

#[test]
fn definitions_list_their_kinds_and_get_the_finalizer() {
    let crd = definition("Widget", "example.org", "Cluster", &json!({})).into_value();
    let made = desired(crd);
    let widget = GroupKind::new("example.org", "Widget");
    assert!(made.managed_types[0].covers(&widget, "v1beta7"));
    assert!(!made.managed_types[0].covers(&GroupKind::new("example.org", "Gadget"), "v1"));
    assert_eq!(made.object.get(&["metadata", "finalizers"]), Some(&json!(["x"])));

    let made = desired(json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": "v1.example.org"}, "spec": {"group": "example.org", "version": "v1"},
    }));
    assert!(made.managed_types[0].covers(&widget, "v1"));
    assert!(!made.managed_types[0].covers(&widget, "v2"));
    assert_eq!(made.object.get(&["metadata", "finalizers"]), Some(&json!(["x"])));
}

#[test]
fn the_digest_depends_on_the_manifest_only() {
    let plain = desired(map(&json!({"name": "a"}))).digest;
    for same in [
        json!({"name": "a", "namespace": "default"}),
        json!({
            "name": "a", "uid": "u", "resourceVersion": "1", "generation": 2, "creationTimestamp": null,
            "managedFields": [{}],
        }),
        json!({"name": "a", "labels": {"x/owner-id": "stale"}, "annotations": {"x/digest": "stale"}}),
    ] {
        assert_eq!(desired(map(&same)).digest, plain, "{same}");
    }
    for other in [json!({"name": "b"}), json!({"name": "a", "labels": {"l": ""}})] {
        assert_ne!(desired(map(&other)).digest, plain, "{other}");
    }
    // The output of `jq -cjS . | sha256sum`. The digest must never change, because clusters store it.
    assert_eq!(plain, "499895ace2e0c9653558b937646a770408fbb5541739310ad6df1c2280e4ba1f");
}

#[test]
fn the_digest_follows_the_reconcile_policy() {
    let of = |policy: &str, component: Option<&str>| {
        let options = ApplyOptions { component_digest: component.map(str::to_owned), ..options() };
        let objects = vec![named("v1 ConfigMap a", &json!({"x/reconcile-policy": policy}))];
        build_desired_set(objects, &kinds(), &marks(), &options).unwrap().objects.remove(0).digest
    };
    assert_eq!(of("once", Some("c")), ONCE_DIGEST);
    assert_eq!(of("on-object-change", Some("c")).len(), 64);
    let both = "on-object-or-component-change";
    assert_eq!(of(both, Some("c")), format!("{}@c", of(both, None)));
}

#[test]
fn a_desired_object_is_unchanged_by_a_second_pass() {
    let world = FakeCluster::new(marks());
    let first = world.desire(&[named("v1 ConfigMap a", &json!({"k": "v"}))]).unwrap();
    let again = world.desire(&[first.objects[0].object.clone()]).unwrap();
    assert_eq!(again.objects[0].digest, first.objects[0].digest);
    assert_eq!(again.objects[0].object, first.objects[0].object);
}

#[test]
fn string_data_of_a_secret_overrides_data() {
    let secret = |extra: Value| {
        let mut secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}});
        secret.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        secret
    };
    let made =
        desired(secret(json!({"stringData": {"a": "ä", "b": ""}, "data": {"a": "b2xk", "c": "b2xk"}})));
    assert_eq!(made.object.get(&["data"]), Some(&json!({"a": "w6Q=", "b": "", "c": "b2xk"})));
    assert_eq!(made.object.get(&["stringData"]), None);
    assert_eq!(made.digest, desired(secret(json!({"data": {"a": "w6Q=", "b": "", "c": "b2xk"}}))).digest);
    assert_eq!(
        desired(secret(json!({"stringData": {"a": "1"}}))).object.get(&["data"]),
        Some(&json!({"a": "MQ=="}))
    );

    let bad = object(secret(json!({"stringData": {"pin": 1234, "sure": true}})));
    assert_data_eq!(
        problems(&[bad], &options()),
        str![[r#"
Secret default/a: `stringData.pin` is a number, not a string
Secret default/a: `stringData.sure` is a boolean, not a string
"#]]
    );
    let bad = object(secret(json!({"stringData": ["hunter2"]})));
    assert_data_eq!(
        problems(&[bad], &options()),
        str!["Secret default/a: `stringData` is a list, not a mapping"]
    );
}

// Row: ENG-14
// Row: ENG-22
#[test]
fn namespaces_follow_the_scope_of_the_kind() {
    let service = object(json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": "v1.late.example"}, "spec": {"group": "late.example", "version": "v1"},
    }));
    let brought = [
        definition("Widget", "example.org", "Namespaced", &json!({})),
        definition("Gadget", "example.org", "Cluster", &json!({})),
        // The definition replaces a kind of the server.
        definition("Deployment", "apps", "Cluster", &json!({})),
        service,
    ];
    let options =
        ApplyOptions { additional_managed_types: vec![GroupKind::new("*.other.org", "*")], ..options() };
    for (what, expected) in [
        ("v1 ConfigMap a", "ConfigMap default/a"),
        ("v1 ConfigMap n/a", "ConfigMap n/a"),
        ("v1 Namespace n/a", "Namespace a"),
        ("example.org/v1 Widget a", "Widget default/a"),
        ("example.org/v1 Gadget n/a", "Gadget a"),
        ("apps/v1 Deployment n/a", "Deployment a"),
        ("late.example/v1 Report a", "Report a"),
        ("late.example/v1 Report n/a", "Report n/a"),
        ("some.other.org/v3 Thing n/a", "Thing n/a"),
    ] {
        let objects = [&brought[..], &[named(what, &json!({}))]].concat();
        let set = build_desired_set(objects, &kinds(), &marks(), &options).unwrap();
        let last = set.objects.last().unwrap();
        assert_eq!(last.key.to_string(), expected);
        assert_eq!(last.object.namespace(), last.key.namespace);
    }
}

#[test]
fn kinds_of_another_set_can_be_added() {
    let mut kinds = kinds();
    for kind in defined_kinds(&definition("Issuer", "certs.example", "Namespaced", &json!({}))) {
        kinds.add(kind);
    }
    let objects = vec![named("certs.example/v1 Issuer a", &json!({}))];
    let set = build_desired_set(objects, &kinds, &marks(), &options()).unwrap();
    assert_eq!(set.objects[0].key.to_string(), "Issuer default/a");
    assert_eq!(defined_kinds(&named("v1 ConfigMap a", &json!({}))), []);
}

#[test]
fn an_unknown_kind_is_reported_with_similar_kinds() {
    let mut problems_of_kinds = String::new();
    for what in [
        "apps/v1 Deploymint a",
        "extensions/v1beta1 Deployment a",
        "apps/v1beta1 Deployment a",
        "example.org/v1 Widget a",
        "metrics.example/v1 PodMetrics a",
    ] {
        let mut kinds = kinds();
        kinds.add_unavailable("metrics.example/v1");
        let bad = build_desired_set(vec![named(what, &json!({}))], &kinds, &marks(), &options()).unwrap_err();
        problems_of_kinds.extend([&*bad[0].problem, "\n"]);
    }
    assert_data_eq!(
        problems_of_kinds,
        str![[r#"
neither the server nor the set defines kind `Deploymint.apps`; similar kinds: `Deployment.apps`
neither the server nor the set defines kind `Deployment.extensions`; similar kinds: `Deployment.apps`
the server does not serve `Deployment.apps` in version `v1beta1`; it prefers version `v1`
neither the server nor the set defines kind `Widget.example.org`
the API `metrics.example/v1` does not answer, so kind `PodMetrics.metrics.example` is unknown

"#]]
    );
    let newer = named("example.org/v2 Widget a", &json!({}));
    let set = [definition("Widget", "example.org", "Namespaced", &json!({})), newer];
    assert_data_eq!(
        problems(&set, &options()),
        str!["Widget a: has version `v2`, but its definition in the set serves v1"]
    );
}

#[test]
fn all_problems_of_all_objects_are_reported_at_once() {
    let objects = [
        object(json!({"metadata": {"generateName": "a-"}})),
        object(map(&json!({"name": "b", "labels": {"l": 1, "m": null}, "annotations": [1]}))),
        object(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": null})),
        named(
            "v1 ConfigMap c",
            &json!({"x/update-policy": "ssa-merg", "x/apply-order": "a", "x/status-hint": "hurry"}),
        ),
        named("v1 ConfigMap d", &json!({})),
        named("v1 ConfigMap default/d", &json!({})),
    ];
    assert_data_eq!(
        problems(&objects, &options()),
        str![[r#"
(no kind) (no name): has `metadata.generateName`; use `metadata.name` instead
(no kind) (no name): has no `apiVersion`
(no kind) (no name): has no `kind`
ConfigMap default/b: `metadata.labels.l` is a number, not a string
ConfigMap default/b: `metadata.labels.m` is null, not a string
ConfigMap default/b: `metadata.annotations` is a list, not a mapping
ConfigMap default/(no name): has no `metadata.name`
ConfigMap default/c: annotation `x/update-policy`: `ssa-merg` is not one of recreate, replace, ssa-merge, ssa-override; did you mean `ssa-merge`?
ConfigMap default/c: annotation `x/apply-order`: `a` is not an integer
ConfigMap default/c: annotation `x/status-hint`: unknown status hint hurry
ConfigMap default/d: occurs 2 times in the set
"#]]
    );
    let nowhere = ApplyOptions { namespace: String::new(), ..options() };
    assert_data_eq!(problems(&objects[4..5], &nowhere), str!["ConfigMap d: requires a namespace"]);
}

// Row: ENG-68
#[test]
fn namespaces_definitions_and_api_services_cannot_be_purged() {
    let purge = json!({"x/purge-order": "0"});
    let service = named("apiregistration.k8s.io/v1 APIService v1.example.org", &purge);
    let set =
        [named("v1 Namespace n", &purge), definition("Widget", "example.org", "Cluster", &purge), service];
    assert_data_eq!(
        problems(&set, &options()),
        str![[r#"
Namespace n: namespaces must not define a purge order
CustomResourceDefinition widgets.example.org: custom resource definitions must not define a purge order
APIService v1.example.org: api services must not define a purge order
"#]]
    );
}

#[test]
fn orders_must_not_contradict_dependencies() {
    let orders = |apply: &str, delete: &str| json!({"x/apply-order": apply, "x/delete-order": delete});
    let needed = [
        definition("Widget", "example.org", "Namespaced", &orders("1", "1")),
        named("v1 Namespace n", &orders("1", "1")),
    ];
    let set = |apply, delete| {
        let users = [
            named("example.org/v1 Widget a", &orders(apply, delete)),
            named("v1 ConfigMap n/b", &orders(apply, delete)),
        ];
        [&needed[..], &users].concat()
    };
    assert!(FakeCluster::new(marks()).desire(&set("1", "1")).is_ok());
    assert!(FakeCluster::new(marks()).desire(&set("2", "0")).is_ok());
    assert_data_eq!(
        problems(&set("0", "2"), &options()),
        str![[r#"
Widget default/a: has apply order 0, below order 1 of CustomResourceDefinition widgets.example.org, which it requires
Widget default/a: has delete order 2, above order 1 of CustomResourceDefinition widgets.example.org, which it requires
ConfigMap n/b: has apply order 0, below order 1 of Namespace n, which it requires
ConfigMap n/b: has delete order 2, above order 1 of Namespace n, which it requires
"#]]
    );
}
