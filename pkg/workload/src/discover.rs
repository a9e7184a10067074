//! The discovery of Cluster API objects on a management cluster: kinds, and facts of their objects.

mod classes;
mod definitions;
mod facts;

use std::{collections::BTreeSet, sync::Arc};

use api::ProviderType;
use apply::{ApiError, ListQuery};
use futures::future::try_join_all;
use inventory::{InventoryError, ManagementCluster, ProviderInventory, secret_kind};
use manifest::Object;
use provider::InstalledProvider;

pub use definitions::types_to_discover;
pub use facts::{facts_of, pause_acknowledged};

use crate::{Graph, ObjectFacts, TypeFacts, discover::classes::classes_outside_scope};

/// The number of objects in one request for full objects.
const FULL_PAGE_SIZE: usize = 250;

/// The namespaces of a discovery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The namespaces; empty for all.
    pub namespaces: BTreeSet<String>,
}

/// The result of a discovery.
#[derive(Clone, Debug)]
pub struct Discovery {
    /// The kinds: from definitions with the label `clusterctl.cluster.x-k8s.io`, and Secrets and ConfigMaps.
    pub types: Vec<Arc<TypeFacts>>,
    /// The objects of these kinds.
    pub graph: Graph,
    /// The installed providers.
    pub inventory: ProviderInventory,
}

/// An error of an incomplete discovery.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum DiscoverError {
    /// The inventory could not be read.
    #[error(transparent)]
    Inventory(#[from] InventoryError),
    /// A definition is unusable.
    #[error("cannot use CustomResourceDefinition `{name}`: it has {problem}")]
    Definition { name: String, problem: &'static str },
    /// The failure of the server.
    #[error(transparent)]
    Api(#[from] ApiError),
}

/// Reads all objects in scope, concurrently and in pages. There is one list for each kind, or one for each namespace if
/// several but not all namespaces are in scope. If the content of a kind does not matter, only metadata is read, so
/// Secrets and ConfigMaps are never held. Facts are taken from each page before the page is dropped.
///
/// Like clusterctl, it also reads objects outside the scope. These are Secrets in the namespaces of infrastructure
/// providers, and all Clusters, because they may use a ClusterClass in scope. ClusterClasses of other namespaces that
/// Clusters in scope use are read with the templates they own.
/// Source: clusterctl v1.14 client/cluster/objectgraph.go (Discovery).
/// # Errors
/// The failure of any list, because no kind may be left out.
pub async fn discover(cluster: &ManagementCluster, scope: &Scope) -> Result<Discovery, DiscoverError> {
    let (types, inventory) =
        futures::join!(Box::pin(types_to_discover(cluster)), Box::pin(cluster.inventory()));
    let (types, inventory) = (types?, inventory?);
    let graph = Box::pin(read_graph(cluster, scope, &types, &inventory, facts::needs_content)).await?;
    Ok(Discovery { types, graph, inventory })
}

/// Discovers again with known kinds and a known inventory.
pub async fn rediscover(
    cluster: &ManagementCluster,
    scope: &Scope,
    known: &Discovery,
) -> Result<Discovery, DiscoverError> {
    discover_with(cluster, scope, known, facts::needs_content).await
}

/// Discovers again, and reads the pause condition of each object. This needs no more requests, but some answers are
/// larger.
pub async fn rediscover_with_pause_status(
    cluster: &ManagementCluster,
    scope: &Scope,
    known: &Discovery,
) -> Result<Discovery, DiscoverError> {
    discover_with(cluster, scope, known, facts::may_acknowledge_pause).await
}

async fn discover_with(
    cluster: &ManagementCluster,
    scope: &Scope,
    known: &Discovery,
    in_full: fn(&TypeFacts) -> bool,
) -> Result<Discovery, DiscoverError> {
    let (types, inventory) = (known.types.clone(), known.inventory.clone());
    let graph = Box::pin(read_graph(cluster, scope, &types, &inventory, in_full)).await?;
    Ok(Discovery { types, graph, inventory })
}

async fn read_graph(
    cluster: &ManagementCluster,
    scope: &Scope,
    types: &[Arc<TypeFacts>],
    inventory: &ProviderInventory,
    in_full: fn(&TypeFacts) -> bool,
) -> Result<Graph, ApiError> {
    let lists = types
        .iter()
        .flat_map(|of| namespaces_to_list(scope, of, inventory).into_iter().map(move |place| (of, place)));
    let lists = lists.map(async |(of, namespace)| {
        let list = ListQuery { namespace, metadata_only: !in_full(of), ..ListQuery::default() };
        list_facts(cluster, of, &list).await
    });
    let mut found: Vec<ObjectFacts> = try_join_all(lists).await?.into_iter().flatten().collect();
    found.extend(classes_outside_scope(cluster, scope, types, &found).await?);
    let known = classes::class_names(&found);
    found.retain(|facts| !classes::is_unrelated(scope, &known, facts));
    Ok(Graph::new(found))
}

async fn list_facts(
    cluster: &ManagementCluster,
    of: &Arc<TypeFacts>,
    list: &ListQuery,
) -> Result<Vec<ObjectFacts>, ApiError> {
    gather(cluster, of, list, |facts: &mut Vec<_>, object| facts.push(facts_of(&object, of))).await
}

/// Collects a part of every object of a kind. If the definition was deleted meanwhile, there are no objects.
async fn gather<T: Default>(
    cluster: &ManagementCluster,
    of: &TypeFacts,
    list: &ListQuery,
    take: impl FnMut(&mut T, Object),
) -> Result<T, ApiError> {
    let pages = cluster.server.pages(&of.kind, list);
    let mut pages = if list.metadata_only { pages } else { pages.with_size(FULL_PAGE_SIZE) };
    match pages.gather(take).await {
        Err(error) if error.is_not_found() => Ok(T::default()),
        gathered => gathered,
    }
}

impl Scope {
    fn contains(&self, namespace: &str) -> bool {
        self.namespaces.is_empty() || namespace.is_empty() || self.namespaces.contains(namespace)
    }
}

/// Returns the namespaces for lists of a kind. None stands for one list of all namespaces.
fn namespaces_to_list(scope: &Scope, of: &TypeFacts, inventory: &ProviderInventory) -> Vec<Option<String>> {
    if scope.namespaces.is_empty() || !of.kind.namespaced || is_core_kind(of, "Cluster") {
        return vec![None];
    }
    let mut namespaces = scope.namespaces.clone();
    if of.kind == secret_kind() {
        let infrastructure =
            |installed: &&InstalledProvider| installed.id.provider_type == ProviderType::Infrastructure;
        let providers = inventory.providers.iter().filter(infrastructure);
        namespaces.extend(providers.map(|installed| installed.namespace.clone()));
    }
    namespaces.into_iter().map(Some).collect()
}

/// True if this is the given kind of the core group of Cluster API.
fn is_core_kind(of: &TypeFacts, kind: &str) -> bool {
    of.kind.group == facts::CORE && of.kind.kind == kind
}

#[cfg(test)]
mod tests;
