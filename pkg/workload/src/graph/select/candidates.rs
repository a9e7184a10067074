//! Candidates for a move, before the decisions about their owners.

use std::collections::{HashSet, VecDeque};

use super::{ExcludeReason, IncludeReason, MoveChoice};
use crate::graph::{ContentFacts, Graph, Node, NodeId};

/// Candidates, and the links of objects to chosen and to other Clusters.
pub(super) struct Candidates {
    /// The reason to move or not to move each object.
    reasons: Vec<Result<IncludeReason, ExcludeReason>>,
    /// The first chosen Cluster of each object.
    pub(super) chosen: Vec<Option<NodeId>>,
    /// The first Cluster of each object that was not chosen.
    unchosen: Vec<Option<NodeId>>,
}

pub(super) fn find(graph: &Graph, choice: &MoveChoice) -> Candidates {
    let clusters = |is_chosen: bool| {
        let in_scope = graph.iter().filter(|(_, node)| node.is_cluster() && choice.includes_namespace(node));
        in_scope.filter(move |(_, node)| choice.includes_cluster(node) == is_chosen).map(|(id, _)| id)
    };
    let (chosen, unchosen) =
        (first_cluster_by_object(graph, clusters(true)), first_cluster_by_object(graph, clusters(false)));
    let (why, roots) = (Vec::new(), VecDeque::new());
    let mut walk = HierarchyWalk { graph, choice, chosen: &chosen, unchosen: &unchosen, reasons: why, roots };
    walk.find_roots();
    while let Some(root) = walk.roots.pop_front() {
        walk.add_hierarchy(root);
    }
    Candidates { reasons: walk.reasons, chosen, unchosen }
}

impl Candidates {
    /// Returns the reason to move or not to move an object.
    pub(super) fn reason(&self, id: NodeId) -> Result<IncludeReason, ExcludeReason> {
        self.reasons[id.index()].clone()
    }

    /// Returns Clusters that were not chosen, with the objects they share with chosen Clusters. Objects below a shared
    /// object are omitted.
    pub(super) fn shared(&self, graph: &Graph) -> Vec<(NodeId, NodeId)> {
        let is_shared = |id: NodeId| self.chosen[id.index()].is_some() && self.unchosen[id.index()].is_some();
        let mut shared: Vec<_> = graph
            .iter()
            .filter(|(id, node)| is_shared(*id) && !node.all_owners().any(is_shared))
            .flat_map(|(id, _)| {
                self.unchosen_clusters_of(graph, id).into_iter().map(move |cluster| (cluster, id))
            })
            .collect();
        shared.sort_unstable();
        shared
    }

    /// Returns the Clusters of an object that were not chosen.
    fn unchosen_clusters_of(&self, graph: &Graph, id: NodeId) -> Vec<NodeId> {
        let (mut found, mut seen, mut open) = (Vec::new(), HashSet::from([id]), vec![id]);
        while let Some(id) = open.pop() {
            if graph.node(id).is_cluster() {
                found.push(id);
                continue;
            }
            let owners = graph.node(id).all_owners().filter(|owner| self.unchosen[owner.index()].is_some());
            open.extend(owners.filter(|owner| seen.insert(*owner)));
        }
        found
    }
}

/// Returns for each object the first of these Clusters to which it belongs.
fn first_cluster_by_object(graph: &Graph, clusters: impl Iterator<Item = NodeId>) -> Vec<Option<NodeId>> {
    let mut found = vec![None; graph.nodes.len()];
    for cluster in clusters {
        let mut open = vec![cluster];
        while let Some(id) = open.pop() {
            if found[id.index()].is_none() && (id == cluster || !graph.node(id).is_cluster()) {
                found[id.index()] = Some(cluster);
                open.extend(&graph.node(id).owned);
            }
        }
    }
    found
}

/// A walk from every root to all its dependents, over hard and soft ownership.
struct HierarchyWalk<'g> {
    graph: &'g Graph,
    choice: &'g MoveChoice,
    chosen: &'g [Option<NodeId>],
    unchosen: &'g [Option<NodeId>],
    reasons: Vec<Result<IncludeReason, ExcludeReason>>,
    roots: VecDeque<NodeId>,
}

impl HierarchyWalk<'_> {
    /// Finds the roots: Clusters first, ClusterClasses last, so that a dependent of both belongs to the Cluster.
    fn find_roots(&mut self) {
        let roots = self.graph.iter().filter(|(id, node)| self.is_root(*id, node));
        let mut roots: Vec<_> = roots.map(|(id, node)| (!node.is_cluster(), node.is_class(), id)).collect();
        roots.sort_unstable();
        self.roots = roots.into_iter().map(|(.., id)| id).collect();
        self.reasons = self.graph.iter().map(|(id, node)| self.decide_without_root(id, node)).collect();
    }

    fn is_root(&self, id: NodeId, node: &Node) -> bool {
        let is_hierarchy = node.facts.is_hierarchy || node.facts.object_type.is_hierarchy;
        if !is_hierarchy || !self.may_be_labelled(node) || self.unchosen[id.index()].is_some() {
            return false;
        }
        // ClusterClasses and resource sets move with their users if Clusters were chosen.
        let comes_along = self.choice.clusters.is_some() && (node.is_class() || node.is_resource_set());
        if node.is_cluster() { self.choice.includes_cluster(node) } else { !comes_along }
    }

    /// True if labels of the object count. They count for Secrets of other namespaces, which belong to infrastructure
    /// providers.
    fn may_be_labelled(&self, node: &Node) -> bool {
        self.choice.includes_namespace(node) || node.is_secret()
    }

    /// Decides about an object without a root.
    fn decide_without_root(&self, id: NodeId, node: &Node) -> Result<IncludeReason, ExcludeReason> {
        let in_scope = self.choice.includes_namespace(node);
        if let Some(cluster) = self.unchosen[id.index()] {
            return Err(ExcludeReason::NotChosen(cluster));
        }
        if node.facts.is_labelled_to_move && self.may_be_labelled(node) {
            return Ok(IncludeReason::Labelled);
        }
        match (in_scope, node.facts.object_type.is_labelled_to_move) {
            (true, true) => Ok(IncludeReason::KindLabelled),
            (true, false) => Err(ExcludeReason::NotLinked),
            (false, _) => Err(ExcludeReason::OtherNamespace),
        }
    }

    /// Adds a root and its dependents.
    fn add_hierarchy(&mut self, root: NodeId) {
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            if self.is_added(id) || !(id == root || self.may_move_with_owner(id)) {
                continue;
            }
            let node = self.graph.node(id);
            let is_root = id == root || self.is_root(id, node);
            self.reasons[id.index()] =
                Ok(if is_root { IncludeReason::Root } else { IncludeReason::BelongsTo(root) });
            open.extend(&node.owned);
            let used_owners: Vec<_> =
                node.all_owners().filter(|owner| self.moves_with_owned(*owner)).collect();
            self.roots.extend(used_owners);
        }
    }

    fn is_added(&self, id: NodeId) -> bool {
        matches!(self.reasons[id.index()], Ok(IncludeReason::Root | IncludeReason::BelongsTo(_)))
    }

    /// True if an owned object may move with its owner.
    fn may_move_with_owner(&self, id: NodeId) -> bool {
        let node = self.graph.node(id);
        let is_chosen = self.chosen[id.index()].is_some() || self.choice.clusters.is_none();
        self.unchosen[id.index()].is_none()
            && (is_chosen || !node.is_binding())
            && (!node.is_cluster() || self.is_root(id, node))
    }

    /// True if an owned object makes its owner move: ClusterClasses of other namespaces, and with chosen Clusters all
    /// classes and resource sets they use.
    fn moves_with_owned(&self, id: NodeId) -> bool {
        let node = self.graph.node(id);
        let is_used = node.is_class() || (node.is_resource_set() && self.choice.includes_namespace(node));
        is_used && !self.is_added(id) && self.unchosen[id.index()].is_none()
    }
}

impl Node {
    pub(super) fn is_cluster(&self) -> bool {
        matches!(self.facts.content, ContentFacts::Cluster(_))
    }

    pub(super) fn is_class(&self) -> bool {
        matches!(self.facts.content, ContentFacts::ClusterClass)
    }

    pub(super) fn is_binding(&self) -> bool {
        matches!(self.facts.content, ContentFacts::Binding { .. })
    }

    pub(super) fn is_resource_set(&self) -> bool {
        self.facts.key.is("addons.cluster.x-k8s.io", "ClusterResourceSet")
    }

    fn is_secret(&self) -> bool {
        self.facts.key.is("", "Secret")
    }
}
