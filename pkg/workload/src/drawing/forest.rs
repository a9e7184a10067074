//! Makes a forest from a graph: an object with several owners is drawn below one of them.

use std::collections::VecDeque;

use api::output::{GraphObject, GraphTie, OwnerGraph};

/// The objects by position: the owner above each object in the drawing, and all owned objects.
#[derive(Debug)]
pub(super) struct Forest {
    /// The owner above each object: an owner with maximum distance from the roots, so that all owners are above the
    /// object. Of several, the controller, else the first owner. Never part of a cycle.
    pub(super) parents: Vec<Option<usize>>,
    /// The owned objects, once each, in the order of positions.
    pub(super) owned: Vec<Vec<(usize, GraphTie)>>,
}

/// Returns the shown owners of an object, once each, the controller first.
fn owners(object: &GraphObject) -> Vec<(usize, GraphTie)> {
    let mut owners: Vec<_> = object
        .owners
        .iter()
        .filter_map(|owner| Some((owner.position?, owner.tie, owner.controller)))
        .collect();
    owners.sort_by_key(|(.., controller)| !controller);
    let mut once: Vec<(usize, GraphTie)> = Vec::new();
    for (position, tie, _) in owners {
        if once.iter().all(|(known, _)| *known != position) {
            once.push((position, tie));
        }
    }
    once
}

/// Makes the forest, in near-linear time. Objects in or below a cycle hang from the first object of the cycle.
pub(super) fn forest(graph: &OwnerGraph) -> Forest {
    let owners: Vec<_> = graph.objects.iter().map(owners).collect();
    let mut owned = vec![Vec::new(); owners.len()];
    for (position, (owner, tie)) in
        owners.iter().enumerate().flat_map(|(at, owners)| owners.iter().map(move |it| (at, it)))
    {
        owned[*owner].push((position, *tie));
    }
    let mut waits_for: Vec<usize> = owners.iter().map(Vec::len).collect();
    let mut depth: Vec<Option<usize>> = vec![None; owners.len()];
    let mut parents = vec![None; owners.len()];
    let mut ready: VecDeque<usize> = (0..owners.len()).filter(|at| waits_for[*at] == 0).collect();
    let mut rest = graph.cycles.iter().flatten().copied().chain(0..owners.len());
    while let Some(at) = ready.pop_front().or_else(|| rest.find(|at| depth[*at].is_none())) {
        if depth[at].is_some() {
            continue;
        }
        let mut above = None;
        for (owner, _) in &owners[at] {
            if depth[*owner].is_some() && above.is_none_or(|known: usize| depth[known] < depth[*owner]) {
                above = Some(*owner);
            }
        }
        depth[at] = Some(above.and_then(|owner| depth[owner]).map_or(0, |depth| depth + 1));
        parents[at] = above;
        for (below, _) in &owned[at] {
            waits_for[*below] -= 1;
            if waits_for[*below] == 0 {
                ready.push_back(*below);
            }
        }
    }
    Forest { parents, owned }
}
