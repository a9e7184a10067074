//! What is created: small objects, as most are.

use bytes::Bytes;
use serde_json::{Value, json};

/// The sorts of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    ConfigMap,
    /// A custom resource with a schema, defaults and a rule.
    Widget,
}

impl Sort {
    /// Where all of them are, in the namespace of the benchmark.
    pub(crate) fn collection(self) -> &'static str {
        match self {
            Self::ConfigMap => "/api/v1/namespaces/bench/configmaps",
            Self::Widget => "/apis/bench.example.com/v1/namespaces/bench/widgets",
        }
    }

    pub(crate) fn object(self, name: &str) -> Bytes {
        let metadata = json!({
            "name": name, "namespace": "bench",
            "labels": {"app.kubernetes.io/name": "bench", "app.kubernetes.io/instance": name},
            "annotations": {"example.com/purpose": "one of very many"},
        });
        let text = "A value of a usual size, which is some words and no more than that. ".repeat(3);
        let object = match self {
            Self::ConfigMap => json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata,
                "data": {"first": text, "second": "true", "third": name},
            }),
            Self::Widget => json!({
                "apiVersion": "bench.example.com/v1", "kind": "Widget", "metadata": metadata,
                "spec": {
                    "replicas": 3, "image": "registry.example.com/bench/widget:v1.0.0", "text": text,
                    "selector": {"matchLabels": {"app.kubernetes.io/instance": name}},
                    "ports": [{"name": "http", "port": 80}, {"name": "https", "port": 443}],
                },
            }),
        };
        object.to_string().into()
    }
}

pub(crate) fn namespace() -> Bytes {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "bench"}}).to_string().into()
}

/// The definition of [`Sort::Widget`].
pub(crate) fn definition() -> Bytes {
    let text = json!({"type": "string"});
    let port = json!({
        "type": "object", "required": ["name"],
        "properties": {
            "name": text, "port": {"type": "integer", "minimum": 1, "maximum": 65_535},
            "protocol": {"type": "string", "enum": ["TCP", "UDP"], "default": "TCP"},
        },
    });
    let spec = json!({
        "type": "object", "required": ["image"],
        "properties": {
            "replicas": {"type": "integer", "format": "int32", "minimum": 0, "default": 1},
            "image": {"type": "string", "minLength": 1, "maxLength": 256, "pattern": "^[a-z0-9./:-]+$"},
            "text": text,
            "paused": {"type": "boolean", "default": false},
            "selector": {
                "type": "object",
                "properties": {"matchLabels": {"type": "object", "additionalProperties": text}},
            },
            "ports": {
                "type": "array", "maxItems": 16, "items": port,
                "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            },
        },
        "x-kubernetes-validations": [{"rule": "!self.paused || self.replicas == 0", "message": "paused means none"}],
    });
    let definition: Value = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.bench.example.com"},
        "spec": {
            "group": "bench.example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": spec,
                    "status": {"type": "object", "properties": {"ready": {"type": "boolean"}}},
                }}},
            }],
        },
    });
    definition.to_string().into()
}
