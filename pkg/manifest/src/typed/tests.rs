use serde_json::{Value, json};
use snapbox::{IntoData, assert_data_eq, str};

use super::*;

fn round_trip_any(object: &mut Object) -> Result<(), Vec<TypedError>> {
    round_trip(object, KindSet::Workloads).and_then(|()| round_trip(object, KindSet::References))
}

fn converted(value: Value) -> Value {
    let mut object = Object::try_from(value).unwrap();
    round_trip_any(&mut object).unwrap();
    object.into_value()
}

fn refused(value: Value) -> Vec<String> {
    let mut object = Object::try_from(value).unwrap();
    round_trip_any(&mut object).unwrap_err().iter().map(ToString::to_string).collect()
}

fn deployment(pod: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "capi"},
        "spec": {"template": {"spec": pod}},
    })
}

fn container(fields: &Value) -> Value {
    converted(deployment(&json!({"containers": [fields]})))["spec"]["template"]["spec"]["containers"][0]
        .take()
}

fn crd(schema: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "a.b"},
        "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]},
    })
}

fn schema(schema: &Value) -> Value {
    converted(crd(schema))["spec"]["versions"][0]["schema"]["openAPIV3Schema"].take()
}

#[test]
fn a_deployment_gains_the_fields_that_are_always_written() {
    let bare = json!({"apiVersion": "apps/v1", "kind": "Deployment"});
    let expected = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {},
        "spec": {"selector": null, "strategy": {}, "template": {"metadata": {}, "spec": {"containers": null}}},
        "status": {},
    });
    assert_eq!(converted(bare), expected);
    assert_eq!(container(&json!({"name": "a"})), json!({"name": "a", "resources": {}}));
}

#[test]
fn a_daemon_set_gains_its_four_counters() {
    let value = converted(json!({"apiVersion": "apps/v1", "kind": "DaemonSet"}));
    let status = json!({
        "currentNumberScheduled": 0, "desiredNumberScheduled": 0, "numberMisscheduled": 0, "numberReady": 0,
    });
    assert_eq!(value["status"], status);
    assert_eq!(value["spec"]["updateStrategy"], json!({}));
}

#[test]
fn a_crd_gains_a_status_and_keeps_an_empty_list_in_it() {
    let bare = |status: Value| {
        let kind = "CustomResourceDefinition";
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": kind, "status": status})
    };
    let status = converted(bare(Value::Null))["status"].take();
    let names = json!({"kind": "", "plural": ""});
    assert_eq!(status, json!({"acceptedNames": names, "conditions": null, "storedVersions": null}));
    let status = converted(bare(json!({"conditions": [], "storedVersions": []})))["status"].take();
    assert_eq!(status, json!({"acceptedNames": names, "conditions": [], "storedVersions": []}));
}

#[test]
fn webhooks_and_bindings_gain_their_required_fields() {
    let hooks = converted(json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "webhooks": [{"name": "a"}],
    }));
    let hook = json!({"admissionReviewVersions": null, "clientConfig": {}, "name": "a", "sideEffects": null});
    assert_eq!(hooks["webhooks"][0], hook);
    let binding = converted(json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding"}));
    assert_eq!(binding["roleRef"], json!({"apiGroup": "", "kind": "", "name": ""}));
}

#[test]
fn unknown_and_empty_optional_fields_vanish() {
    let pod = json!({
        "containers": [], "hostNetwork": false, "tolerations": [], "nodeSelector": {}, "priority": null, "bogus": 1,
        "HostNetwork": true, "nodeName": "",
    });
    let value = converted(deployment(&pod));
    assert_eq!(value["spec"]["template"]["spec"], json!({"containers": []}));
    let env = json!({"env": [{"name": "A", "value": ""}], "livenessProbe": {"httpGet": {"port": 0}}});
    let probe = json!({"httpGet": {"port": 0}});
    let expected = json!({"env": [{"name": "A"}], "livenessProbe": probe, "name": "", "resources": {}});
    assert_eq!(container(&env), expected);
}

#[test]
fn pointer_fields_stay_even_if_zero() {
    let pod = json!({
        "containers": null, "securityContext": {}, "volumes": [{"name": "a", "emptyDir": {}}],
        "terminationGracePeriodSeconds": 0, "automountServiceAccountToken": false,
    });
    let value = converted(deployment(&pod));
    assert_eq!(value["spec"]["template"]["spec"], pod);
    let fields = json!({"minLength": 0, "x-kubernetes-preserve-unknown-fields": false});
    assert_eq!(schema(&fields), fields);
}

#[test]
fn an_empty_creation_time_is_not_written() {
    for time in [Value::Null, json!("0001-01-01T00:00:00Z")] {
        let value = converted(json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"creationTimestamp": time},
        }));
        assert_eq!(value["metadata"], json!({}));
    }
}

#[test]
fn quantities_are_canonical_wherever_they_are() {
    let resources =
        json!({"limits": {"cpu": "1000m", "memory": "0.5Gi"}, "requests": {"cpu": 0.1, "memory": null}});
    let expected =
        json!({"limits": {"cpu": "1", "memory": "512Mi"}, "requests": {"cpu": "100m", "memory": "0"}});
    assert_eq!(container(&json!({"resources": resources}))["resources"], expected);
}

// Row: D-54
#[test]
fn numbers_are_integers_in_integer_fields() {
    let mut value = deployment(&json!({}));
    value["spec"]["replicas"] = json!(2.0);
    assert_eq!(converted(value.clone())["spec"]["replicas"].to_string(), "2");
    let reported = [json!(1.5), json!(4_294_967_297_i64), json!("1")].map(|bad| {
        value["spec"]["replicas"] = bad;
        refused(value.clone()).join("\n")
    });
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
`spec.replicas` of `Deployment capi` must be a 32-bit integer, not 1.5
`spec.replicas` of `Deployment capi` must be a 32-bit integer, not 4294967297
`spec.replicas` of `Deployment capi` must be a 32-bit integer, not a string
"#]]
    );
}

#[test]
fn ports_are_integers_or_names() {
    let probe = |port: Value| json!({"livenessProbe": {"httpGet": {"port": port}}});
    for port in [json!(80), json!("http"), json!("")] {
        assert_eq!(container(&probe(port.clone()))["livenessProbe"]["httpGet"]["port"], port);
    }
    let bad = deployment(&json!({"containers": [probe(json!(true))]}));
    assert_data_eq!(
        refused(bad).join("\n"),
        str![
            "`spec.template.spec.containers[0].livenessProbe.httpGet.port` of `Deployment capi` must be a 32-bit integer or a string, not a boolean"
        ]
    );
}

// Row: D-86
#[test]
fn ca_bundles_lose_their_line_breaks() {
    let with = |bundle: &str| {
        let hook = json!({"name": "a", "clientConfig": {"caBundle": bundle}});
        let kind = "ValidatingWebhookConfiguration";
        json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "webhooks": [hook]})
    };
    let bundle = |text: &str| converted(with(text))["webhooks"][0]["clientConfig"].take();
    assert_eq!(bundle("aGVs\nbG8=\n"), json!({"caBundle": "aGVsbG8="}));
    assert_eq!(bundle(""), json!({}));
    let numbers = json!([104, 105]);
    let mut hook = with("");
    hook["webhooks"][0]["clientConfig"]["caBundle"] = numbers;
    assert_data_eq!(
        refused(hook).join("\n"),
        str![
            "`webhooks[0].clientConfig.caBundle` of `ValidatingWebhookConfiguration without name` must be base64, not a list"
        ]
    );
    assert_data_eq!(refused(with("not\nbase64")).join("\n"), str![[r#"`webhooks[0].clientConfig.caBundle` of `ValidatingWebhookConfiguration without name` must be base64, not `not\nbase64`"#]].raw());
}

#[test]
fn json_in_a_schema_is_unchanged() {
    let fields = json!({"default": {"b": [], "a": null}, "enum": [null, "", 1.5, false], "example": 0});
    assert_eq!(schema(&fields), fields);
    assert_eq!(schema(&json!({"default": null, "enum": []})), json!({}));
}

#[test]
fn schemas_inside_schemas_follow_the_same_rules() {
    let nested = json!({"type": "string", "title": "", "minLength": 0, "bogus": 1});
    let clean = json!({"type": "string", "minLength": 0});
    let fields = json!({
        "properties": {"a": nested, "b": null}, "additionalProperties": nested, "items": nested,
        "allOf": [nested], "not": nested, "dependencies": {"a": nested, "b": ["x"], "c": null},
    });
    let expected = json!({
        "properties": {"a": clean, "b": {}}, "additionalProperties": clean, "items": clean,
        "allOf": [clean], "not": clean, "dependencies": {"a": clean, "b": ["x"], "c": null},
    });
    assert_eq!(schema(&fields), expected);
    assert_eq!(schema(&json!({"items": [nested]})), json!({"items": [clean]}));
    let booleans = json!({"additionalProperties": false, "additionalItems": true});
    assert_eq!(schema(&booleans), booleans);
    assert_eq!(schema(&json!({"items": []})), json!({"items": null}));
    assert_data_eq!(
        refused(crd(&json!({"properties": {"a.b": {"additionalProperties": "x"}}}))).join("\n"),
        str![[
            r#"`spec.versions[0].schema.openAPIV3Schema.properties["a.b"].additionalProperties` of `CustomResourceDefinition a.b` must be a boolean or a JSON schema, not a string"#
        ]]
    );
}

// Row: D-56
#[test]
fn every_value_of_the_wrong_type_is_named() {
    let pod = json!({"containers": [{"name": 1, "env": [{"name": "A", "value": 1}]}], "volumes": "x"});
    assert_data_eq!(
        refused(deployment(&pod)).join("\n"),
        str![[r#"
`spec.template.spec.containers[0].env[0].value` of `Deployment capi` must be a string, not a number
`spec.template.spec.containers[0].name` of `Deployment capi` must be a string, not a number
`spec.template.spec.volumes` of `Deployment capi` must be a list, not a string
"#]]
    );
}

#[test]
fn an_unknown_version_is_refused_with_the_known_ones() {
    assert_data_eq!(
        refused(json!({"apiVersion": "apps/v1beta1", "kind": "Deployment", "metadata": {"name": "a"}}))
            .join("\n"),
        str!["`Deployment a` has the apiVersion `apps/v1beta1`, expected `apps/v1`"]
    );
    assert_data_eq!(
        refused(json!({"kind": "CustomResourceDefinition"})).join("\n"),
        str![
            "`CustomResourceDefinition without name` has the apiVersion ``, expected `apiextensions.k8s.io/v1` or `apiextensions.k8s.io/v1beta1`"
        ]
    );
}

#[test]
fn kinds_that_are_not_selected_are_unchanged() {
    let value = json!({"apiVersion": "apps/v1", "kind": "Deployment", "bogus": 1});
    let mut object = Object::try_from(value.clone()).unwrap();
    round_trip(&mut object, KindSet::References).unwrap();
    assert_eq!(object.into_value(), value);
    let value = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "bogus": 1});
    let mut object = Object::try_from(value.clone()).unwrap();
    round_trip(&mut object, KindSet::Workloads).unwrap();
    assert_eq!(object.into_value(), value);
    let value = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"labels": {}}});
    assert_eq!(converted(value.clone()), value);
}

// Row: D-57
#[test]
fn deep_nesting_is_an_error() {
    let mut deep = json!({});
    for _ in 0..600 {
        deep = json!({"properties": {"a": deep}});
    }
    let errors = refused(crd(&deep));
    assert_eq!(errors.len(), 1);
    assert_data_eq!(
        errors[0].rsplit("` of ").next().unwrap().to_owned(),
        str!["`CustomResourceDefinition a.b` must be within the nesting limit, not deeper"]
    );
}

#[test]
fn every_decoded_kind_has_a_type_in_each_version() {
    for DecodedKind { kind, versions, .. } in &DECODED_KINDS {
        for version in *versions {
            let (group, version) = version.split_once('/').unwrap();
            assert!(builtin::kind(group, version, kind).is_some(), "{kind} {version}");
        }
    }
}

fn cluster_errors(version: &str, spec: &Value) -> Vec<String> {
    let object = json!({"apiVersion": format!("cluster.x-k8s.io/{version}"), "kind": "Cluster", "metadata": {"name": "c"}, "spec": spec});
    let checked = check_cluster(&Object::try_from(object).unwrap());
    checked.err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

#[test]
fn a_cluster_with_a_wrong_type_is_reported_with_its_field() {
    let topology =
        json!({"topology": {"class": "a", "version": 1.3, "controlPlane": {"nodeDrainTimeout": "soon"}}});
    assert_data_eq!(
        cluster_errors("v1beta1", &topology).join("\n"),
        str![[r#"
`spec.topology.controlPlane.nodeDrainTimeout` of `Cluster c` must be a duration such as `10m`, not `soon`
`spec.topology.version` of `Cluster c` must be a string, not a number
"#]]
    );
    assert_eq!(cluster_errors("v1alpha4", &topology), [""; 0]);
}

#[test]
fn a_cluster_with_unknown_fields_of_any_name_is_accepted() {
    let spec = json!({"new": 1, "topology": {
        "classRef": {"name": "a"},
        "variables": [{"name": "n", "value": {"any": [1, null]}}],
        "controlPlane": {"deletion": {"nodeDrainTimeoutSeconds": 10}, "replicas": null},
    }});
    assert_eq!(cluster_errors("v1beta2", &spec), [""; 0]);
}
