//! Cycles of owners.

use std::collections::{HashMap, HashSet};

use super::{Graph, NodeId};

/// The search state of a node: the time of the visit, and the earliest node that can be reached.
#[derive(Clone, Copy)]
struct VisitState {
    at: usize,
    earliest: usize,
    is_open: bool,
}

/// Tarjan's algorithm for strongly connected nodes, without recursion: chains of owners may have any length.
struct CycleSearch<'g> {
    graph: &'g Graph,
    reached: Vec<Option<VisitState>>,
    /// Nodes whose component is not complete yet.
    open: Vec<NodeId>,
    count: usize,
    cycles: Vec<Vec<NodeId>>,
}

/// Returns a ring for each set of objects that own each other, hard or soft. A ring starts with the first object by id;
/// the next object owns the previous one.
pub(super) fn find_cycles(graph: &Graph, among: &[NodeId]) -> Vec<Vec<NodeId>> {
    let reached = vec![None; if among.is_empty() { 0 } else { graph.nodes.len() }];
    let mut search = CycleSearch { graph, reached, open: Vec::new(), count: 0, cycles: Vec::new() };
    for id in among {
        if search.reached[id.index()].is_none() {
            search.visit(*id);
        }
    }
    search.cycles.sort_unstable();
    search.cycles
}

impl CycleSearch<'_> {
    fn visit(&mut self, start: NodeId) {
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
        self.reached[id.index()] = Some(VisitState { at: self.count, earliest: self.count, is_open: true });
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
        let Some(VisitState { at, earliest, .. }) = self.reached[id.index()] else { return };
        if let Some(before) = to {
            self.lower(before, earliest);
        }
        if at != earliest {
            return;
        }
        let from = self.open.iter().rposition(|open| *open == id).unwrap_or_default();
        let members = self.open.split_off(from);
        self.cycles.extend(find_cycle(self.graph, &members));
        for member in members {
            if let Some(reached) = &mut self.reached[member.index()] {
                reached.is_open = false;
            }
        }
    }
}

/// Returns one ring through connected objects. None for a single object that does not own itself.
fn find_cycle(graph: &Graph, members: &[NodeId]) -> Option<Vec<NodeId>> {
    let members: HashSet<NodeId> = members.iter().copied().collect();
    let mut path = vec![members.iter().copied().min()?];
    let mut positions = HashMap::from([(path[0], 0)]);
    loop {
        let owners = graph.node(*path.last()?).all_owners();
        let next = owners.filter(|owner| members.contains(owner)).min()?;
        if let Some(begin) = positions.insert(next, path.len()) {
            let mut ring = path.split_off(begin);
            let first = ring.iter().enumerate().min_by_key(|(_, id)| **id).map_or(0, |(at, _)| at);
            ring.rotate_left(first);
            return Some(ring);
        }
        path.push(next);
    }
}
