//! Cycles of owners.

use std::collections::{HashMap, HashSet};

use super::{Graph, NodeId};

/// The search state of a node: the time of the visit, and the earliest node that can be reached.
#[derive(Clone, Copy)]
struct Reached {
    at: usize,
    earliest: usize,
    is_open: bool,
}

/// Tarjan's algorithm for strongly connected nodes, without recursion: chains of owners may have any length.
struct Search<'g> {
    graph: &'g Graph,
    reached: Vec<Option<Reached>>,
    /// Nodes whose component is not complete yet.
    open: Vec<NodeId>,
    count: usize,
    rings: Vec<Vec<NodeId>>,
}

/// Returns a ring for each set of objects that own each other, hard or soft. A ring starts with the first object by id;
/// the next object owns the previous one.
pub(super) fn rings(graph: &Graph, among: &[NodeId]) -> Vec<Vec<NodeId>> {
    let reached = vec![None; if among.is_empty() { 0 } else { graph.nodes.len() }];
    let mut search = Search { graph, reached, open: Vec::new(), count: 0, rings: Vec::new() };
    for id in among {
        if search.reached[id.index()].is_none() {
            search.from(*id);
        }
    }
    search.rings.sort_unstable();
    search.rings
}

impl Search<'_> {
    fn from(&mut self, start: NodeId) {
        let mut path = vec![(start, self.enter(start))];
        while let Some((id, owners)) = path.last_mut() {
            let id = *id;
            let Some(owner) = owners.pop() else {
                path.pop();
                self.leave(id, path.last().map(|(before, _)| *before));
                continue;
            };
            match self.reached[owner.index()] {
                None => {
                    let its_owners = self.enter(owner);
                    path.push((owner, its_owners));
                }
                Some(reached) if reached.is_open => self.lower(id, reached.at),
                Some(_) => {}
            }
        }
    }

    /// Enters a node, and returns its owners, which may be unvisited.
    fn enter(&mut self, id: NodeId) -> Vec<NodeId> {
        self.reached[id.index()] = Some(Reached { at: self.count, earliest: self.count, is_open: true });
        self.count += 1;
        self.open.push(id);
        self.graph.node(id).all_owners().collect()
    }

    fn lower(&mut self, id: NodeId, earliest: usize) {
        if let Some(reached) = &mut self.reached[id.index()] {
            reached.earliest = reached.earliest.min(earliest);
        }
    }

    /// Leaves a node after all its owners were visited.
    fn leave(&mut self, id: NodeId, to: Option<NodeId>) {
        let Some(Reached { at, earliest, .. }) = self.reached[id.index()] else { return };
        if let Some(before) = to {
            self.lower(before, earliest);
        }
        if at != earliest {
            return;
        }
        let from = self.open.iter().rposition(|open| *open == id).unwrap_or_default();
        let members = self.open.split_off(from);
        self.rings.extend(ring(self.graph, &members));
        for member in members {
            if let Some(reached) = &mut self.reached[member.index()] {
                reached.is_open = false;
            }
        }
    }
}

/// Returns one ring through connected objects. None for a single object that does not own itself.
fn ring(graph: &Graph, members: &[NodeId]) -> Option<Vec<NodeId>> {
    let members: HashSet<NodeId> = members.iter().copied().collect();
    let mut way = vec![members.iter().copied().min()?];
    let mut places = HashMap::from([(way[0], 0)]);
    loop {
        let owners = graph.node(*way.last()?).all_owners();
        let next = owners.filter(|owner| members.contains(owner)).min()?;
        if let Some(begin) = places.insert(next, way.len()) {
            let mut ring = way.split_off(begin);
            let first = ring.iter().enumerate().min_by_key(|(_, id)| **id).map_or(0, |(at, _)| at);
            ring.rotate_left(first);
            return Some(ring);
        }
        way.push(next);
    }
}
