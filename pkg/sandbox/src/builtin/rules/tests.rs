use serde_json::{Value, json};

use super::{
    assign_addresses, decode_errors, prepare_for_create, prepare_for_update, set_defaults, unknown_fields,
    validate, warnings,
};
use crate::{
    builtin::resources,
    kinds::ResourceType,
    status::{FieldError, FieldErrorKind},
};

fn resource(group: &str, kind: &str) -> &'static ResourceType {
    resources().iter().find(|r| &*r.group == group && &*r.kind == kind).expect("the kind is built in")
}

/// Returns the validation errors of a new object with defaults.
fn problems(group: &str, kind: &str, mut object: Value) -> Vec<(FieldErrorKind, String)> {
    let resource = resource(group, kind);
    set_defaults(resource, &mut object);
    prepare_for_create(resource, &mut object);
    let short = |error: FieldError| (error.kind, error.path);
    validate(resource, "", &object, None).into_iter().map(short).collect()
}

fn deployment() -> Value {
    json!({
        "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "registry:5000/web"}]},
            },
        },
    })
}

#[test]
fn a_deployment_gets_the_defaults_of_the_real_server() {
    let mut object = deployment();
    object["spec"]["template"]["spec"]["serviceAccountName"] = "robot".into();
    object["spec"]["unknown"] = 1.into();
    object["spec"]["minReadySeconds"] = 0.into();
    object["spec"]["paused"] = Value::Null;
    let resource = resource("apps", "Deployment");
    set_defaults(resource, &mut object);
    prepare_for_create(resource, &mut object);
    let pod = json!({
        "containers": [{
            "name": "web",
            "image": "registry:5000/web",
            "imagePullPolicy": "Always",
            "resources": {},
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
        }],
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "serviceAccount": "robot",
        "serviceAccountName": "robot",
        "terminationGracePeriodSeconds": 30,
    });
    let spec = json!({
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
        "selector": {"matchLabels": {"app": "web"}},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod},
    });
    assert_eq!(object, json!({"metadata": {"name": "web", "generation": 1}, "spec": spec, "status": {}}));
}

#[test]
fn defaulting_is_idempotent() {
    for (group, kind, mut object) in [
        ("apps", "Deployment", deployment()),
        (
            "",
            "Pod",
            json!({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "image": "b"}]}}),
        ),
        ("", "Service", json!({"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}})),
        ("rbac.authorization.k8s.io", "Role", json!({"metadata": {"name": "a"}, "rules": []})),
    ] {
        let resource = resource(group, kind);
        set_defaults(resource, &mut object);
        let once = object.clone();
        set_defaults(resource, &mut object);
        assert_eq!(object, once, "{kind}");
    }
}

#[test]
fn meaningful_zeros_are_kept() {
    let mut object = deployment();
    object["spec"]["replicas"] = 0.into();
    set_defaults(resource("apps", "Deployment"), &mut object);
    assert_eq!(object["spec"]["replicas"], 0);
    let mut role = json!({"metadata": {"name": "a"}, "rules": []});
    set_defaults(resource("rbac.authorization.k8s.io", "Role"), &mut role);
    assert_eq!(role, json!({"metadata": {"name": "a"}, "rules": null}));
}

#[test]
fn a_job_selects_its_pods_by_uid() {
    let resource = resource("batch", "Job");
    let mut job = json!({
        "metadata": {"name": "once", "uid": "u1"},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "b"}]}}},
    });
    set_defaults(resource, &mut job);
    prepare_for_create(resource, &mut job);
    let selector = json!({"matchLabels": {"batch.kubernetes.io/controller-uid": "u1"}});
    assert_eq!(job["spec"]["selector"], selector);
    assert_eq!(job["metadata"]["labels"]["job-name"], "once");
    assert_eq!(validate(resource, "", &job, None), []);
}

#[test]
fn string_data_is_converted_to_data() {
    let resource = resource("", "Secret");
    let mut secret = json!({"metadata": {"name": "a"}, "data": {"k": "b2xk"}, "stringData": {"k": "new"}});
    set_defaults(resource, &mut secret);
    assert_eq!(secret, json!({"metadata": {"name": "a"}, "type": "Opaque", "data": {"k": "bmV3"}}));
}

#[test]
fn the_generation_changes_only_with_the_spec() {
    let resource = resource("apps", "Deployment");
    let mut old = deployment();
    set_defaults(resource, &mut old);
    prepare_for_create(resource, &mut old);
    for (path, subresource, generation) in [
        ("/metadata/labels", "", 1),
        ("/metadata/annotations", "", 2),
        ("/spec/template/metadata/annotations", "", 2),
        ("/spec/template/metadata/annotations", "status", 1),
        ("/status", "", 1),
    ] {
        let mut new = old.clone();
        let (parent, field) = path.rsplit_once('/').unwrap();
        new.pointer_mut(parent).unwrap()[field] = json!({"a": "b"});
        prepare_for_update(resource, subresource, &old, &mut new);
        assert_eq!(new["metadata"]["generation"], generation, "{path} {subresource}");
    }
}

#[test]
fn subresources_write_only_their_own_part() {
    let resource = resource("apps", "Deployment");
    let old = json!({"metadata": {"generation": 4, "labels": {"a": "b"}}, "spec": {"replicas": 1}, "status": {"x": 1}});
    let sent = json!({"metadata": {"labels": {"c": "d"}}, "spec": {"replicas": 2}, "status": {"x": 2}});
    let mut new = sent.clone();
    prepare_for_update(resource, "", &old, &mut new);
    assert_eq!((&new["spec"]["replicas"], &new["status"]["x"]), (&json!(2), &json!(1)));
    let mut new = sent;
    prepare_for_update(resource, "status", &old, &mut new);
    assert_eq!((&new["spec"]["replicas"], &new["status"]["x"]), (&json!(1), &json!(2)));
    assert_eq!(new["metadata"], old["metadata"]);
}

#[test]
fn services_get_unused_addresses() {
    let make = |spec: Value| {
        let mut service = json!({"metadata": {"name": "a"}, "spec": spec});
        set_defaults(resource("", "Service"), &mut service);
        service
    };
    let mut first = make(json!({"type": "NodePort", "ports": [{"port": 80}, {"port": 81}]}));
    assign_addresses(&mut first, None, []).unwrap();
    let mut second = make(json!({"type": "NodePort", "ports": [{"port": 80}]}));
    assign_addresses(&mut second, None, [&first]).unwrap();
    assert_ne!(first["spec"]["clusterIP"], second["spec"]["clusterIP"]);
    let ports = [&first["spec"]["ports"][0], &first["spec"]["ports"][1], &second["spec"]["ports"][0]];
    assert_eq!(ports.map(|port| port["nodePort"].as_u64()), [Some(30000), Some(30001), Some(30002)]);

    let mut taken = make(json!({"clusterIP": first["spec"]["clusterIP"], "ports": [{"port": 80}]}));
    let error = assign_addresses(&mut taken, None, [&first]).unwrap_err();
    assert!(error.detail.ends_with("provided IP is already allocated"), "{}", error.detail);
}

#[test]
fn validation_errors_name_their_field() {
    use FieldErrorKind::{Duplicate, Invalid, NotSupported, Required};
    let with = |path: &str, value: Value| {
        let mut object = deployment();
        let (parent, field) = path.rsplit_once('/').unwrap();
        object.pointer_mut(parent).unwrap()[field] = value;
        problems("apps", "Deployment", object)
    };
    let pod = "/spec/template/spec";
    for (path, value, kind, field) in [
        ("/spec/replicas".to_owned(), json!(-1), Invalid, "spec.replicas"),
        (
            "/spec/selector".to_owned(),
            json!({"matchLabels": {"app": "x"}}),
            Invalid,
            "spec.template.metadata.labels",
        ),
        (format!("{pod}/restartPolicy"), json!("Never"), NotSupported, "spec.template.spec.restartPolicy"),
        (format!("{pod}/containers"), json!([]), Required, "spec.template.spec.containers"),
        (
            format!("{pod}/containers"),
            json!([{"name": "a", "image": "b"}, {"name": "a", "image": "b"}]),
            Duplicate,
            "spec.template.spec.containers[1].name",
        ),
    ] {
        assert_eq!(with(&path, value), [(kind, field.to_owned())], "{path}");
    }
    let hook = json!({"metadata": {"name": "a"}, "webhooks": [{
        "name": "a.example.com",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {"name": "a", "namespace": "b"}},
    }]});
    let found = problems("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", hook);
    assert_eq!(found, [(Required, "webhooks[0].sideEffects".to_owned())]);
}

#[test]
fn changes_of_immutable_fields_are_refused() {
    for (group, kind, old, new, path) in [
        (
            "",
            "ConfigMap",
            json!({"immutable": true, "data": {"a": "b"}}),
            json!({"immutable": true, "data": {"a": "c"}}),
            "data",
        ),
        ("", "Secret", json!({"type": "Opaque"}), json!({"type": "x"}), "type"),
        (
            "rbac.authorization.k8s.io",
            "RoleBinding",
            json!({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"}}),
            json!({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "b"}}),
            "roleRef",
        ),
    ] {
        let found = validate(resource(group, kind), "", &new, Some(&old));
        let paths: Vec<&str> = found.iter().map(|error| &*error.path).collect();
        assert_eq!(paths, [path], "{kind}");
    }
}

#[test]
fn a_type_error_has_the_text_of_go() {
    let resource = resource("apps", "Deployment");
    for (path, value, message) in [
        (
            "/spec/replicas",
            json!("x"),
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            "/spec/template/spec/containers",
            json!({}),
            "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type \
             []v1.Container",
        ),
        (
            "/metadata/labels",
            json!({"a": 1}),
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
    ] {
        let mut object = deployment();
        let (parent, field) = path.rsplit_once('/').unwrap();
        object.pointer_mut(parent).unwrap()[field] = value;
        assert_eq!(decode_errors(resource, &object).as_deref(), Some(message));
    }
    assert_eq!(decode_errors(resource, &deployment()), None);
}

#[test]
fn unknown_fields_are_listed_by_path() {
    let mut object = deployment();
    object["spec"]["template"]["spec"]["containers"][0]["bar"] = 1.into();
    object["spec"]["foo"] = 1.into();
    object["metadata"]["labels"] = json!({"any": "thing"});
    let mut found = unknown_fields(resource("apps", "Deployment"), &object);
    found.sort();
    assert_eq!(found, ["spec.foo", "spec.template.spec.containers[0].bar"]);
}

#[test]
fn a_duplicate_port_gives_a_warning() {
    let mut object = deployment();
    object["spec"]["template"]["spec"]["containers"][0]["ports"] =
        json!([{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 80, "protocol": "TCP"}]);
    assert_eq!(
        warnings(resource("apps", "Deployment"), &object),
        ["spec.template.spec.containers[0].ports[1]: duplicate port definition with \
             spec.template.spec.containers[0].ports[0]"]
    );
}

#[test]
fn no_kind_panics_on_empty_or_malformed_objects() {
    let crooked = json!({"metadata": [], "spec": "x", "status": 5, "rules": {}, "webhooks": "y", "data": []});
    for resource in resources() {
        for object in [json!({}), Value::Null, crooked.clone()] {
            let mut new = object.clone();
            let _ = (decode_errors(resource, &new), unknown_fields(resource, &new), warnings(resource, &new));
            set_defaults(resource, &mut new);
            prepare_for_create(resource, &mut new);
            prepare_for_update(resource, "status", &object, &mut new);
            let _ = (validate(resource, "", &new, None), validate(resource, "", &new, Some(&object)));
            let _ = validate(resource, "status", &new, Some(&object));
        }
    }
}

#[test]
fn the_tables_name_existing_types_and_fields() {
    let mut known = std::collections::HashSet::new();
    let mut queue: Vec<_> = resources().iter().map(|resource| resource.schema.schema()).collect();
    let mut seen = std::collections::HashSet::new();
    while let Some(schema) = queue.pop() {
        if !seen.insert(schema.id()) {
            continue;
        }
        let node = schema.node();
        if let Some(definition) = &node.definition {
            for name in node.properties.keys() {
                known.insert(format!("{} {name}", super::type_rules::short_name(definition)));
            }
        }
        queue.extend(node.properties.keys().filter_map(|name| schema.field(name)));
        queue.extend(schema.items().into_iter().chain(schema.field("")));
    }
    for line in include_str!("defaults.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_ascii_whitespace();
        let definition = words.next().unwrap();
        for word in words {
            let field = word.split_once('=').unwrap().0;
            assert!(known.contains(&format!("{definition} {field}")), "{definition} {field}");
        }
    }
}
