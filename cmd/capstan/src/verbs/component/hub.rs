//! The cluster of Components, and the Components that a command names.

use component::{Component, ComponentKey, ComponentRuns, ComponentStore};
use inventory::ManagementCluster;

use crate::{Failure, session::Session, settings::KubeFlags};

/// The cluster of Components.
pub(super) struct Hub {
    pub(super) cluster: ManagementCluster,
    pub(super) store: ComponentStore,
    uid: String,
}

impl Hub {
    pub(super) async fn open(cluster: &ManagementCluster) -> Result<Self, Failure> {
        let uid = cluster.identity().await?.uid;
        let store = ComponentStore::open(&cluster.server).await?;
        Ok(Self { cluster: cluster.clone(), store, uid })
    }

    pub(super) fn runs(&self) -> ComponentRuns<'_> {
        ComponentRuns { server: &self.cluster.server, store: &self.store, hub: &self.uid }
    }

    /// Returns the named Components, or all Components without names.
    /// # Errors
    /// A Component that does not exist, with the existing ones.
    pub(super) async fn select(&self, keys: &[ComponentKey]) -> Result<Vec<Component>, Failure> {
        let all = self.store.list().await?;
        if keys.is_empty() {
            return Ok(all);
        }
        let mut selected = Vec::new();
        for key in keys {
            let Some(found) = all.iter().find(|one| ComponentKey::of(one) == *key) else {
                let known = all.iter().map(|one| ComponentKey::of(one).to_string()).collect::<Vec<_>>();
                let hint = match known.as_slice() {
                    [] => "the cluster has no Component".to_owned(),
                    known => format!("the cluster has {}", api::one_of(known)),
                };
                return Err(Failure::user(format!("cannot find Component `{key}`")).hint(hint));
            };
            selected.push(found.clone());
        }
        Ok(selected)
    }
}

/// Reads names such as `web` and `shop/web`.
pub(super) fn component_keys(
    names: &[String],
    namespace: Option<&str>,
    kube: &KubeFlags,
    session: &Session,
) -> Result<Vec<ComponentKey>, Failure> {
    let own = if names.iter().all(|name| name.contains('/')) {
        String::new()
    } else {
        kube.namespace(namespace, session.environment())?
    };
    let key = |name: &String| match name.split_once('/') {
        Some((namespace, name)) => ComponentKey { namespace: namespace.to_owned(), name: name.to_owned() },
        None => ComponentKey { namespace: own.clone(), name: name.clone() },
    };
    Ok(names.iter().map(key).collect())
}
