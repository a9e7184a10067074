//! What there is of Cluster API on a management cluster: kinds, and facts of their objects.

mod classes;
mod definitions;
mod facts;

use std::{collections::BTreeSet, sync::Arc};

use api::ProviderType;
use apply::{ApiError, List};
use futures::future::try_join_all;
use inventory::{InventoryError, ManagementCluster, ProviderInventory, secret_kind};
use manifest::Object;
use provider::InstalledProvider;

pub use definitions::types_to_discover;
pub use facts::{facts_of, says_it_rests};

use crate::{Facts, Graph, TypeFacts, discover::classes::foreign_classes};

/// Objects asked for at once where they are wanted in full.
const FULL_PAGE: usize = 250;

/// Where objects are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// These namespaces; all when empty.
    pub namespaces: BTreeSet<String>,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Discovered {
    /// The kinds: those of definitions that carry label `clusterctl.cluster.x-k8s.io`, and Secrets and ConfigMaps.
    pub types: Vec<Arc<TypeFacts>>,
    /// Their objects.
    pub graph: Graph,
    /// What is installed.
    pub inventory: ProviderInventory,
}

/// A discovery that is not complete.
#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    /// The inventory.
    #[error(transparent)]
    Inventory(#[from] InventoryError),
    /// A definition that says nothing usable.
    #[error("definition `{name}` has {problem}")]
    Definition {
        /// Which one.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The server.
    #[error(transparent)]
    Api(#[from] ApiError),
}

/// Looks at everything in scope. One list for each kind (and namespace, where several but not all are in scope), in
/// pages, side by side; of kinds whose content does not matter only metadata, so Secrets and ConfigMaps are never held.
/// Facts are taken from each page and the page is dropped.
///
/// Beside the scope, as the peer does: Secrets of the namespaces of infrastructure providers, all Clusters (to know
/// who uses a ClusterClass), and ClusterClasses of other namespaces that Clusters in scope use, with the templates they own.
/// Source: clusterctl v1.14 client/cluster/objectgraph.go (Discovery).
/// # Errors
/// Nothing is left out: a kind that cannot be listed is an error.
pub async fn discover(cluster: &ManagementCluster, scope: &Scope) -> Result<Discovered, DiscoverError> {
    let (types, inventory) =
        futures::join!(Box::pin(types_to_discover(cluster)), Box::pin(cluster.inventory()));
    let (types, inventory) = (types?, inventory?);
    let graph = Box::pin(look_at(cluster, scope, &types, &inventory, facts::needs_content)).await?;
    Ok(Discovered { types, graph, inventory })
}

/// The same with kinds and inventory that are known already.
pub async fn discover_again(
    cluster: &ManagementCluster,
    scope: &Scope,
    known: &Discovered,
) -> Result<Discovered, DiscoverError> {
    discover_known(cluster, scope, known, facts::needs_content).await
}

/// The same, with what each object says about its rest: no more requests, and larger answers to some.
pub async fn discover_at_rest(
    cluster: &ManagementCluster,
    scope: &Scope,
    known: &Discovered,
) -> Result<Discovered, DiscoverError> {
    discover_known(cluster, scope, known, facts::may_say_it_rests).await
}

async fn discover_known(
    cluster: &ManagementCluster,
    scope: &Scope,
    known: &Discovered,
    in_full: fn(&TypeFacts) -> bool,
) -> Result<Discovered, DiscoverError> {
    let (types, inventory) = (known.types.clone(), known.inventory.clone());
    let graph = Box::pin(look_at(cluster, scope, &types, &inventory, in_full)).await?;
    Ok(Discovered { types, graph, inventory })
}

async fn look_at(
    cluster: &ManagementCluster,
    scope: &Scope,
    types: &[Arc<TypeFacts>],
    inventory: &ProviderInventory,
    in_full: fn(&TypeFacts) -> bool,
) -> Result<Graph, ApiError> {
    let lists =
        types.iter().flat_map(|of| places(scope, of, inventory).into_iter().map(move |place| (of, place)));
    let lists = lists.map(async |(of, namespace)| {
        let list = List { namespace, metadata_only: !in_full(of), ..List::default() };
        list_facts(cluster, of, &list).await
    });
    let mut found: Vec<Facts> = try_join_all(lists).await?.into_iter().flatten().collect();
    found.extend(foreign_classes(cluster, scope, types, &found).await?);
    let known = classes::classes(&found);
    found.retain(|facts| !classes::is_unrelated(scope, &known, facts));
    Ok(Graph::new(found))
}

async fn list_facts(
    cluster: &ManagementCluster,
    of: &Arc<TypeFacts>,
    list: &List,
) -> Result<Vec<Facts>, ApiError> {
    gather(cluster, of, list, |facts: &mut Vec<_>, object| facts.push(facts_of(&object, of))).await
}

/// Takes what is needed of every object of a kind. One whose definition went meanwhile has none.
async fn gather<T: Default>(
    cluster: &ManagementCluster,
    of: &TypeFacts,
    list: &List,
    take: impl FnMut(&mut T, Object),
) -> Result<T, ApiError> {
    let pages = cluster.server.pages(&of.kind, list);
    let mut pages = if list.metadata_only { pages } else { pages.of(FULL_PAGE) };
    match pages.gather(take).await {
        Err(error) if error.is_not_found() => Ok(T::default()),
        gathered => gathered,
    }
}

impl Scope {
    fn has(&self, namespace: &str) -> bool {
        self.namespaces.is_empty() || namespace.is_empty() || self.namespaces.contains(namespace)
    }
}

/// Where objects of a kind are listed: in a namespace each, or with none in all of them at once.
fn places(scope: &Scope, of: &TypeFacts, inventory: &ProviderInventory) -> Vec<Option<String>> {
    if scope.namespaces.is_empty() || !of.kind.namespaced || is_of(of, "Cluster") {
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

/// Whether a kind is this one of Cluster API itself.
fn is_of(of: &TypeFacts, kind: &str) -> bool {
    of.kind.group == facts::CORE && of.kind.kind == kind
}

#[cfg(test)]
mod tests;
