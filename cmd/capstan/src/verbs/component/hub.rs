//! The cluster of Components, and the Components that a command names.

use component::{ComponentKey, ComponentRuns, ComponentStore, StoredComponents, Targets};
use inventory::ManagementCluster;

use crate::{Environment, Failure, settings::KubeFlags};

/// The cluster of Components.
pub(super) struct Hub {
    pub(super) cluster: ManagementCluster,
    pub(super) store: ComponentStore,
    targets: Targets,
    uid: String,
}

impl Hub {
    pub(super) async fn open(cluster: &ManagementCluster) -> Result<Self, Failure> {
        let uid = cluster.identity().await?.uid;
        let store = ComponentStore::open(&cluster.server).await?;
        let targets = Targets::new(cluster.server.clone());
        Ok(Self { cluster: cluster.clone(), store, targets, uid })
    }

    pub(super) fn runs(&self) -> ComponentRuns<'_> {
        ComponentRuns { targets: &self.targets, store: &self.store, hub: &self.uid }
    }

    /// Returns the named Components, or all Components without names.
    /// # Errors
    /// A Component that does not exist, with the existing ones.
    pub(super) async fn select(&self, keys: &[ComponentKey]) -> Result<StoredComponents, Failure> {
        let all = self.store.list().await?;
        if keys.is_empty() {
            return Ok(all);
        }
        let known = all.keys();
        if let Some(missing) = keys.iter().find(|key| !known.contains(key)) {
            let known: Vec<String> = known.iter().map(ToString::to_string).collect();
            let hint = match known.as_slice() {
                [] => "the cluster has no Component".to_owned(),
                known => format!("the cluster has {}", api::one_of(known)),
            };
            return Err(Failure::user(format!("cannot find Component `{missing}`")).hint(hint));
        }
        Ok(choose(all, keys))
    }

    /// Returns the named Components that exist.
    pub(super) async fn select_existing(&self, keys: &[ComponentKey]) -> Result<StoredComponents, Failure> {
        Ok(choose(self.store.list().await?, keys))
    }
}

/// Returns the named Components in the order of their names.
fn choose(mut all: StoredComponents, keys: &[ComponentKey]) -> StoredComponents {
    let place = |key: &ComponentKey| keys.iter().position(|one| one == key);
    all.components.retain(|one| place(&ComponentKey::of(one)).is_some());
    all.components.sort_by_key(|one| place(&ComponentKey::of(one)));
    all.unreadable.retain(|one| place(&one.component).is_some());
    all
}

/// Reads names such as `web` and `shop/web`.
pub(super) fn component_keys(
    names: &[String],
    namespace: Option<&str>,
    kube: &KubeFlags,
    environment: &Environment,
) -> Result<Vec<ComponentKey>, Failure> {
    let own = if names.iter().all(|name| name.contains('/')) {
        String::new()
    } else {
        kube.namespace(namespace, environment)?
    };
    let key = |name: &String| match name.split_once('/') {
        Some((namespace, name)) => ComponentKey { namespace: namespace.to_owned(), name: name.to_owned() },
        None => ComponentKey { namespace: own.clone(), name: name.clone() },
    };
    Ok(names.iter().map(key).collect())
}
