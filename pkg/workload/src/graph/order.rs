//! Owners before what they own, and what has no place in such an order.

use super::{Graph, NodeId, Selection};

/// All objects in an order in which owners come first, as far as there is one.
pub(super) struct Order {
    /// Every object behind all its owners.
    pub(super) sorted: Vec<NodeId>,
    /// What is in a circle of owners, or below one.
    pub(super) circular: Vec<NodeId>,
}

/// Puts owners, hard and soft, before what they own.
pub(super) fn order(graph: &Graph) -> Order {
    let levels = levels(graph, |_| true);
    let sorted: Vec<NodeId> = levels.into_iter().flatten().collect();
    let mut is_sorted = vec![false; graph.nodes.len()];
    for id in &sorted {
        is_sorted[id.index()] = true;
    }
    let circular = graph.iter().map(|(id, _)| id).filter(|id| !is_sorted[id.index()]).collect();
    Order { sorted, circular }
}

impl Graph {
    /// What moves, in groups: owners, hard and soft, before what they own; by kind, namespace and name within a group.
    /// A move creates group by group and deletes in reverse. Selected objects are all in exactly one group.
    pub fn groups(&self, selection: &Selection) -> Vec<Vec<NodeId>> {
        levels(self, |id| selection.moves(id))
    }
}

/// Some objects, each as soon as all its owners among them have come; by id within a level.
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
