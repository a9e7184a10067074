//! Choices that select nothing, and the namespaces that hold Clusters instead.

use std::collections::BTreeSet;

use apply::{ApiError, GroupKind, ListQuery};
use inventory::{ManagementCluster, PreflightProblem};

use super::{
    MovePlan,
    cluster_choice::{clusters_in_namespaces, namespaces_text},
};
use crate::{
    ClusterChoice, MoveRequest,
    preflight::{first_few, problem},
    target::{NamespaceState, namespace_states},
};

/// Returns a warning that nothing moves, with the namespaces that hold Clusters.
pub(super) async fn nothing_to_move(source: &ManagementCluster, request: &MoveRequest) -> PreflightProblem {
    let hint = other_namespaces_hint(source, &request.namespaces).await;
    problem(format!("no objects to move in {}", namespaces_text(&request.namespaces)), hint)
}

/// Returns the problems of a backup that would be empty, or empty for a requested namespace. A typing error must not
/// replace a good backup.
pub(super) async fn nothing_to_save(
    source: &ManagementCluster,
    request: &MoveRequest,
    plan: &MovePlan,
) -> Vec<PreflightProblem> {
    let empty = empty_namespaces(plan, request);
    if empty.is_empty() {
        let hint = "create a Cluster first, or select another management cluster with `--kubeconfig`";
        let nothing = || problem("cannot back up the management cluster: it has no Clusters", hint);
        return plan.selection.moving().next().is_none().then(nothing).into_iter().collect();
    }
    // Without permission to read namespaces, a missing namespace counts as empty.
    let states = namespace_states(source, empty.iter().copied()).await.unwrap_or_default();
    let hint = other_namespaces_hint(source, &request.namespaces).await;
    let empty = empty.into_iter().map(|name| {
        let why = match states.get(name) {
            Some(NamespaceState::Missing) => "it does not exist",
            _ => "it has no Clusters",
        };
        problem(format!("cannot back up namespace `{name}`: {why}"), hint.clone())
    });
    empty.collect()
}

/// Returns the problems of a restore from requested namespaces without saved Clusters. A typing error must not look like a
/// complete restore.
pub(super) fn nothing_to_restore(plan: &MovePlan, request: &MoveRequest) -> Vec<PreflightProblem> {
    let clusters = clusters_in_namespaces(&plan.discovered.graph, &BTreeSet::new());
    let saved: BTreeSet<&str> = clusters.into_iter().map(|key| key.namespace.as_str()).collect();
    let hint = match saved.len() {
        0 => "no namespace has saved Clusters".to_owned(),
        _ => format!("these namespaces have saved Clusters: {}", quoted(saved)),
    };
    let empty = empty_namespaces(plan, request).into_iter();
    let text = |name| format!("cannot restore namespace `{name}`: it has no saved Clusters");
    empty.map(|name| problem(text(name), hint.clone())).collect()
}

/// Returns the requested namespaces from which nothing is taken. A choice of some Clusters has already found each of them,
/// in some of the namespaces.
fn empty_namespaces<'r>(plan: &MovePlan, request: &'r MoveRequest) -> BTreeSet<&'r str> {
    let taken: BTreeSet<&str> =
        plan.selection.moving().map(|node| plan.facts(node).key.namespace.as_str()).collect();
    let all = request.clusters == ClusterChoice::All;
    let requested = request.namespaces.iter().filter(|_| all).map(String::as_str);
    requested.filter(|name| !taken.contains(name)).collect()
}

/// Returns a hint that names the other namespaces with Clusters. Without permission to list Clusters, the hint is a
/// command.
async fn other_namespaces_hint(source: &ManagementCluster, excluded: &BTreeSet<String>) -> String {
    match namespaces_with_clusters(source, excluded).await.as_deref() {
        Err(_) => "list Clusters with `kubectl get clusters -A`".to_owned(),
        Ok([]) => "no other namespace has Clusters".to_owned(),
        Ok([only]) => format!("namespace `{only}` has a Cluster: add `--namespace {only}`"),
        Ok(several) => {
            format!("other namespaces have Clusters ({}): select them with `--namespace`", quoted(several))
        }
    }
}

fn quoted(names: impl IntoIterator<Item = impl std::fmt::Display>) -> String {
    first_few(&names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>())
}

/// Returns the other namespaces with Clusters, sorted.
async fn namespaces_with_clusters(
    source: &ManagementCluster,
    excluded: &BTreeSet<String>,
) -> Result<Vec<String>, ApiError> {
    let kind = source.server.kind(&GroupKind::new("cluster.x-k8s.io", "Cluster")).await?;
    let list = ListQuery { metadata_only: true, ..ListQuery::default() };
    let mut pages = source.server.pages(&kind, &list);
    let found = pages.gather(|found: &mut BTreeSet<String>, object| {
        if !excluded.contains(object.namespace()) {
            found.insert(object.namespace().to_owned());
        }
    });
    Ok(found.await?.into_iter().collect())
}
