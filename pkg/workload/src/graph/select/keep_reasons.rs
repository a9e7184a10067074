//! Moved objects that stay on the source as well.

use std::collections::BTreeSet;

use super::{Candidates, IncludeReason, KeepReason, MoveChoice, MoveDecision};
use crate::graph::{Graph, Node, NodeId};

/// Marks the moved objects that are kept, with the reason.
pub(super) fn mark_kept(
    graph: &Graph,
    choice: &MoveChoice,
    candidates: &Candidates,
    fates: &mut [MoveDecision],
) {
    let global: Vec<_> =
        moving_objects(graph, fates).filter(|(_, node, _)| !node.facts.object_type.kind.namespaced).collect();
    for (id, _, why) in global {
        if why == IncludeReason::Root {
            // A root takes its whole hierarchy with it.
            keep_with_owned(id, fates, KeepReason::ClusterScoped, |id| graph.node(id).owned.clone());
        }
        mark_as_kept(&mut fates[id.index()], KeepReason::ClusterScoped);
    }
    let users = RemainingUsers {
        graph,
        choice,
        candidates,
        remaining_namespaces: namespaces_of_remaining_clusters(graph, fates),
    };
    let used: Vec<_> =
        moving_objects(graph, fates).filter(|one| users.must_keep(one, fates)).map(|(id, ..)| id).collect();
    for id in used {
        keep_with_owned(id, fates, KeepReason::StillUsed, |id| owned_by_reference(graph, id));
    }
}

/// Returns the dependents that are kept with their owner. Bindings of a ClusterResourceSet move with their Clusters
/// instead.
fn owned_by_reference(graph: &Graph, owner: NodeId) -> Vec<NodeId> {
    let is_hard = |node: &Node| node.owners.iter().any(|(_, known)| *known == Some(owner));
    let owned = graph.node(owner).owned.iter().copied();
    owned.filter(|id| is_hard(graph.node(*id)) && !graph.node(*id).is_binding()).collect()
}

fn moving_objects<'g>(
    graph: &'g Graph,
    fates: &[MoveDecision],
) -> impl Iterator<Item = (NodeId, &'g Node, IncludeReason)> {
    graph.iter().filter_map(|(id, node)| match &fates[id.index()] {
        MoveDecision::Moves { why, kept: None } => Some((id, node, why.clone())),
        _ => None,
    })
}

/// Keeps an object and its dependents. Dependents of an already kept object were handled before.
fn keep_with_owned(
    root: NodeId,
    fates: &mut [MoveDecision],
    because: KeepReason,
    below: impl Fn(NodeId) -> Vec<NodeId>,
) {
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        if mark_as_kept(&mut fates[id.index()], because) {
            open.extend(below(id));
        }
    }
}

/// Marks a moved object as kept. True if the object was not marked before.
fn mark_as_kept(fate: &mut MoveDecision, because: KeepReason) -> bool {
    match fate {
        MoveDecision::Moves { kept, .. } if kept.is_none() => {
            *kept = Some(because);
            true
        }
        _ => false,
    }
}

/// The users of moved objects.
struct RemainingUsers<'g> {
    graph: &'g Graph,
    choice: &'g MoveChoice,
    candidates: &'g Candidates,
    remaining_namespaces: BTreeSet<String>,
}

impl RemainingUsers<'_> {
    fn must_keep(&self, (id, node, why): &(NodeId, &Node, IncludeReason), fates: &[MoveDecision]) -> bool {
        if node.is_class() || node.is_resource_set() {
            return !self.choice.includes_namespace(node) || self.is_used_by_remaining(node, fates);
        }
        // With chosen Clusters, nothing shows which Clusters use a labelled object.
        let is_anybodys =
            !matches!(why, IncludeReason::BelongsTo(_)) && self.candidates.chosen[id.index()].is_none();
        let is_out_of_scope = !self.choice.includes_namespace(node);
        let has_users = is_out_of_scope || self.remaining_namespaces.contains(&node.facts.key.namespace);
        self.choice.clusters.is_some() && is_anybodys && has_users
    }

    /// True if a remaining Cluster uses a ClusterClass or ClusterResourceSet, or if no moved Cluster does. Without a
    /// moved user, the object only moves with another object.
    fn is_used_by_remaining(&self, node: &Node, fates: &[MoveDecision]) -> bool {
        let users = node.owned.iter().filter(|id| {
            let owned = self.graph.node(**id);
            owned.is_cluster() || owned.is_binding()
        });
        let moves = |id: &&NodeId| matches!(fates[id.index()], MoveDecision::Moves { .. });
        let (all, moving) = (users.clone().count(), users.filter(moves).count());
        moving < all || (self.choice.clusters.is_some() && moving == 0)
    }
}

fn namespaces_of_remaining_clusters(graph: &Graph, fates: &[MoveDecision]) -> BTreeSet<String> {
    let stays =
        |id: NodeId, node: &Node| node.is_cluster() && matches!(fates[id.index()], MoveDecision::Stays(_));
    let clusters = graph.iter().filter(|(id, node)| stays(*id, node));
    clusters.map(|(_, node)| node.facts.key.namespace.clone()).collect()
}
