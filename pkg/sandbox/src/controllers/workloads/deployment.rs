//! Deployments: one ReplicaSet for each template.
//!
//! Source: kube-controller-manager 1.36 `pkg/controller/deployment` (`rolling.go`, `recreate.go`, `progress.go`,
//! `sync.go`), run.

use serde_json::{Value, json};

use super::{
    children::{NEVER_READY, claim, controller_reference, delete, number, set_count, short_hash},
    replica_set::FAILURE,
};
use crate::{client::Client, conditions, controllers::Requeue, meta, status::Status};

const HASH_LABEL: &str = "pod-template-hash";
const REVISION: &str = "deployment.kubernetes.io/revision";
const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
const DESIRED_REPLICAS: &str = "deployment.kubernetes.io/desired-replicas";
const MAX_REPLICAS: &str = "deployment.kubernetes.io/max-replicas";
/// Annotations that ReplicaSets do not copy from their Deployment.
const SKIPPED_ANNOTATIONS: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    REVISION_HISTORY,
    DESIRED_REPLICAS,
    MAX_REPLICAS,
    "deprecated.deployment.rollback.to",
];

pub(super) async fn reconcile(client: &Client, mut deployment: Value) -> Result<Requeue, Status> {
    let limits = RolloutLimits::of(&deployment);
    let mut old = claim(client, &deployment, "apps", "ReplicaSet").await?;
    let mut new = old.iter().position(|set| has_template_of(set, &deployment)).map(|at| old.remove(at));
    let revision = old.iter().map(revision_of).max().unwrap_or_default() + 1;
    if deployment["spec"]["paused"] == true {
        scale_paused(client, &deployment, limits, new.iter_mut().chain(&mut old)).await?;
    } else {
        let counts: Vec<PodCounts> = old.iter().map(PodCounts::of).collect();
        let in_use = new.as_ref().map(PodCounts::of).unwrap_or_default();
        let (wanted, targets) = next_replicas(limits, in_use, &counts);
        new = Some(match new {
            Some(set) => {
                let revision = revision.max(revision_of(&set));
                client.update(with_replicas(&deployment, set, limits, revision, wanted)).await?
            }
            None => client.create(new_set(&deployment, limits, revision, wanted)).await?,
        });
        for (set, target) in old.iter_mut().zip(targets) {
            *set = scale_to(client, &deployment, set, limits, target).await?;
        }
    }
    if let Some(new) = &new {
        meta::metadata_mut(&mut deployment).entry("annotations").or_insert(json!({}))[REVISION] =
            revision_of(new).to_string().into();
    }
    let status = build(&deployment, limits, new.as_ref(), &old, &client.now());
    if is_complete(&deployment, limits, &status) {
        clean_up_history(client, &deployment, &old).await?;
    }
    // The server stores nothing if the status is unchanged.
    deployment["status"] = status;
    client.update_status(deployment).await?;
    Ok(Requeue::AwaitChange)
}

/// Scales a paused Deployment if at most one of its ReplicaSets has Pods.
async fn scale_paused<'a>(
    client: &Client,
    deployment: &Value,
    limits: RolloutLimits,
    sets: impl Iterator<Item = &'a mut Value>,
) -> Result<(), Status> {
    let mut sets: Vec<&mut Value> = sets.collect();
    let in_use = sets.iter().filter(|set| number(&set["spec"]["replicas"]) > 0).count();
    let found = match in_use {
        0 => sets.first_mut(),
        1 => sets.iter_mut().find(|set| number(&set["spec"]["replicas"]) > 0),
        _ => None,
    };
    if let Some(set) = found {
        **set = scale_to(client, deployment, set, limits, limits.desired).await?;
    }
    Ok(())
}

/// Scales a ReplicaSet if its number of Pods differs.
async fn scale_to(
    client: &Client,
    deployment: &Value,
    set: &Value,
    limits: RolloutLimits,
    replicas: i64,
) -> Result<Value, Status> {
    if number(&set["spec"]["replicas"]) == replicas {
        return Ok(set.clone());
    }
    let revision = revision_of(set);
    client.update(with_replicas(deployment, set.clone(), limits, revision, replicas)).await
}

/// Deletes the oldest ReplicaSets without Pods that exceed the revision history limit.
async fn clean_up_history(client: &Client, deployment: &Value, old: &[Value]) -> Result<(), Status> {
    let Some(limit) = deployment["spec"]["revisionHistoryLimit"].as_u64() else { return Ok(()) };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let is_empty = |set: &&Value| {
        number(&set["spec"]["replicas"]) == 0
            && number(&set["status"]["replicas"]) == 0
            && !meta::is_deleting(set)
    };
    let mut kept: Vec<&Value> = old.iter().filter(is_empty).collect();
    kept.sort_by_key(|set| revision_of(set));
    for set in kept.iter().take(kept.len().saturating_sub(limit)) {
        delete(client, set).await?;
    }
    Ok(())
}

/// The revision of a ReplicaSet; 0 if absent.
fn revision_of(set: &Value) -> i64 {
    let text = set["metadata"]["annotations"][REVISION].as_str();
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// True if a ReplicaSet has the current template of a Deployment.
fn has_template_of(set: &Value, deployment: &Value) -> bool {
    let mut template = set["spec"]["template"].clone();
    if let Some(labels) = template["metadata"]["labels"].as_object_mut() {
        labels.remove(HASH_LABEL);
    }
    template == deployment["spec"]["template"]
}

fn new_set(deployment: &Value, limits: RolloutLimits, revision: i64, replicas: i64) -> Value {
    let spec = &deployment["spec"];
    let hash = short_hash(&spec["template"]);
    let mut template = spec["template"].clone();
    template["metadata"]["labels"][HASH_LABEL] = hash.as_str().into();
    let mut selector = spec["selector"].clone();
    selector["matchLabels"][HASH_LABEL] = hash.as_str().into();
    let mut set_spec = json!({"selector": selector, "template": template});
    if let Some(seconds) = spec.get("minReadySeconds") {
        set_spec["minReadySeconds"] = seconds.clone();
    }
    let set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": format!("{}-{hash}", meta::name(deployment)),
            "namespace": meta::namespace(deployment),
            "labels": set_spec["template"]["metadata"]["labels"],
            "ownerReferences": [controller_reference(deployment)],
        },
        "spec": set_spec,
    });
    with_replicas(deployment, set, limits, revision, replicas)
}

/// Changes the number of Pods of a ReplicaSet and copies the annotations of its Deployment. A reused ReplicaSet records
/// its previous revisions.
fn with_replicas(
    deployment: &Value,
    mut set: Value,
    limits: RolloutLimits,
    revision: i64,
    replicas: i64,
) -> Value {
    let before = revision_of(&set);
    set["spec"]["replicas"] = replicas.into();
    let annotations = meta::metadata_mut(&mut set).entry("annotations").or_insert(json!({}));
    if let Some(annotations) = annotations.as_object_mut() {
        annotations.remove(NEVER_READY);
        let given = meta::field(deployment, "annotations").and_then(Value::as_object).into_iter().flatten();
        let given = given.filter(|(name, _)| !SKIPPED_ANNOTATIONS.contains(&name.as_str()));
        annotations.extend(given.map(|(name, value)| (name.clone(), value.clone())));
        if before != 0 && before != revision {
            let history = annotations.get(REVISION_HISTORY).and_then(Value::as_str);
            let history = history.map_or_else(|| before.to_string(), |older| format!("{older},{before}"));
            annotations.insert(REVISION_HISTORY.to_owned(), history.into());
        }
        let most = limits.desired + limits.surge;
        for (name, number) in [(REVISION, revision), (DESIRED_REPLICAS, limits.desired), (MAX_REPLICAS, most)]
        {
            annotations.insert(name.to_owned(), number.to_string().into());
        }
    }
    set
}

/// The reason of the condition `Progressing` after a complete rollout.
const COMPLETE: &str = "NewReplicaSetAvailable";

/// Builds the status of a Deployment with these ReplicaSets.
fn build(deployment: &Value, limits: RolloutLimits, new: Option<&Value>, old: &[Value], now: &str) -> Value {
    let sum = |part: &str, field: &str| -> i64 {
        new.into_iter().chain(old).map(|set| number(&set[part][field])).sum()
    };
    let available = sum("status", "availableReplicas");
    let mut status = json!({
        "observedGeneration": meta::generation(deployment),
        "terminatingReplicas": sum("status", "terminatingReplicas"),
    });
    set_count(&mut status, "replicas", sum("status", "replicas"));
    set_count(&mut status, "readyReplicas", sum("status", "readyReplicas"));
    set_count(&mut status, "availableReplicas", available);
    set_count(&mut status, "updatedReplicas", new.map_or(0, |set| number(&set["status"]["replicas"])));
    set_count(&mut status, "unavailableReplicas", (sum("spec", "replicas") - available).max(0));
    if let Some(collisions) = deployment["status"].get("collisionCount") {
        status["collisionCount"] = collisions.clone();
    }
    let mut conditions = vec![
        availability(deployment, limits, available, now),
        progress(deployment, limits, new, &status, now),
    ];
    conditions.extend(new.into_iter().chain(old).find_map(|set| {
        let failure = conditions::find(&set["status"], FAILURE)?;
        let text = |field: &str| failure[field].as_str().unwrap_or_default();
        Some(condition(deployment, FAILURE, "True", text("reason"), text("message"), now))
    }));
    status["conditions"] = conditions.into();
    status
}

/// True if all existing Pods have the newest template and the desired number is available.
fn is_complete(deployment: &Value, limits: RolloutLimits, status: &Value) -> bool {
    status["observedGeneration"] == meta::generation(deployment)
        && ["updatedReplicas", "replicas", "availableReplicas"]
            .iter()
            .all(|field| number(&status[*field]) == limits.desired)
}

fn availability(deployment: &Value, limits: RolloutLimits, available: i64, now: &str) -> Value {
    let (status, reason, message) = if available >= limits.desired - limits.unavailable {
        ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    } else {
        ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    };
    condition(deployment, "Available", status, reason, message, now)
}

fn progress(
    deployment: &Value,
    limits: RolloutLimits,
    new: Option<&Value>,
    status: &Value,
    now: &str,
) -> Value {
    let subject = new.map_or_else(
        || format!("Deployment {:?}", meta::name(deployment)),
        |set| format!("ReplicaSet {:?}", meta::name(set)),
    );
    let done = format!("{subject} has successfully progressed.");
    // A complete rollout stays complete even if its Pods fail.
    let was_complete = conditions::find(&deployment["status"], "Progressing")
        .is_some_and(|condition| condition["reason"] == COMPLETE && condition["message"] == done.as_str())
        && status["replicas"] == status["updatedReplicas"];
    let (value, reason, message) = if deployment["spec"]["paused"] == true {
        ("Unknown", "DeploymentPaused", "Deployment is paused".to_owned())
    } else if was_complete || is_complete(deployment, limits, status) {
        ("True", COMPLETE, done)
    } else {
        ("True", "ReplicaSetUpdated", format!("{subject} is progressing."))
    };
    condition(deployment, "Progressing", value, reason, &message, now)
}

/// A condition with the time of its last change in addition to the time of its last transition.
fn condition(deployment: &Value, kind: &str, status: &str, reason: &str, message: &str, now: &str) -> Value {
    let old = &deployment["status"];
    let mut condition = conditions::build(old, kind, status, reason, message, now);
    let same = conditions::find(old, kind)
        .filter(|old| ["status", "reason", "message"].iter().all(|field| old[*field] == condition[*field]));
    condition["lastUpdateTime"] =
        same.map_or_else(|| json!(now), |condition| condition["lastUpdateTime"].clone());
    condition
}

/// The rollout parameters of a Deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RolloutLimits {
    /// The desired number of Pods.
    desired: i64,
    /// The maximum number of additional Pods during a rollout.
    surge: i64,
    /// The maximum number of unavailable Pods during a rollout.
    unavailable: i64,
    /// True if old Pods are deleted before new Pods are created.
    recreate: bool,
}

/// The numbers of Pods of a ReplicaSet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PodCounts {
    /// The desired number.
    desired: i64,
    existing: i64,
    /// The number of available Pods, at most the desired number.
    available: i64,
}

impl RolloutLimits {
    fn of(deployment: &Value) -> Self {
        let spec = &deployment["spec"];
        let wanted = number(&spec["replicas"]);
        if spec["strategy"]["type"] == "Recreate" {
            return Self { desired: wanted, surge: 0, unavailable: 0, recreate: true };
        }
        let rolling = &spec["strategy"]["rollingUpdate"];
        let surge = resolve_count(&rolling["maxSurge"], wanted, 99);
        let unavailable = resolve_count(&rolling["maxUnavailable"], wanted, 0);
        // If both round to zero, the rollout cannot proceed.
        let unavailable = if surge == 0 { unavailable.max(1) } else { unavailable };
        Self { desired: wanted, surge, unavailable: unavailable.min(wanted), recreate: false }
    }
}

/// A number, or a percentage of `whole`, rounded down after `add` hundredths are added.
fn resolve_count(value: &Value, whole: i64, add: i64) -> i64 {
    let percent = value.as_str().and_then(|text| text.strip_suffix('%')?.parse::<i64>().ok());
    percent.map_or_else(|| number(value), |percent| (percent.saturating_mul(whole).saturating_add(add)) / 100)
}

impl PodCounts {
    fn of(set: &Value) -> Self {
        let wanted = number(&set["spec"]["replicas"]);
        let available = number(&set["status"]["availableReplicas"]).min(wanted);
        Self { desired: wanted, existing: number(&set["status"]["replicas"]), available }
    }
}

/// Returns the next number of Pods of the new ReplicaSet and of each old ReplicaSet (oldest first). If nothing changes,
/// the rollout is complete or waits for Pods.
fn next_replicas(limits: RolloutLimits, new: PodCounts, old: &[PodCounts]) -> (i64, Vec<i64>) {
    let stay = || old.iter().map(|set| set.desired).collect::<Vec<_>>();
    if limits.recreate {
        let is_empty = old.iter().all(|set| set.desired == 0 && set.existing == 0);
        return (if is_empty { limits.desired } else { new.desired }, vec![0; old.len()]);
    }
    let total = new.desired + old.iter().map(|set| set.desired).sum::<i64>();
    let room = (limits.desired + limits.surge - total).max(0);
    let target = limits.desired.min(new.desired.saturating_add(room));
    if target != new.desired {
        return (target, stay());
    }
    let needed = limits.desired - limits.unavailable;
    let mut spare = total - needed - (new.desired - new.available);
    let mut spare_available = new.available + old.iter().map(|set| set.available).sum::<i64>() - needed;
    let mut targets = stay();
    for (target, set) in targets.iter_mut().zip(old) {
        // The deletion of unavailable Pods does not reduce availability.
        let dead = (set.desired - set.available).min(spare).max(0);
        *target -= dead;
        spare -= dead;
    }
    for target in &mut targets {
        let dropped = (*target).min(spare_available).min(spare).max(0);
        *target -= dropped;
        spare -= dropped;
        spare_available -= dropped;
    }
    (target, targets)
}

#[cfg(test)]
mod rollout_tests {
    use serde_json::json;

    use super::*;

    fn counts(desired: i64, available: i64) -> PodCounts {
        PodCounts { desired, existing: desired, available }
    }

    #[test]
    fn surge_is_rounded_up_and_unavailability_down() {
        for (replicas, surge, unavailable, expected) in [
            (2, json!("25%"), json!("25%"), (1, 0)),
            (10, json!("25%"), json!("25%"), (3, 2)),
            (4, json!(2), json!(1), (2, 1)),
            (3, json!(0), json!("10%"), (0, 1)),
            (0, json!("25%"), json!("25%"), (0, 0)),
        ] {
            let deployment = json!({"spec": {"replicas": replicas, "strategy": {"rollingUpdate":
                {"maxSurge": surge, "maxUnavailable": unavailable}}}});
            let limits = RolloutLimits::of(&deployment);
            assert_eq!((limits.surge, limits.unavailable), expected, "{deployment}");
        }
    }

    #[test]
    fn a_rollout_respects_its_limits_and_ends() {
        let limits = RolloutLimits { desired: 4, surge: 1, unavailable: 1, recreate: false };
        let (mut new, mut old) = (counts(0, 0), vec![counts(1, 0), counts(4, 4)]);
        let mut steps = Vec::new();
        loop {
            let (target, targets) = next_replicas(limits, new, &old);
            let next: Vec<_> = targets.iter().map(|target| counts(*target, *target)).collect();
            let done = (target, next.as_slice()) == (new.desired, old.as_slice());
            (new, old) = (counts(target, target), next);
            if done {
                break;
            }
            let available = new.available + old.iter().map(|set| set.available).sum::<i64>();
            assert!((3..=5).contains(&available), "{new:?} {old:?}");
            steps.push(new.desired);
        }
        assert_eq!((new, old), (counts(4, 4), vec![counts(0, 0); 2]));
        assert!(steps.len() > 2, "{steps:?}");
    }

    #[test]
    fn a_rollout_with_unready_pods_keeps_available_ones() {
        let limits = RolloutLimits { desired: 2, surge: 1, unavailable: 0, recreate: false };
        assert_eq!(next_replicas(limits, counts(0, 0), &[counts(2, 2)]), (1, vec![2]));
        assert_eq!(next_replicas(limits, counts(1, 0), &[counts(2, 2)]), (1, vec![2]));
    }

    #[test]
    fn recreation_waits_for_the_deletion_of_old_pods() {
        let limits = RolloutLimits { desired: 2, surge: 0, unavailable: 0, recreate: true };
        assert_eq!(next_replicas(limits, counts(0, 0), &[counts(2, 2)]), (0, vec![0]));
        let terminating = PodCounts { desired: 0, existing: 1, available: 0 };
        assert_eq!(next_replicas(limits, counts(0, 0), &[terminating]), (0, vec![0]));
        assert_eq!(next_replicas(limits, counts(0, 0), &[counts(0, 0)]), (2, vec![0]));
    }
}
