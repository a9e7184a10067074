//! The choice of Clusters.

use std::collections::BTreeSet;

use api::similar_names;
use apply::{ListQuery, ObjectKey, key_of};
use inventory::{ManagementCluster, PreflightProblem};
use workload::{ContentFacts, Graph, MoveChoice, ObjectFacts};

use crate::{
    ClusterChoice, MoveError, MoveRequest, MoveSide,
    preflight::{Findings, Stage, first_few, problem},
};

/// Returns the requested Clusters by namespace and name. A missing Cluster is a problem, and so is an empty choice.
/// A resumed move keeps its earlier choice, because deleted Clusters cannot be chosen again. If a finished move of the
/// same scope moved the Clusters (`is_moved`), missing Clusters are no problem.
pub(super) async fn choose_clusters(
    source: &ManagementCluster,
    graph: &Graph,
    request: &MoveRequest,
    stage: Stage<'_>,
    is_moved: bool,
    findings: &mut Findings,
) -> Result<MoveChoice, MoveError> {
    if let Stage::Started(journal) | Stage::Deleting(journal) = stage {
        return Ok(MoveChoice::from_names(&request.namespaces, journal.clusters.as_ref()));
    }
    let namespaces = request.namespaces.clone();
    let in_scope = clusters_in_namespaces(graph, &namespaces);
    let clusters = match &request.clusters {
        ClusterChoice::All => None,
        ClusterChoice::Named(names) => Some(find_named(names, &in_scope, is_moved, &mut findings.problems)),
        ClusterChoice::Labelled(selector) => {
            let labelled = find_labelled(source, &in_scope, selector).await?;
            if labelled.is_empty() && !is_moved {
                findings.problems.push(problem(
                    format!(
                        "no Cluster in {} matches the selector `{selector}`",
                        namespaces_text(&namespaces)
                    ),
                    "list Clusters and labels with `kubectl get clusters -A --show-labels`",
                ));
            }
            Some(labelled)
        }
    };
    Ok(MoveChoice { namespaces, clusters, ..MoveChoice::default() })
}

/// Returns the Clusters of these namespaces; all without namespaces.
pub(super) fn clusters_in_namespaces<'g>(
    graph: &'g Graph,
    namespaces: &BTreeSet<String>,
) -> Vec<&'g ObjectKey> {
    let clusters = graph.iter().filter(|(_, node)| matches!(node.facts.content, ContentFacts::Cluster(_)));
    let keys = clusters.map(|(_, node)| &node.facts.key);
    keys.filter(|key| namespaces.is_empty() || namespaces.contains(&key.namespace)).collect()
}

fn find_named(
    names: &BTreeSet<String>,
    there: &[&ObjectKey],
    is_moved: bool,
    problems: &mut Vec<PreflightProblem>,
) -> BTreeSet<(String, String)> {
    let mut chosen = BTreeSet::new();
    for text in names {
        let (namespace, name) = match text.split_once('/') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (None, text.as_str()),
        };
        let is_meant = |key: &&&ObjectKey| {
            key.name == name && namespace.is_none_or(|namespace| key.namespace == namespace)
        };
        let matching: Vec<&&ObjectKey> = there.iter().filter(is_meant).collect();
        match matching.as_slice() {
            [] if is_moved => {}
            [] => problems.push(unknown_cluster(text, name, there)),
            [key] => {
                chosen.insert((key.namespace.clone(), key.name.clone()));
            }
            several => {
                let places: Vec<String> =
                    several.iter().map(|key| format!("`{}/{}`", key.namespace, key.name)).collect();
                problems.push(problem(
                    format!("Cluster name `{text}` is ambiguous: {}", places.join(", ")),
                    "add its namespace: `NAMESPACE/NAME`",
                ));
            }
        }
    }
    chosen
}

fn unknown_cluster(text: &str, name: &str, there: &[&ObjectKey]) -> PreflightProblem {
    let near = similar_names(name, there.iter().map(|key| key.name.as_str()));
    let hint = match near.first() {
        Some(near) => format!("did you mean `{near}`?"),
        None if there.is_empty() => {
            "these namespaces have no Clusters; select others with `--namespace`".to_owned()
        }
        None => {
            let names: Vec<_> = there.iter().map(|key| format!("`{}/{}`", key.namespace, key.name)).collect();
            format!("select one of {}", first_few(&names))
        }
    };
    problem(format!("Cluster `{text}` does not exist in the selected namespaces"), hint)
}

/// Returns the Clusters that match a selector. The server evaluates the selector, so that the selector has its usual
/// meaning.
async fn find_labelled(
    source: &ManagementCluster,
    there: &[&ObjectKey],
    selector: &str,
) -> Result<BTreeSet<(String, String)>, MoveError> {
    let Some(first) = there.first() else { return Ok(BTreeSet::new()) };
    let api = |source| MoveError::Api { side: MoveSide::Source, source };
    let kind = source.server.kind(&first.group_kind()).await.map_err(api)?;
    let list = ListQuery { labels: selector.to_owned(), metadata_only: true, ..ListQuery::default() };
    let found = source.server.list(&kind, &list).await.map_err(api)?;
    let found: BTreeSet<ObjectKey> = found.iter().map(key_of).collect();
    let labelled = there.iter().filter(|key| found.contains(**key));
    Ok(labelled.map(|key| (key.namespace.clone(), key.name.clone())).collect())
}

pub(super) fn namespaces_text(namespaces: &BTreeSet<String>) -> String {
    match namespaces.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().as_slice() {
        [] => "any namespace".to_owned(),
        [only] => format!("namespace {only}"),
        several => format!("namespaces {}", several.join(", ")),
    }
}

/// Checks that each kind with a requested status is among the moving objects and has a status.
pub(super) fn check_status_kinds(
    moving: &[&ObjectFacts],
    wanted: &BTreeSet<String>,
) -> Vec<PreflightProblem> {
    let is_named = |facts: &&&ObjectFacts, name: &str| {
        let kind = &facts.object_type.kind;
        let full = format!("{}.{}", kind.kind, kind.group).to_lowercase();
        full == name || full.split('.').next() == Some(name)
    };
    let check = |name: &String| {
        let mut of_kind =
            moving.iter().filter(|facts| is_named(facts, name)).map(|facts| facts.object_type.has_status);
        let text = match of_kind.next() {
            None => format!("cannot copy the status of kind `{name}`: no object of this kind moves"),
            Some(false) => format!("cannot copy the status of kind `{name}`: its objects have no status"),
            Some(true) => return None,
        };
        Some(problem(text, "correct the kind, for example `--include-status dockermachine`"))
    };
    wanted.iter().filter_map(check).collect()
}
