use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::{ErrorReport, LeaseHolder, MovePhase, ObjectName, WaitingFor};

/// A line of `--progress json`, on standard error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ProgressLine")]
#[serde(tag = "event", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ProgressEvent {
    /// A step begins or is passed over.
    Step {
        /// Which: `fetchingProviders`, `installing`, `deleting`, `waitingForProviders` and so on.
        #[schemars(with = "String")]
        step: ProgressStep,
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
        /// The time it took, for people.
        #[serde(skip)]
        took: Duration,
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
        #[schemars(with = "String")]
        how: Written,
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
        #[schemars(with = "String")]
        phase: MovePhase,
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

/// A step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ProgressStep {
    /// Releases are read.
    FetchingProviders,
    /// cert-manager is there and left alone.
    CertManagerFound,
    /// cert-manager is installed.
    InstallingCertManager,
    /// cert-manager is to answer.
    WaitingForCertManager,
    /// The version of cert-manager is compared.
    CheckingCertManager,
    /// cert-manager stays in its version.
    CertManagerUpToDate,
    /// Newer releases of installed providers are looked for.
    CheckingReleases,
    /// An upgrade begins to write.
    PerformingUpgrade,
    /// cert-manager is replaced.
    UpgradingCertManager,
    /// A provider is installed, or its new version is.
    Installing,
    /// All objects of a provider are applied; they may not be ready yet.
    Applied,
    /// A provider is deleted.
    Deleting,
    /// Objects of the kinds of a provider are looked for.
    CheckingForObjects,
    /// Written objects are to become ready.
    WaitingForProviders,
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Written {
    /// The object is new.
    Created,
    /// The object was changed.
    Changed,
    /// The object was as it should be.
    Unchanged,
}

impl ProgressEvent {
    /// A step of the whole run.
    pub fn step(step: ProgressStep) -> Self {
        let (provider, from, version, namespace, counts) = (None, None, None, None, None);
        Self::Step { step, provider, from, version, namespace, counts, took: Duration::ZERO }
    }

    /// A step of cert-manager, to a version.
    pub fn cert_manager(step: ProgressStep, from: Option<String>, to: &str) -> Self {
        let (provider, version, namespace, counts) = (None, Some(to.to_owned()), None, None);
        Self::Step { step, provider, from, version, namespace, counts, took: Duration::ZERO }
    }

    /// A step of one provider, by its label.
    pub fn provider(step: ProgressStep, label: String, version: &str, namespace: &str) -> Self {
        let (version, namespace) = (Some(version.to_owned()), Some(namespace.to_owned()));
        let (provider, from, counts) = (Some(label), None, None);
        Self::Step { step, provider, from, version, namespace, counts, took: Duration::ZERO }
    }

    /// The same step with the position of the provider, and the time it took.
    #[must_use]
    pub fn counted(self, counts: StepCounts, took: Duration) -> Self {
        match self {
            Self::Step { step, provider, from, version, namespace, .. } => {
                Self::Step { step, provider, from, version, namespace, counts: Some(counts), took }
            }
            other => other,
        }
    }
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
