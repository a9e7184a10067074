//! Jobs, whose Pods always succeed.
//!
//! Source: kube-controller-manager 1.36 `pkg/controller/job`, run. Differs: Pods are counted without the finalizer that
//! keeps finished Pods in a real cluster, and Pods of indexed Jobs have no index.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::children::{
    BURST, claim, count, delete, is_active, is_ready, number, pod_from_template, set_count, write_status,
};
use crate::{client::Client, conditions, controllers::Requeue, status::Status};

pub(super) async fn reconcile(client: &Client, job: Value) -> Result<Requeue, Status> {
    let mut ends = ["Complete", "Failed"].into_iter().filter_map(|end| conditions::find(&job["status"], end));
    if let Some(ended) = ends.find(|end| end["status"] == "True") {
        return expire(client, &job, ended).await;
    }
    let mut pods = claim(client, &job, "", "Pod").await?;
    let succeeded =
        count(&pods, |pod| pod["status"]["phase"] == "Succeeded").max(number(&job["status"]["succeeded"]));
    pods.retain(is_active);
    let suspended = job["spec"]["suspend"] == true;
    let wanted = if suspended { 0 } else { desired_pods(&job["spec"], succeeded) };
    let wanted = usize::try_from(wanted).unwrap_or_default();
    let wanted = wanted.clamp(pods.len().saturating_sub(BURST), pods.len() + BURST);
    while pods.len() < wanted {
        pods.push(client.create(pod_from_template(&job)).await?);
    }
    for pod in pods.split_off(wanted) {
        delete(client, &pod).await?;
    }
    let status = status(&job, &pods, succeeded, &client.now());
    write_status(client, job, status).await?;
    Ok(Requeue::AwaitChange)
}

/// The number of Pods to run concurrently. If the Job has no completions, one success ends the Job.
fn desired_pods(spec: &Value, succeeded: i64) -> i64 {
    let parallelism = number(&spec["parallelism"]);
    match spec["completions"].as_i64() {
        Some(completions) => parallelism.min(completions - succeeded).max(0),
        None if succeeded > 0 => 0,
        None => parallelism,
    }
}

fn status(job: &Value, active: &[Value], succeeded: i64, now: &str) -> Value {
    let (old, spec) = (&job["status"], &job["spec"]);
    let mut status =
        json!({"ready": count(active, is_ready), "terminating": 0, "uncountedTerminatedPods": {}});
    set_count(&mut status, "active", count(active, |_| true));
    set_count(&mut status, "succeeded", succeeded);
    let suspended = spec["suspend"] == true;
    if !suspended {
        status["startTime"] = old.get("startTime").cloned().unwrap_or_else(|| json!(now));
    }
    let condition = |kind: &str, value: &str, reason: &str, message: &str| {
        let mut condition = conditions::build(old, kind, value, reason, message, now);
        condition["lastProbeTime"] = condition["lastTransitionTime"].clone();
        condition
    };
    let mut conditions: Vec<Value> = Vec::new();
    if suspended {
        conditions.push(condition("Suspended", "True", "JobSuspended", "Job suspended"));
    } else if conditions::find(old, "Suspended").is_some() {
        conditions.push(condition("Suspended", "False", "JobResumed", "Job resumed"));
    }
    if !suspended && succeeded >= spec["completions"].as_i64().unwrap_or(1) && active.is_empty() {
        let message = "Reached expected number of succeeded pods";
        for kind in ["SuccessCriteriaMet", "Complete"] {
            conditions.push(condition(kind, "True", "CompletionsReached", message));
        }
        status["completionTime"] = now.into();
    }
    if !conditions.is_empty() {
        status["conditions"] = conditions.into();
    }
    status
}

/// Deletes a finished Job after its time to live.
/// Source: kube-controller-manager 1.36 `pkg/controller/ttlafterfinished`.
async fn expire(client: &Client, job: &Value, ended: &Value) -> Result<Requeue, Status> {
    let Some(seconds) = job["spec"]["ttlSecondsAfterFinished"].as_u64() else {
        return Ok(Requeue::AwaitChange);
    };
    let time = |text: &str| text.parse::<Timestamp>().ok();
    let since = ended["lastTransitionTime"].as_str().and_then(time);
    let age = since.zip(time(&client.now())).map(|(since, now)| now.as_second() - since.as_second());
    let left = seconds.saturating_sub(age.and_then(|age| u64::try_from(age).ok()).unwrap_or_default());
    if left > 0 {
        return Ok(Requeue::After(Duration::from_secs(left)));
    }
    delete(client, job).await?;
    Ok(Requeue::AwaitChange)
}
