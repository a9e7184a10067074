use super::*;
use crate::{builtin, discovery, kinds::CustomResource, schema::SchemaRoot};

/// Returns the built-in kinds and Widgets with this schema.
fn kinds(schema: &Value) -> Kinds {
    let like = builtin::resources().iter().find(|resource| &*resource.plural == "deployments").unwrap();
    let widgets = ResourceType {
        group: "shop.example.com".into(),
        version: "v1".into(),
        plural: "widgets".into(),
        kind: "Widget".into(),
        list_kind: "WidgetList".into(),
        subresources: Vec::new(),
        schema: SchemaRoot::lazy(schema),
        custom: Some(Arc::new(CustomResource::default())),
        ..ResourceType::clone(like)
    };
    Kinds::new(discovery::discovery_order(vec![Arc::new(widgets)]), 1)
}

fn widgets() -> Kinds {
    kinds(&json!({
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {
            "size": {"type": "integer", "default": 2, "minimum": 1},
            "color": {"type": "string", "nullable": true, "enum": ["red"]},
            "port": {"x-kubernetes-int-or-string": true},
            "child": {"type": "object", "x-kubernetes-embedded-resource": true},
        }}},
    }))
}

/// Returns all dangling references of a document.
fn dangling(document: &Value, value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| match value.as_str() {
                Some(path) if name == "$ref" && document.pointer(&path[1..]).is_none() => {
                    vec![path.to_owned()]
                }
                _ => dangling(document, value),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(|item| dangling(document, item)).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn every_openapi_document_is_self_contained() {
    let kinds = widgets();
    let index = v3_index(&kinds);
    assert!(index["paths"].as_object().unwrap().len() > 20);
    for path in index["paths"].as_object().unwrap().keys() {
        let words: Vec<_> = path.split('/').collect();
        let (group, version) = if words.len() == 2 { ("", words[1]) } else { (words[1], words[2]) };
        let document = v3(&kinds, group, version).unwrap();
        assert_eq!(dangling(&document, &document), Vec::<String>::new(), "{path}");
    }
    assert_eq!(v3(&kinds, "apps", "v7"), None);
}

#[test]
fn a_field_has_its_default_list_type_and_merge_key() {
    let document = v3(&widgets(), "apps", "v1").unwrap();
    let schemas = &document["components"]["schemas"];
    assert_eq!(
        schemas["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"],
        json!({
            "type": "array",
            "items": {"default": {}, "allOf": [{"$ref": "#/components/schemas/io.k8s.api.core.v1.Container"}]},
            "x-kubernetes-list-map-keys": ["name"],
            "x-kubernetes-list-type": "map",
            "x-kubernetes-patch-merge-key": "name",
            "x-kubernetes-patch-strategy": "merge",
        })
    );
    let of_deployment = &schemas["io.k8s.api.apps.v1.Deployment"][definitions::GVK];
    assert_eq!(*of_deployment, json!([{"group": "apps", "version": "v1", "kind": "Deployment"}]));
}

#[test]
fn patch_operations_list_their_parameters_and_kind() {
    let kinds = widgets();
    let patch = |group: &str, path: &str| v3(&kinds, group, "v1").unwrap()["paths"][path]["patch"].clone();
    let builtin = patch("apps", "/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
    let parameters = builtin["parameters"].as_array().unwrap();
    let names: Vec<_> = parameters.iter().map(|parameter| parameter["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["dryRun", "fieldManager", "fieldValidation", "force"]);
    assert_eq!(builtin[definitions::GVK], json!({"group": "apps", "version": "v1", "kind": "Deployment"}));
    let strategic = |patch: &Value| {
        patch["requestBody"]["content"].get("application/strategic-merge-patch+json").is_some()
    };
    assert!(strategic(&builtin));
    let custom = patch("shop.example.com", "/apis/shop.example.com/v1/namespaces/{namespace}/widgets/{name}");
    assert!(custom.is_object() && !strategic(&custom));
}

#[test]
fn a_custom_kind_is_described_with_its_whole_schema() {
    let kinds = widgets();
    let document = v3(&kinds, "shop.example.com", "v1").unwrap();
    let widget = &document["components"]["schemas"]["com.example.shop.v1.Widget"];
    let spec = &widget["properties"]["spec"]["properties"];
    assert_eq!(spec["size"], json!({"type": "integer", "default": 2, "minimum": 1}));
    assert_eq!(spec["port"]["anyOf"], json!([{"type": "integer"}, {"type": "string"}]));
    assert_eq!(spec["child"]["required"], json!(["kind", "apiVersion"]));
    assert!(widget["properties"]["metadata"]["allOf"][0]["$ref"].is_string());
}

#[test]
fn a_document_url_changes_only_with_the_schema() {
    let url = |kinds: &Kinds, path: &str| v3_index(kinds)["paths"][path]["serverRelativeURL"].clone();
    let (before, after) = (widgets(), kinds(&json!({"type": "object"})));
    let path = "apis/shop.example.com/v1";
    assert_ne!(url(&before, path), url(&after, path));
    assert_eq!(url(&before, "api/v1"), url(&after, "api/v1"));
    assert_eq!(url(&before, path), url(&widgets(), path));
}
