//! Clusters that would run twice after a restore. Two management clusters, or two Clusters of one management cluster,
//! would reconcile the same machines.

use std::collections::{BTreeMap, BTreeSet};

use apply::{ApiError, GroupKind, ListQuery, ObjectKey};
use inventory::ManagementCluster;
use manifest::{Object, Value};
use workload::NodeId;

use super::{MovePlan, overwrite::endpoint, restore::is_paused};
use crate::{
    MoveRequest, RestoreOptions,
    preflight::{Findings, problem},
    restore::{SavedContent, SavedObjects},
};

const CORE: &str = "cluster.x-k8s.io";
/// The kinds that show the machines of a Cluster.
const FINGERPRINT_KINDS: [&str; 3] = ["Cluster", "Machine", "MachinePool"];
/// Page size of the lists.
const PAGE_SIZE: usize = 250;

/// Facts that identify a Cluster under another name.
#[derive(Clone, Debug, Default)]
struct Fingerprint {
    uid: String,
    is_paused: bool,
    /// Address of the API server, `host:port`.
    endpoint: Option<String>,
    /// Kind, namespace and name of the infrastructure.
    infrastructure: Option<String>,
    /// Provider IDs of the machines.
    provider_ids: BTreeSet<String>,
}

/// Clusters by namespace and name.
#[derive(Debug, Default)]
struct Fingerprints(BTreeMap<(String, String), Fingerprint>);

/// A Cluster that a restore creates and resumes.
struct RestoreCandidate<'p> {
    saved: &'p ObjectKey,
    /// Key on the target.
    key: ObjectKey,
    fingerprint: Fingerprint,
}

/// A management cluster that may run the same Clusters.
struct CheckedCluster<'c> {
    cluster: &'c ManagementCluster,
    /// True if the objects were saved on this cluster.
    is_source: bool,
    is_target: bool,
}

/// Finds Clusters that run on the target under another name, or on the source, and that the restore would run as well.
///
/// A source that the user has not named is not asked; a warning says so.
pub(super) async fn check_duplicate_clusters(
    target: &ManagementCluster,
    plan: &MovePlan,
    saved: &SavedObjects,
    request: &MoveRequest,
    options: RestoreOptions<'_>,
) -> Result<Findings, ApiError> {
    let mut findings = Findings::default();
    let candidates = candidates(plan, saved, request);
    if options.paused || candidates.is_empty() {
        return Ok(findings);
    }
    let is_source = match &saved.source {
        Some(source) => target.identity().await?.uid == source.uid,
        None => false,
    };
    let running_here = match read_fingerprints(target).await {
        Ok(here) => here,
        Err(error) if error.is_forbidden() => {
            findings.warnings.push(problem(
                format!(
                    "cannot check whether the Clusters already run on this cluster: {}",
                    api::with_causes(&error)
                ),
                "request permission to list Clusters and Machines in all namespaces",
            ));
            return Ok(findings);
        }
        Err(error) => return Err(error),
    };
    let runs_in_place = |candidate: &RestoreCandidate<'_>| {
        let place = (candidate.key.namespace.clone(), candidate.key.name.clone());
        running_here.0.get(&place).is_some_and(|there| !there.is_paused)
    };
    let candidates: Vec<RestoreCandidate<'_>> =
        candidates.into_iter().filter(|candidate| !runs_in_place(candidate)).collect();
    let place = CheckedCluster { cluster: target, is_source, is_target: true };
    place.check(&candidates, &running_here, &mut findings);
    match (options.source, &saved.source) {
        (Some(source), of) => {
            check_source(source, of.as_ref().map(|of| &*of.uid), &candidates, &mut findings).await;
        }
        (None, Some(of)) if !is_source && !candidates.is_empty() => findings.warnings.push(problem(
            format!("cannot check whether the Clusters still run on the source cluster `{}`", of.address),
            "if the source cluster may still run, set it with `--source-kubeconfig`, or restore with `--paused`",
        )),
        _ => {}
    }
    Ok(findings)
}

/// Looks for the Clusters on the source cluster that the user named.
async fn check_source(
    source: &ManagementCluster,
    uid: Option<&str>,
    candidates: &[RestoreCandidate<'_>],
    findings: &mut Findings,
) {
    let fingerprints =
        async { Ok::<_, ApiError>((source.identity().await?.uid, read_fingerprints(source).await?)) };
    match fingerprints.await {
        Ok((own, there)) => {
            let place = CheckedCluster { cluster: source, is_source: uid == Some(&own), is_target: false };
            place.check(candidates, &there, findings);
        }
        Err(error) => findings.problems.push(problem(
            format!("cannot look for running Clusters on the source cluster: {}", api::with_causes(&error)),
            "if that cluster is lost, omit `--source-kubeconfig` and `--source-sandbox`",
        )),
    }
}

/// Returns the saved Clusters that would run after the restore.
fn candidates<'p>(
    plan: &'p MovePlan,
    saved: &SavedObjects,
    request: &MoveRequest,
) -> Vec<RestoreCandidate<'p>> {
    let mut prints = Fingerprints::default();
    let mut clusters: Vec<NodeId> = Vec::new();
    for node in plan.selection.moving() {
        let key = &plan.facts(node).key;
        if key.group != CORE || !FINGERPRINT_KINDS.contains(&&*key.kind) {
            continue;
        }
        let Some(content) = saved.by_uid(&plan.facts(node).uid) else { continue };
        if let Some(object) = SavedContent::object(content) {
            prints.add(&object);
        }
        if key.kind == "Cluster" && !content.stays_paused {
            clusters.push(node);
        }
    }
    let candidate = |node: NodeId| {
        let saved = &plan.facts(node).key;
        let place = (saved.namespace.clone(), saved.name.clone());
        let fingerprint = prints.0.get(&place).cloned().unwrap_or_default();
        RestoreCandidate { saved, key: plan.key_on_target(node, request), fingerprint }
    };
    clusters.into_iter().map(candidate).collect()
}

/// Returns the Clusters of a management cluster, in all namespaces.
async fn read_fingerprints(cluster: &ManagementCluster) -> Result<Fingerprints, ApiError> {
    let mut all = Fingerprints::default();
    for kind in FINGERPRINT_KINDS {
        let kind = match cluster.server.kind(&GroupKind::new(CORE, kind)).await {
            Err(error) if error.is_not_found() => continue,
            kind => kind?,
        };
        let mut pages = cluster.server.pages(&kind, &ListQuery::default()).with_size(PAGE_SIZE);
        let found: Fingerprints = pages.gather(|found: &mut Fingerprints, object| found.add(&object)).await?;
        all.merge(found);
    }
    // Machines without their Cluster are ignored.
    all.0.retain(|_, one| !one.uid.is_empty());
    Ok(all)
}

impl Fingerprints {
    fn add(&mut self, object: &Object) {
        let text = |path: &[&str]| object.get(path).and_then(Value::as_str).filter(|text| !text.is_empty());
        let namespace = object.namespace().to_owned();
        let cluster = match object.kind() {
            "Cluster" => object.name(),
            _ => text(&["spec", "clusterName"]).unwrap_or_default(),
        };
        let one = self.0.entry((namespace.clone(), cluster.to_owned())).or_default();
        if object.kind() == "Cluster" {
            let reference = |field| text(&["spec", "infrastructureRef", field]);
            let namespace = reference("namespace").unwrap_or(&namespace);
            let named = reference("kind").zip(reference("name"));
            text(&["metadata", "uid"]).unwrap_or_default().clone_into(&mut one.uid);
            one.is_paused = is_paused(object);
            one.endpoint = endpoint(object);
            one.infrastructure = named.map(|(kind, name)| format!("{kind} {namespace}/{name}"));
        }
        one.provider_ids.extend(text(&["spec", "providerID"]).map(str::to_owned));
        let pool = object.get(&["spec", "providerIDList"]).and_then(Value::as_array);
        let pool = pool.into_iter().flatten().filter_map(Value::as_str);
        one.provider_ids.extend(pool.map(str::to_owned));
    }

    fn merge(&mut self, other: Self) {
        for (place, mut one) in other.0 {
            let known = self.0.entry(place).or_default();
            known.provider_ids.append(&mut one.provider_ids);
            if !one.uid.is_empty() {
                one.provider_ids.append(&mut known.provider_ids);
                *known = one;
            }
        }
    }
}

impl CheckedCluster<'_> {
    fn check(&self, candidates: &[RestoreCandidate<'_>], there: &Fingerprints, found: &mut Findings) {
        for candidate in candidates {
            for ((namespace, name), one) in there.0.iter().filter(|(_, one)| !one.is_paused) {
                let is_at = |key: &ObjectKey| key.namespace == *namespace && key.name == *name;
                if self.is_target && is_at(&candidate.key) {
                    continue;
                }
                let Some(why) = self.matching_fact(candidate, one, is_at(candidate.saved)) else { continue };
                let place = if self.is_target {
                    "on this cluster".to_owned()
                } else {
                    format!("on `{}`", self.cluster.server.address())
                };
                let key = &candidate.key;
                found.problems.push(problem(
                    format!("{key} would run twice: Cluster {namespace}/{name} runs {place} with the same {why}"),
                    "restore a paused copy with `--paused`, delete or pause the running Cluster first, or use `move`",
                ));
            }
        }
    }

    /// Returns the fact that shows that a running Cluster is the saved one.
    fn matching_fact(
        &self,
        candidate: &RestoreCandidate<'_>,
        there: &Fingerprint,
        has_its_name: bool,
    ) -> Option<String> {
        let saved = &candidate.fingerprint;
        if saved.uid == there.uid {
            return Some("uid".to_owned());
        }
        if let Some(id) = saved.provider_ids.intersection(&there.provider_ids).next() {
            return Some(format!("provider ID `{id}`"));
        }
        if saved.endpoint.is_some() && saved.endpoint == there.endpoint {
            return saved.endpoint.as_ref().map(|endpoint| format!("endpoint `{endpoint}`"));
        }
        // A name stands for the same machines only on the source cluster.
        if self.is_source && saved.infrastructure.is_some() && saved.infrastructure == there.infrastructure {
            return saved.infrastructure.as_ref().map(|object| format!("infrastructure `{object}`"));
        }
        (self.is_source && has_its_name).then(|| "name".to_owned())
    }
}
