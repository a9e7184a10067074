//! The next status of a Component and the delay until its next run, from the outcome of a run. Pure.
//!
//! Source: component-operator-runtime (`pkg/component/reconciler.go`, `pkg/backoff`), whose reasons and texts these are,
//! spelling included. Differs: delays have no jitter here; the caller adds it.

use std::time::Duration;

use jiff::Timestamp;
use manifest::duration;

use crate::{ComponentSpec, ComponentStatus, Condition, State};

/// The delay after errors of references, sources and pins.
pub const REFERENCE_RETRY: Duration = Duration::from_secs(10);
/// The delay before a run that only had to record something.
pub const AT_ONCE: Duration = Duration::from_millis(1);
/// The default of `requeueInterval`.
const DEFAULT_REQUEUE: Duration = Duration::from_mins(10);
/// The default of `reapplyInterval`.
const DEFAULT_REAPPLY: Duration = Duration::from_hours(1);
/// The longest delay after a permanent error.
const MAX_ERROR_DELAY: Duration = Duration::from_mins(10);

/// The intervals of a Component, with defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    /// The time between a successful run and the next run.
    pub requeue: Duration,
    /// The time between a run with a temporary error and the next run.
    pub retry: Duration,
    /// The time for objects to become ready.
    pub timeout: Duration,
    /// The interval at which unchanged objects are written again.
    pub reapply: Duration,
}

impl Intervals {
    /// Returns the intervals of a Component.
    pub fn of(spec: &ComponentSpec) -> Self {
        let read = |text: &Option<String>| {
            let nanoseconds = duration::nanoseconds(text.as_deref()?)?;
            u64::try_from(nanoseconds).ok().filter(|number| *number > 0).map(Duration::from_nanos)
        };
        let requeue = read(&spec.requeue_interval).unwrap_or(DEFAULT_REQUEUE);
        Self {
            requeue,
            retry: read(&spec.retry_interval).unwrap_or(requeue),
            timeout: read(&spec.timeout).unwrap_or(requeue),
            reapply: read(&spec.reapply_interval).unwrap_or(DEFAULT_REAPPLY),
        }
    }
}

/// The outcome of one run of a Component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The first run, which only records that it saw the Component.
    FirstSeen,
    /// The Component is suspended.
    Suspended,
    /// The Component or something it refers to has changed since the last run.
    Restarting,
    /// Objects were written, and some are not ready.
    Processing,
    /// All objects are ready.
    Ready,
    /// An error that a later run may not have.
    Retry {
        /// The text of the error.
        message: String,
        /// The delay before the next run. `None` for the retry interval.
        after: Option<Duration>,
    },
    /// An error.
    Failed {
        /// The text of the error.
        message: String,
    },
    /// Other objects block the deletion, and nothing was deleted.
    DeletionBlocked {
        /// The reason.
        message: String,
    },
    /// Objects are being deleted.
    Deleting,
}

/// The circumstances of a run.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'a> {
    /// The desired state.
    pub spec: &'a ComponentSpec,
    /// The generation of the Component.
    pub generation: i64,
    /// True if the Component is being deleted.
    pub is_deleting: bool,
    /// The number of runs without progress before this run.
    pub attempts: u32,
    /// The time of the run.
    pub now: Timestamp,
}

/// Records the outcome of a run in a status, and returns the delay until the next run.
pub fn record_outcome(status: &mut ComponentStatus, outcome: &Outcome, run: Circumstances<'_>) -> Duration {
    let intervals = Intervals::of(run.spec);
    if matches!(outcome, Outcome::Restarting | Outcome::FirstSeen) {
        status.processing_since = None;
    } else if matches!(outcome, Outcome::Processing) && status.processing_since.is_none() {
        status.processing_since = Some(run.now.to_string());
    }
    let is_late = is_past(status.processing_since.as_deref(), intervals.timeout, run.now);
    let (state, reason, message) = describe(outcome, is_late, run.is_deleting);
    let was_processing = status.state == Some(State::Processing);
    let delay = match outcome {
        Outcome::FirstSeen | Outcome::Restarting => AT_ONCE,
        Outcome::Processing | Outcome::Deleting => waiting_delay(run.attempts),
        Outcome::Ready if was_processing => AT_ONCE,
        Outcome::Ready | Outcome::Suspended => intervals.requeue,
        Outcome::Retry { after, .. } => after.unwrap_or(intervals.retry),
        Outcome::Failed { .. } => error_delay(run.attempts),
        Outcome::DeletionBlocked { .. } => waiting_delay(run.attempts) + Duration::from_secs(1),
    };
    if *outcome == Outcome::Ready {
        status.applied_generation = run.generation;
        status.last_applied_at = Some(run.now.to_string());
        status.processing_since = None;
        status.last_applied_digest.clone_from(&status.last_attempted_digest);
        status.last_applied_revision.clone_from(&status.last_attempted_revision);
    }
    status.observed_generation = run.generation;
    status.last_observed_at = Some(run.now.to_string());
    status.state = Some(state);
    set_ready(status, state, reason, message, run.now);
    delay
}

/// Returns the state, the reason and the message of an outcome.
fn describe(outcome: &Outcome, is_late: bool, is_deleting: bool) -> (State, &'static str, String) {
    let own = str::to_owned;
    match outcome {
        Outcome::FirstSeen => (State::Pending, "FirstSeen", own("First seen")),
        Outcome::Suspended => (State::Pending, "Suspended", own("Reconciliation is suspended")),
        Outcome::Restarting => {
            (State::Processing, "Restarting", own("Restarting processing due to component changes"))
        }
        Outcome::Processing if is_late => {
            (State::Error, "Timeout", own("Reconcilation of dependent resources timed out"))
        }
        Outcome::Processing => (
            State::Processing,
            "Processing",
            own(
                "Reconcilation of dependent resources triggered; waiting until all dependent resources are ready",
            ),
        ),
        Outcome::Ready => (State::Ready, "Ready", own("Dependent resources successfully reconciled")),
        Outcome::Retry { message, .. } if is_deleting => {
            (State::DeletionPending, "DeletionRetrying", capitalised(message))
        }
        Outcome::Retry { message, .. } => {
            (State::Pending, if is_late { "Timeout" } else { "Retrying" }, capitalised(message))
        }
        Outcome::Failed { message } => {
            (State::Error, if is_late { "Timeout" } else { "Error" }, capitalised(message))
        }
        Outcome::DeletionBlocked { message } => (State::Deleting, "DeletionBlocked", capitalised(message)),
        Outcome::Deleting => (
            State::Deleting,
            "DeletionProcessing",
            own("Deletion of dependent resources triggered; waiting until dependent resources are deleted"),
        ),
    }
}

/// Sets the condition Ready. Its time changes with its status only.
fn set_ready(status: &mut ComponentStatus, state: State, reason: &str, message: String, now: Timestamp) {
    let word = match state {
        State::Ready => "True",
        State::Error => "False",
        _ => "Unknown",
    };
    let former = status.conditions.iter().find(|condition| condition.kind == "Ready");
    let since = former.filter(|former| former.status == word).and_then(|it| it.last_transition_time.clone());
    let ready = Condition {
        kind: "Ready".to_owned(),
        status: word.to_owned(),
        last_transition_time: since.or_else(|| Some(now.to_string())),
        reason: reason.to_owned(),
        // The server refuses objects that are too large.
        message: api::shortened(message),
    };
    status.conditions.retain(|condition| condition.kind != "Ready");
    status.conditions.push(ready);
}

impl ComponentStatus {
    /// The condition Ready.
    pub fn ready(&self) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.kind == "Ready")
    }

    /// True if all objects of this generation are ready.
    pub fn is_ready(&self, generation: i64) -> bool {
        self.state == Some(State::Ready) && self.observed_generation == generation
    }
}

fn is_past(since: Option<&str>, timeout: Duration, now: Timestamp) -> bool {
    let since: Option<Timestamp> = since.and_then(|since| since.parse().ok());
    since.is_some_and(|since| Duration::try_from(now.duration_since(since)).is_ok_and(|past| past >= timeout))
}

/// Returns the delay while objects become ready or disappear.
fn waiting_delay(attempts: u32) -> Duration {
    match attempts {
        0..5 => Duration::from_millis(50 << attempts),
        5..20 => Duration::from_secs(1),
        20..50 => Duration::from_secs(2),
        _ => Duration::from_secs(10),
    }
}

/// Returns the delay after an error, which doubles with every attempt.
fn error_delay(attempts: u32) -> Duration {
    Duration::from_millis(5 << attempts.min(20)).min(MAX_ERROR_DELAY)
}

fn capitalised(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

#[cfg(test)]
mod tests;
