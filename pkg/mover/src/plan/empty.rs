//! Choices that select nothing, and the namespaces that hold Clusters instead.

use std::collections::BTreeSet;

use apply::{ApiError, GroupKind, List};
use inventory::{ManagementCluster, Problem};

use super::{MovePlan, choose::spoken};
use crate::{
    ClusterChoice, MoveRequest,
    preflight::problem,
    target::{NamespaceState, namespaces_on_target},
};

/// The most namespaces that a hint names; it counts the rest.
const NAMED: usize = 10;

/// A warning that nothing moves, with the namespaces that hold Clusters.
pub(super) async fn nothing_to_move(source: &ManagementCluster, request: &MoveRequest) -> Problem {
    let hint = elsewhere(source, &request.namespaces).await;
    problem(format!("nothing to move in {}", spoken(&request.namespaces)), hint)
}

/// Problems of a backup that would hold nothing, or nothing of a namespace that the user has named: a typing error must not
/// replace a good backup.
pub(super) async fn nothing_to_save(
    source: &ManagementCluster,
    request: &MoveRequest,
    plan: &MovePlan,
) -> Vec<Problem> {
    let saved: BTreeSet<&str> =
        plan.selection.moving().map(|node| plan.facts(node).key.namespace.as_str()).collect();
    let is_empty = |name: &&String| !saved.contains(name.as_str());
    // A choice of Clusters has found each of them, in some of the namespaces.
    let all = request.clusters == ClusterChoice::All;
    let empty: BTreeSet<&str> =
        request.namespaces.iter().filter(|_| all).filter(is_empty).map(String::as_str).collect();
    if empty.is_empty() {
        let hint = "create a Cluster first, or name another management cluster with `--kubeconfig`";
        let nothing = || problem("cannot back up the management cluster: it holds no Clusters", hint);
        return saved.is_empty().then(nothing).into_iter().collect();
    }
    // Without the right to look at namespaces, a missing one holds nothing.
    let states = namespaces_on_target(source, empty.iter().copied()).await.unwrap_or_default();
    let hint = elsewhere(source, &request.namespaces).await;
    let empty = empty.into_iter().map(|name| {
        let why = match states.get(name) {
            Some(NamespaceState::Missing) => "it does not exist",
            _ => "it holds no Clusters",
        };
        problem(format!("cannot back up namespace `{name}`: {why}"), hint.clone())
    });
    empty.collect()
}

/// A hint that names the other namespaces with Clusters. A user without the right to list them gets a command.
async fn elsewhere(source: &ManagementCluster, but: &BTreeSet<String>) -> String {
    match inhabited(source, but).await.as_deref() {
        Err(_) => "`kubectl get clusters -A` lists the Clusters".to_owned(),
        Ok([]) => "there is no Cluster in any other namespace".to_owned(),
        Ok([only]) => format!("there is a Cluster in namespace `{only}`: name it with `--namespace`"),
        Ok(several) => {
            let names: Vec<String> = several.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
            let more = match several.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!(
                "there are Clusters in namespaces {}{more}: name them with `--namespace`",
                names.join(", ")
            )
        }
    }
}

/// The other namespaces that have Clusters, sorted.
async fn inhabited(source: &ManagementCluster, but: &BTreeSet<String>) -> Result<Vec<String>, ApiError> {
    let kind = source.server.kind(&GroupKind::new("cluster.x-k8s.io", "Cluster")).await?;
    let list = List { metadata_only: true, ..List::default() };
    let mut pages = source.server.pages(&kind, &list);
    let found = pages.gather(|found: &mut BTreeSet<String>, object| {
        if !but.contains(object.namespace()) {
            found.insert(object.namespace().to_owned());
        }
    });
    Ok(found.await?.into_iter().collect())
}
