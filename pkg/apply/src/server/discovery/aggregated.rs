//! Aggregated discovery: all groups of a server in one answer.
//! Source: KEP-3352, `apidiscovery.k8s.io/v2`.

use serde::Deserialize;

use crate::{ApiKind, ServedKinds};

#[derive(Debug, Deserialize)]
pub(super) struct Groups {
    #[serde(default)]
    items: Vec<Group>,
}

#[derive(Debug, Deserialize)]
struct Group {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    versions: Vec<GroupVersion>,
}

#[derive(Debug, Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    name: String,
}

#[derive(Debug, Deserialize)]
struct GroupVersion {
    version: String,
    #[serde(default)]
    resources: Vec<ServedResource>,
    #[serde(default)]
    freshness: String,
}

/// A resource. Its subresources are not read.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ServedResource {
    resource: String,
    response_kind: Option<ResponseKind>,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    verbs: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct ResponseKind {
    kind: String,
}

/// Adds the kinds of an answer. Stale kinds were known before the API behind them stopped answering. They are added,
/// and their group is noted as broken.
pub(super) fn add(kinds: &mut ServedKinds, groups: Groups) {
    for Group { metadata, versions } in groups.items {
        let group = metadata.name;
        for GroupVersion { version, resources, freshness } in versions {
            if freshness == "Stale" {
                kinds.add_unavailable(format!("{group}/{version}"));
            }
            for resource in resources {
                // A resource without a kind only contains subresources.
                let Some(kind) = resource.response_kind.filter(|kind| !kind.kind.is_empty()) else {
                    continue;
                };
                kinds.add(ApiKind {
                    group: group.clone(),
                    version: version.clone(),
                    kind: kind.kind,
                    plural: resource.resource,
                    namespaced: resource.scope == "Namespaced",
                    verbs: resource.verbs,
                });
            }
        }
    }
}
