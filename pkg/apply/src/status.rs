//! The health of an object, told by what it says about itself.

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

use crate::{ObjectKey, object_name};

pub use hints::Hints;

use conditions::{Condition, Conditions, awaited};

/// The health of an object in a word.
/// Source: kstatus (sigs.k8s.io/cli-utils v0.37).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// It is what it was told to be.
    Current,
    /// It is on its way.
    InProgress,
    /// It says that it cannot get there.
    Failed,
    /// It is being deleted.
    Terminating,
    /// It is not there.
    NotFound,
    /// It cannot be told.
    Unknown,
}

/// The health of an object, and what it says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// In a word.
    pub health: Health,
    /// Why it is not current, in the words of its condition where it has one: `Ready: no such zone (NoZone)`; empty
    /// when it is.
    pub message: String,
}

/// Tells the health of an object by what it says itself.
///
/// Kinds that are not known by name are ready when they have no condition Ready, or one that is True.
/// Source: kstatus (sigs.k8s.io/cli-utils v0.37) and component-operator-runtime v0.3 (status analyzer).
/// differs: a CustomResourceDefinition needs NamesAccepted too, an APIService needs Available, and a Job that runs is
/// not ready.
pub fn status_of(object: &Object, hints: &Hints) -> Status {
    status_at(object, hints, Timestamp::now())
}

/// The same at a given time: a Pod may be unscheduled for a while before that is a failure.
fn status_at(object: &Object, hints: &Hints, now: Timestamp) -> Status {
    let conditions = match Conditions::of(object) {
        Ok(conditions) => conditions,
        Err(problem) => return Status::of(Health::Unknown, problem),
    };
    let told = told_by_all(object, &conditions, hints)
        .or_else(|| told_by_kind(object, &conditions, now))
        .unwrap_or_else(|| told_by_ready(&conditions, hints));
    if told.is_ready() { missing_condition(&conditions, hints).unwrap_or(told) } else { told }
}

/// What any object may say, whatever its kind.
fn told_by_all(object: &Object, conditions: &Conditions<'_>, hints: &Hints) -> Option<Status> {
    if let Some(since) = object.get(&["metadata", "deletionTimestamp"]).and_then(Value::as_str) {
        return Some(Status::of(Health::Terminating, deletion(object, since)));
    }
    if let Some(generation) = integer(object, &["metadata", "generation"])
        && let Some(observed) = observed_generation(object, conditions, hints)
        && observed != generation
    {
        return Some(Status::in_progress(unseen(generation, observed)));
    }
    conditions.iter().find_map(|condition| match condition.kind {
        "Reconciling" if condition.is_true() => Some(Status::in_progress(condition.words())),
        "Stalled" if condition.is_true() => Some(Status::of(Health::Failed, condition.words())),
        _ => None,
    })
}

fn observed_generation(object: &Object, conditions: &Conditions<'_>, hints: &Hints) -> Option<i64> {
    let of_status = integer(object, &["status", "observedGeneration"]);
    if of_status.is_some() || !hints.has_observed_generation {
        return of_status;
    }
    Some(conditions.get("Ready").and_then(|ready| ready.observed_generation).unwrap_or(-1))
}

fn unseen(generation: i64, observed: i64) -> String {
    if observed < 0 {
        "its controller has not looked at it yet".to_owned()
    } else {
        format!("its controller has not looked at generation {generation} yet, only at {observed}")
    }
}

/// Finalizers are what a deletion waits for.
fn deletion(object: &Object, since: &str) -> String {
    let finalizers = object.get(&["metadata", "finalizers"]).and_then(Value::as_array);
    let names: Vec<_> = finalizers.into_iter().flatten().filter_map(Value::as_str).collect();
    if names.is_empty() {
        format!("being deleted since {since}")
    } else {
        format!("being deleted since {since}, held by {}", names.join(", "))
    }
}

fn told_by_kind(object: &Object, conditions: &Conditions<'_>, now: Timestamp) -> Option<Status> {
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

fn told_by_ready(conditions: &Conditions<'_>, hints: &Hints) -> Status {
    match conditions.get("Ready") {
        Some(ready) if matches!(ready.status, "False" | "Unknown") => Status::in_progress(ready.words()),
        None if hints.has_ready_condition => awaited(conditions, "Ready"),
        _ => Status::current(),
    }
}

/// The first condition a hint asks for that is not True.
fn missing_condition(conditions: &Conditions<'_>, hints: &Hints) -> Option<Status> {
    let missing = hints.conditions.iter().find(|wanted| conditions.get_true(wanted).is_none())?;
    Some(awaited(conditions, missing))
}

/// Reads an integer; none when it is absent or of another type.
fn integer(object: &Object, path: &[&str]) -> Option<i64> {
    object.get(path).and_then(Value::as_i64)
}

/// Reads a string; empty when it is absent or of another type.
fn text<'a>(object: &'a Object, path: &[&str]) -> &'a str {
    object.get(path).and_then(Value::as_str).unwrap_or_default()
}

/// An object that is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocker {
    /// Which one.
    pub object: ObjectKey,
    /// How it is.
    pub status: Status,
    /// For how long its health has been what it is, as far as was watched.
    pub since: Duration,
    /// What it waits for itself, such as the Pods of a Deployment, with their words.
    pub below: Vec<Blocker>,
}

impl Blocker {
    /// An object as it was just seen, with nothing known of what it waits for.
    pub fn new(object: ObjectKey, status: Status) -> Self {
        Self { object, status, since: Duration::ZERO, below: Vec::new() }
    }

    /// The object with its status, and those it waits for.
    pub fn in_one_line(&self) -> String {
        self.below.iter().fold(self.in_words(), |text, below| format!("{text}; {}", below.in_one_line()))
    }

    /// The object with its status, or with its health if the status has no message.
    pub fn in_words(&self) -> String {
        let message = match self.status.message.as_str() {
            "" => self.status.health.as_str(),
            message => message,
        };
        format!("{}: {message}", self.object)
    }
}

/// What is waited for, as it is printed.
pub fn waiting_for(blockers: &[Blocker]) -> Vec<WaitingFor> {
    let one = |blocker: &Blocker| WaitingFor {
        object: object_name(&blocker.object),
        health: blocker.status.health.as_str().to_owned(),
        message: blocker.status.message.clone(),
        for_seconds: blocker.since.as_secs(),
        below: waiting_for(&blocker.below),
    };
    blockers.iter().map(one).collect()
}

impl Status {
    /// Whether it need not be waited for.
    pub fn is_ready(&self) -> bool {
        self.health == Health::Current
    }

    /// The status of an object that is not there.
    pub(crate) fn not_found() -> Self {
        Self::of(Health::NotFound, "is not there")
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
    /// The word of kstatus.
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
