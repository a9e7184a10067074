//! ReplicaSets: as many pods as they ask for.
//!
//! Source: kube-controller-manager 1.36 `pkg/controller/replicaset`, run.

use std::time::Duration;

use serde_json::{Value, json};

use super::children::{
    BURST, claim, count, delete, is_active, is_ready, number, pod_from_template, put, write_status,
};
use crate::{
    client::Client,
    controllers::{Next, conditions},
    meta,
    selector::LabelSelector,
    status::Status,
};

/// When pods that could not be made are tried again.
const RETRY: Duration = Duration::from_secs(1);

/// The condition that tells why there are not as many pods as there should be.
pub(super) const FAILURE: &str = "ReplicaFailure";

/// What a change of the number of pods failed with: the reason of the condition, and its message.
type Failure = (&'static str, String);

pub(super) async fn reconcile(client: &Client, set: Value) -> Result<Next, Status> {
    let (mut pods, ended): (Vec<_>, Vec<_>) =
        claim(client, &set, "", "Pod").await?.into_iter().partition(is_active);
    let failure = scale(client, &set, &mut pods).await.err();
    let next = if failure.is_some() { Next::After(RETRY) } else { Next::Wait };
    let terminating = count(&ended, meta::is_deleting);
    let status = status(&set, &pods, terminating, failure, &client.now());
    write_status(client, set, status).await?;
    Ok(next)
}

/// Makes the pods that are missing, or deletes those that are too many: first what is not ready, then the newest.
async fn scale(client: &Client, set: &Value, pods: &mut Vec<Value>) -> Result<(), Failure> {
    let wanted = usize::try_from(number(&set["spec"]["replicas"])).unwrap_or_default();
    let wanted = wanted.clamp(pods.len().saturating_sub(BURST), pods.len() + BURST);
    while pods.len() < wanted {
        let pod = client.create(pod_from_template(set)).await;
        pods.push(pod.map_err(|status| ("FailedCreate", status.message))?);
    }
    pods.sort_by_key(|pod| !is_ready(pod));
    while pods.len() > wanted
        && let Some(pod) = pods.pop()
    {
        delete(client, &pod).await.map_err(|status| ("FailedDelete", status.message))?;
    }
    Ok(())
}

fn status(set: &Value, pods: &[Value], terminating: i64, failure: Option<Failure>, now: &str) -> Value {
    let ready = count(pods, is_ready);
    let labels = LabelSelector::of_map(&set["spec"]["template"]["metadata"]["labels"]);
    let mut status = json!({
        "replicas": pods.len(),
        "terminatingReplicas": terminating,
        "observedGeneration": meta::generation(set),
    });
    put(&mut status, "fullyLabeledReplicas", count(pods, |pod| labels.matches_object(pod)));
    put(&mut status, "readyReplicas", ready);
    put(&mut status, "availableReplicas", ready);
    if let Some((reason, message)) = failure {
        // The first failure is told of until it is over: another attempt has another name in its message.
        let told = conditions::find(&set["status"], FAILURE).cloned();
        let new = || conditions::next(&set["status"], FAILURE, "True", reason, &message, now);
        status["conditions"] = json!([told.unwrap_or_else(new)]);
    }
    status
}
