use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::ObjectKey;

use super::{ErrorReport, LeaseHolder, MovePhase, WaitingFor};

/// A line of `--progress json`, on standard error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ProgressLine")]
#[serde(tag = "event", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ProgressEvent {
    /// A step starts or is skipped.
    Step {
        /// Step name: `fetchingProviders`, `installing`, `deleting`, `waitingForProviders` and others.
        #[schemars(with = "String")]
        step: ProgressStep,
        /// Label of the provider, for steps of one provider.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        /// Installed version.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        /// Planned version.
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        /// Namespace of the provider.
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<String>,
        /// Position of the provider in the run, and the number of its objects.
        #[serde(skip_serializing_if = "Option::is_none")]
        counts: Option<StepCounts>,
        /// Duration of the step, for text output.
        #[serde(skip)]
        took: Duration,
    },
    /// The run resumes the work of an earlier run.
    Resuming {
        /// Description of the work.
        what: String,
    },
    /// An object was written.
    Wrote {
        /// The object.
        object: ObjectKey,
        /// Result of the write: `created`, `changed` or `unchanged`.
        #[schemars(with = "String")]
        how: Written,
    },
    /// The deletion of an object was requested.
    Deleted {
        /// The object.
        object: ObjectKey,
    },
    /// The set of objects that are not ready has changed.
    Waiting {
        /// Every object that is not ready.
        blockers: Vec<WaitingFor>,
    },
    /// Another run is writing to the cluster; this run waits.
    WaitingForLease {
        /// The other run.
        holder: LeaseHolder,
    },
    /// This run has taken over the lease of another run. It waits a short time for the other run to stop.
    TookOverLease {
        /// The other run.
        holder: LeaseHolder,
    },
    /// capstan retries a failed request.
    Retrying {
        /// Description of the request.
        action: String,
        /// Reason for the failure.
        why: String,
        /// Seconds since the first attempt.
        for_seconds: u64,
        /// Milliseconds until the next attempt.
        after_milliseconds: u64,
    },
    /// Objects are migrated to the storage version of their CustomResourceDefinition.
    Migrating {
        /// Name of the CustomResourceDefinition.
        definition: String,
        /// Number of migrated objects.
        done: usize,
        /// Total number of objects, if known.
        #[serde(skip_serializing_if = "Option::is_none")]
        of: Option<usize>,
    },
    /// Progress of a move.
    Moving {
        /// Phase: `pausing`, `creating`, `verifying`, `deleting`, `resuming` or `aborting`.
        #[schemars(with = "String")]
        phase: MovePhase,
        /// Number of completed objects.
        done: usize,
        /// Total number of objects.
        of: usize,
    },
    /// Progress of a save.
    Saving {
        /// Number of objects that were read.
        done: usize,
        /// Total number of objects.
        of: usize,
    },
    /// A move waits for providers to release objects.
    MoveBlocked {
        /// The blocking objects.
        objects: Vec<ObjectKey>,
    },
    /// A move waits for controllers to acknowledge the pause of objects.
    MoveResting {
        /// The objects without acknowledgement.
        objects: Vec<ObjectKey>,
    },
    /// A warning.
    Warning {
        /// Text of the warning.
        text: String,
    },
    /// The command has succeeded. This line is the last one.
    Done {
        /// Result as text.
        text: String,
        /// Duration of the run in milliseconds.
        milliseconds: u64,
    },
    /// The error that ends the run.
    Error(ErrorReport),
}

/// A step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ProgressStep {
    /// Reading provider releases.
    FetchingProviders,
    /// cert-manager already exists and is not changed.
    CertManagerFound,
    /// Installing cert-manager.
    InstallingCertManager,
    /// Waiting for cert-manager to respond.
    WaitingForCertManager,
    /// Comparing the version of cert-manager.
    CheckingCertManager,
    /// cert-manager is up to date.
    CertManagerUpToDate,
    /// Checking for newer releases of installed providers.
    CheckingReleases,
    /// Starting the writes of an upgrade.
    PerformingUpgrade,
    /// Upgrading cert-manager.
    UpgradingCertManager,
    /// Installing a provider or its new version.
    Installing,
    /// All objects of a provider are applied, but they may not be ready yet.
    Applied,
    /// Deleting a provider.
    Deleting,
    /// Searching for objects of the kinds that a provider defines.
    CheckingForObjects,
    /// Waiting for written objects to become ready.
    WaitingForProviders,
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Written {
    /// The object was created.
    Created,
    /// The object was changed.
    Changed,
    /// The object already had the desired state.
    Unchanged,
}

impl ProgressEvent {
    /// Returns a step of the whole run.
    pub fn step(step: ProgressStep) -> Self {
        let (provider, from, version, namespace, counts) = (None, None, None, None, None);
        Self::Step { step, provider, from, version, namespace, counts, took: Duration::ZERO }
    }

    /// Returns a step of cert-manager with its target version.
    pub fn cert_manager(step: ProgressStep, from: Option<String>, to: &str) -> Self {
        let (provider, version, namespace, counts) = (None, Some(to.to_owned()), None, None);
        Self::Step { step, provider, from, version, namespace, counts, took: Duration::ZERO }
    }

    /// Returns a step of the provider with this label.
    pub fn provider(step: ProgressStep, label: String, version: &str, namespace: &str) -> Self {
        let (version, namespace) = (Some(version.to_owned()), Some(namespace.to_owned()));
        let (provider, from, counts) = (Some(label), None, None);
        Self::Step { step, provider, from, version, namespace, counts, took: Duration::ZERO }
    }

    /// Returns the step with the position of the provider and the duration. Other events stay unchanged.
    #[must_use]
    pub fn with_counts(self, counts: StepCounts, took: Duration) -> Self {
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
