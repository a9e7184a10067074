//! DaemonSets, with one Pod on the single Node, and StatefulSets, with numbered Pods.
//!
//! Source: kube-controller-manager 1.36 `pkg/controller/daemon` and `pkg/controller/statefulset`, run. Differs: a hash
//! identifies a template. ControllerRevisions do not exist; partitions and a start ordinal are ignored.

use serde_json::{Value, json};

use super::children::{
    claim, count, delete, is_active, is_ready, number, pod_from_template, set_count, short_hash, write_status,
};
use crate::{client::Client, controllers::Requeue, meta, status::Status};

/// The label of a Pod with the hash of its template.
const REVISION_LABEL: &str = "controller-revision-hash";

pub(super) async fn reconcile_daemon_set(client: &Client, set: Value) -> Result<Requeue, Status> {
    let revision = short_hash(&set["spec"]["template"]);
    let mut pods = claim(client, &set, "", "Pod").await?;
    pods.retain(is_active);
    let on_delete = set["spec"]["updateStrategy"]["type"] == "OnDelete";
    let (mut pods, outdated): (Vec<_>, Vec<_>) =
        pods.into_iter().partition(|pod| on_delete || revision_of(pod) == revision);
    for pod in outdated.iter().chain(pods.iter().skip(1)) {
        delete(client, pod).await?;
    }
    pods.truncate(1);
    if pods.is_empty() {
        let mut pod = pod_from_template(&set);
        let labels = &mut pod["metadata"]["labels"];
        labels[REVISION_LABEL] = revision.as_str().into();
        let generation = &set["metadata"]["annotations"]["deprecated.daemonset.template.generation"];
        if generation.is_string() {
            labels["pod-template-generation"] = generation.clone();
        }
        pods.push(client.create(pod).await?);
    }
    let ready = count(&pods, is_ready);
    let mut status = json!({
        "currentNumberScheduled": 1, "desiredNumberScheduled": 1, "numberMisscheduled": 0, "numberReady": ready,
        "observedGeneration": meta::generation(&set),
    });
    set_count(&mut status, "numberAvailable", ready);
    set_count(&mut status, "numberUnavailable", 1 - ready);
    set_count(&mut status, "updatedNumberScheduled", count(&pods, |pod| revision_of(pod) == revision));
    write_status(client, set, status).await?;
    Ok(Requeue::AwaitChange)
}

pub(super) async fn reconcile_stateful_set(client: &Client, set: Value) -> Result<Requeue, Status> {
    let revision = format!("{}-{}", meta::name(&set), short_hash(&set["spec"]["template"]));
    let mut pods = claim(client, &set, "", "Pod").await?;
    pods.sort_by_key(ordinal);
    match next_action(&set, &revision, &pods) {
        Some(PodAction::Create(ordinal)) => pods.push(client.create(pod(&set, &revision, ordinal)).await?),
        Some(PodAction::Delete(at)) => {
            // The deletion of the Pod triggers the next reconciliation.
            delete(client, &pods[at]).await?;
            return Ok(Requeue::AwaitChange);
        }
        None => {}
    }
    let (old, ready) = (&set["status"], count(&pods, is_ready));
    let updated = count(&pods, |pod| revision_of(pod) == revision);
    let wanted = number(&set["spec"]["replicas"]);
    let rolled_out = updated == wanted && ready == wanted && count(&pods, |_| true) == wanted;
    let current = old["currentRevision"].as_str().filter(|_| !rolled_out).unwrap_or(&revision);
    let mut status = json!({
        "replicas": pods.len(),
        "availableReplicas": ready,
        "collisionCount": old["collisionCount"].as_i64().unwrap_or_default(),
        "currentRevision": current,
        "updateRevision": revision,
        "observedGeneration": meta::generation(&set),
    });
    set_count(&mut status, "readyReplicas", ready);
    set_count(&mut status, "currentReplicas", count(&pods, |pod| revision_of(pod) == current));
    set_count(&mut status, "updatedReplicas", updated);
    write_status(client, set, status).await?;
    Ok(Requeue::AwaitChange)
}

#[derive(Debug, PartialEq, Eq)]
enum PodAction {
    /// Create the Pod with this ordinal.
    Create(i64),
    /// Delete the Pod with this index.
    Delete(usize),
}

/// Returns the next action: creates Pods from the lowest ordinal up, deletes Pods from the highest ordinal down.
/// Creations wait until all Pods are ready, unless the set is `Parallel`; replacements always wait. `pods` are sorted
/// by ordinal.
fn next_action(set: &Value, revision: &str, pods: &[Value]) -> Option<PodAction> {
    let spec = &set["spec"];
    let numbers = 0..number(&spec["replicas"]);
    if pods.iter().any(meta::is_deleting) {
        return None;
    }
    // A terminated Pod is deleted and created again.
    if let Some(at) = pods.iter().rposition(|pod| !numbers.contains(&ordinal(pod)) || !is_active(pod)) {
        return Some(PodAction::Delete(at));
    }
    let is_ready = pods.iter().all(is_ready);
    if !is_ready && spec["podManagementPolicy"] != "Parallel" {
        return None;
    }
    let missing = numbers.into_iter().find(|wanted| !pods.iter().any(|pod| ordinal(pod) == *wanted));
    let outdated = || pods.iter().rposition(|pod| is_ready && revision_of(pod) != revision);
    match missing {
        Some(missing) => Some(PodAction::Create(missing)),
        None if spec["updateStrategy"]["type"] == "OnDelete" => None,
        None => outdated().map(PodAction::Delete),
    }
}

/// The ordinal in the name of a Pod; -1 without an ordinal.
fn ordinal(pod: &Value) -> i64 {
    meta::name(pod).rsplit_once('-').and_then(|(_, number)| number.parse().ok()).unwrap_or(-1)
}

fn revision_of(pod: &Value) -> &str {
    pod["metadata"]["labels"][REVISION_LABEL].as_str().unwrap_or_default()
}

fn pod(set: &Value, revision: &str, ordinal: i64) -> Value {
    let mut pod = pod_from_template(set);
    let name = format!("{}-{ordinal}", meta::name(set));
    let labels = &mut pod["metadata"]["labels"];
    labels[REVISION_LABEL] = revision.into();
    labels["apps.kubernetes.io/pod-index"] = ordinal.to_string().into();
    labels["statefulset.kubernetes.io/pod-name"] = name.as_str().into();
    pod["spec"]["hostname"] = name.as_str().into();
    if let Some(service) = set["spec"].get("serviceName") {
        pod["spec"]["subdomain"] = service.clone();
    }
    meta::set(&mut pod, "name", name);
    pod
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pods(pods: &[(i64, &str, bool)]) -> Vec<Value> {
        let pod = |(ordinal, revision, ready): &(i64, &str, bool)| {
            let ready = if *ready { "True" } else { "False" };
            json!({
                "metadata": {"name": format!("s-{ordinal}"), "labels": {REVISION_LABEL: revision}},
                "status": {"conditions": [{"type": "Ready", "status": ready}]},
            })
        };
        pods.iter().map(pod).collect()
    }

    #[test]
    fn pods_are_created_in_order_and_deleted_in_reverse() {
        let patient = json!({"spec": {"replicas": 3}});
        let parallel = json!({"spec": {"replicas": 3, "podManagementPolicy": "Parallel"}});
        for (set, there, expected) in [
            (&patient, vec![], Some(PodAction::Create(0))),
            (&patient, vec![(0, "b", true)], Some(PodAction::Create(1))),
            (&patient, vec![(0, "b", false)], None),
            (&patient, vec![(0, "b", true), (1, "b", true), (2, "b", true)], None),
            (&patient, vec![(0, "a", true), (1, "a", true), (2, "b", false)], None),
            (&patient, vec![(0, "a", true), (1, "a", true), (2, "b", true)], Some(PodAction::Delete(1))),
            (
                &patient,
                vec![(0, "b", true), (1, "b", true), (2, "b", true), (3, "b", true)],
                Some(PodAction::Delete(3)),
            ),
            (&patient, vec![(0, "a", false), (1, "a", true), (2, "a", true)], None),
            (&parallel, vec![(1, "b", false)], Some(PodAction::Create(0))),
            (&parallel, vec![(0, "a", true), (1, "a", false), (2, "b", false)], None),
        ] {
            assert_eq!(next_action(set, "b", &pods(&there)), expected, "{set} {there:?}");
        }
    }
}
