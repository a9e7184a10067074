use std::collections::{BTreeMap, BTreeSet};

use api::ProviderType;
use apply::{ApiKind, ApplySet, GroupKind, ObjectKey, Permission, ServedKinds};
use inventory::{
    ManagementCluster, PreflightProblems, config_map_kind, entry_kind, known_kind, lease_permissions,
};
use provider::InstalledProvider;

use super::DeleteRequest;
use crate::{LifecycleError, preflight::check_permissions};

/// The permissions that a deletion needs.
struct PermissionCollector<'k> {
    kinds: &'k ServedKinds,
    /// Each permission once.
    wanted: BTreeSet<Permission>,
    /// The namespaces of the objects of each kind. Objects in one namespace are listed there, others across
    /// all namespaces.
    listed_namespaces: BTreeMap<GroupKind, BTreeSet<String>>,
}

/// Checks the permissions for every planned request, before any deletion.
/// # Errors
/// `Problems` with every missing permission.
pub(super) async fn check_delete_permissions(
    cluster: &ManagementCluster,
    request: &DeleteRequest,
    chosen: &[InstalledProvider],
    sets: &[ApplySet],
) -> Result<(), LifecycleError> {
    if chosen.is_empty() {
        return Ok(());
    }
    let kinds = cluster.server.kinds().await?;
    let wanted = needed_permissions(request, chosen, sets, &kinds);
    let (_, problems) = check_permissions(cluster, &wanted).await?;
    if problems.is_empty() { Ok(()) } else { Err(PreflightProblems { problems }.into()) }
}

fn needed_permissions(
    request: &DeleteRequest,
    chosen: &[InstalledProvider],
    sets: &[ApplySet],
    kinds: &ServedKinds,
) -> Vec<Permission> {
    let mut collector =
        PermissionCollector { kinds, wanted: BTreeSet::new(), listed_namespaces: BTreeMap::new() };
    for (installed, deleted) in chosen.iter().zip(sets) {
        let deleted = deleted.items.iter().filter(|item| !item.delete_policy.orphans_on_delete());
        deleted.for_each(|item| collector.add_deletion(&item.key));
        collector.add_record_deletion(installed);
    }
    collector.add_lists(request.wait.timeout.is_some());
    collector.wanted.extend(lease_permissions());
    collector.wanted.into_iter().collect()
}

impl PermissionCollector<'_> {
    fn add(&mut self, verbs: &[&str], kind: &ApiKind, namespace: &str) {
        self.wanted.extend(verbs.iter().map(|verb| Permission {
            verb: (*verb).to_owned(),
            group: kind.group.clone(),
            resource: kind.plural.clone(),
            namespace: namespace.to_owned(),
        }));
    }

    /// Requires the permission to delete an object. An object of an unserved kind is already gone.
    fn add_deletion(&mut self, key: &ObjectKey) {
        let Some(kind) = self.kinds.preferred(&key.group_kind()) else { return };
        // A role in a namespace also covers the Namespace itself.
        let within = if key.is_namespace() { &key.name } else { &key.namespace };
        self.add(&["delete"], kind, within);
        self.listed_namespaces.entry(key.group_kind()).or_default().insert(within.clone());
        if key.is_crd()
            && let Some((plural, group)) = key.name.split_once('.')
        {
            // A definition is only deleted if it has no objects.
            self.add(&["list"], &known_kind(group, "", "", plural, true), "");
        }
    }

    /// Requires permissions for the record and entry of a provider, and for the upgrade journal of the core provider.
    fn add_record_deletion(&mut self, InstalledProvider { id, namespace, .. }: &InstalledProvider) {
        self.add(&["get"], &known_kind("", "v1", "Namespace", "namespaces", false), namespace);
        self.add(&["create", "patch", "delete"], &config_map_kind(), namespace);
        self.add(&["delete"], &entry_kind(), namespace);
        if id.provider_type == ProviderType::Core {
            self.add(&["list", "delete"], &known_kind("", "v1", "Secret", "secrets", true), namespace);
        }
    }

    fn add_lists(&mut self, is_waited: bool) {
        let verbs: &[&str] = if is_waited { &["list", "watch"] } else { &["list"] };
        for (kind, namespaces) in std::mem::take(&mut self.listed_namespaces) {
            let Some(kind) = self.kinds.preferred(&kind) else { continue };
            let only = namespaces.first().filter(|_| namespaces.len() == 1);
            self.add(verbs, kind, only.map_or("", String::as_str));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        UnfinishedPolicy, WaitOptions,
        delete::scope::DeletionScope,
        testing::{core, docker, installed},
    };
    use apply::ApplySetItem;

    /// The group, kind and plural of each kind, and true if it is namespaced.
    const KINDS: [(&str, &str, &str, bool); 4] = [
        ("", "Namespace", "namespaces", false),
        ("", "Service", "services", true),
        ("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", false),
        ("rbac.authorization.k8s.io", "ClusterRole", "clusterroles", false),
    ];

    fn set(namespace: &str) -> ApplySet {
        let item = |(group, kind, _, namespaced): &(&str, &str, &str, bool)| {
            let name = match *kind {
                "Namespace" => namespace,
                "CustomResourceDefinition" => "things.example.org",
                _ => "a",
            };
            let within = if *namespaced { namespace } else { "" };
            let [group, kind, namespace, name] = [group, kind, within, name].map(str::to_owned);
            ApplySetItem { key: ObjectKey { group, kind, namespace, name }, ..ApplySetItem::default() }
        };
        ApplySet { items: KINDS.iter().map(item).collect() }
    }

    fn shown(
        providers: &[InstalledProvider],
        deleted: DeletionScope,
        timeout: Option<std::time::Duration>,
    ) -> Vec<String> {
        let mut kinds = ServedKinds::default();
        for (group, kind, plural, namespaced) in KINDS {
            kinds.add(known_kind(group, "v1", kind, plural, namespaced));
        }
        let request = DeleteRequest {
            providers: None,
            include_crds: deleted.definitions,
            include_namespaces: deleted.namespace,
            wait: WaitOptions { timeout, must_be_ready: false },
            full_objects: false,
            unfinished: UnfinishedPolicy::Refuse,
        };
        let of = |one: &InstalledProvider| deleted.select(&set(&one.namespace), &one.namespace);
        let all: Vec<_> = providers.iter().map(of).collect();
        let wanted = needed_permissions(&request, providers, &all, &kinds);
        // Every change needs the permissions of the lease.
        let others = wanted.iter().filter(|permission| permission.resource != "leases");
        others.map(ToString::to_string).collect()
    }

    #[test]
    fn definition_and_namespace_permissions_are_checked_if_deleted() {
        let one = [installed(&docker(), "v1.14.0")];
        let kept = shown(&one, DeletionScope::default(), None);
        assert_eq!(
            kept,
            [
                "create configmaps in namespace infrastructure-docker-system",
                "delete configmaps in namespace infrastructure-docker-system",
                "delete services in namespace infrastructure-docker-system",
                "delete providers.clusterctl.cluster.x-k8s.io in namespace infrastructure-docker-system",
                "delete clusterroles.rbac.authorization.k8s.io",
                "get namespaces in namespace infrastructure-docker-system",
                "list services in namespace infrastructure-docker-system",
                "list clusterroles.rbac.authorization.k8s.io",
                "patch configmaps in namespace infrastructure-docker-system",
            ]
        );
        let all = shown(&one, DeletionScope { definitions: true, namespace: true }, None);
        let more: Vec<_> = all.iter().filter(|right| !kept.contains(right)).collect();
        assert_eq!(
            more,
            [
                "delete namespaces in namespace infrastructure-docker-system",
                "delete customresourcedefinitions.apiextensions.k8s.io",
                "list namespaces in namespace infrastructure-docker-system",
                "list customresourcedefinitions.apiextensions.k8s.io",
                "list things.example.org",
            ]
        );
    }

    #[test]
    fn waiting_requires_list_and_watch_permissions() {
        let two = [installed(&docker(), "v1.14.0"), installed(&core(), "v1.14.0")];
        let rights = shown(&two, DeletionScope::default(), Some(std::time::Duration::ZERO));
        assert!(rights.contains(&"list services".to_owned()), "{rights:#?}");
        assert!(rights.contains(&"watch services".to_owned()), "{rights:#?}");
        assert!(rights.contains(&"delete secrets in namespace cluster-api-system".to_owned()), "{rights:#?}");
        assert_eq!(rights.iter().filter(|right| right.contains(" secrets")).count(), 2, "{rights:#?}");
    }
}
