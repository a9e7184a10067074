//! The health of an object, derived from its own status.

mod conditions;
mod definitions;
mod hints;
mod pods;
mod services;
#[cfg(test)]
mod tests;
mod workloads;

use std::time::Duration;

use api::output::WaitingFor;
use jiff::Timestamp;
use manifest::{Object, Value};

use crate::ObjectKey;

pub use hints::StatusHints;

use conditions::{Condition, Conditions, missing_condition_status};

/// The health of an object in one word.
/// Source: kstatus (sigs.k8s.io/cli-utils v0.37).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// The object matches its specification.
    Current,
    /// The object is in progress.
    InProgress,
    /// The object reports that it cannot reach its specification.
    Failed,
    /// The object is being deleted.
    Terminating,
    /// The object does not exist.
    NotFound,
    /// The health cannot be determined.
    Unknown,
}

/// The health of an object, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The health in one word.
    pub health: Health,
    /// The reason if the object is not current, from its condition if there is one: `Ready: no such zone (NoZone)`.
    /// Empty if the object is current.
    pub message: String,
}

/// Determines the health of an object from its own status.
///
/// Objects of unknown kinds are ready without a condition Ready, or if this condition is True.
/// Source: kstatus (sigs.k8s.io/cli-utils v0.37) and component-operator-runtime v0.3 (status analyzer).
/// differs: a CustomResourceDefinition also needs NamesAccepted, an APIService needs Available, and a running Job is
/// not ready.
pub fn status_of(object: &Object, hints: &StatusHints) -> Status {
    status_at(object, hints, Timestamp::now())
}

/// Determines the health at a given time: a Pod may be unscheduled for a while before that is a failure.
fn status_at(object: &Object, hints: &StatusHints, now: Timestamp) -> Status {
    let conditions = match Conditions::of(object) {
        Ok(conditions) => conditions,
        Err(problem) => return Status::of(Health::Unknown, problem),
    };
    let status = generic_status(object, &conditions, hints)
        .or_else(|| kind_status(object, &conditions, now))
        .unwrap_or_else(|| ready_status(&conditions, hints));
    if status.is_ready() { missing_condition(&conditions, hints).unwrap_or(status) } else { status }
}

/// Returns a status that an object of any kind may have.
fn generic_status(object: &Object, conditions: &Conditions<'_>, hints: &StatusHints) -> Option<Status> {
    if let Some(since) = object.get(&["metadata", "deletionTimestamp"]).and_then(Value::as_str) {
        return Some(Status::of(Health::Terminating, deletion_message(object, since)));
    }
    if let Some(generation) = integer(object, &["metadata", "generation"])
        && let Some(observed) = observed_generation(object, conditions, hints)
        && observed != generation
    {
        return Some(Status::in_progress(unobserved_message(generation, observed)));
    }
    conditions.iter().find_map(|condition| match condition.kind {
        "Reconciling" if condition.is_true() => Some(Status::in_progress(condition.describe())),
        "Stalled" if condition.is_true() => Some(Status::of(Health::Failed, condition.describe())),
        _ => None,
    })
}

fn observed_generation(object: &Object, conditions: &Conditions<'_>, hints: &StatusHints) -> Option<i64> {
    let of_status = integer(object, &["status", "observedGeneration"]);
    if of_status.is_some() || !hints.has_observed_generation {
        return of_status;
    }
    Some(conditions.get("Ready").and_then(|ready| ready.observed_generation).unwrap_or(-1))
}

fn unobserved_message(generation: i64, observed: i64) -> String {
    if observed < 0 {
        "its controller has not observed it yet".to_owned()
    } else {
        format!("its controller has observed generation {observed}, not yet generation {generation}")
    }
}

/// Describes a deletion with its finalizers.
fn deletion_message(object: &Object, since: &str) -> String {
    let finalizers = object.get(&["metadata", "finalizers"]).and_then(Value::as_array);
    let names: Vec<_> = finalizers.into_iter().flatten().filter_map(Value::as_str).collect();
    if names.is_empty() {
        format!("being deleted since {since}")
    } else {
        format!("being deleted since {since}, held by {}", names.join(", "))
    }
}

fn kind_status(object: &Object, conditions: &Conditions<'_>, now: Timestamp) -> Option<Status> {
    let status = match (object.group(), object.kind()) {
        ("apps" | "extensions", "Deployment") => workloads::deployment(object, conditions),
        ("apps", "StatefulSet") => workloads::stateful_set(object),
        ("apps" | "extensions", "DaemonSet") => workloads::daemon_set(object),
        ("apps" | "extensions", "ReplicaSet") => workloads::replica_set(object, conditions),
        ("", "Pod") => pods::pod(object, conditions, now),
        ("batch", "Job") => pods::job(object, conditions),
        ("", "PersistentVolumeClaim") => services::volume_claim(object),
        ("", "Service") => services::service(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definitions::definition(conditions),
        ("apiregistration.k8s.io", "APIService") => definitions::api_service(conditions),
        ("", "ConfigMap" | "Secret") | ("batch", "CronJob") | ("policy", "PodDisruptionBudget") => {
            Status::current()
        }
        _ => return None,
    };
    Some(status)
}

fn ready_status(conditions: &Conditions<'_>, hints: &StatusHints) -> Status {
    match conditions.get("Ready") {
        Some(ready) if matches!(ready.status, "False" | "Unknown") => Status::in_progress(ready.describe()),
        None if hints.has_ready_condition => missing_condition_status(conditions, "Ready"),
        _ => Status::current(),
    }
}

/// Returns the first condition of the hints that is not True.
fn missing_condition(conditions: &Conditions<'_>, hints: &StatusHints) -> Option<Status> {
    let missing = hints.conditions.iter().find(|wanted| conditions.get_true(wanted).is_none())?;
    Some(missing_condition_status(conditions, missing))
}

/// Reads an integer. None if it is missing or of another type.
fn integer(object: &Object, path: &[&str]) -> Option<i64> {
    object.get(path).and_then(Value::as_i64)
}

/// Reads a string; empty if it is missing or of another type.
fn text<'a>(object: &'a Object, path: &[&str]) -> &'a str {
    object.get(path).and_then(Value::as_str).unwrap_or_default()
}

/// An object that a run waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocker {
    /// The key of the object.
    pub object: ObjectKey,
    /// The status of the object.
    pub status: Status,
    /// The duration of its current health, since the start of the watch.
    pub since: Duration,
    /// The objects that it depends on, such as the Pods of a Deployment.
    pub children: Vec<Blocker>,
}

impl Blocker {
    /// Creates a blocker for a newly observed object, without dependencies.
    pub fn new(object: ObjectKey, status: Status) -> Self {
        Self { object, status, since: Duration::ZERO, children: Vec::new() }
    }

    /// Formats the object with its status, and its dependencies.
    pub fn one_line(&self) -> String {
        self.children.iter().fold(self.describe(), |text, below| format!("{text}; {}", below.one_line()))
    }

    /// Formats the object with its status, or with its health if the status has no message.
    pub fn describe(&self) -> String {
        let message = match self.status.message.as_str() {
            "" => self.status.health.as_str(),
            message => message,
        };
        format!("{}: {message}", self.object)
    }
}

/// Returns the blockers for output.
pub fn waiting_for(blockers: &[Blocker]) -> Vec<WaitingFor> {
    let one = |blocker: &Blocker| WaitingFor {
        object: blocker.object.clone(),
        health: blocker.status.health.as_str().to_owned(),
        message: blocker.status.message.clone(),
        for_seconds: blocker.since.as_secs(),
        below: waiting_for(&blocker.children),
    };
    blockers.iter().map(one).collect()
}

impl Status {
    /// True if the object is ready.
    pub fn is_ready(&self) -> bool {
        self.health == Health::Current
    }

    /// Returns the status of a missing object.
    pub(crate) fn not_found() -> Self {
        Self::of(Health::NotFound, "does not exist")
    }

    pub(crate) fn of(health: Health, message: impl Into<String>) -> Self {
        Self { health, message: message.into() }
    }

    fn current() -> Self {
        Self::of(Health::Current, "")
    }

    fn in_progress(message: impl Into<String>) -> Self {
        Self::of(Health::InProgress, message)
    }
}

impl Health {
    /// Returns the word of kstatus.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Current => "Current",
            Self::InProgress => "InProgress",
            Self::Failed => "Failed",
            Self::Terminating => "Terminating",
            Self::NotFound => "NotFound",
            Self::Unknown => "Unknown",
        }
    }
}
