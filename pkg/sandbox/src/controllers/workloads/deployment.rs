//! Deployments: one ReplicaSet for each template.
//!
//! Source: kube-controller-manager 1.36 `pkg/controller/deployment`, run.

mod rollout;
mod status;

use serde_json::{Value, json};

use self::rollout::{PodCounts, RolloutLimits};
use super::children::{NEVER_READY, claim, controller_reference, delete, number, short_hash};
use crate::{client::Client, controllers::Requeue, meta, status::Status};

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
        let (wanted, targets) = rollout::next_replicas(limits, in_use, &counts);
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
    let status = status::build(&deployment, limits, new.as_ref(), &old, &client.now());
    if status::is_complete(&deployment, limits, &status) {
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
