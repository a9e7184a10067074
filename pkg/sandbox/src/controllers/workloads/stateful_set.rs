//! StatefulSets: pods with numbers, one after the other.
//!
//! Source: kube-controller-manager 1.36 `pkg/controller/statefulset`, run. A partition keeps pods from being updated;
//! one that is made anew is made from the newest template all the same.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{
    BURST,
    children::{claim, count, delete, is_active, is_ready, number, pod_from_template, put, write_status},
    revisions,
};
use crate::{client::Client, controllers::Next, meta, status::Status};

/// The revision a pod was made from.
const REVISION_LABEL: &str = "controller-revision-hash";
/// The hash on a revision.
const HASH_LABEL: &str = "controller.kubernetes.io/hash";
const INDEX_LABEL: &str = "apps.kubernetes.io/pod-index";

pub(super) async fn reconcile(client: &Client, set: Value) -> Result<Next, Status> {
    let history = revisions::history(client, &set, HASH_LABEL).await?;
    let revision = meta::name(&history.current).to_owned();
    let mut pods = claim(client, &set, "", "Pod").await?;
    pods.sort_by_key(ordinal);
    match next(&set, &revision, &pods) {
        Some(Act::Make(ordinals)) => {
            for ordinal in ordinals {
                pods.push(client.create(pod(&set, &revision, ordinal)).await?);
            }
        }
        Some(Act::Delete(at)) => {
            // Its end is a change, after which the set is looked at again.
            delete(client, &pods[at]).await?;
            return Ok(Next::Wait);
        }
        None => {}
    }
    let in_use = |name: &str| pods.iter().any(|pod| revision_of(pod) == name);
    history.trim(client, &set, |old| in_use(meta::name(old))).await?;
    let status = status(&set, &revision, &pods);
    write_status(client, set, status).await?;
    Ok(Next::Wait)
}

/// What is to be done next.
#[derive(Debug, PartialEq, Eq)]
enum Act {
    /// Make the pods with these numbers.
    Make(Vec<i64>),
    /// Delete the pod at this place.
    Delete(usize),
}

/// The next act: too many pods and outdated ones go from the highest number down, missing ones come from the lowest up;
/// each waits for the others to be ready, unless the set says otherwise. `pods` are sorted by their numbers.
fn next(set: &Value, revision: &str, pods: &[Value]) -> Option<Act> {
    let spec = &set["spec"];
    let start = number(&spec["ordinals"]["start"]);
    let numbers = start..start.saturating_add(number(&spec["replicas"]));
    let patient = spec["podManagementPolicy"] != "Parallel";
    if pods.iter().any(meta::is_deleting) {
        return None;
    }
    // A pod that has ended is made again.
    if let Some(at) = pods.iter().rposition(|pod| !numbers.contains(&ordinal(pod)) || !is_active(pod)) {
        return Some(Act::Delete(at));
    }
    let there: HashSet<i64> = pods.iter().map(ordinal).collect();
    let mut missing = numbers.filter(|wanted| !there.contains(wanted));
    if !patient {
        let missing: Vec<i64> = missing.take(BURST).collect();
        return if missing.is_empty() { outdated(set, revision, pods) } else { Some(Act::Make(missing)) };
    }
    let unready = pods.iter().find(|pod| !is_ready(pod)).map(ordinal);
    match (missing.next(), unready) {
        (Some(first), Some(unready)) if unready < first => None,
        (Some(first), _) => Some(Act::Make(vec![first])),
        (None, Some(_)) => None,
        (None, None) => outdated(set, revision, pods),
    }
}

/// The outdated pod that goes next, as long as those above it are ready.
fn outdated(set: &Value, revision: &str, pods: &[Value]) -> Option<Act> {
    let strategy = &set["spec"]["updateStrategy"];
    let kept = number(&strategy["rollingUpdate"]["partition"]);
    if strategy["type"] == "OnDelete" {
        return None;
    }
    let updated = |pod: &Value| revision_of(pod) == revision;
    let at = pods.iter().rposition(|pod| !updated(pod) || !is_ready(pod))?;
    (ordinal(&pods[at]) >= kept && !updated(&pods[at])).then_some(Act::Delete(at))
}

/// The number at the end of a pod's name; a pod without one is nobody's.
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
    labels[INDEX_LABEL] = ordinal.to_string().into();
    labels["statefulset.kubernetes.io/pod-name"] = name.as_str().into();
    pod["spec"]["hostname"] = name.as_str().into();
    if let Some(service) = set["spec"].get("serviceName") {
        pod["spec"]["subdomain"] = service.clone();
    }
    meta::set(&mut pod, "name", name);
    pod
}

fn status(set: &Value, revision: &str, pods: &[Value]) -> Value {
    let old = &set["status"];
    let ready = count(pods, is_ready);
    let updated = count(pods, |pod| revision_of(pod) == revision);
    let wanted = number(&set["spec"]["replicas"]);
    let rolled_out = updated == wanted && ready == wanted && count(pods, |_| true) == wanted;
    let current = old["currentRevision"].as_str().filter(|_| !rolled_out).unwrap_or(revision);
    let mut status = json!({
        "replicas": pods.len(),
        "availableReplicas": ready,
        "collisionCount": old["collisionCount"].as_i64().unwrap_or_default(),
        "currentRevision": current,
        "updateRevision": revision,
        "observedGeneration": meta::generation(set),
    });
    put(&mut status, "readyReplicas", ready);
    put(&mut status, "currentReplicas", count(pods, |pod| revision_of(pod) == current));
    put(&mut status, "updatedReplicas", updated);
    status
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
    fn pods_come_upwards_and_go_downwards_one_after_the_other() {
        let patient = json!({"spec": {"replicas": 3}});
        let parallel = json!({"spec": {"replicas": 3, "podManagementPolicy": "Parallel"}});
        let many = json!({"spec": {"replicas": i32::MAX, "podManagementPolicy": "Parallel"}});
        let kept = json!({"spec": {"replicas": 2, "updateStrategy": {"rollingUpdate": {"partition": 1}}}});
        for (set, there, expected) in [
            (&patient, vec![], Some(Act::Make(vec![0]))),
            (&patient, vec![(0, "b", true)], Some(Act::Make(vec![1]))),
            (&patient, vec![(0, "b", false)], None),
            (&patient, vec![(1, "b", false)], Some(Act::Make(vec![0]))),
            (&patient, vec![(0, "b", true), (1, "b", true), (2, "b", true)], None),
            (&patient, vec![(0, "a", true), (1, "a", true), (2, "b", false)], None),
            (&patient, vec![(0, "a", true), (1, "a", true), (2, "b", true)], Some(Act::Delete(1))),
            (&patient, vec![(0, "a", false), (1, "a", true), (2, "a", true)], None),
            (&parallel, vec![(1, "b", false)], Some(Act::Make(vec![0, 2]))),
            (&kept, vec![(0, "a", true), (1, "a", true), (2, "a", true)], Some(Act::Delete(2))),
            (&parallel, vec![(0, "a", true), (1, "a", false), (2, "b", false)], None),
            (&parallel, vec![(0, "a", true), (1, "a", false), (2, "b", true)], Some(Act::Delete(1))),
            (&kept, vec![(0, "a", true), (1, "a", true)], Some(Act::Delete(1))),
            (&kept, vec![(0, "a", true), (1, "b", true)], None),
            (&many, vec![], Some(Act::Make((0..).take(BURST).collect()))),
        ] {
            assert_eq!(next(set, "b", &pods(&there)), expected, "{set} {there:?}");
        }
    }
}
