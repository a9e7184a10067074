//! DaemonSets: one pod, on the one node.
//!
//! Source: kube-controller-manager 1.36 `pkg/controller/daemon`, run.

use serde_json::{Value, json};

use super::{
    children::{claim, count, delete, is_active, is_ready, pod_from_template, put, write_status},
    revisions::{self, History},
};
use crate::{client::Client, controllers::Next, meta, status::Status};

/// The hash of the template a pod was made from, and of a revision.
const HASH_LABEL: &str = "controller-revision-hash";

pub(super) async fn reconcile(client: &Client, set: Value) -> Result<Next, Status> {
    let history = revisions::history(client, &set, HASH_LABEL).await?;
    let mut pods = claim(client, &set, "", "Pod").await?;
    pods.retain(is_active);
    let on_delete = set["spec"]["updateStrategy"]["type"] == "OnDelete";
    let (mut pods, outdated): (Vec<_>, Vec<_>) =
        pods.into_iter().partition(|pod| on_delete || hash(pod) == hash(&history.current));
    for pod in outdated.iter().chain(pods.iter().skip(1)) {
        delete(client, pod).await?;
    }
    pods.truncate(1);
    if pods.is_empty() {
        pods.push(client.create(pod(&set, &history)).await?);
    }
    history.trim(client, &set, |revision| pods.iter().any(|pod| hash(pod) == hash(revision))).await?;
    let status = status(&set, &pods, hash(&history.current));
    write_status(client, set, status).await?;
    Ok(Next::Wait)
}

fn hash(object: &Value) -> Option<&str> {
    object["metadata"]["labels"][HASH_LABEL].as_str()
}

fn pod(set: &Value, history: &History) -> Value {
    let mut pod = pod_from_template(set);
    let labels = &mut pod["metadata"]["labels"];
    labels[HASH_LABEL] = history.current["metadata"]["labels"][HASH_LABEL].clone();
    let generation = &set["metadata"]["annotations"]["deprecated.daemonset.template.generation"];
    if generation.is_string() {
        labels["pod-template-generation"] = generation.clone();
    }
    pod
}

fn status(set: &Value, pods: &[Value], current: Option<&str>) -> Value {
    let ready = count(pods, is_ready);
    let mut status = json!({
        "currentNumberScheduled": pods.len(),
        "desiredNumberScheduled": 1,
        "numberMisscheduled": 0,
        "numberReady": ready,
        "observedGeneration": meta::generation(set),
    });
    put(&mut status, "numberAvailable", ready);
    put(&mut status, "numberUnavailable", 1 - ready);
    put(&mut status, "updatedNumberScheduled", count(pods, |pod| hash(pod) == current));
    status
}
