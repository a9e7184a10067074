//! Pods and Jobs.

use jiff::{SignedDuration, Timestamp};
use manifest::{Object, Value};

use super::{Conditions, Health, Status, integer, text};

/// The time for scheduling after which an unscheduled Pod counts as failed.
const SCHEDULE_WINDOW: SignedDuration = SignedDuration::from_secs(15);

pub(super) fn pod(object: &Object, conditions: &Conditions<'_>, now: Timestamp) -> Status {
    match text(object, &["status", "phase"]) {
        "Succeeded" | "Failed" => Status::current(),
        "Running" => running(object, conditions),
        "Pending" => pending(object, conditions, now),
        "" => Status::in_progress("not scheduled yet"),
        phase => Status::of(Health::Unknown, format!("unknown phase `{phase}`")),
    }
}

fn running(object: &Object, conditions: &Conditions<'_>) -> Status {
    if conditions.get_true("Ready").is_some() {
        return Status::current();
    }
    let mut waiting = waiting_in(object, "containerStatuses");
    if let Some(crashing) = waiting.find(|container| container.reason == "CrashLoopBackOff") {
        return Status::of(Health::Failed, crashing.describe());
    }
    let ready = || conditions.get("Ready").map(super::Condition::describe);
    let words = first_waiting(object).or_else(ready);
    Status::in_progress(words.unwrap_or_else(|| "running, not ready".to_owned()))
}

fn pending(object: &Object, conditions: &Conditions<'_>, now: Timestamp) -> Status {
    let unscheduled = conditions.get("PodScheduled").filter(|condition| condition.status == "False");
    if let Some(condition) = unscheduled.filter(|condition| condition.reason == "Unschedulable") {
        let created = text(object, &["metadata", "creationTimestamp"]).parse::<Timestamp>();
        let is_new = created.is_ok_and(|created| now.duration_since(created) < SCHEDULE_WINDOW);
        let health = if is_new { Health::InProgress } else { Health::Failed };
        return Status::of(health, condition.describe());
    }
    Status::in_progress(first_waiting(object).unwrap_or_else(|| "pending".to_owned()))
}

/// A container that has not started, with the reason.
struct WaitingContainer<'a> {
    name: &'a str,
    reason: &'a str,
    message: &'a str,
}

impl WaitingContainer<'_> {
    fn describe(&self) -> String {
        let Self { name, reason, message } = self;
        if message.is_empty() {
            format!("container {name}: {reason}")
        } else {
            format!("container {name}: {message} ({reason})")
        }
    }
}

/// Returns the reason of the first waiting container; init containers come first.
fn first_waiting(object: &Object) -> Option<String> {
    let init = waiting_in(object, "initContainerStatuses");
    init.chain(waiting_in(object, "containerStatuses")).next().map(|container| container.describe())
}

/// Returns the containers of a list that wait and report a reason.
fn waiting_in<'a>(object: &'a Object, list: &str) -> impl Iterator<Item = WaitingContainer<'a>> + use<'a> {
    let containers = object.get(&["status", list]).and_then(Value::as_array);
    containers.into_iter().flatten().filter_map(|container| {
        let waiting = container.get("state")?.get("waiting")?;
        Some(WaitingContainer {
            name: container.get("name")?.as_str()?,
            reason: waiting.get("reason")?.as_str()?,
            message: waiting.get("message").and_then(Value::as_str).unwrap_or_default(),
        })
    })
}

pub(super) fn job(object: &Object, conditions: &Conditions<'_>) -> Status {
    if conditions.get_true("Complete").is_some() {
        return Status::current();
    }
    if let Some(failed) = conditions.get_true("Failed") {
        return Status::of(Health::Failed, failed.describe());
    }
    if let Some(held) = conditions.get_true("Suspended").or_else(|| conditions.get_true("FailureTarget")) {
        return Status::in_progress(held.describe());
    }
    if text(object, &["status", "startTime"]).is_empty() {
        return Status::in_progress("has not started yet");
    }
    let number = |field| integer(object, &["status", field]).unwrap_or(0);
    let (done, active, failed) = (number("succeeded"), number("active"), number("failed"));
    let parallelism = integer(object, &["spec", "parallelism"]).unwrap_or(1);
    let wanted = integer(object, &["spec", "completions"]).unwrap_or(parallelism);
    Status::in_progress(format!("{done} of {wanted} runs done, {active} running, {failed} failed"))
}
