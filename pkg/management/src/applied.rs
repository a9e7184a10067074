//! The objects applied for each provider, read from its record or else found by its labels.

use std::collections::{BTreeMap, BTreeSet};

use api::labels;
use apply::{
    ApiError, ApiKind, ApplySet, ApplySetItem, ItemPhase, ListQuery, ManagedType, ObjectKey, ServedKinds,
    delete_priority, key_of,
};
use futures::future::try_join_all;
use inventory::{ManagementCluster, crd_kind};
use manifest::{Object, Value};
use provider::InstalledProvider;

use crate::provider_set::{self, read_recorded_set};

/// Kinds that no provider brings. Their objects are numerous or inherit the labels of their owners.
const UNMANAGED_KINDS: [(&str, &str); 9] = [
    ("", "Endpoints"),
    ("", "Event"),
    ("", "Pod"),
    ("apps", "ControllerRevision"),
    ("apps", "ReplicaSet"),
    ("clusterctl.cluster.x-k8s.io", "Provider"),
    ("coordination.k8s.io", "Lease"),
    ("discovery.k8s.io", "EndpointSlice"),
    ("events.k8s.io", "Event"),
];

/// The objects applied for one provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AppliedObjects {
    pub(crate) set: ApplySet,
    /// True if the set comes from a record. Otherwise labels identify objects that another tool installed.
    pub(crate) is_recorded: bool,
}

/// Returns the applied objects of each provider, in the given order.
///
/// The source is the record of the provider. Without a record, all objects with both clusterctl labels count,
/// in the namespace of the provider and cluster-scoped. Objects without a record are found with one
/// metadata-only list per kind.
pub(crate) async fn read_applied(
    cluster: &ManagementCluster,
    installed: &[InstalledProvider],
) -> Result<Vec<AppliedObjects>, ApiError> {
    let recorded = try_join_all(installed.iter().map(|one| read_record_or_warn(cluster, one))).await?;
    let unrecorded: Vec<_> = installed.iter().zip(&recorded).filter(|(_, set)| set.is_none()).collect();
    let unrecorded: Vec<_> = unrecorded.into_iter().map(|(one, _)| one).collect();
    let mut labelled = find_labelled(cluster, &unrecorded).await?.into_iter();
    let one = |set: Option<ApplySet>| match set {
        Some(set) => AppliedObjects { set, is_recorded: true },
        None => AppliedObjects { set: labelled.next().unwrap_or_default(), is_recorded: false },
    };
    Ok(recorded.into_iter().map(one).collect())
}

/// Ignores a malformed record with a warning, because labels identify the objects too.
async fn read_record_or_warn(
    cluster: &ManagementCluster,
    installed: &InstalledProvider,
) -> Result<Option<ApplySet>, ApiError> {
    match read_recorded_set(cluster, &installed.id, &installed.namespace).await {
        Ok(recorded) => Ok(recorded.map(|(set, _)| set)),
        Err(ApiError::InvalidAnswer { action, problem, .. }) => {
            cluster
                .warn(format!("cannot {action}; using object labels to find installed objects: {problem}"));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

async fn find_labelled(
    cluster: &ManagementCluster,
    installed: &[&InstalledProvider],
) -> Result<Vec<ApplySet>, ApiError> {
    if installed.is_empty() {
        return Ok(Vec::new());
    }
    let kinds = cluster.server.kinds().await?;
    let defined =
        ListQuery { labels: labels::PROVIDER.to_owned(), metadata_only: true, ..ListQuery::default() };
    let definitions = cluster.server.list(&crd_kind(), &defined).await?;
    let names: BTreeSet<_> = definitions.iter().map(Object::name).collect();
    let values: Vec<_> = installed.iter().map(|one| one.id.label()).collect();
    let list = ListQuery {
        labels: format!("{},{} in ({})", labels::CLUSTERCTL, labels::PROVIDER, values.join(",")),
        metadata_only: true,
        ..ListQuery::default()
    };
    let lists = kinds
        .iter()
        .filter(|kind| may_be_installed(kind, &names))
        .map(|kind| list_if_served(cluster, kind, &list));
    let objects: Vec<_> = try_join_all(lists).await?.into_iter().flatten().chain(definitions).collect();
    Ok(installed
        .iter()
        .map(|one| ApplySet { items: to_items(labelled_objects_of(one, &objects), &kinds) })
        .collect())
}

/// Returns no objects if the kind disappeared after discovery or cannot be listed.
async fn list_if_served(
    cluster: &ManagementCluster,
    kind: &ApiKind,
    list: &ListQuery,
) -> Result<Vec<Object>, ApiError> {
    match cluster.server.list(kind, list).await {
        Err(error) if error.is_not_found() || error.code() == Some(405) => Ok(Vec::new()),
        result => result,
    }
}

/// True if a provider can bring objects of this kind.
///
/// Instances of definitions that providers bring belong to users. Listing them would call conversion webhooks
/// that may be gone.
fn may_be_installed(kind: &ApiKind, definitions: &BTreeSet<&str>) -> bool {
    let can = |verb: &str| kind.verbs.iter().any(|known| known == verb);
    let is = |(group, name): &(&str, &str)| kind.group == *group && kind.kind == *name;
    can("list")
        && can("delete")
        && !UNMANAGED_KINDS.iter().any(is)
        && !definitions.contains(&*format!("{}.{}", kind.plural, kind.group))
        && kind.kind != "CustomResourceDefinition"
}

/// Returns the objects of one provider among those of several.
fn labelled_objects_of<'o>(
    installed: &InstalledProvider,
    objects: &'o [Object],
) -> impl Iterator<Item = &'o Object> + use<'o> {
    let InstalledProvider { id, namespace, .. } = installed.clone();
    let (label, record) = (id.label(), provider_set::record_name(&id));
    objects.iter().filter(move |object| {
        let is_in_place = object.namespace() == namespace
            || object.namespace().is_empty() && (object.kind() != "Namespace" || object.name() == namespace);
        let is_record = object.kind() == "ConfigMap" && object.name() == record;
        object.label(labels::PROVIDER) == Some(&*label)
            && object.label(labels::CLUSTERCTL).is_some()
            && is_in_place
            && !is_record
            && !has_controller(object)
    })
}

/// True if a controller owns the object, such as a ReplicaSet with the labels of its Deployment's template.
pub(crate) fn has_controller(object: &Object) -> bool {
    let owners = object.get(&["metadata", "ownerReferences"]).and_then(Value::as_array);
    owners.into_iter().flatten().any(|owner| owner["controller"] == true)
}

/// Returns the items of objects without a record, in deletion order.
pub(crate) fn to_items<'o>(
    objects: impl Iterator<Item = &'o Object>,
    kinds: &ServedKinds,
) -> Vec<ApplySetItem> {
    let by_key: BTreeMap<_, _> = objects.map(|object| (key_of(object), object)).collect();
    let mut items: Vec<_> = by_key.into_iter().map(|(key, object)| to_item(key, object, kinds)).collect();
    items.sort_by_key(|item| delete_priority(&item.key));
    items
}

fn to_item(key: ObjectKey, object: &Object, kinds: &ServedKinds) -> ApplySetItem {
    ApplySetItem {
        version: object.version().to_owned(),
        managed_types: managed_types(&key, kinds),
        phase: ItemPhase::Ready,
        key,
        ..ApplySetItem::default()
    }
}

/// Returns the kinds of a definition, by its name alone: `plural.group`, or `version.group` of an APIService.
fn managed_types(key: &ObjectKey, kinds: &ServedKinds) -> Vec<ManagedType> {
    let Some((first, group)) = key.name.split_once('.') else { return Vec::new() };
    let of = |version: &str, kind: &str| ManagedType {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
    };
    match &*key.kind {
        "CustomResourceDefinition" => {
            let served = kinds.iter().filter(|kind| kind.group == group && kind.plural == first);
            served.map(|kind| of("*", &kind.kind)).collect()
        }
        "APIService" => vec![of(first, "*")],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
