use schemars::JsonSchema;
use serde::Serialize;

use super::{ErrorReport, LeaseHolder, ObjectName, WaitingFor};

/// A line of `--progress json`, on standard error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ProgressLine {
    /// A step begins or is passed over.
    Step {
        /// Which: `fetchingProviders`, `installing`, `deleting`, `waitingForProviders` and so on.
        step: &'static str,
        /// The label of the provider it is about.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        /// The version that is there.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        /// The version it is about.
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        /// The namespace.
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<String>,
        /// Its place in the run, and the number of its objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        counts: Option<StepCounts>,
    },
    /// What an earlier run began is gone on with.
    Resuming {
        /// In words.
        what: String,
    },
    /// An object was written.
    Wrote {
        /// Which one.
        object: ObjectName,
        /// `created`, `changed` or `unchanged`.
        how: &'static str,
    },
    /// An object was told to go.
    Deleted {
        /// Which one.
        object: ObjectName,
    },
    /// What is not ready has changed.
    Waiting {
        /// All that is not ready.
        blockers: Vec<WaitingFor>,
    },
    /// Another run is writing to the cluster, and this one waits for it.
    WaitingForLease {
        /// The other run.
        holder: LeaseHolder,
    },
    /// This run has taken over from another one, and waits a short time for it to stop.
    TookOverLease {
        /// The other run.
        holder: LeaseHolder,
    },
    /// A request is tried again.
    Retrying {
        /// What was to be done.
        action: String,
        /// Why it did not work.
        why: String,
        /// Since how many seconds it has been tried.
        for_seconds: u64,
        /// In how many milliseconds it is tried again.
        after_milliseconds: u64,
    },
    /// Objects are brought to the storage version of their definition.
    Migrating {
        /// Its name.
        definition: String,
        /// How many are done.
        done: usize,
        /// How many there are, as far as is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        of: Option<usize>,
    },
    /// A move is so far.
    Moving {
        /// `pausing`, `creating`, `verifying`, `deleting`, `resuming` or `aborting`.
        phase: &'static str,
        /// Objects that are done.
        done: usize,
        /// Of so many.
        of: usize,
    },
    /// A save has read so much.
    Saving {
        /// Objects that were read.
        done: usize,
        /// Of so many.
        of: usize,
    },
    /// A move waits for providers to let these objects go.
    MoveBlocked {
        /// Which ones.
        objects: Vec<ObjectName>,
    },
    /// A move waits for controllers to say that they let these objects rest.
    MoveResting {
        /// Which ones.
        objects: Vec<ObjectName>,
    },
    /// Something that is no error and may surprise.
    Warning {
        /// In words.
        text: String,
    },
    /// The verb has succeeded. The last line.
    Done {
        /// The result in words.
        text: String,
        /// The time it took.
        milliseconds: u64,
    },
    /// The error that ends the run.
    Error(ErrorReport),
}

/// The position of a provider in a run, and the number of its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepCounts {
    /// The number of the provider, from 1.
    pub number: usize,
    /// The number of providers.
    pub of: usize,
    /// The number of objects to write.
    pub objects: usize,
}
