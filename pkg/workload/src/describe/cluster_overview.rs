//! Lists the workload clusters of a management cluster, one line each.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use api::output::ReplicaCounts;
use apply::{ApiKind, GroupKind, ListQuery, ObjectKey, Server, key_of};
use futures::{future::join_all, join};
use inventory::{ContractError, ManagementCluster};
use jiff::Timestamp;
use manifest::{Object, Value};

use super::{
    DescribeError, REQUEST_TIMEOUT,
    conditions::{self, Condition, ConditionSet},
    extract::{InternedTexts, v1beta2_reference},
    kinds::{self, ContractVersions},
    read::{MAX_SINGLE_READS, PAGE_SIZE},
};

/// A request to list Clusters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterOverviewRequest {
    /// The namespace; `None` for all namespaces.
    pub namespace: Option<String>,
    /// A label selector; empty for all Clusters.
    pub labels: String,
}

/// The result of listing Clusters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterOverview {
    /// The Clusters, sorted by namespace and name.
    pub clusters: Vec<ClusterSummary>,
    /// If there are no Clusters: the number of Clusters in each other namespace.
    pub other_namespaces: BTreeMap<String, usize>,
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
    pub control_plane: ReplicaCounts,
    /// The worker machines.
    pub workers: ReplicaCounts,
    /// The creation time.
    pub created: Option<Timestamp>,
}

/// A Cluster, and the control plane that provides its version.
struct ListedCluster {
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
    request: &ClusterOverviewRequest,
) -> Result<ClusterOverview, DescribeError> {
    let server = cluster.server.retrying_for(REQUEST_TIMEOUT);
    let list = |labels: &str| ListQuery {
        namespace: request.namespace.clone(),
        labels: labels.to_owned(),
        ..ListQuery::default()
    };
    let kind = kinds::cluster_kind();
    let (selected, all) = (list(&request.labels), list(""));
    let (contracts, listed) =
        join!(ContractVersions::read(&server), read_clusters(&server, &kind, &selected));
    let contracts = contracts?;
    let mut listed = match listed {
        Err(error) if error.is_not_found() => return Err(unsupported_contract(&contracts, &kind)),
        listed => listed?,
    };
    add_versions(cluster, &server, &contracts, &all, &mut listed).await;
    let mut clusters: Vec<ClusterSummary> = listed.into_iter().map(|listed| listed.summary).collect();
    clusters.sort_unstable_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
    let is_elsewhere = clusters.is_empty() && request.namespace.is_some();
    let elsewhere =
        if is_elsewhere { count_in_other_namespaces(&server, &kind, request).await } else { BTreeMap::new() };
    Ok(ClusterOverview { clusters, other_namespaces: elsewhere })
}

/// Returns the error for a server without Clusters in the version of the contract.
pub(super) fn unsupported_contract(contracts: &ContractVersions, kind: &ApiKind) -> DescribeError {
    match contracts.kinds().preferred(&kind.group_kind()) {
        None => ContractError::NotInstalled.into(),
        Some(served) => {
            let found = api::Contract::new(&*served.version);
            ContractError::Unsupported { found, accepted: vec![api::Contract::CURRENT] }.into()
        }
    }
}

async fn read_clusters(
    server: &Server,
    kind: &ApiKind,
    list: &ListQuery,
) -> Result<Vec<ListedCluster>, apply::ApiError> {
    let mut texts = InternedTexts::default();
    let mut pages = server.pages(kind, list).with_size(PAGE_SIZE);
    pages
        .gather(|taken: &mut Vec<ListedCluster>, object| {
            taken.push(ListedCluster {
                control_plane: v1beta2_reference(&object, &["spec", "controlPlaneRef"]),
                summary: ClusterSummary::of(&object, &mut texts),
            });
        })
        .await
}

/// Adds the versions of control planes, kind by kind.
async fn add_versions(
    cluster: &ManagementCluster,
    server: &Server,
    contracts: &ContractVersions,
    list: &ListQuery,
    listed: &mut [ListedCluster],
) {
    let mut wanted: BTreeMap<GroupKind, BTreeSet<ObjectKey>> = BTreeMap::new();
    for one in listed.iter().filter(|one| one.summary.version.is_none()) {
        if let Some(key) = &one.control_plane {
            wanted.entry(key.group_kind()).or_default().insert(key.clone());
        }
    }
    let kinds =
        wanted.into_iter().filter_map(|(kind, keys)| Some((contracts.version_to_read(&kind)?.0, keys)));
    let read = kinds.map(async |(kind, keys)| (read_versions(server, &kind, list, &keys).await, kind));
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
async fn read_versions(
    server: &Server,
    kind: &ApiKind,
    list: &ListQuery,
    keys: &BTreeSet<ObjectKey>,
) -> Result<Vec<(ObjectKey, Arc<str>)>, apply::ApiError> {
    let mut texts = InternedTexts::default();
    let mut version = |object: &Object| {
        let version = object.get(&["spec", "version"])?.as_str()?;
        Some((key_of(object), texts.intern(version)))
    };
    if keys.len() > MAX_SINGLE_READS {
        let mut pages = server.pages(kind, list).with_size(PAGE_SIZE);
        return pages.gather(|taken: &mut Vec<_>, object| taken.extend(version(&object))).await;
    }
    let read = join_all(keys.iter().map(|key| server.get(kind, &key.namespace, &key.name))).await;
    let objects = read.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(objects.iter().flatten().filter_map(version).collect())
}

/// Counts the Clusters in other namespaces. Empty if the user may not list them.
async fn count_in_other_namespaces(
    server: &Server,
    kind: &ApiKind,
    request: &ClusterOverviewRequest,
) -> BTreeMap<String, usize> {
    let all = ListQuery { labels: request.labels.clone(), metadata_only: true, ..ListQuery::default() };
    let mut namespaces = BTreeMap::new();
    for other in server.list(kind, &all).await.unwrap_or_default() {
        *namespaces.entry(other.namespace().to_owned()).or_default() += 1;
    }
    namespaces
}

impl ClusterSummary {
    fn of(object: &Object, texts: &mut InternedTexts) -> Self {
        let text = |path: &[&str]| object.get(path).and_then(Value::as_str).filter(|text| !text.is_empty());
        let conditions = conditions::core_conditions(object, ConditionSet::V1Beta2, texts);
        let condition = |wanted: &str| conditions.iter().find(|one| *one.condition_type == *wanted);
        Self {
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
            class: text(&["spec", "topology", "classRef", "name"]).map(str::to_owned),
            phase: text(&["status", "phase"]).unwrap_or_default().to_owned(),
            health: condition("Available").or_else(|| condition("Ready")).cloned(),
            is_paused: object.get(&["spec", "paused"]).and_then(Value::as_bool).unwrap_or_default(),
            is_deleting: object.get(&["metadata", "deletionTimestamp"]).is_some_and(|time| !time.is_null()),
            version: text(&["spec", "topology", "version"]).map(|version| texts.intern(version)),
            control_plane: counts(object, "controlPlane"),
            workers: counts(object, "workers"),
            created: text(&["metadata", "creationTimestamp"]).and_then(|time| time.parse().ok()),
        }
    }
}

fn counts(object: &Object, part: &str) -> ReplicaCounts {
    let count = |field: &str| object.get(&["status", part, field]).and_then(Value::as_i64);
    ReplicaCounts {
        desired: count("desiredReplicas"),
        current: count("replicas"),
        available: count("availableReplicas"),
        ready: count("readyReplicas"),
        up_to_date: count("upToDateReplicas"),
    }
}
