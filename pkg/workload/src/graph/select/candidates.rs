//! Candidates for a move, before the decisions about their owners.

use std::collections::{HashSet, VecDeque};

use super::{Choice, Excluded, Included};
use crate::graph::{Content, Graph, Node, NodeId};

/// Candidates, and the links of objects to chosen and to other Clusters.
pub(super) struct Candidates {
    /// The reason to move or not to move each object.
    why: Vec<Result<Included, Excluded>>,
    /// The first chosen Cluster of each object.
    pub(super) chosen: Vec<Option<NodeId>>,
    /// The first Cluster of each object that was not chosen.
    others: Vec<Option<NodeId>>,
}

pub(super) fn find(graph: &Graph, choice: &Choice) -> Candidates {
    let clusters = |is_chosen: bool| {
        let in_scope = graph.iter().filter(|(_, node)| node.is_cluster() && choice.has_namespace(node));
        in_scope.filter(move |(_, node)| choice.has_cluster(node) == is_chosen).map(|(id, _)| id)
    };
    let (chosen, others) = (below(graph, clusters(true)), below(graph, clusters(false)));
    let (why, roots) = (Vec::new(), VecDeque::new());
    let mut walk = Walk { graph, choice, chosen: &chosen, others: &others, why, roots };
    walk.begin();
    while let Some(root) = walk.roots.pop_front() {
        walk.take(root);
    }
    Candidates { why: walk.why, chosen, others }
}

impl Candidates {
    /// Returns the reason to move or not to move an object.
    pub(super) fn of(&self, id: NodeId) -> Result<Included, Excluded> {
        self.why[id.index()].clone()
    }

    /// Returns Clusters that were not chosen, with the objects they share with chosen Clusters. Objects below a shared
    /// object are omitted.
    pub(super) fn shared(&self, graph: &Graph) -> Vec<(NodeId, NodeId)> {
        let is_shared = |id: NodeId| self.chosen[id.index()].is_some() && self.others[id.index()].is_some();
        let mut shared: Vec<_> = graph
            .iter()
            .filter(|(id, node)| is_shared(*id) && !node.all_owners().any(is_shared))
            .flat_map(|(id, _)| self.others_above(graph, id).into_iter().map(move |cluster| (cluster, id)))
            .collect();
        shared.sort_unstable();
        shared
    }

    /// Returns the Clusters of an object that were not chosen.
    fn others_above(&self, graph: &Graph, id: NodeId) -> Vec<NodeId> {
        let (mut found, mut seen, mut open) = (Vec::new(), HashSet::from([id]), vec![id]);
        while let Some(id) = open.pop() {
            if graph.node(id).is_cluster() {
                found.push(id);
                continue;
            }
            let owners = graph.node(id).all_owners().filter(|owner| self.others[owner.index()].is_some());
            open.extend(owners.filter(|owner| seen.insert(*owner)));
        }
        found
    }
}

/// Returns for each object the first of these Clusters to which it belongs.
fn below(graph: &Graph, clusters: impl Iterator<Item = NodeId>) -> Vec<Option<NodeId>> {
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
struct Walk<'g> {
    graph: &'g Graph,
    choice: &'g Choice,
    chosen: &'g [Option<NodeId>],
    others: &'g [Option<NodeId>],
    why: Vec<Result<Included, Excluded>>,
    roots: VecDeque<NodeId>,
}

impl Walk<'_> {
    /// Finds the roots: Clusters first, ClusterClasses last, so that a dependent of both belongs to the Cluster.
    fn begin(&mut self) {
        let roots = self.graph.iter().filter(|(id, node)| self.is_root(*id, node));
        let mut roots: Vec<_> = roots.map(|(id, node)| (!node.is_cluster(), node.is_class(), id)).collect();
        roots.sort_unstable();
        self.roots = roots.into_iter().map(|(.., id)| id).collect();
        self.why = self.graph.iter().map(|(id, node)| self.alone(id, node)).collect();
    }

    fn is_root(&self, id: NodeId, node: &Node) -> bool {
        let is_hierarchy = node.facts.is_hierarchy || node.facts.of.is_hierarchy;
        if !is_hierarchy || !self.may_be_labelled(node) || self.others[id.index()].is_some() {
            return false;
        }
        // ClusterClasses and resource sets move with their users if Clusters were chosen.
        let comes_along = self.choice.clusters.is_some() && (node.is_class() || node.is_resource_set());
        if node.is_cluster() { self.choice.has_cluster(node) } else { !comes_along }
    }

    /// True if labels of the object count. They count for Secrets of other namespaces, which belong to infrastructure
    /// providers.
    fn may_be_labelled(&self, node: &Node) -> bool {
        self.choice.has_namespace(node) || node.is_secret()
    }

    /// Decides about an object without a root.
    fn alone(&self, id: NodeId, node: &Node) -> Result<Included, Excluded> {
        let in_scope = self.choice.has_namespace(node);
        if let Some(cluster) = self.others[id.index()] {
            return Err(Excluded::NotChosen(cluster));
        }
        if node.facts.is_to_move && self.may_be_labelled(node) {
            return Ok(Included::Labelled);
        }
        match (in_scope, node.facts.of.is_to_move) {
            (true, true) => Ok(Included::KindLabelled),
            (true, false) => Err(Excluded::NotLinked),
            (false, _) => Err(Excluded::OtherNamespace),
        }
    }

    /// Adds a root and its dependents.
    fn take(&mut self, root: NodeId) {
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            if self.is_taken(id) || !(id == root || self.may_come(id)) {
                continue;
            }
            let node = self.graph.node(id);
            let is_root = id == root || self.is_root(id, node);
            self.why[id.index()] = Ok(if is_root { Included::Root } else { Included::BelongsTo(root) });
            open.extend(&node.owned);
            let along: Vec<_> = node.all_owners().filter(|owner| self.comes_along(*owner)).collect();
            self.roots.extend(along);
        }
    }

    fn is_taken(&self, id: NodeId) -> bool {
        matches!(self.why[id.index()], Ok(Included::Root | Included::BelongsTo(_)))
    }

    /// True if an owned object may move with its owner.
    fn may_come(&self, id: NodeId) -> bool {
        let node = self.graph.node(id);
        let is_chosen = self.chosen[id.index()].is_some() || self.choice.clusters.is_none();
        self.others[id.index()].is_none()
            && (is_chosen || !node.is_binding())
            && (!node.is_cluster() || self.is_root(id, node))
    }

    /// True if an owned object makes its owner move: ClusterClasses of other namespaces, and with chosen Clusters all
    /// classes and resource sets they use.
    fn comes_along(&self, id: NodeId) -> bool {
        let node = self.graph.node(id);
        let is_used = node.is_class() || (node.is_resource_set() && self.choice.has_namespace(node));
        is_used && !self.is_taken(id) && self.others[id.index()].is_none()
    }
}

impl Node {
    pub(super) fn is_cluster(&self) -> bool {
        matches!(self.facts.content, Content::Cluster(_))
    }

    pub(super) fn is_class(&self) -> bool {
        matches!(self.facts.content, Content::ClusterClass)
    }

    pub(super) fn is_binding(&self) -> bool {
        matches!(self.facts.content, Content::Binding { .. })
    }

    pub(super) fn is_resource_set(&self) -> bool {
        self.facts.key.is("addons.cluster.x-k8s.io", "ClusterResourceSet")
    }

    fn is_secret(&self) -> bool {
        self.facts.key.is("", "Secret")
    }
}
