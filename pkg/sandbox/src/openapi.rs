//! The OpenAPI documents of served resources: `/openapi/v3`.
//!
//! ```text
//! builtin::shapes ──► definitions ──┐
//! schemas of CRDs ──► custom ───────┼──► a document, made per request and not cached
//! verbs of resources ──► paths ─────┘
//! ```
//!
//! The documents contain the data that clients use for decisions: types, defaults, list types, merge keys and
//! group-version-kinds. They also list the parameters of each operation. Descriptions of built-in fields and the
//! deprecated watch paths are omitted.
//! Source: kube-apiserver 1.36; kubectl 1.36 as a reader (explain, apply, `--validate`, `--dry-run=server`).
//! Deliberately absent: `/openapi/v2`, unused by kubectl since 1.27.

mod definitions;
mod paths;

use std::sync::Arc;

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    builtin,
    kinds::{Kinds, ResourceType},
    openapi::{definitions::OpenApiDefinitions, paths::Paths},
};

/// Returns a reference to a definition.
fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// Returns `/openapi/v3`: the URLs of the documents of each group and version. The hash in a URL changes with the
/// document, because clients cache documents by URL.
pub(crate) fn v3_index(kinds: &Kinds) -> Value {
    let mut paths = Map::new();
    for resources in by_version(kinds) {
        let path = match &*resources[0].group {
            "" => format!("api/{}", resources[0].version),
            _ => format!("apis/{}", resources[0].api_version()),
        };
        let url = format!("/openapi/v3/{path}?hash={}", fingerprint(resources));
        paths.insert(path, json!({"serverRelativeURL": url}));
    }
    json!({"paths": paths})
}

/// Returns the document of one version: `/openapi/v3/api/v1` or `/openapi/v3/apis/{group}/{version}`.
pub(crate) fn v3(kinds: &Kinds, group: &str, version: &str) -> Option<Value> {
    let is_it =
        |resources: &&[Arc<ResourceType>]| &*resources[0].group == group && &*resources[0].version == version;
    let resources = by_version(kinds).find(is_it)?;
    let (mut paths, mut definitions) = (Paths::default(), OpenApiDefinitions::new());
    for resource in resources {
        paths.add(resource);
        definitions.add(resource);
    }
    let info = match resources[0].custom {
        Some(_) => json!({"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}),
        None => json!({"title": "Kubernetes", "version": format!("1.{}", builtin::KUBERNETES_RELEASE.1)}),
    };
    let schemas = definitions.into_value();
    Some(json!({"openapi": "3.0.0", "info": info, "paths": paths.0, "components": {"schemas": schemas}}))
}

/// Returns the resources of each version of each group. Resources of one version are adjacent.
fn by_version(kinds: &Kinds) -> impl Iterator<Item = &[Arc<ResourceType>]> {
    kinds.resources().chunk_by(|a, b| (&a.group, &a.version) == (&b.group, &b.version))
}

/// Returns a hash of all inputs to the document of these resources.
fn fingerprint(resources: &[Arc<ResourceType>]) -> String {
    let mut hash = Sha256::new_with_prefix(env!("CARGO_PKG_VERSION"));
    for resource in resources {
        let source = resource.schema.source().map(|source| source.to_string());
        let about = (&resource.plural, &resource.kind, resource.namespaced, &resource.verbs);
        hash.update(format!("{about:?}{:?}{source:?}", resource.subresources));
    }
    format!("{:X}", hash.finalize())
}

#[cfg(test)]
mod tests;
