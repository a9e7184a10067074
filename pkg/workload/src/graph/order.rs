//! The order of owners before owned objects, and objects in cycles.

use super::{Graph, NodeId, Selection};

/// All objects in an order with owners first, as far as possible.
pub(super) struct OwnerOrder {
    /// Objects after all their owners.
    pub(super) sorted: Vec<NodeId>,
    /// Objects in a cycle of owners, or below one.
    pub(super) circular: Vec<NodeId>,
}

/// Sorts owners, hard and soft, before the objects they own.
pub(super) fn owner_order(graph: &Graph) -> OwnerOrder {
    let levels = levels(graph, |_| true);
    let sorted: Vec<NodeId> = levels.into_iter().flatten().collect();
    let mut is_sorted = vec![false; graph.nodes.len()];
    for id in &sorted {
        is_sorted[id.index()] = true;
    }
    let circular = graph.iter().map(|(id, _)| id).filter(|id| !is_sorted[id.index()]).collect();
    OwnerOrder { sorted, circular }
}

impl Graph {
    /// Returns the moved objects in groups. Owners, hard and soft, come before owned objects; a group is sorted by
    /// kind, namespace and name. A move creates group by group, and deletes in reverse. Each selected object is in
    /// exactly one group.
    pub fn groups(&self, selection: &Selection) -> Vec<Vec<NodeId>> {
        levels(self, |id| selection.moves(id))
    }
}

/// Returns objects in levels, each object in the first level after all its owners. A level is sorted by id.
fn levels(graph: &Graph, is_in: impl Fn(NodeId) -> bool) -> Vec<Vec<NodeId>> {
    let mut missing = vec![0_usize; graph.nodes.len()];
    let members = || graph.iter().filter(|(id, _)| is_in(*id));
    for (_, node) in members() {
        for owned in &node.owned {
            missing[owned.index()] += 1;
        }
    }
    let mut level: Vec<NodeId> = members().map(|(id, _)| id).filter(|id| missing[id.index()] == 0).collect();
    let mut levels = Vec::new();
    while !level.is_empty() {
        let mut next = Vec::new();
        for owned in level.iter().flat_map(|id| &graph.node(*id).owned) {
            missing[owned.index()] -= 1;
            if missing[owned.index()] == 0 && is_in(*owned) {
                next.push(*owned);
            }
        }
        next.sort_unstable();
        levels.push(std::mem::replace(&mut level, next));
    }
    levels
}
