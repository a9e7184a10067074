//! Lists the workload clusters of a management cluster, one line each.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use apply::{ApiKind, GroupKind, ListQuery, ObjectKey, Server};
use futures::{future::join_all, join};
use inventory::{ContractError, ManagementCluster};
use jiff::Timestamp;
use manifest::{Object, Value};

use super::{
    DescribeError, PATIENCE,
    conditions::{self, Condition, ConditionSet},
    kinds::{self, Contracts},
    read::{AT_ONCE, FEW},
    take::{Texts, reference},
    tree::MachineCounts,
};

/// A request to list Clusters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetRequest {
    /// The namespace; `None` for all namespaces.
    pub namespace: Option<String>,
    /// A label selector; empty for all Clusters.
    pub labels: String,
}

/// The result of listing Clusters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fleet {
    /// The Clusters, sorted by namespace and name.
    pub clusters: Vec<ClusterSummary>,
    /// If there are no Clusters: the number of Clusters in each other namespace.
    pub elsewhere: BTreeMap<String, usize>,
}

/// The summary of one Cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterSummary {
    /// The namespace of the Cluster.
    pub namespace: String,
    /// The name of the Cluster.
    pub name: String,
    /// The ClusterClass; `None` without a topology.
    pub class: Option<String>,
    /// The phase, such as `Provisioned`; empty if unknown.
    pub phase: String,
    /// The condition `Available`, else `Ready`.
    pub health: Option<Condition>,
    /// True if the Cluster is paused.
    pub is_paused: bool,
    /// True if the Cluster is being deleted.
    pub is_deleting: bool,
    /// The desired Kubernetes version: from the topology, else from the control plane.
    pub version: Option<Arc<str>>,
    /// The machines of the control plane.
    pub control_plane: MachineCounts,
    /// The worker machines.
    pub workers: MachineCounts,
    /// The creation time.
    pub created: Option<Timestamp>,
}

/// A Cluster, and the control plane that provides its version.
struct Listed {
    summary: ClusterSummary,
    control_plane: Option<ObjectKey>,
}

/// Lists Clusters with their health. Writes nothing.
///
/// Reads Clusters and control planes kind by kind in pages. Apart from pages, the number of requests does not depend on
/// the number of Clusters.
/// # Errors
/// The server does not serve this contract of Cluster API, or Clusters cannot be listed. An error for control planes is
/// only a warning.
pub async fn list_clusters(
    cluster: &ManagementCluster,
    request: &FleetRequest,
) -> Result<Fleet, DescribeError> {
    let server = cluster.server.retrying_for(PATIENCE);
    let list = |labels: &str| ListQuery {
        namespace: request.namespace.clone(),
        labels: labels.to_owned(),
        ..ListQuery::default()
    };
    let kind = kinds::cluster();
    let (chosen, all) = (list(&request.labels), list(""));
    let (contracts, listed) = join!(Contracts::ask(&server), listed(&server, &kind, &chosen));
    let contracts = contracts?;
    let mut listed = match listed {
        Err(error) if error.is_not_found() => return Err(not_served(&contracts, &kind)),
        listed => listed?,
    };
    add_versions(cluster, &server, &contracts, &all, &mut listed).await;
    let mut clusters: Vec<ClusterSummary> = listed.into_iter().map(|listed| listed.summary).collect();
    clusters.sort_unstable_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
    let is_elsewhere = clusters.is_empty() && request.namespace.is_some();
    let elsewhere = if is_elsewhere { elsewhere(&server, &kind, request).await } else { BTreeMap::new() };
    Ok(Fleet { clusters, elsewhere })
}

/// Returns the error for a server without Clusters in the version of the contract.
pub(super) fn not_served(contracts: &Contracts, kind: &ApiKind) -> DescribeError {
    match contracts.kinds().preferred(&kind.group_kind()) {
        None => ContractError::NotInstalled.into(),
        Some(served) => {
            let found = api::Contract::new(&*served.version);
            ContractError::Unsupported { found, accepted: vec![api::Contract::CURRENT] }.into()
        }
    }
}

async fn listed(server: &Server, kind: &ApiKind, list: &ListQuery) -> Result<Vec<Listed>, apply::ApiError> {
    let mut texts = Texts::default();
    let mut pages = server.pages(kind, list).with_size(AT_ONCE);
    pages
        .gather(|taken: &mut Vec<Listed>, object| {
            taken.push(Listed {
                control_plane: reference(&object, &["spec", "controlPlaneRef"]),
                summary: ClusterSummary::of(&object, &mut texts),
            });
        })
        .await
}

/// Adds the versions of control planes, kind by kind.
async fn add_versions(
    cluster: &ManagementCluster,
    server: &Server,
    contracts: &Contracts,
    list: &ListQuery,
    listed: &mut [Listed],
) {
    let mut wanted: BTreeMap<GroupKind, BTreeSet<ObjectKey>> = BTreeMap::new();
    for one in listed.iter().filter(|one| one.summary.version.is_none()) {
        if let Some(key) = &one.control_plane {
            wanted.entry(key.group_kind()).or_default().insert(key.clone());
        }
    }
    let kinds = wanted.into_iter().filter_map(|(kind, keys)| Some((contracts.read_as(&kind)?.0, keys)));
    let read = kinds.map(async |(kind, keys)| (versions(server, &kind, list, &keys).await, kind));
    let mut known: BTreeMap<ObjectKey, Arc<str>> = BTreeMap::new();
    for (versions, kind) in join_all(read).await {
        match versions {
            Ok(versions) => known.extend(versions),
            Err(error) => cluster.warn(format!(
                "cannot read the versions of {}: {}",
                kind.plural,
                api::with_causes(&error)
            )),
        }
    }
    for one in listed {
        if let Some(version) = one.control_plane.as_ref().and_then(|key| known.get(key)) {
            one.summary.version.get_or_insert_with(|| Arc::clone(version));
        }
    }
}

/// Reads the versions of some control planes; a small number is read one by one.
async fn versions(
    server: &Server,
    kind: &ApiKind,
    list: &ListQuery,
    keys: &BTreeSet<ObjectKey>,
) -> Result<Vec<(ObjectKey, Arc<str>)>, apply::ApiError> {
    let mut texts = Texts::default();
    let mut version = |object: &Object| {
        let version = object.get(&["spec", "version"])?.as_str()?;
        Some((ObjectKey::of(object), texts.one(version)))
    };
    if keys.len() > FEW {
        let mut pages = server.pages(kind, list).with_size(AT_ONCE);
        return pages.gather(|taken: &mut Vec<_>, object| taken.extend(version(&object))).await;
    }
    let read = join_all(keys.iter().map(|key| server.get(kind, &key.namespace, &key.name))).await;
    let objects = read.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(objects.iter().flatten().filter_map(version).collect())
}

/// Counts the Clusters in other namespaces. Empty if the user may not list them.
async fn elsewhere(server: &Server, kind: &ApiKind, request: &FleetRequest) -> BTreeMap<String, usize> {
    let all = ListQuery { labels: request.labels.clone(), metadata_only: true, ..ListQuery::default() };
    let mut namespaces = BTreeMap::new();
    for other in server.list(kind, &all).await.unwrap_or_default() {
        *namespaces.entry(other.namespace().to_owned()).or_default() += 1;
    }
    namespaces
}

impl ClusterSummary {
    fn of(object: &Object, texts: &mut Texts) -> Self {
        let text = |path: &[&str]| object.get(path).and_then(Value::as_str).filter(|text| !text.is_empty());
        let conditions = conditions::of_core(object, ConditionSet::V1Beta2, texts);
        let condition = |wanted: &str| conditions.iter().find(|one| *one.condition_type == *wanted);
        Self {
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
            class: text(&["spec", "topology", "classRef", "name"]).map(str::to_owned),
            phase: text(&["status", "phase"]).unwrap_or_default().to_owned(),
            health: condition("Available").or_else(|| condition("Ready")).cloned(),
            is_paused: object.get(&["spec", "paused"]).and_then(Value::as_bool).unwrap_or_default(),
            is_deleting: object.get(&["metadata", "deletionTimestamp"]).is_some_and(|time| !time.is_null()),
            version: text(&["spec", "topology", "version"]).map(|version| texts.one(version)),
            control_plane: counts(object, "controlPlane"),
            workers: counts(object, "workers"),
            created: text(&["metadata", "creationTimestamp"]).and_then(|time| time.parse().ok()),
        }
    }
}

fn counts(object: &Object, part: &str) -> MachineCounts {
    let count = |field: &str| object.get(&["status", part, field]).and_then(Value::as_i64);
    MachineCounts {
        desired: count("desiredReplicas"),
        current: count("replicas"),
        available: count("availableReplicas"),
        ready: count("readyReplicas"),
        up_to_date: count("upToDateReplicas"),
    }
}
