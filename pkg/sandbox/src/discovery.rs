//! Discovery documents for clients: `/api`, `/apis` and the paths below, plain and aggregated.
//!
//! Source: kube-apiserver 1.36; the documents of built-in groups equal the documents of the real server, field by
//! field.

use std::{cmp::Reverse, sync::Arc};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    builtin,
    kinds::{Kinds, ResourceType, Subresource, VersionPriority, version_priority},
};

/// `/api`: the versions of the core group. `address` is the `host:port` of the listener.
pub(crate) fn core_versions(address: &str) -> Value {
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    })
}

/// `/apis`: all groups except core.
///
/// Source: custom groups are sorted by the APIService name of their preferred version, such as `v1.example.com`
/// (kube-aggregator 0.36, ByGroupPriorityMinimum). The aggregated document sorts custom groups by their own name.
pub(crate) fn groups(kinds: &Kinds) -> Value {
    let mut groups: Vec<_> = by_group(kinds).filter(|group| !group[0].group.is_empty()).collect();
    groups.sort_by_key(|group| {
        group[0].custom.as_ref().map(|_| format!("{}.{}", group[0].version, group[0].group))
    });
    let groups: Vec<_> = groups.into_iter().map(group_value).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/{group}`: `None` if the group is not served.
pub(crate) fn group(kinds: &Kinds, group: &str) -> Option<Value> {
    let resources = by_group(kinds).find(|resources| !group.is_empty() && &*resources[0].group == group)?;
    let mut value = group_value(resources);
    value["kind"] = "APIGroup".into();
    value["apiVersion"] = "v1".into();
    Some(value)
}

/// The `APIResourceList` of `/api/v1` and `/apis/{group}/{version}`: `None` if the version is not served.
pub(crate) fn resources(kinds: &Kinds, group: &str, version: &str) -> Option<Value> {
    let is_it = |resource: &&SharedResource| &*resource.group == group && &*resource.version == version;
    let mut list = Vec::new();
    for resource in kinds.resources().iter().filter(is_it) {
        list.push(resource_value(kinds, resource));
        list.extend(resource.subresources.iter().map(|part| subresource_value(resource, part)));
    }
    if list.is_empty() {
        return None;
    }
    // The list of the core group has no `apiVersion`.
    Some(match group {
        "" => json!({"kind": "APIResourceList", "groupVersion": version, "resources": list}),
        _ => json!({
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": format!("{group}/{version}"),
            "resources": list,
        }),
    })
}

/// The aggregated document (`apidiscovery.k8s.io/v2 APIGroupDiscoveryList`) of `/api` (core) or `/apis`.
pub(crate) fn aggregated(kinds: &Kinds, core: bool) -> Value {
    let groups = by_group(kinds).filter(|group| group[0].group.is_empty() == core).map(|group| {
        let name = &*group[0].group;
        let metadata = if core { json!({}) } else { json!({"name": name}) };
        let versions = by_version(group).map(|version| {
            let resources: Vec<_> = version.iter().map(|resource| aggregated_resource(resource)).collect();
            json!({"version": &*version[0].version, "resources": resources, "freshness": "Current"})
        });
        json!({"metadata": metadata, "versions": versions.collect::<Vec<_>>()})
    });
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": groups.collect::<Vec<_>>(),
    })
}

type SharedResource = Arc<ResourceType>;

/// The resources of each group; [`discovery_order`] makes the resources of a group adjacent.
fn by_group(kinds: &Kinds) -> impl Iterator<Item = &[SharedResource]> {
    kinds.resources().chunk_by(|a, b| a.group == b.group)
}

fn by_version(group: &[SharedResource]) -> impl Iterator<Item = &[SharedResource]> {
    group.chunk_by(|a, b| a.version == b.version)
}

fn group_value(resources: &[SharedResource]) -> Value {
    let versions: Vec<_> = by_version(resources)
        .map(|version| json!({"groupVersion": version[0].api_version(), "version": &*version[0].version}))
        .collect();
    json!({"name": &*resources[0].group, "preferredVersion": versions[0], "versions": versions})
}

fn resource_value(kinds: &Kinds, resource: &ResourceType) -> Value {
    let mut value = json!({
        "name": &*resource.plural,
        "singularName": &*resource.singular,
        "namespaced": resource.namespaced,
        "kind": &*resource.kind,
        "verbs": words(&resource.verbs),
    });
    add_names(&mut value, resource);
    if let Some(hash) = storage_version_hash(kinds, resource) {
        value["storageVersionHash"] = hash.into();
    }
    value
}

fn subresource_value(owner: &ResourceType, part: &Subresource) -> Value {
    let mut value = json!({
        "name": format!("{}/{}", owner.plural, part.name),
        "singularName": "",
        "namespaced": owner.namespaced,
        "kind": &*part.kind,
        "verbs": words(&part.verbs),
    });
    if is_of_other_group_version(owner, part) {
        value["group"] = (*part.group).into();
        value["version"] = (*part.version).into();
    }
    value
}

fn is_of_other_group_version(owner: &ResourceType, part: &Subresource) -> bool {
    (&part.group, &part.version) != (&owner.group, &owner.version)
}

/// The storage version hash, by which clients notice a changed storage version. `None` if the resource is not stored or
/// the storage version of a custom resource is not served.
fn storage_version_hash(kinds: &Kinds, resource: &ResourceType) -> Option<String> {
    let is_stored = resource.verbs.iter().any(|verb| &**verb == "watch");
    let (group, version) = builtin::storage_group_version(resource);
    if !is_stored || resource.custom.is_some() && kinds.find(group, version, &resource.plural).is_none() {
        return None;
    }
    let digest = Sha256::digest(format!("{group}/{version}/{}", resource.kind));
    Some(BASE64_STANDARD.encode(&digest[..8]))
}

fn aggregated_resource(resource: &ResourceType) -> Value {
    // Kinds of built-in groups omit their own group and version.
    let own = match resource.custom {
        Some(_) => (&*resource.group, &*resource.version),
        None => ("", ""),
    };
    let kind = |(group, version), kind: &str| json!({"group": group, "version": version, "kind": kind});
    let mut value = json!({
        "resource": &*resource.plural,
        "responseKind": kind(own, &resource.kind),
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": &*resource.singular,
        "verbs": words(&resource.verbs),
    });
    add_names(&mut value, resource);
    if !resource.subresources.is_empty() {
        let parts = resource.subresources.iter().map(|part| {
            let of =
                if is_of_other_group_version(resource, part) { (&*part.group, &*part.version) } else { own };
            json!({
                "subresource": &*part.name,
                "responseKind": kind(of, &part.kind),
                "verbs": words(&part.verbs),
            })
        });
        value["subresources"] = parts.collect();
    }
    value
}

fn add_names(value: &mut Value, resource: &ResourceType) {
    for (name, list) in [("shortNames", &resource.short_names), ("categories", &resource.categories)] {
        if !list.is_empty() {
            value[name] = words(list);
        }
    }
}

fn words(words: &[Arc<str>]) -> Value {
    words.iter().map(|word| Value::from(&**word)).collect()
}

/// Returns all resources in discovery order: built-in resources first, then `custom` by group, version and plural.
/// Custom resources in a built-in group follow the built-in resources of the group.
///
/// Source: the APIService of a custom group has the lowest priority (kube-apiserver 1.36, crdregistration). Groups of
/// equal priority are sorted by name; versions by stability and number. The real server lists the resources of a custom
/// version in random order; aggregated discovery sorts the resources.
pub(crate) fn discovery_order(custom: Vec<Arc<ResourceType>>) -> Vec<Arc<ResourceType>> {
    let builtin = builtin::resources();
    let place = |group: &str| builtin.iter().position(|resource| &*resource.group == group);
    let mut keyed: Vec<_> = builtin
        .iter()
        .cloned()
        .chain(custom)
        .enumerate()
        .map(|(index, resource)| {
            let place = place(&resource.group);
            let group = if place.is_some() { String::new() } else { resource.group.to_string() };
            let within = match resource.custom {
                None => GroupPosition::Builtin(index),
                Some(_) => GroupPosition::Custom(
                    Reverse(version_priority(&resource.version)),
                    Arc::clone(&resource.plural),
                ),
            };
            ((place.unwrap_or(usize::MAX), group, within), resource)
        })
        .collect();
    keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
    keyed.into_iter().map(|(_, resource)| resource).collect()
}

/// The sort key of a resource in its group.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum GroupPosition {
    Builtin(usize),
    Custom(Reverse<VersionPriority>, Arc<str>),
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod order_tests {
    use super::*;

    #[test]
    fn stable_versions_come_before_beta_alpha_and_foreign_ones() {
        let mut versions =
            ["foo10", "v1", "v2beta1", "v10", "v1alpha2", "v2", "v1beta10", "foo1", "v2beta2", "v01"];
        versions.sort_by_key(|version| Reverse(version_priority(version)));
        assert_eq!(
            versions,
            ["v10", "v2", "v1", "v2beta2", "v2beta1", "v1beta10", "v1alpha2", "foo1", "foo10", "v01"]
        );
    }
}
