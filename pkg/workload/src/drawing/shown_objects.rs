//! Selects the objects of a graph to show.

use std::collections::{BTreeSet, HashMap, HashSet};

use api::{
    output::{GraphCondition, GraphFate, GraphObject, GraphOwner, GraphState, GraphTie, OwnerGraph},
    similar_names,
};

use crate::{ContentFacts, Graph, KeepReason, MoveChoice, MoveDecision, Node, NodeId, Scope, Selection};

/// The maximum number of suggested names in an error.
const MAX_SUGGESTIONS: usize = 10;

/// A Cluster that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("Cluster `{name}` does not exist")]
pub struct UnknownCluster {
    /// The requested name.
    pub name: String,
    /// Clusters in scope with similar names, as `namespace/name`; the first Clusters if none is similar.
    pub suggestions: Vec<String>,
}

/// Returns the shown objects of a discovered graph, with the decisions of a move of the same scope.
///
/// With a Cluster (`name` or `namespace/name`), the result has the objects of the Cluster and all owners of these
/// objects. Without, it has all objects except Secrets and ConfigMaps without links, which are only counted.
/// # Errors
/// The Cluster is not in scope.
pub fn owner_graph(
    graph: &Graph,
    scope: &Scope,
    cluster: Option<&str>,
) -> Result<OwnerGraph, UnknownCluster> {
    let clusters = cluster.map(|name| find_clusters(graph, scope, name)).transpose()?;
    let choice = MoveChoice {
        namespaces: scope.namespaces.clone(),
        clusters: clusters.as_ref().map(|found| cluster_names(graph, found)),
        ..MoveChoice::default()
    };
    let selection = graph.select(&choice);
    let shown = match &clusters {
        Some(clusters) => cluster_objects(graph, clusters),
        None => related_objects(graph, &selection),
    };
    let left_out = if clusters.is_some() { 0 } else { graph.iter().count() - shown.len() };
    let positions: HashMap<NodeId, usize> = shown.iter().copied().zip(0..).collect();
    let position = |ids: &Vec<NodeId>| ids.iter().map(|id| positions.get(id).copied()).collect();
    Ok(OwnerGraph {
        namespaces: scope.namespaces.iter().cloned().collect(),
        cluster: cluster.map(str::to_owned),
        cycles: selection.cycles.iter().filter_map(position).collect(),
        objects: GraphConverter { graph, selection: &selection, positions: &positions }.objects(&shown),
        left_out,
    })
}

/// Finds the Clusters in scope by name.
fn find_clusters(graph: &Graph, scope: &Scope, requested: &str) -> Result<Vec<NodeId>, UnknownCluster> {
    let (namespace, name) = match requested.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, requested),
    };
    let in_scope = |namespace: &String| scope.namespaces.is_empty() || scope.namespaces.contains(namespace);
    let clusters = graph.iter().filter(|(_, node)| is_cluster(node) && in_scope(&node.facts.key.namespace));
    let clusters: Vec<_> = clusters.map(|(id, node)| (id, &node.facts.key)).collect();
    let is_meant =
        |key: &apply::ObjectKey| key.name == name && namespace.is_none_or(|it| key.namespace == it);
    let found: Vec<_> = clusters.iter().filter(|(_, key)| is_meant(key)).map(|(id, _)| *id).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let written_alike = similar_names(name, clusters.iter().map(|(_, key)| &*key.name));
    let is_near = |key: &apply::ObjectKey| key.name == name || written_alike.contains(&&*key.name);
    let place = |(_, key): &(NodeId, &apply::ObjectKey)| format!("{}/{}", key.namespace, key.name);
    let mut suggestions: Vec<_> = clusters.iter().filter(|(_, key)| is_near(key)).map(place).collect();
    if suggestions.is_empty() {
        suggestions = clusters.iter().map(place).collect();
    }
    suggestions.truncate(MAX_SUGGESTIONS);
    Err(UnknownCluster { name: requested.to_owned(), suggestions })
}

fn cluster_names(graph: &Graph, clusters: &[NodeId]) -> BTreeSet<(String, String)> {
    let keys = clusters.iter().map(|id| &graph.node(*id).facts.key);
    keys.map(|key| (key.namespace.clone(), key.name.clone())).collect()
}

/// Returns the Clusters, the objects that belong to them, and all owners of these objects.
fn cluster_objects(graph: &Graph, clusters: &[NodeId]) -> Vec<NodeId> {
    let mut seen: HashSet<NodeId> = HashSet::new();
    let mut open = clusters.to_vec();
    while let Some(id) = open.pop() {
        if seen.insert(id) {
            open.extend(graph.node(id).owned.iter().filter(|owned| !is_cluster(graph.node(**owned))));
        }
    }
    let mut open: Vec<_> = seen.iter().copied().collect();
    while let Some(id) = open.pop() {
        open.extend(graph.node(id).all_owners().filter(|owner| seen.insert(*owner)));
    }
    let mut shown: Vec<_> = seen.into_iter().collect();
    shown.sort_unstable();
    shown
}

/// Returns the objects related to Cluster API, as most Secrets and ConfigMaps are unrelated.
fn related_objects(graph: &Graph, selection: &Selection) -> Vec<NodeId> {
    let says = |(id, node): &(NodeId, &Node)| {
        let key = &node.facts.key;
        let is_general = key.is("", "Secret") || key.is("", "ConfigMap");
        let is_linked = !node.owned.is_empty() || node.all_owners().next().is_some();
        !is_general || is_linked || selection.moves(*id)
    };
    graph.iter().filter(says).map(|(id, _)| id).collect()
}

fn is_cluster(node: &Node) -> bool {
    matches!(node.facts.content, ContentFacts::Cluster(_))
}

struct GraphConverter<'g> {
    graph: &'g Graph,
    selection: &'g Selection,
    positions: &'g HashMap<NodeId, usize>,
}

impl GraphConverter<'_> {
    fn objects(&self, shown: &[NodeId]) -> Vec<GraphObject> {
        let clusters = self.clusters(shown);
        shown.iter().map(|id| self.object(*id, clusters.get(id).copied())).collect()
    }

    /// Returns the first Cluster of each object.
    fn clusters(&self, shown: &[NodeId]) -> HashMap<NodeId, usize> {
        let mut found = HashMap::new();
        for cluster in shown.iter().filter(|id| is_cluster(self.graph.node(**id))) {
            let mut open = vec![*cluster];
            while let Some(id) = open.pop() {
                let node = self.graph.node(id);
                if (id == *cluster || !is_cluster(node)) && !found.contains_key(&id) {
                    found.insert(id, self.positions[cluster]);
                    open.extend(&node.owned);
                }
            }
        }
        found
    }

    fn object(&self, id: NodeId, cluster: Option<usize>) -> GraphObject {
        let node = self.graph.node(id);
        let facts = &node.facts;
        let condition = facts.condition.as_ref();
        GraphObject {
            object: facts.key.clone(),
            owners: self.owners(node),
            cluster,
            state: condition.map_or(GraphState::NoCondition, |condition| match &*condition.status {
                "True" => GraphState::Ready,
                "False" => GraphState::NotReady,
                _ => GraphState::Unknown,
            }),
            condition: condition.map(|condition| GraphCondition {
                kind: condition.kind.clone(),
                status: condition.status.clone(),
                reason: condition.reason.clone(),
            }),
            paused: facts.is_paused,
            deleting: facts.is_terminating,
            fate: self.graph_fate(id),
        }
    }

    fn graph_fate(&self, id: NodeId) -> GraphFate {
        match self.selection.decision(id) {
            MoveDecision::Moves { why, kept } => {
                let why = self.graph.include_text(why);
                GraphFate { moves: true, why, kept: kept.map(KeepReason::describe) }
            }
            MoveDecision::Stays(why) => {
                GraphFate { moves: false, why: self.graph.exclude_text(why), kept: None }
            }
        }
    }

    fn owners(&self, node: &Node) -> Vec<GraphOwner> {
        let hard = node.owners.iter().map(|(written, owner)| GraphOwner {
            position: owner.and_then(|owner| self.positions.get(&owner).copied()),
            kind: written.kind.clone(),
            name: written.name.clone(),
            tie: GraphTie::Hard,
            controller: written.controller == Some(true),
        });
        let soft = node.soft_owners.iter().map(|owner| {
            let key = &self.graph.node(*owner).facts.key;
            GraphOwner {
                position: self.positions.get(owner).copied(),
                kind: key.kind.clone(),
                name: key.name.clone(),
                tie: GraphTie::Soft,
                controller: false,
            }
        });
        hard.chain(soft).collect()
    }
}
