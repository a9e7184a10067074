use serde_json::Value;
use snapbox::{assert_data_eq, str};

use super::*;
use crate::schema::{ListType, Type};

fn resource(group: &str, version: &str, plural: &str) -> &'static Arc<ResourceType> {
    let is_it = |r: &&Arc<ResourceType>| &*r.group == group && &*r.version == version && &*r.plural == plural;
    resources().iter().find(is_it).unwrap()
}

#[test]
fn the_core_group_comes_first() {
    assert_eq!(&*resources()[0].plural, "bindings");
    assert!(resources().len() > 60);
}

#[test]
fn a_resource_has_names_verbs_and_subresources() {
    let deployments = resource("apps", "v1", "deployments");
    assert_eq!((&*deployments.singular, &*deployments.kind), ("deployment", "Deployment"));
    assert_eq!(&*deployments.list_kind, "DeploymentList");
    assert_eq!(deployments.short_names, [Arc::from("deploy")]);
    assert_eq!(deployments.categories, [Arc::from("all")]);
    assert!(deployments.namespaced && deployments.verbs.len() == 8);
    let scale = deployments.subresource("scale").unwrap();
    assert_eq!((&*scale.group, &*scale.version, &*scale.kind), ("autoscaling", "v1", "Scale"));
    let namespaces = resource("", "v1", "namespaces");
    assert!(!namespaces.namespaced && !namespaces.verbs.iter().any(|verb| &**verb == "deletecollection"));
}

#[test]
fn resources_name_their_storage_version() {
    let events = resource("events.k8s.io", "v1", "events");
    assert_eq!(storage_group_version(events), ("", "v1"));
    let old = resource("autoscaling", "v1", "horizontalpodautoscalers");
    assert_eq!(storage_group_version(old), ("autoscaling", "v2"));
    assert_eq!(&*old.storage_version, "v2");
    assert_eq!(storage_group_version(resource("apps", "v1", "deployments")), ("apps", "v1"));
    // The storage version is not served.
    let definitions = resource("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    assert_eq!((storage_group_version(definitions).1, &*definitions.storage_version), ("v1beta1", "v1"));
}

#[test]
fn a_schema_path_reaches_the_list_keys_of_ports() {
    let root = resource("apps", "v1", "deployments").schema.schema();
    let pod = root.field("spec").unwrap().field("template").unwrap().field("spec").unwrap();
    assert_eq!(pod.node().definition.as_deref(), Some("io.k8s.api.core.v1.PodSpec"));
    let containers = pod.field("containers").unwrap();
    assert_eq!(containers.node().list_type, ListType::Map(vec!["name".into()]));
    assert_eq!(containers.node().patch.merge_key.as_deref(), Some("name"));
    let ports = containers.items().unwrap().field("ports").unwrap();
    assert_eq!(ports.node().list_type, ListType::Map(vec!["containerPort".into(), "protocol".into()]));
    let protocol = ports.items().unwrap().field("protocol").unwrap();
    assert_eq!(protocol.node().default, Some("TCP".into()));
    assert_eq!(root.field("kind").unwrap().node().kind, Type::String);
    assert_eq!(
        root.field("metadata").unwrap().field("labels").unwrap().field("any").unwrap().node().kind,
        Type::String
    );
}

#[test]
fn a_field_with_overrides_keeps_the_fields_of_its_definition() {
    let spec = resource("apps", "v1", "deployments").schema.schema().field("spec").unwrap();
    let strategy = spec.field("strategy").unwrap();
    assert!(strategy.node().patch.retain_keys);
    assert!(strategy.field("rollingUpdate").unwrap().field("maxSurge").is_some());
}

#[test]
fn a_recursive_definition_refers_to_itself() {
    let root = resource("apiextensions.k8s.io", "v1", "customresourcedefinitions").schema.schema();
    let version = root.field("spec").unwrap().field("versions").unwrap().items().unwrap();
    let schema = version.field("schema").unwrap().field("openAPIV3Schema").unwrap();
    assert_eq!(schema.field("properties").unwrap().field("any").unwrap().id(), schema.id());
    assert_eq!(schema.field("not").unwrap().id(), schema.id());
}

#[test]
fn an_empty_object_has_the_fields_that_are_always_written() {
    let expected = json!({
        "metadata": {},
        "spec": {"selector": null, "strategy": {}, "template": {"metadata": {}, "spec": {"containers": null}}},
        "status": {},
    });
    assert_eq!(empty_object(resource("apps", "v1", "deployments")), expected);
}

#[test]
fn an_invalid_table_line_is_reported() {
    let resources = ["  pods pod", "v1 a\n  pods pod Pod cluster get long(x)"]
        .map(|table| resources::read(table, |_, _| SchemaRoot::lazy(&Value::Null)).err().unwrap());
    assert_data_eq!(
        resources.join("\n"),
        str![[r#"
`  pods pod` is not a resource
`long` is not an attribute of a resource
"#]]
    );
}
