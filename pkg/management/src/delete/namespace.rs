use std::collections::BTreeSet;

use api::{labels, labels::CAPSTAN_DOMAIN};
use apply::{ApiError, ApiKind, ListQuery, ObjectKey, key_of};
use futures::future::try_join_all;
use inventory::{ManagementCluster, config_map_kind, known_kind};
use manifest::Object;
use provider::InstalledProvider;

use crate::applied::{AppliedObjects, has_controller};

/// The limit of objects that are read. A single foreign object is enough for a warning.
const LIST_LIMIT: usize = 50;
const MAX_EXAMPLES: usize = 3;

/// Returns the indices of the providers whose namespace is deleted with them.
///
/// These are the last providers of each namespace that was applied and that no other provider needs. A
/// warning gives the reason for each namespace that stays.
/// Source: clusterctl v1.14 client/cluster/components.go (Delete); differs: there, a namespace is deleted with any of
/// its providers.
pub(super) fn deleted_namespaces(
    installed: &[InstalledProvider],
    selected: &[InstalledProvider],
    applied: &[AppliedObjects],
    warnings: &mut Vec<String>,
) -> Vec<usize> {
    let mut deleted = Vec::new();
    let namespaces: BTreeSet<_> = selected.iter().map(|one| &one.namespace).collect();
    for namespace in namespaces {
        let stays = installed.iter().find(|one| one.namespace == *namespace && !selected.contains(one));
        let mut inside = (0..selected.len()).filter(|&index| selected[index].namespace == *namespace).rev();
        let with =
            inside.find(|&index| applied[index].set.item(&ObjectKey::of_namespace(namespace)).is_some());
        match (stays, with) {
            (Some(other), _) => warnings
                .push(format!("keeping namespace `{namespace}`: it also contains `{}`", other.id.label())),
            (None, Some(index)) => deleted.push(index),
            (None, None) => warnings.push(format!(
                "keeping namespace `{namespace}`: it existed before the provider was installed"
            )),
        }
    }
    deleted
}

/// Returns a warning about objects in a namespace that no provider brought and that are deleted with the namespace.
pub(super) async fn foreign_objects_warning(
    cluster: &ManagementCluster,
    installed: &InstalledProvider,
    applied: &[AppliedObjects],
) -> Result<Option<String>, ApiError> {
    let namespace = &installed.namespace;
    let kinds = [
        known_kind("apps", "v1", "Deployment", "deployments", true),
        known_kind("", "v1", "Service", "services", true),
        config_map_kind(),
        known_kind("", "v1", "Secret", "secrets", true),
    ];
    let list = ListQuery {
        namespace: Some(namespace.clone()),
        labels: format!("!{}", labels::PROVIDER),
        metadata_only: true,
        limit: Some(LIST_LIMIT),
        ..ListQuery::default()
    };
    let lists = kinds.iter().map(|kind: &ApiKind| cluster.server.list(kind, &list));
    let objects = try_join_all(lists).await?.into_iter().flatten();
    let is_known = |key: &ObjectKey| applied.iter().any(|applied| applied.set.item(key).is_some());
    let foreign: Vec<_> = objects
        .filter(|object| !is_generated(object) && !is_known(&key_of(object)))
        .map(|object| format!("{} `{}`", object.kind(), object.name()))
        .collect();
    let Some((named, others)) = foreign.split_at_checked(MAX_EXAMPLES.min(foreign.len())) else {
        return Ok(None);
    };
    let others = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    let text = format!(
        "deleting namespace `{namespace}` with objects that no provider installed: {}{others}",
        named.join(", ")
    );
    Ok((!named.is_empty()).then_some(text))
}

/// True if the object only exists because of a namespace, a certificate, an upgrade or a controller.
fn is_generated(object: &Object) -> bool {
    object.name() == "kube-root-ca.crt"
        || object.annotation("cert-manager.io/certificate-name").is_some()
        || object.annotation("kubernetes.io/service-account.name").is_some()
        || object.labels().any(|(key, _)| key.starts_with(CAPSTAN_DOMAIN))
        || has_controller(object)
}
