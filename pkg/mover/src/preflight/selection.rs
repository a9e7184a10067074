//! Objects that the choice of Clusters leaves behind or separates.

use apply::ObjectKey;
use inventory::PreflightProblem;
use workload::{ExcludeReason, Graph, MoveDecision, NodeId, Selection};

use super::{Findings, first_few, listed, problem, remark};

/// Checks the choice for objects that are shared with Clusters that stay, and for objects that stay although they
/// belong to moving objects.
pub(crate) fn check_selection(graph: &Graph, selection: &Selection) -> Findings {
    let key = |node: NodeId| &graph.node(node).facts.key;
    let shared = selection.shared.iter().map(|(cluster, object)| {
        problem(
            format!("{} is shared with {}, which does not move", key(*object), key(*cluster)),
            format!("move both: add `--cluster {}/{}`", key(*cluster).namespace, key(*cluster).name),
        )
    });
    Findings { problems: shared.collect(), warnings: left_behind(graph, selection) }
}

/// Warns about objects that belong to moving objects and stay; clusterctl does not warn. Dependents of objects in
/// deletion are reported with their owner.
fn left_behind(graph: &Graph, selection: &Selection) -> Vec<PreflightProblem> {
    let (mut owner_stays, mut owner_missing, mut other) = (Vec::new(), Vec::new(), Vec::new());
    let mut terminating = Vec::new();
    for (id, node) in graph.iter() {
        let key = &node.facts.key;
        match selection.decision(id) {
            MoveDecision::Stays(ExcludeReason::Terminating) => terminating.push(key),
            MoveDecision::Stays(ExcludeReason::OwnerStays(owner))
                if is_below_terminating(selection, *owner) => {}
            MoveDecision::Stays(ExcludeReason::OwnerStays(owner)) => {
                owner_stays.push(format!("{key} (owner {})", graph.node(*owner).facts.key));
            }
            MoveDecision::Stays(ExcludeReason::OwnerMissing(owner)) => {
                owner_missing.push(format!("{key} (owner {owner})"));
            }
            MoveDecision::Stays(ExcludeReason::Cycle) => other.push(key),
            _ => {}
        }
    }
    let hint = "remove the owner reference, or move the object yourself";
    let mut warnings = Vec::new();
    if !terminating.is_empty() {
        warnings.push(remark(format!(
            "objects in deletion are excluded with their dependents: {}",
            listed(terminating)
        )));
    }
    for (what, objects) in [
        ("objects stay because an owner stays", owner_stays),
        ("objects stay because an owner does not exist", owner_missing),
    ] {
        if !objects.is_empty() {
            warnings.push(problem(format!("{what}: {}", first_few(&objects)), hint));
        }
    }
    warnings.extend(selection.cycles.iter().map(|cycle| {
        let keys: Vec<&ObjectKey> = cycle.iter().map(|node| &graph.node(*node).facts.key).collect();
        problem(
            format!("objects stay because they own each other in a cycle: {}", listed(keys)),
            "remove one of the owner references",
        )
    }));
    if selection.cycles.is_empty() && !other.is_empty() {
        warnings.push(remark(format!("objects stay because their owners form a cycle: {}", listed(other))));
    }
    warnings
}

/// True if an object stays because it or one of its owners is being deleted.
fn is_below_terminating(selection: &Selection, mut node: NodeId) -> bool {
    while let MoveDecision::Stays(ExcludeReason::OwnerStays(owner)) = selection.decision(node) {
        node = *owner;
    }
    matches!(selection.decision(node), MoveDecision::Stays(ExcludeReason::Terminating))
}
