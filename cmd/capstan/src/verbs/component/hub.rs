//! The cluster of Components, and the Components that a command names.

use component::{ComponentKey, ComponentRuns, ComponentStore, StoreError, StoredComponents, Targets};
use inventory::ManagementCluster;

use crate::{Environment, Failure, settings::KubeFlags};

/// The number of Components that are read one by one. The list of all needs a permission for all namespaces.
const MAX_SINGLE_READS: usize = 10;

/// The cluster of Components.
pub(super) struct Hub {
    pub(super) cluster: ManagementCluster,
    pub(super) store: ComponentStore,
    targets: Targets,
    /// The identity in marks of objects. Empty for commands that only show Components.
    uid: String,
}

/// The Components that a command works on.
pub(super) enum Selection {
    Named(Vec<ComponentKey>),
    /// The Components of a namespace, or of all.
    In(Option<String>),
}

impl Hub {
    pub(super) async fn open(cluster: &ManagementCluster) -> Result<Self, Failure> {
        let uid = cluster.identity().await?.uid;
        let store = ComponentStore::open(&cluster.server).await?;
        let targets = Targets::new(cluster.server.clone());
        Ok(Self { cluster: cluster.clone(), store, targets, uid })
    }

    /// Opens a cluster for a command that only shows Components, and needs no permission for anything else.
    pub(super) async fn open_for_reading(cluster: &ManagementCluster) -> Result<Self, Failure> {
        let store = ComponentStore::open(&cluster.server).await?.for_reading();
        let targets = Targets::new(cluster.server.clone());
        Ok(Self { cluster: cluster.clone(), store, targets, uid: String::new() })
    }

    pub(super) fn runs(&self) -> ComponentRuns<'_> {
        ComponentRuns { targets: &self.targets, store: &self.store, hub: &self.uid }
    }

    /// Returns the selected Components.
    /// # Errors
    /// A Component that does not exist, with the existing ones.
    pub(super) async fn select(&self, selection: &Selection) -> Result<StoredComponents, Failure> {
        let keys = match selection {
            Selection::In(namespace) => return Ok(self.store.list_in(namespace.as_deref()).await?),
            Selection::Named(keys) => keys,
        };
        let found = self.select_existing(keys).await?;
        let known = found.keys();
        match keys.iter().find(|key| !known.contains(key)) {
            Some(missing) => Err(self.missing(missing).await),
            None => Ok(found),
        }
    }

    /// Returns the named Components that exist.
    pub(super) async fn select_existing(&self, keys: &[ComponentKey]) -> Result<StoredComponents, Failure> {
        if keys.len() > MAX_SINGLE_READS {
            return Ok(choose(self.store.list().await?, keys));
        }
        let mut found = StoredComponents::default();
        for key in keys {
            match self.store.get(key).await {
                Ok(component) => found.components.extend(component),
                Err(StoreError::Unreadable { components }) => found.unreadable.extend(components),
                Err(StoreError::Api(error)) => return Err(error.into()),
            }
        }
        Ok(choose(found, keys))
    }

    async fn missing(&self, key: &ComponentKey) -> Failure {
        let failure = Failure::user(format!("cannot find Component `{key}`"));
        let Ok(all) = self.store.list().await else { return failure };
        let known: Vec<String> = all.keys().iter().map(ToString::to_string).collect();
        match known.as_slice() {
            [] => failure.hint("the cluster has no Component"),
            known => failure.hint(format!("the cluster has {}", api::one_of(known))),
        }
    }
}

/// Returns the named Components in the order of their names.
fn choose(mut all: StoredComponents, keys: &[ComponentKey]) -> StoredComponents {
    let place = |key: &ComponentKey| keys.iter().position(|one| one == key);
    all.components.retain(|one| place(&ComponentKey::of(one)).is_some());
    all.components.sort_by_key(|one| place(&ComponentKey::of(one)));
    // A name may be given twice.
    all.components.dedup_by_key(|one| ComponentKey::of(one));
    all.unreadable.retain(|one| place(&one.component).is_some());
    all
}

/// Reads names such as `web` and `shop/web`. Without names, the command works on all Components of the namespace, or of all.
pub(super) fn selection(
    names: &[String],
    namespace: Option<&str>,
    kube: &KubeFlags,
    environment: &Environment,
) -> Result<Selection, Failure> {
    if names.is_empty() {
        return Ok(Selection::In(namespace.map(str::to_owned)));
    }
    component_keys(names, namespace, kube, environment).map(Selection::Named)
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
