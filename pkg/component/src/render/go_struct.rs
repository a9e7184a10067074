//! The structs that templates get from functions: the Component, the version of Kubernetes, the APIs of the cluster.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::definition;
use chart::Capabilities;
use serde_json::{Map as Fields, Value as Json};
use template::{Elem, Kind, List, Map, Object, Record, Shared, Signature, Value};

/// The fields of the metadata of an object, by their types in a schema.
const METADATA: &str = r#"{"type": "object", "properties": {
    "name": {"type": "string"},
    "namespace": {"type": "string"},
    "uid": {"type": "string"},
    "resourceVersion": {"type": "string"},
    "generation": {"type": "integer"},
    "labels": {"type": "object"},
    "annotations": {"type": "object"},
    "finalizers": {"type": "array", "items": {"type": "string"}}
}}"#;

/// The schema of Components, with that of the metadata.
static SCHEMA: LazyLock<Json> = LazyLock::new(|| {
    let mut schema = definition::SCHEMA.clone();
    schema["properties"]["metadata"] = serde_json::from_str(METADATA).unwrap_or_default();
    schema
});

/// An object as a Go struct: its fields have the names of JSON with a capital letter.
#[derive(Debug)]
struct JsonStruct {
    json: Json,
    schema: &'static Json,
}

impl JsonStruct {
    fn is_component(&self) -> bool {
        std::ptr::eq(self.schema, &raw const *SCHEMA)
    }
}

/// Creates a value by its schema. A missing text, number or map is empty, a missing struct is nil.
fn typed(json: Option<&Json>, schema: &'static Json) -> Value {
    match (schema["type"].as_str(), json) {
        (Some("object"), Some(Json::Object(_))) if schema["properties"].is_object() => {
            Value::Object(Shared::new(JsonStruct { json: json.cloned().unwrap_or_default(), schema }))
        }
        (Some("object"), None) if schema["properties"].is_object() => Value::Nil,
        (Some("array"), Some(Json::Array(items))) => {
            Value::list(items.iter().map(|item| typed(Some(item), &schema["items"])).collect())
        }
        (Some("string"), None) => "".into(),
        (Some("integer"), None) => Value::Int64(0),
        (Some("boolean"), None) => false.into(),
        (Some("array"), None) => Value::List(List::nil(Elem::Any)),
        (Some("object"), None) => Value::Map(Map::nil()),
        (_, None) => Value::Nil,
        (_, Some(json)) => chart::object_value(json),
    }
}

/// Returns the name of a Go field in JSON: `KubeConfig` is `kubeConfig`, `UID` is `uid`.
fn json_name(field: &str) -> Option<String> {
    if !field.starts_with(|first: char| first.is_ascii_uppercase()) {
        return None;
    }
    if field == "APIVersion" {
        return Some("apiVersion".to_owned());
    }
    if field.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Some(field.to_ascii_lowercase());
    }
    let (first, rest) = field.split_at(1);
    Some(format!("{}{rest}", first.to_ascii_lowercase()))
}

impl Object for JsonStruct {
    fn type_name(&self) -> &'static str {
        if self.is_component() { "*v1alpha1.Component" } else { "v1alpha1.ComponentSpec" }
    }

    fn kind(&self) -> Kind {
        if self.is_component() { Kind::Ptr } else { Kind::Struct }
    }

    fn field(&self, name: &str) -> Option<Value> {
        let key = json_name(name)?;
        if let Some(schema) = self.schema["properties"].get(&key) {
            return Some(typed(self.json.get(&key), schema));
        }
        // The fields of the metadata are also those of the object.
        let schema = self.schema["properties"].get("metadata").filter(|_| self.is_component())?;
        Some(typed(self.json["metadata"].get(&key), schema["properties"].get(&key)?))
    }

    fn method(&self, name: &str) -> Option<Signature> {
        let getters = ["GetName", "GetNamespace", "GetLabels", "GetAnnotations", "GetUID", "GetGeneration"];
        (self.is_component() && getters.contains(&name)).then(|| Signature::new(&[]))
    }

    fn call(&self, name: &str, _: &[Value]) -> Result<Value, String> {
        Ok(self.field(name.trim_start_matches("Get")).unwrap_or_default())
    }

    fn plain(&self) -> Value {
        chart::object_value(&self.json)
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| self.json == other.json)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Creates the value of `component`.
pub(super) fn component(component: &Json, revision: i64) -> Value {
    let Json::Object(fields) = component else { return Value::Nil };
    let mut fields = fields.clone();
    let status = fields.entry("status").or_insert_with(|| Json::Object(Fields::new()));
    if let Json::Object(status) = status {
        status.entry("revision").or_insert_with(|| revision.into());
    }
    typed(Some(&Json::Object(fields)), &SCHEMA)
}

/// Creates the value of `kubernetesVersion`.
pub(super) fn kubernetes_version(capabilities: &Capabilities) -> Value {
    let version = &capabilities.kube_version;
    let fields: Vec<(&str, Value)> = vec![
        ("Major", version.major.as_str().into()),
        ("Minor", version.minor.as_str().into()),
        ("GitVersion", version.version.as_str().into()),
        ("GitCommit", "".into()),
        ("GitTreeState", "".into()),
        ("BuildDate", "".into()),
        ("GoVersion", "".into()),
        ("Compiler", "".into()),
        ("Platform", "".into()),
    ];
    let keys = [
        "major",
        "minor",
        "gitVersion",
        "gitCommit",
        "gitTreeState",
        "buildDate",
        "goVersion",
        "compiler",
        "platform",
    ];
    let json = keys.into_iter().zip(&fields).map(|(key, (_, value))| (key, value.clone())).collect();
    Record {
        type_name: "*version.Info",
        fields,
        json,
        action_text: Some(version.version.clone()),
        methods: &["String"],
        ..Record::default()
    }
    .share()
}

/// Creates the value of `apiResources`: the kinds of each API version, in the order of their names.
pub(super) fn api_resources(capabilities: &Capabilities) -> Value {
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for version in &capabilities.api_versions {
        let (group_version, kind) = split_kind(version);
        let kinds = kinds.entry(group_version).or_default();
        kinds.extend(kind.filter(|kind| !kinds.contains(kind)));
    }
    let lists = kinds.into_iter().map(|(group_version, mut kinds)| {
        kinds.sort_by_key(|kind| plural(kind));
        let resources = Value::list(kinds.into_iter().map(api_resource).collect());
        let fields = vec![("GroupVersion", group_version.into()), ("APIResources", resources.clone())];
        let json = vec![("groupVersion", group_version.into()), ("resources", resources)];
        Record { type_name: "*v1.APIResourceList", fields, json, ..Record::default() }.share()
    });
    Value::List(List::new(Elem::Any, lists.collect()))
}

/// Splits `apps/v1/Deployment` and `v1/Pod` into the API version and the kind, if there is one.
fn split_kind(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once('/') {
        Some((version, kind)) if kind.starts_with(|first: char| first.is_ascii_uppercase()) => {
            (version, Some(kind))
        }
        _ => (text, None),
    }
}

fn api_resource(kind: &str) -> Value {
    let (name, singular) = (plural(kind), kind.to_lowercase());
    let fields = vec![("Name", name.into()), ("SingularName", singular.into()), ("Kind", Value::from(kind))];
    let keys = ["name", "singularName", "kind"];
    let json = keys.into_iter().zip(&fields).map(|(key, (_, value))| (key, value.clone())).collect();
    Record { type_name: "v1.APIResource", fields, json, ..Record::default() }.share()
}

/// Guesses the name of a resource from its kind, as Kubernetes' clients do.
fn plural(kind: &str) -> String {
    let lower = kind.to_lowercase();
    if lower == "endpoints" {
        lower
    } else if lower.ends_with('s') {
        format!("{lower}es")
    } else if let Some(stem) = lower.strip_suffix('y') {
        format!("{stem}ies")
    } else {
        format!("{lower}s")
    }
}
