//! The resources that a definition serves.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    kinds::{CustomResource, PrinterColumn, ResourceType, ScalePaths, Subresource, version_priority},
    schema::SchemaRoot,
};

/// Source: apiextensions-apiserver 1.36 `customresource_discovery_controller.go`.
const VERBS: [&str; 8] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const SUBRESOURCE_VERBS: [&str; 3] = ["get", "patch", "update"];

/// Returns one resource for each served version of an accepted definition, the preferred version first.
pub(crate) fn resources(definition: &Value) -> Vec<Arc<ResourceType>> {
    let versions = list(&definition["spec"]["versions"]);
    let stored = versions.iter().find(|version| version["storage"] == true);
    let storage = (stored.map_or("", |v| text(&v["name"])), schema(stored.unwrap_or(&Value::Null)));
    let mut served: Vec<&Value> = versions.iter().filter(|version| version["served"] == true).collect();
    served.sort_by_key(|version| std::cmp::Reverse(version_priority(text(&version["name"]))));
    served.into_iter().map(|version| Arc::new(resource(definition, version, &storage))).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn words(value: &Value) -> Vec<Arc<str>> {
    list(value).iter().map(|word| text(word).into()).collect()
}

fn schema(version: &Value) -> SchemaRoot {
    let fallback = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    SchemaRoot::lazy(version.pointer("/schema/openAPIV3Schema").unwrap_or(&fallback))
}

/// `storage` is the name of the storage version and its schema.
fn resource(definition: &Value, version: &Value, storage: &(&str, SchemaRoot)) -> ResourceType {
    let spec = &definition["spec"];
    // The accepted names are the names at establishment; later names are accepted only if free.
    let accepted = &definition["status"]["acceptedNames"];
    let names = if text(&accepted["plural"]).is_empty() { &spec["names"] } else { accepted };
    let (storage_version, storage_schema) = storage;
    let is_storage = text(&version["name"]) == *storage_version;
    let storage_schema = (!is_storage).then(|| storage_schema.clone());
    ResourceType {
        group: text(&spec["group"]).into(),
        version: text(&version["name"]).into(),
        storage_version: (*storage_version).into(),
        plural: text(&names["plural"]).into(),
        singular: text(&names["singular"]).into(),
        kind: text(&names["kind"]).into(),
        list_kind: text(&names["listKind"]).into(),
        short_names: words(&names["shortNames"]),
        categories: words(&names["categories"]),
        namespaced: spec["scope"] == "Namespaced",
        verbs: VERBS.map(Arc::from).to_vec(),
        subresources: subresources(definition, version, text(&names["kind"])),
        schema: if is_storage { storage.1.clone() } else { schema(version) },
        custom: Some(Arc::new(custom(definition, version, storage_schema))),
    }
}

fn subresources(definition: &Value, version: &Value, kind: &str) -> Vec<Subresource> {
    let subresource = |name: &str, group: &str, version: &str, kind: &str| Subresource {
        name: name.into(),
        group: group.into(),
        version: version.into(),
        kind: kind.into(),
        verbs: SUBRESOURCE_VERBS.map(Arc::from).to_vec(),
    };
    let given = &version["subresources"];
    let (group, name) = (text(&definition["spec"]["group"]), text(&version["name"]));
    let status = given["status"].is_object().then(|| subresource("status", group, name, kind));
    let scale = given["scale"].is_object().then(|| subresource("scale", "autoscaling", "v1", "Scale"));
    status.into_iter().chain(scale).collect()
}

fn custom(definition: &Value, version: &Value, storage_schema: Option<SchemaRoot>) -> CustomResource {
    let scale = Some(&version["subresources"]["scale"]).filter(|scale| scale.is_object());
    let group_version = format!("{}/{}", text(&definition["spec"]["group"]), text(&version["name"]));
    let kind = text(&definition["spec"]["names"]["kind"]);
    let warning = match version["deprecationWarning"].as_str() {
        Some(words) => words.to_owned(),
        None => format!("{group_version} {kind} is deprecated{}", replacement(definition, version)),
    };
    CustomResource {
        definition: text(&definition["metadata"]["name"]).into(),
        generation: definition["metadata"]["generation"].as_u64().unwrap_or_default(),
        storage_schema,
        status: version["subresources"]["status"].is_object(),
        scale: scale.map(|scale| ScalePaths {
            spec_replicas: text(&scale["specReplicasPath"]).into(),
            status_replicas: text(&scale["statusReplicasPath"]).into(),
            label_selector: scale["labelSelectorPath"]
                .as_str()
                .filter(|path| !path.is_empty())
                .map(Arc::from),
        }),
        columns: list(&version["additionalPrinterColumns"]).iter().map(column).collect(),
        selectable_fields: list(&version["selectableFields"])
            .iter()
            .map(|field| text(&field["jsonPath"]).into())
            .collect(),
        deprecation_warning: (version["deprecated"] == true).then(|| warning.into()),
        has_conversion_webhook: definition["spec"]["conversion"]["strategy"] == "Webhook"
            && version["storage"] != true,
    }
}

/// Names the newest served version that is not deprecated, as the end of a sentence. Empty if `version` is not older.
/// Source: apiextensions-apiserver 1.36 `defaultDeprecationWarning`.
fn replacement(definition: &Value, version: &Value) -> String {
    let spec = &definition["spec"];
    let priority = |version: &Value| version_priority(text(&version["name"]));
    let fresh = list(&spec["versions"]).iter().filter(|v| v["served"] == true && v["deprecated"] != true);
    match fresh.max_by_key(|fresh| priority(fresh)) {
        Some(fresh) if priority(fresh) > priority(version) => {
            let (group, kind) = (text(&spec["group"]), text(&spec["names"]["kind"]));
            format!("; use {group}/{} {kind}", text(&fresh["name"]))
        }
        _ => String::new(),
    }
}

fn column(column: &Value) -> PrinterColumn {
    PrinterColumn {
        name: text(&column["name"]).into(),
        kind: text(&column["type"]).into(),
        format: text(&column["format"]).into(),
        description: text(&column["description"]).into(),
        priority: column["priority"].as_i64().and_then(|level| i32::try_from(level).ok()).unwrap_or_default(),
        json_path: text(&column["jsonPath"]).into(),
    }
}
