//! ReplicaSets: create and delete Pods until their number matches.
//!
//! Source: kube-controller-manager 1.36 `pkg/controller/replicaset`, run.

use std::time::Duration;

use serde_json::{Value, json};

use super::children::{
    BURST, claim, count, delete, is_active, is_ready, number, pod_from_template, set_count, write_status,
};
use crate::{
    client::Client, conditions, controllers::Requeue, meta, selector::LabelSelector, status::Status,
};

/// The pause before Pods that could not be created are retried.
const RETRY: Duration = Duration::from_secs(1);

/// The condition that explains a wrong number of Pods.
pub(super) const FAILURE: &str = "ReplicaFailure";

/// The reason and the message of a failed change of the number of Pods.
type Failure = (&'static str, String);

pub(super) async fn reconcile(client: &Client, set: Value) -> Result<Requeue, Status> {
    let (mut pods, ended): (Vec<_>, Vec<_>) =
        claim(client, &set, "", "Pod").await?.into_iter().partition(is_active);
    let failure = scale(client, &set, &mut pods).await.err();
    let next = if failure.is_some() { Requeue::After(RETRY) } else { Requeue::AwaitChange };
    let terminating = count(&ended, meta::is_deleting);
    let status = status(&set, &pods, terminating, failure, &client.now());
    write_status(client, set, status).await?;
    Ok(next)
}

/// Creates missing Pods or deletes surplus Pods: first Pods that are not ready, then the newest Pods.
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
    set_count(&mut status, "fullyLabeledReplicas", count(pods, |pod| labels.matches_object(pod)));
    set_count(&mut status, "readyReplicas", ready);
    set_count(&mut status, "availableReplicas", ready);
    if let Some((reason, message)) = failure {
        // Keeps the first failure until Pods can be created again, because the message of each attempt names another
        // Pod.
        let previous = conditions::find(&set["status"], FAILURE).cloned();
        let new = || conditions::build(&set["status"], FAILURE, "True", reason, &message, now);
        status["conditions"] = json!([previous.unwrap_or_else(new)]);
    }
    status
}
